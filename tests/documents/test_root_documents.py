"""Documents in the root: the README is one page, links resolve, and pictures have descriptions."""

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tests.architecture.reading.sources import ROOT
from tests.documents.test_links import broken

LONGEST_README = 130
DOCUMENTS = ("README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md")
HEADINGS = ["Added", "Changed", "Deprecated", "Removed", "Fixed", "Security"]
"""Of a version in the changelog, in the form of Keep a Changelog."""

PICTURES = sorted((ROOT / "docs").rglob("*.svg"))
_SVG = "{http://www.w3.org/2000/svg}"


def faults_of_picture(text: str) -> list[str]:
    """Parts that a picture lacks for blind readers, or for readers with a dark page."""
    root = ElementTree.fromstring(text)  # noqa: S314 a file of this repository
    missing = [name for name in ("title", "desc") if (root.findtext(_SVG + name) or "").strip() == ""]
    outside = [] if not re.search(r"(?:href|url\()\s*=?\s*[\"']?https?:", text) else ["nothing from outside"]
    dark = [] if "prefers-color-scheme: dark" in text else ["colours for dark pages"]
    return [*missing, *dark, *outside]


@pytest.mark.parametrize("name", DOCUMENTS)
def test_links_lead_somewhere(name: str) -> None:
    assert list(broken(ROOT / name)) == []


def test_the_readme_is_one_page() -> None:
    text = (ROOT / "README.md").read_text()
    assert len(text.splitlines()) <= LONGEST_README
    assert re.search(r"!\[[^]]+\]\([^)]+\.svg\)", text)
    assert all(command in text for command in ("make demo", "make test"))


def test_the_changelog_has_only_its_headings() -> None:
    found = re.findall(r"^### (.+)$", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert found == sorted(found, key=HEADINGS.index)


@pytest.mark.parametrize("picture", PICTURES, ids=[each.stem for each in PICTURES])
def test_pictures_say_what_they_show(picture: Path) -> None:
    assert faults_of_picture(picture.read_text()) == []


def test_a_picture_without_text_is_found() -> None:
    planted = (
        '<svg xmlns="http://www.w3.org/2000/svg"><desc> </desc><image href="https://example.com/x"/></svg>'
    )
    assert faults_of_picture(planted) == [
        "title",
        "desc",
        "colours for dark pages",
        "nothing from outside",
    ]
