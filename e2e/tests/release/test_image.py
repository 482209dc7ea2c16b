"""The root file system of the image: of amd64 started as a process, of arm64 by its structure."""

import asyncio
import json
import os
import struct
import subprocess
import tarfile
from collections.abc import Sequence
from pathlib import Path

import aiohttp
import pytest

from e2e.cluster.client import Cluster
from e2e.pods.containers import in_image
from e2e.programs.processes import Program, free_port
from e2e.stands.stand import CONFIG_MAP, NAMESPACE, document, eventually
from manifests.release.image import COMMAND, ENTRY_POINT, ENVIRONMENT
from manifests.release.root_file_system import ACCOUNT
from manifests.release.version import ROOT, version

MACHINES = {"amd64": 62, "arm64": 183}
"""Machines of ELF (`e_machine`)."""

root_only = pytest.mark.skipif(os.geteuid() != 0, reason="mount namespaces with accounts need root")


def run(root: Path, place: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    command = in_image(root, place, ACCOUNT, ENVIRONMENT, [*ENTRY_POINT, *arguments])
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


@root_only
def test_it_says_its_version_and_checks_queues(root_of_amd64: Path, tmp_path: Path) -> None:
    (tmp_path / "place").mkdir()
    (root_of_amd64 / "queues.yaml").write_text((ROOT / "manifests/queues/queues.yaml").read_text())
    said = run(root_of_amd64, tmp_path / "place", "--version")
    assert (said.returncode, said.stderr) == (0, "")
    assert version() in said.stdout
    checked = run(root_of_amd64, tmp_path / "place", "check", "/queues.yaml")
    assert checked.returncode == 0, checked.stderr
    (root_of_amd64 / "queues.yaml").write_text("partitions: 7\n")
    assert run(root_of_amd64, tmp_path / "place", "check", "/queues.yaml").returncode == 1


@root_only
def test_it_can_write_nothing_and_has_no_shell(root_of_amd64: Path, tmp_path: Path) -> None:
    code = """
import os, sys
for path in ("/", "/tmp", "/usr/lib", "/var"):
    try:
        open(f"{path}/written", "w")
    except OSError as error:
        print(path, error.errno)
print(os.getuid(), os.getgid(), os.getgroups(), sys.version_info[:2], os.path.exists("/bin/sh"))
"""
    command = in_image(root_of_amd64, tmp_path, ACCOUNT, ENVIRONMENT, ["/usr/bin/python3.11", "-c", code])
    said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    read_only = "".join(f"{path} 30\n" for path in ("/", "/tmp", "/usr/lib", "/var"))
    assert said.stdout == f"{read_only}{ACCOUNT} {ACCOUNT} [] (3, 11) False\n", said.stderr


@root_only
async def test_it_serves_beside_a_real_control_plane(
    cluster: Cluster, root_of_amd64: Path, tmp_path: Path
) -> None:
    await cluster.ensure_namespace(NAMESPACE)
    await cluster.configmap(NAMESPACE, CONFIG_MAP, {"queues.yaml": document({"a": {}})})
    kubeconfig = cluster.control_plane.kubeconfig("admin")
    (root_of_amd64 / "kubeconfig").write_text(kubeconfig.read_text())
    verbs, admin = free_port(), free_port()
    ports = [f"--verbs-port={verbs}", f"--admin-port={admin}"]
    asked = [*ENTRY_POINT, *COMMAND, "--kubeconfig=/kubeconfig", f"--namespace={NAMESPACE}", *ports]
    (tmp_path / "place").mkdir()
    program = Program(
        in_image(root_of_amd64, tmp_path / "place", ACCOUNT, ENVIRONMENT, asked), tmp_path / "log"
    )
    program.start()
    try:
        async with aiohttp.ClientSession(f"http://127.0.0.1:{admin}") as session:

            async def answers(path: str) -> bool:
                assert program.running, program.tail()
                try:
                    async with session.get(path) as answer:
                        return answer.status == 200
                except aiohttp.ClientError:
                    await asyncio.sleep(0.1)
                    return False

            await eventually(lambda: answers("/livez"), "the image is alive", timeout=60)
            try:
                await eventually(lambda: answers("/readyz"), "the image is ready", timeout=60)
            except AssertionError as error:
                async with session.get("/readyz?verbose") as answer:
                    error.add_note(await answer.text())
                raise
        async with (
            aiohttp.ClientSession() as session,
            session.post(f"http://127.0.0.1:{verbs}/v1/filter", data=b"{}") as answer,
        ):
            assert "Error" in await answer.json()
        # Each program before it has replaced itself.
        assert _accounts(program.pid) == [str(ACCOUNT)] * 4
    finally:
        code = await program.stop()
    assert code == 0


def _accounts(pid: int) -> list[str]:
    """Real, effective, saved and file-system account of a process."""
    (line,) = (
        each for each in Path(f"/proc/{pid}/status").read_text().splitlines() if each.startswith("Uid:")
    )
    return line.split()[1:]


# -- structure -----------------------------------------------------------------------------------------------


def members(layers: Sequence[Path]) -> dict[str, tuple[tarfile.TarInfo, bytes]]:
    found = {}
    for each in layers:
        with tarfile.open(each) as opened:
            for member in opened:
                contents = opened.extractfile(member).read(64) if member.isfile() else b""  # type: ignore[union-attr]
                found[member.name] = (member, contents)
    return found


@pytest.mark.parametrize("architecture", MACHINES)
def test_every_program_and_shared_object_is_of_its_machine(
    layers: dict[str, list[Path]], architecture: str
) -> None:
    found = {
        name: struct.unpack_from("<H", start, 18)[0]
        for name, (_, start) in members(layers[architecture]).items()
        if start.startswith(b"\x7fELF")
    }
    assert {name for name, machine in found.items() if machine != MACHINES[architecture]} == set()
    assert {"usr/bin/python3.11"} < set(found)
    assert len(found) > 80


@pytest.mark.parametrize("architecture", MACHINES)
def test_everything_belongs_to_root_and_is_of_no_time(
    layers: dict[str, list[Path]], architecture: str
) -> None:
    found = members(layers[architecture])
    wrong = {
        name
        for name, (member, _) in found.items()
        if (member.uid, member.gid, member.mtime) != (0, 0, 0)
        or member.mode & 0o6000
        or (member.mode & 0o022 and not member.mode & 0o1000)
    }
    assert wrong == set()
    assert not {"usr/bin/sh", "usr/bin/dash", "usr/bin/bash", "usr/bin/apt"} & set(found)
    assert "usr/share/doc/libc6/copyright" in found


@pytest.mark.parametrize("architecture", MACHINES)
def test_every_module_is_compiled_and_never_checked_against_its_source(
    layers: dict[str, list[Path]], architecture: str
) -> None:
    found = members(layers[architecture])
    sources = {name for name in found if name.endswith(".py")}
    compiled = {
        f"{folder}{name.split('.')[0]}.py"
        for each, (_, start) in found.items()
        for folder, cached, name in [each.rpartition("__pycache__/")]
        if cached and struct.unpack_from("<I", start, 4)[0] == 1
    }
    assert sources == compiled
    assert len(sources) > 1000


def test_both_architectures_have_the_same_modules(layers: dict[str, list[Path]]) -> None:
    site = "usr/lib/python3/dist-packages/"
    modules = [
        {name for name in members(layers[each]) if name.startswith(site) and name.endswith(".py")}
        for each in MACHINES
    ]
    assert modules[0] == modules[1]


@root_only
def test_every_shared_object_finds_its_libraries(root_of_amd64: Path, tmp_path: Path) -> None:
    """The loader of the image resolves them, as it does when a module is imported."""
    objects = [
        f"/{each.relative_to(root_of_amd64)}"
        for each in sorted(root_of_amd64.rglob("*.so*"))
        if each.is_file() and not each.is_symlink() and each.read_bytes()[:4] == b"\x7fELF"
    ]
    code = """
import ctypes, json, sys
failed = {}
for path in json.loads(sys.argv[1]):
    try:
        ctypes.CDLL(path)
    except OSError as error:
        failed[path] = str(error)
print(json.dumps(failed))
"""
    command = in_image(
        root_of_amd64,
        tmp_path,
        ACCOUNT,
        ENVIRONMENT,
        ["/usr/bin/python3.11", "-c", code, json.dumps(objects)],
    )
    said = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    failed = {
        path: text for path, text in json.loads(said.stdout).items() if "cannot open shared object" in text
    }
    assert failed == {}, said.stderr
