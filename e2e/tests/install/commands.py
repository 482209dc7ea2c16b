"""Command lines of `helm` and `kubectl` against a test's API server, as its administrator types them."""

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from e2e.cluster.client import Cluster, Object
from e2e.programs.binaries import binary
from e2e.programs.helm import CHART, HELM, is_built

IMAGES = {"images": {"paddock": {"repository": "r/paddock"}, "scheduler": {"repository": "r/kube-scheduler"}}}
_DEADLINE = 150.0


class CommandFailed(AssertionError):
    """A command that ended with another exit code than 0. The text is what it wrote."""


class Shell:
    """A folder with files, from which commands run. ``cluster``: whose administrator types them."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        assert is_built(), "Helm is not built: run `make helm`"
        self._cluster = cluster
        self.folder = folder

    async def kubectl(self, *arguments: str) -> str:
        return await self._run(binary("kubectl"), *arguments)

    async def helm(self, *arguments: str) -> str:
        return await self._run(HELM, *arguments)

    async def install(self, command: str, values: Mapping[str, Any], *arguments: str) -> str:
        """`helm install`, `upgrade` or `template` of the chart."""
        (self.folder / "values.yaml").write_text(yaml.safe_dump({**IMAGES, **values}))
        common = ("paddock", str(CHART), "--namespace=paddock-system", "--values=values.yaml")
        return await self.helm(command, *common, *arguments)

    async def objects(self, file: str) -> dict[str, Object]:
        """Each object of a file as the API server has it, without what it notes about it."""
        found = json.loads(await self.kubectl("get", "-f", file, "-o", "json"))["items"]
        return {f"{each['kind']} {each['metadata']['name']}": _plain(each) for each in found}

    async def _run(self, program: Path, *arguments: str) -> str:
        kubeconfig = self._cluster.control_plane.kubeconfig("admin")
        process = await asyncio.create_subprocess_exec(
            program,
            *arguments,
            cwd=self.folder,
            env={"KUBECONFIG": str(kubeconfig), "HOME": str(self.folder), "PATH": ""},
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
        )
        out, problems = await asyncio.wait_for(process.communicate(), _DEADLINE)
        if process.returncode:
            raise CommandFailed(f"{program.name} {' '.join(arguments)}: {problems.decode()}")
        return out.decode()


def _plain(thing: Object) -> Object:
    thing.pop("status", None)
    for name in ("managedFields", "resourceVersion"):
        thing["metadata"].pop(name, None)
    return thing
