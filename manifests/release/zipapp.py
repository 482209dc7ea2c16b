"""The command `kubectl paddock` as one file for Python 3.11 and later: a zip archive that Python runs.

It contains pure Python only, and is the same byte for byte whenever it is made from the same files.
"""

import ast
import importlib.util
import marshal
import zipfile
from collections.abc import Iterator, Mapping
from importlib.metadata import distribution
from io import BytesIO
from pathlib import Path

from manifests.release.version import version

ROOT = Path(__file__).parents[2]

LIBRARIES = ("typer", "rich", "shellingham", "annotated-doc")
"""Distributions that the command imports. Those that only their unused parts import are left out."""

SHEBANG = b"#!/usr/bin/env python3\n"

MAIN = """\
import sys

if sys.version_info < (3, 11):
    sys.exit("kubectl paddock needs Python 3.11 or later; this is Python %d.%d" % sys.version_info[:2])

from extender.plugin.main import main

sys.exit(main())
"""
"""First module that runs. Older versions of Python understand it, too."""

_EPOCH = (1980, 1, 1, 0, 0, 0)
_MODE = 0o644 << 16


def zipapp() -> bytes:
    """The archive, with a line for the shell before it."""
    stream = BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_STORED) as archive:
        for name, contents in sorted(_files().items()):
            info = zipfile.ZipInfo(name, _EPOCH)
            info.external_attr = _MODE
            info.create_system = 3
            archive.writestr(info, contents)
    return SHEBANG + stream.getvalue()


def _files() -> Mapping[str, bytes]:
    sources = {"__main__.py": MAIN.encode(), **dict(_own()), **dict(_of_libraries())}
    compiled = {f"{name}c": _compiled(name, text) for name, text in sources.items() if name.endswith(".py")}
    return {**sources, **compiled, **dict(_metadata())}


def _compiled(name: str, text: bytes) -> bytes:
    """A module compiled for the Python that makes the archive. Others compile the source at each start.

    The sources in the archive never change, so no time and no hash of them is checked (PEP 552).
    """
    code = compile(text, f"paddock/{name}", "exec", dont_inherit=True, optimize=0)
    return importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + marshal.dumps(code)


# -- contents ------------------------------------------------------------------------------------------------


def _own() -> Iterator[tuple[str, bytes]]:
    """Modules of the plugin, and all modules of Paddock that these import."""
    waiting = [each.relative_to(ROOT) for each in (ROOT / "extender" / "plugin").rglob("*.py")]
    found: dict[Path, bytes] = {}
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found[path] = (ROOT / path).read_bytes()
        waiting += _imported(found[path])
        waiting += [each / "__init__.py" for each in path.parents if each.parts]
    yield from ((path.as_posix(), text) for path, text in found.items())


def _imported(text: bytes) -> Iterator[Path]:
    for node in ast.walk(ast.parse(text)):
        names = []
        if isinstance(node, ast.Import):
            names = [each.name for each in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{each.name}" for each in node.names)]
        for name in names:
            for path in (Path(*name.split(".")).with_suffix(".py"), Path(*name.split("."), "__init__.py")):
                if name.split(".")[0] in ("core", "extender") and (ROOT / path).is_file():
                    yield path


def _of_libraries() -> Iterator[tuple[str, bytes]]:
    for name in LIBRARIES:
        for file in distribution(name).files or ():
            if file.suffix == ".py" and ".." not in file.parts:
                yield file.as_posix(), file.read_binary()


def _metadata() -> Iterator[tuple[str, bytes]]:
    """Licences of all that is contained, and the version of Paddock."""
    yield "LICENSE", (ROOT / "LICENSE").read_bytes()
    yield f"paddock-{version()}.dist-info/METADATA", f"Name: paddock\nVersion: {version()}\n".encode()
    for name in LIBRARIES:
        for file in distribution(name).files or ():
            if "LICENSE" in file.name.upper() and ".." not in file.parts:
                yield f"licenses/{name}/{file.name}", file.read_binary()
