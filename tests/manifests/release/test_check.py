"""`make release-check` also where Debian's mirrors have dropped a pinned package."""

from pathlib import Path

import pytest

from manifests.release import debian, debian_lock
from manifests.release.check import lock_for


def test_pinned_packages_are_used_while_a_mirror_has_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    fetched = []
    monkeypatch.setattr(debian, "fetch", lambda package, cache: fetched.append(package))
    assert lock_for(tmp_path) == debian.LOCK
    assert tuple(fetched) == debian.locked()


def test_present_versions_are_used_when_a_pinned_package_has_vanished(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def vanished(package: debian.Package, cache: Path) -> bytes:
        raise debian.NotFetched(f"{package.file}: 404")

    monkeypatch.setattr(debian, "fetch", vanished)
    monkeypatch.setattr(debian_lock, "write", lambda lock: lock.write_text("all 00 present.deb\n"))
    lock = lock_for(tmp_path / "release")
    assert debian.locked(lock) == (debian.Package("all", "00", "present.deb"),)
    assert "404. This check builds with the present versions" in capsys.readouterr().err


def test_packages_come_from_the_mirror_that_is_named_or_from_that_of_apt(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("DEBIAN_MIRROR", "https://mirror.example.com/x/")
    assert debian.repository("debian") == "https://mirror.example.com/x/debian/"
    monkeypatch.delenv("DEBIAN_MIRROR")
    listed = "http://a.example/debian-security/\\nhttp://b.example/debian/\\nhttp://b.example/debian/\\n"
    (tmp_path / "apt-get").write_text(f"#!/bin/sh\nprintf '{listed}'\n")
    (tmp_path / "apt-get").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert debian.repository("debian") == "http://b.example/debian/"
    assert debian.repository("debian-security") == "http://a.example/debian-security/"
    with pytest.raises(debian.NotFetched, match="set DEBIAN_MIRROR"):
        debian.repository("ubuntu")
    monkeypatch.setenv("PATH", str(tmp_path / "none"))
    with pytest.raises(debian.NotFetched, match="set DEBIAN_MIRROR"):
        debian.repository("debian")
