"""Files of an archive or of a root file system as values, and archives of them that are always the same."""

import gzip
import tarfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from io import BytesIO

#: Mode bits that a release keeps: nobody but root writes, and there is no set-user-id.
_MODES = 0o755
#: Those of a folder like /tmp, where each account writes its own files.
_STICKY = 0o1777


@dataclass(frozen=True)
class Entry:
    """A file, a folder if ``contents`` is None, or a symbolic link if ``target`` is given."""

    contents: bytes | None = None
    mode: int = 0o644
    target: str = ""


FOLDER = Entry(mode=0o755)


def file(contents: bytes, *, executable: bool = False) -> Entry:
    """A file that everybody may read."""
    return Entry(contents, 0o755 if executable else 0o644)


def link(target: str) -> Entry:
    """A symbolic link."""
    return Entry(mode=0o777, target=target)


def with_folders(entries: Mapping[str, Entry]) -> dict[str, Entry]:
    """The entries, and every folder above them that is not among them."""
    found = dict(entries)
    for path in entries:
        parts = path.split("/")
        for count in range(1, len(parts)):
            found.setdefault("/".join(parts[:count]), FOLDER)
    return found


def tar(entries: Mapping[str, Entry], *, time: int = 0) -> bytes:
    """A tar archive, sorted by path. Everything belongs to root and has one time, in seconds."""
    stream = BytesIO()
    with tarfile.open(fileobj=stream, mode="w", format=tarfile.PAX_FORMAT) as made:
        for path, entry in sorted(entries.items()):
            made.addfile(_info(path, entry, time), BytesIO(entry.contents or b""))
    return stream.getvalue()


def _info(path: str, entry: Entry, time: int) -> tarfile.TarInfo:
    info = tarfile.TarInfo(path)
    info.mode = _STICKY if entry.mode & 0o1000 else entry.mode & _MODES
    info.mtime = time
    if entry.target:
        info.type, info.linkname = tarfile.SYMTYPE, entry.target
    elif entry.contents is None:
        info.type = tarfile.DIRTYPE
    else:
        info.size = len(entry.contents)
    return info


def untarred(members: Iterable[tarfile.TarInfo], archive: tarfile.TarFile) -> dict[str, Entry]:
    """The entries of an archive, by their paths without a leading slash. A hard link becomes a copy."""
    found: dict[str, Entry] = {}
    for member in members:
        path = member.name.removeprefix("./").strip("/")
        if member.isdir():
            found[path] = Entry(mode=member.mode)
        elif member.issym():
            found[path] = link(member.linkname)
        elif member.islnk():
            found[path] = found[member.linkname.removeprefix("./").strip("/")]
        elif member.isfile() and (opened := archive.extractfile(member)):
            found[path] = Entry(opened.read(), member.mode)
    found.pop(".", None)
    found.pop("", None)
    return found


def zipped(contents: bytes) -> bytes:
    """Gzip without a time and a name."""
    return gzip.compress(contents, compresslevel=6, mtime=0)
