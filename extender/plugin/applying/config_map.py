"""ConfigMap with the queue document, read and written by the user's kubectl."""

import hashlib
import json
import re
from dataclasses import dataclass
from typing import Any

from extender.configuration.edit import document_in
from extender.plugin.asked import Asked
from extender.plugin.outcome import FAILED, UNREACHABLE, NotServed, Problem
from extender.plugin.paths import once
from extender.plugin.reaching import kubectl

MANAGER = "kubectl-paddock"
"""Name of the field manager."""

_OVERTAKEN = "was changed meanwhile, so nothing was written: run the command again"

_CHECKSUM = re.compile(rb"checksum: [^\n]{64}")


@dataclass(frozen=True, slots=True)
class ConfigMap:
    """ConfigMap as it was read. ``found``: the object; empty if there is none."""

    namespace: str
    name: str
    found: dict[str, Any]

    @classmethod
    def read(cls, asked: Asked, namespace: str, name: str) -> "ConfigMap":
        """Read it with its managed fields. Raises `Problem`."""
        try:
            text = kubectl(asked, "get", "--raw", f"{_folder(namespace)}/{once(name)}")
        except NotServed as error:
            raise Problem(str(error), UNREACHABLE) from None
        except Problem as error:
            if f'"{name}" not found' not in str(error):
                raise
            return cls(namespace, name, {})
        return cls(namespace, name, json.loads(text))

    @property
    def exists(self) -> bool:
        """True if there is such a ConfigMap."""
        return bool(self.found)

    def checksum(self, key: str) -> str:
        """Checksum of the document that it has (SRC-9); empty without one."""
        text = document_in(self.found, key)
        return "" if text is None else hashlib.sha256(_CHECKSUM.sub(b"", text.encode())).hexdigest().upper()

    def write(self, asked: Asked, key: str, text: str, *, dry_run: bool) -> None:
        """Store a document over the version that was read. Other entries stay. Raises `Problem`."""
        query = f"?fieldManager={MANAGER}" + ("&dryRun=All" if dry_run else "")
        path = _folder(self.namespace)
        if self.exists:
            body = {**self.found, "data": {**(self.found.get("data") or {}), key: text}}
            arguments = ("replace", "--raw", f"{path}/{once(self.name)}{query}", "-f", "-")
        else:
            meta = {"name": self.name, "namespace": self.namespace}
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": meta, "data": {key: text}}
            arguments = ("create", "--raw", f"{path}{query}", "-f", "-")
        try:
            kubectl(asked, *arguments, given=json.dumps(body).encode())
        except NotServed as error:
            raise Problem(
                f"{error}; it is not certain that it was written: run it again", UNREACHABLE
            ) from None
        except Problem as error:
            if "has been modified" in str(error) or "already exists" in str(error):
                raise Problem(f"ConfigMap {self.name} {_OVERTAKEN}", FAILED) from None
            raise


def _folder(namespace: str) -> str:
    return f"/api/v1/namespaces/{once(namespace)}/configmaps"
