"""The root file system of the image, in layers: Debian's packages, libraries, and Paddock.

It has no shell and no package manager. Everything belongs to root, and Paddock runs as another account.
"""

import platform
import shutil
import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path

from manifests.release import debian, wheels
from manifests.release.entries import FOLDER, Entry, file, link, with_folders

ACCOUNT = 65532
SITE = "usr/lib/python3/dist-packages"
"""Where Debian's CPython finds libraries."""
PROGRAM = "usr/bin/paddock"
INTERPRETER = f"usr/bin/python{wheels.PYTHON}"

Layer = Mapping[str, Entry]

_LOADERS = {"amd64": "ld-linux-x86-64.so.2", "arm64": "ld-linux-aarch64.so.1"}
_ENTRY_POINT = f"""\
#!/{INTERPRETER}
import sys

from extender.cli import main

sys.exit(main())
"""
_PASSWD = f"""\
root:x:0:0:root:/root:/usr/sbin/nologin
paddock:x:{ACCOUNT}:{ACCOUNT}:paddock:/:/usr/sbin/nologin
"""
_GROUP = f"root:x:0:\npaddock:x:{ACCOUNT}:\n"
_BUNDLE = "etc/ssl/certs/ca-certificates.crt"
_BY_HAND: Layer = {
    "etc/passwd": file(_PASSWD.encode()),
    "etc/group": file(_GROUP.encode()),
    "etc/nsswitch.conf": file(b"passwd: files\ngroup: files\nhosts: files dns\n"),
    "usr/lib/ssl/certs": link("/etc/ssl/certs"),
    "usr/lib/ssl/cert.pem": link(f"/{_BUNDLE}"),
    "tmp": Entry(mode=0o1777),
    **{name: link(f"usr/{name}") for name in ("bin", "lib", "lib64", "sbin")},
    **{f"usr/{name}": FOLDER for name in ("bin", "lib", "lib64", "sbin")},
}


class NotCompiled(Exception):
    """The image's CPython could not compile the modules. The text is its own."""


def layers(architecture: str, paddock: Path, cache: Path) -> list[Layer]:
    """The three layers for an architecture. ``paddock``: the wheel of Paddock."""
    site: dict[str, Entry] = {}
    for wheel in wheels.downloaded(architecture, cache / "wheels"):
        site |= wheels.unpacked(wheel)
    own = {f"{SITE}/{path}": entry for path, entry in wheels.unpacked(paddock).items()}
    own[PROGRAM] = file(_ENTRY_POINT.encode(), executable=True)
    libraries = {f"{SITE}/{path}": entry for path, entry in site.items()}
    return [with_folders(each) for each in (_of_debian(architecture, cache / "packages"), libraries, own)]


def _of_debian(architecture: str, cache: Path) -> dict[str, Entry]:
    found: dict[str, Entry] = {}
    for package in debian.packages(architecture):
        deb = debian.fetch(package, cache)
        found |= debian.unpacked(deb)
        found[f"var/lib/dpkg/status.d/{package.name}"] = file(debian.control(deb))
    authorities = sorted(path for path in found if path.startswith("usr/share/ca-certificates/"))
    bundle = b"".join(found[path].contents or b"" for path in authorities)
    return {**found, **_BY_HAND, _BUNDLE: file(bundle)}


# -- compiled modules ----------------------------------------------------------------------------------------


def compiled(of_architectures: Mapping[str, list[Layer]]) -> dict[str, list[Layer]]:
    """The layers with compiled modules, for a root file system that is read-only.

    The image's own CPython compiles them, that of the architecture of this machine. The code is the same for
    all. Neither times nor hashes of the sources are checked later (PEP 552). Raises `NotCompiled`.
    """
    own = {"x86_64": "amd64", "aarch64": "arm64"}[platform.machine()]
    known: dict[tuple[str, bytes], Entry] = {}
    done = {}
    with tempfile.TemporaryDirectory() as folder:
        interpreter = Path(folder, "interpreter")
        for layer in of_architectures[own]:
            write(layer, interpreter)
        for number, (architecture, all_layers) in enumerate(of_architectures.items()):
            sources = {
                path: entry
                for layer in all_layers
                for path, entry in layer.items()
                if path.endswith(".py") and (path, entry.contents or b"") not in known
            }
            known |= _compiled(sources, interpreter, own, Path(folder, f"sources-{number}"))
            done[architecture] = [_with_compiled(layer, known) for layer in all_layers]
    return done


def _with_compiled(layer: Layer, known: Mapping[tuple[str, bytes], Entry]) -> Layer:
    more = {
        _compiled_path(path): known[path, entry.contents or b""]
        for path, entry in layer.items()
        if (path, entry.contents or b"") in known
    }
    return with_folders({**layer, **more})


def _compiled(
    sources: Layer, interpreter: Path, architecture: str, folder: Path
) -> dict[tuple[str, bytes], Entry]:
    write(with_folders(sources), folder)
    loader = interpreter / "usr" / "lib64" / _LOADERS[architecture]
    if not loader.exists():
        loader = interpreter / "usr" / "lib" / _LOADERS[architecture]
    libraries = interpreter / "usr" / "lib" / f"{wheels.MACHINES[architecture]}-linux-gnu"
    python = [str(loader.resolve()), "--library-path", str(libraries), str(interpreter / INTERPRETER), "-S"]
    compiling = ["-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash"]
    named = ["-s", str(folder), "-p", "/", str(folder)]
    # The order of a set's constants follows the seed.
    environment = {"PYTHONHOME": str(interpreter / "usr"), "PYTHONHASHSEED": "0"}
    run = subprocess.run(
        [*python, *compiling, *named], env=environment, capture_output=True, text=True, check=False
    )
    if run.returncode:
        raise NotCompiled((run.stdout + run.stderr)[-2000:])
    found = {}
    for path, entry in sources.items():
        found[path, entry.contents or b""] = file((folder / _compiled_path(path)).read_bytes())
    shutil.rmtree(folder)
    return found


def _compiled_path(path: str) -> str:
    folder, _, name = path.rpartition("/")
    tag = "cpython-" + wheels.PYTHON.replace(".", "")
    return f"{folder}/__pycache__/{name.removesuffix('.py')}.{tag}.pyc"


def write(layer: Layer, root: Path) -> None:
    """Write a layer below a folder, as far as an account without rights can. Links stay inside of it."""
    for path, entry in sorted(layer.items()):
        place = root / path
        if entry.target:
            place.parent.mkdir(parents=True, exist_ok=True)
            target = Path(entry.target)
            inside = root / entry.target.lstrip("/") if target.is_absolute() else target
            place.unlink(missing_ok=True)
            place.symlink_to(inside)
        elif entry.contents is None:
            place.mkdir(parents=True, exist_ok=True)
        else:
            place.parent.mkdir(parents=True, exist_ok=True)
            place.write_bytes(entry.contents)
            place.chmod(0o755 if entry.mode & 0o111 else 0o644)
