"""``python -m tests.documents.reference``: write the reference pages and the schema of scenarios."""

from tests.documents.reference.pages import FOLDER, PAGES


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), encoding="utf-8")


if __name__ == "__main__":
    main()
