"""A container as a process: a root file system, mounts, an account and an environment, from a pod's spec.

The image is played: it is the host's programs and this repository. Everything else must be in the spec.
"""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from e2e.cluster.client import Object
from e2e.programs.binaries import ROOT, folder

_OWN_FOLDERS = ("etc", "tmp", "var", "run", "root", "home", "mnt", "media", "lost+found")
"""Top-level folders that a container does not share with the host."""
_COPIED = ("passwd", "group", "hosts", "nsswitch.conf", "ld.so.cache", "ssl", "alternatives")
"""Files and folders of /etc that programs of the host need."""
_DOCKERFILE = ROOT / "manifests" / "Dockerfile"
_VARIABLE = re.compile(r"\$\(([A-Za-z_][A-Za-z0-9_]*)\)")


@dataclass(frozen=True)
class Mount:
    """A volume in a container. ``source``: a folder or file of the host; None for an empty folder.

    ``size``: of an empty folder, as a quantity, or empty.
    """

    path: str
    source: Path | None
    read_only: bool
    size: str = ""


def command_of(container: Object, environment: Mapping[str, str]) -> list[str]:
    """The command line, with its variables filled in. Without a command the image's entry point is called."""
    command = container.get("command") or (entry_point() if container["name"] == "paddock" else None)
    assert command, f"the image of {container['name']} is played without an entry point"
    found = [*command, *container.get("args", ())]
    return [_VARIABLE.sub(lambda each: environment.get(each[1], each[0]), part) for part in found]


def entry_point() -> list[str]:
    (found,) = re.findall(r'^ENTRYPOINT \["([^"]+)"\]$', _DOCKERFILE.read_text(), re.M)
    return [found]


def environment_of(container: Object, of_node: Mapping[str, str]) -> dict[str, str]:
    """Variables of a container. ``of_node``: those that the kubelet sets."""
    own = {}
    for each in container.get("env", ()):
        assert "value" in each, f"{each['name']}: only plain values are played"
        own[each["name"]] = each["value"]
    path = f"{Path(sys.prefix) / 'bin'}:{folder()}:/usr/local/bin:/usr/bin:/bin"
    # A container engine sets HOME for an account that the image does not know.
    of_image = {"PATH": path, "HOME": "/", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONUNBUFFERED": "1"}
    return {**of_image, **of_node, **own}


def privileges(container: Object, of_pod: Object) -> list[str]:
    """A command prefix that takes the account and the rights of both security contexts."""
    merged = {**of_pod, **container.get("securityContext", {})}
    user, group = merged.get("runAsUser"), merged.get("runAsGroup", 0)
    if merged.get("runAsNonRoot"):
        assert user, f"{container['name']} must not run as root, and names no user"
    found = ["setpriv", "--pdeathsig=KILL"]
    if user is not None:
        groups = ",".join(str(each) for each in (group, of_pod.get("fsGroup")) if each is not None)
        found += [f"--reuid={user}", f"--regid={group}", f"--groups={groups}"]
    if merged.get("allowPrivilegeEscalation") is False:
        found.append("--no-new-privs")
    if merged.get("capabilities", {}).get("drop") == ["ALL"]:
        found += ["--bounding-set=-all", "--inh-caps=-all"]
    return found


def in_root(root: Path, mounts: Sequence[Mount], *, read_only: bool, command: Sequence[str]) -> list[str]:
    """A command line that runs a program in a root file system of its own. ``root``: an empty folder."""
    lines = [*_image(root), *(line for each in mounts for line in _mounted(root, each))]
    if read_only:
        lines.append(f"mount -o remount,bind,ro {_quoted(root)}")
    lines.append(f"exec chroot {_quoted(root)} {shlex.join(command)}")
    return ["unshare", "--mount", "--propagation=private", "sh", "-ec", "\n".join(lines)]


def in_image(
    image: Path, root: Path, account: int, environment: Mapping[str, str], command: Sequence[str]
) -> list[str]:
    """A command line that runs a program in an unpacked image, which nothing can write to.

    ``root``: an empty folder, where the image is mounted. ``environment``: all of the program's variables.
    It has no groups and no capabilities.
    """
    chroot = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin")
    variables = shlex.join(f"{name}={value}" for name, value in environment.items())
    lines = [
        f"mount --bind {_quoted(image)} {_quoted(root)}",
        f"mount -o remount,bind,ro {_quoted(root)}",
        "exec setpriv --pdeathsig=KILL --no-new-privs --bounding-set=-all,+sys_chroot,+setuid,+setgid "
        f"env -i {variables} {chroot} --userspec={account}:{account} --groups= "
        f"{_quoted(root)} {shlex.join(command)}",
    ]
    return ["unshare", "--mount", "--propagation=private", "sh", "-ec", "\n".join(lines)]


def beside(pid: int, command: Sequence[str]) -> list[str]:
    """A command line that runs a program in the container of a process."""
    return ["nsenter", f"--target={pid}", "--mount", "--net", "--uts", "--root", "--wd=/", *command]


def _image(root: Path) -> Iterator[str]:
    yield f"mount -t tmpfs -o mode=755 tmpfs {_quoted(root)}"
    for each in sorted(Path("/").iterdir()):
        if each.is_symlink():
            yield f"ln -s {shlex.quote(os.readlink(each))} {_quoted(root / each.name)}"
        elif each.is_dir() and each.name not in _OWN_FOLDERS:
            yield from _shared(root, each)
    yield f"mkdir {_quoted(root / 'etc')}"
    for name in _COPIED:
        if Path("/etc", name).exists():
            yield f"cp -a /etc/{name} {_quoted(root / 'etc')}/"
    for program in dict.fromkeys((ROOT, Path(sys.prefix), Path(sys.base_prefix), folder().resolve())):
        yield from _shared(root, program)
    yield f"mkdir -p -m 1777 {_quoted(root / 'tmp')}"


def _shared(root: Path, source: Path) -> Iterator[str]:
    target = _below(root, str(source))
    yield f"mkdir -p {_quoted(target)}"
    yield f"mount --rbind {_quoted(source)} {_quoted(target)}"


def _mounted(root: Path, mount: Mount) -> Iterator[str]:
    target = _below(root, mount.path)
    if mount.source is None:
        assert not ROOT.is_relative_to(mount.path), f"pods have their own {mount.path}, which hides {ROOT}"
        size = f",size={mount.size.removesuffix('i')}" if mount.size else ""
        yield f"mkdir -p {_quoted(target)}"
        yield f"mount -t tmpfs -o mode=1777{size} tmpfs {_quoted(target)}"
        return
    if mount.source.is_dir():
        yield f"mkdir -p {_quoted(target)}"
    else:
        yield f"mkdir -p {_quoted(target.parent)}"
        yield f"touch {_quoted(target)}"
    yield f"mount --bind {_quoted(mount.source)} {_quoted(target)}"
    if mount.read_only:
        yield f"mount -o remount,bind,ro {_quoted(target)}"


def _below(root: Path, path: str) -> Path:
    return root / path.lstrip("/")


def _quoted(path: Path) -> str:
    return shlex.quote(str(path))
