"""Mistakes that stop a release before anything is built, and the text that says what to set."""

from pathlib import Path

import pytest

from manifests.release import build
from manifests.release.check import IMAGE, RELEASES, differences

ADDRESSES = [f"--image={IMAGE}", f"--releases={RELEASES}"]
MISTAKES = {
    "no address": ([], "set IMAGE to the registry and repository"),
    "no image": (ADDRESSES[1:], "set IMAGE to"),
    "nowhere for the archives": (ADDRESSES[:1], "set RELEASES to the address"),
    "plain HTTP": ([ADDRESSES[0], "--releases=http://a.example.com"], "begins with https://"),
    "an image without a registry": (
        [ADDRESSES[1], "--image=team/paddock"],
        "give a registry and a repository",
    ),
    "an image with a tag": ([ADDRESSES[1], f"--image={IMAGE}:1"], "give a registry and a repository"),
    "no compiled wheel": ([*ADDRESSES, "--compiled=missing"], "has 0 wheels, not one: run `make compiled`"),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_named_and_nothing_is_built(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str
) -> None:
    arguments, expected = MISTAKES[name]
    assert build.main([str(tmp_path / "dist"), *arguments]) == 2
    assert expected in capsys.readouterr().err
    assert not (tmp_path / "dist").exists()


def test_a_folder_of_something_else_is_left_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "mine").write_text("mine")
    assert build.main([str(tmp_path), *ADDRESSES]) == 2
    assert "is not empty" in capsys.readouterr().err
    assert (tmp_path / "mine").read_text() == "mine"


@pytest.mark.parametrize(
    "name",
    ["paddock-1.0.0-cp313-cp313-linux_x86_64.whl", "paddock-1.0.0-py3-none-any.whl"],
)
def test_a_core_compiled_for_another_python_is_refused(name: str) -> None:
    with pytest.raises(build.NotBuilt, match=r"is not for the image's CPython 3\.11"):
        build._with_compiled_core(Path(name))


def test_two_releases_differ_by_contents_by_mode_and_by_what_one_lacks(tmp_path: Path) -> None:
    for name in ("first", "second"):
        (tmp_path / name / "image").mkdir(parents=True)
        for each in ("same", "contents", "mode"):
            (tmp_path / name / "image" / each).write_text(each)
    assert differences(tmp_path / "first", tmp_path / "second") == []
    (tmp_path / "second" / "image" / "contents").write_text("CONTENTS")
    (tmp_path / "second" / "image" / "mode").chmod(0o600)
    (tmp_path / "second" / "more").touch()
    assert differences(tmp_path / "first", tmp_path / "second") == ["image/contents", "image/mode", "more"]
