"""The part of kubernetes_asyncio that reads kubeconfigs, without its models and clients.

The library imports 870 modules of these with itself, which is 34 MB. None of them is used (DESIGN-11).
"""

import sys
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

_LIBRARY = "kubernetes_asyncio"


class NoClient:
    """Stand-in for the library's client, which its loaders only name."""


def _open_empty(name: str, folder: Path) -> ModuleType:
    """Register a package whose modules can be imported, and whose own file is not run."""
    package = ModuleType(name)
    package.__path__ = [str(folder)]
    sys.modules[name] = package
    return package


def _leave_out_models() -> None:
    """Register the packages that would import all models, unless somebody has imported them."""
    found = find_spec(_LIBRARY) if _LIBRARY not in sys.modules else None
    if found is None or not found.submodule_search_locations:
        return
    folder = Path(found.submodule_search_locations[0])
    _open_empty(_LIBRARY, folder)
    client = _open_empty(f"{_LIBRARY}.client", folder / "client")
    from kubernetes_asyncio.client.configuration import Configuration as Read

    client.__dict__.update(Configuration=Read, ApiClient=NoClient)


_leave_out_models()

from kubernetes_asyncio.client import Configuration  # noqa: E402 - its package must be registered before
from kubernetes_asyncio.config import ConfigException  # noqa: E402 - as above
from kubernetes_asyncio.config.incluster_config import load_incluster_config  # noqa: E402 - as above
from kubernetes_asyncio.config.kube_config import KubeConfigLoader, load_kube_config  # noqa: E402 - as above

__all__ = [
    "ConfigException",
    "Configuration",
    "KubeConfigLoader",
    "load_incluster_config",
    "load_kube_config",
]
