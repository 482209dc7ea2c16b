"""Volumes of a pod as files of the host, filled from the objects that the API server has."""

import os
from base64 import b64decode
from collections.abc import Mapping
from pathlib import Path

from e2e.cluster.client import ApiFailure, Cluster, Object, path_of
from e2e.pods.containers import Mount

TOKENS = "/var/run/secrets/kubernetes.io/serviceaccount"


class Volumes:
    """The volumes of one pod. ``node``: a folder that plays the root file system of its node."""

    def __init__(self, cluster: Cluster, namespace: str, spec: Object, folder: Path, node: Path) -> None:
        self._cluster = cluster
        self._namespace = namespace
        self._spec = spec
        self._folder = folder
        self._node = node
        self._sources: dict[str, Path | None] = {}
        self._missing: list[Object] = []
        self._sizes: dict[str, str] = {}

    async def fill(self) -> None:
        """Fetch what the volumes hold. Raises `ApiFailure` for an object that is missing."""
        for volume in self._spec.get("volumes", ()):
            self._sources[volume["name"]] = await self._source(volume)
        if self._spec.get("automountServiceAccountToken", True) and "serviceAccountName" in self._spec:
            await self._fill_token()

    async def fill_late(self) -> bool:
        """Fetch optional Secrets that were missing, as a kubelet does. False if none was missing."""
        missing, self._missing = self._missing, []
        for volume in missing:
            await self._source(volume)
        return bool(missing)

    def mounts(self, container: Object) -> list[Mount]:
        """The mounts of a container. A volume that the pod lacks is an error, as it is for the API server."""
        found = [
            Mount(
                each["mountPath"],
                self._sources[each["name"]],
                each.get("readOnly", False),
                self._sizes.get(each["name"], ""),
            )
            for each in container.get("volumeMounts", ())
        ]
        token = self._folder / "token"
        return [*found, *([Mount(TOKENS, token, read_only=True)] if token.exists() else [])]

    async def _source(self, volume: Object) -> Path | None:
        (kind,) = volume.keys() - {"name"}
        content = volume[kind]
        match kind:
            case "emptyDir":
                self._sizes[volume["name"]] = content.get("sizeLimit", "")
                return None
            case "hostPath":
                return self._of_node(content)
            case "configMap":
                data = await self._get("ConfigMap", content["name"])
                return self._written(
                    volume["name"], {key: text.encode() for key, text in data.items()}, 0o644
                )
            case "secret":
                try:
                    data = await self._get("Secret", content["secretName"])
                except ApiFailure as failure:
                    if failure.status != 404 or not content.get("optional"):
                        raise
                    self._missing.append(volume)
                    data = {}
                decoded = {key: b64decode(text) for key, text in data.items()}
                return self._written(volume["name"], decoded, content.get("defaultMode", 0o644))
        raise AssertionError(f"volumes of {kind} are not played")

    def _of_node(self, content: Object) -> Path:
        path: str = content["path"]
        found = self._node / path.lstrip("/")
        assert found.exists(), f"the node has no {content['path']}"
        assert found.is_dir() == (content.get("type") == "Directory")
        return found

    async def _get(self, kind: str, name: str) -> Mapping[str, str]:
        found = await self._cluster.request("GET", path_of(kind, self._namespace, name))
        data: Mapping[str, str] = found.get("data", {})
        return data

    def _written(self, name: str, files: Mapping[str, bytes], mode: int) -> Path:
        """Files of root, and of the pod's group if it names one."""
        folder = self._folder / name
        folder.mkdir(parents=True, exist_ok=True)
        group = self._spec.get("securityContext", {}).get("fsGroup", 0)
        for key, content in files.items():
            path = folder / key
            path.write_bytes(content)
            os.chown(path, 0, group)
            path.chmod(mode)
        return folder

    async def _fill_token(self) -> None:
        path = f"{path_of('ServiceAccount', self._namespace, self._spec['serviceAccountName'])}/token"
        asked = {"spec": {"expirationSeconds": 3607}}
        found = await self._cluster.request("POST", path, asked)
        files = {
            "token": found["status"]["token"].encode(),
            "namespace": self._namespace.encode(),
            "ca.crt": self._cluster.control_plane.authority,
        }
        self._written("token", files, 0o644)
