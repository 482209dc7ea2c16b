"""ConfigMap with the queue document: read as it is now, and written over the version that was read."""

from collections.abc import Callable, Mapping
from typing import Any

import msgspec

from extender.configuration.edit import NotThere, NotWritten, Overtaken
from extender.configuration.sources import CONFIGS_NAME
from extender.kube.connection.api import (
    ApiError,
    Conflict,
    Forbidden,
    KubeError,
    NotFound,
    Unreachable,
    segment,
)
from extender.kube.connection.client import ApiClient

_NO_RIGHT = f"Paddock's account may not read or write ConfigMap {CONFIGS_NAME}: set admin.config in the chart"
_LOST = "the answer of the API server was lost: repeat the request, which writes nothing twice"


class ConfigMapStore:
    """The ConfigMap. ``leads``: True while this instance may write."""

    def __init__(self, client: ApiClient, namespace: str, *, leads: Callable[[], bool]) -> None:
        self._client = client
        self._path = f"/api/v1/namespaces/{segment(namespace)}/configmaps/{CONFIGS_NAME}"
        self._leads = leads

    async def read(self) -> Mapping[str, Any]:
        """The whole object. Raises `NotThere` or `NotWritten`."""
        try:
            return _object_from(await self._client.get(self._path))
        except NotFound:
            raise NotThere(CONFIGS_NAME) from None
        except Forbidden:
            raise NotWritten(_NO_RIGHT) from None
        except KubeError:
            raise NotWritten("the API server does not answer: repeat the request") from None

    async def write(self, key: str, text: str, version: str) -> str:
        """Store a text under a key of ``data``, over a version. Returns the new version.

        Other keys stay as they are. Raises `Overtaken`, `NotThere` or `NotWritten`.
        """
        if not self._leads():
            raise NotWritten("this instance does not lead: repeat the request")
        body = msgspec.json.encode({"metadata": {"resourceVersion": version}, "data": {key: text}})
        try:
            raw = await self._client.patch(self._path, body, may_send=self._leads)
        except NotFound:
            raise NotThere(CONFIGS_NAME) from None
        except Conflict:
            raise Overtaken(CONFIGS_NAME) from None
        except Forbidden:
            raise NotWritten(_NO_RIGHT) from None
        except ApiError as error:
            raise NotWritten(f"the API server refused the write: {error.message[:200]}") from None
        except Unreachable as error:
            why = _LOST if error.sent else "the API server does not answer: repeat the request"
            raise NotWritten(why) from None
        except KubeError:
            raise NotWritten("this instance does not lead any more: repeat the request") from None
        return str(_object_from(raw)["metadata"]["resourceVersion"])


def _object_from(raw: bytes) -> Mapping[str, Any]:
    """Read an object that has a version. Raises `NotWritten`."""
    try:
        found: Any = msgspec.json.decode(raw)
        if isinstance(found["metadata"]["resourceVersion"], str):
            return dict(found)
    except (msgspec.MsgspecError, UnicodeError, KeyError, TypeError):
        pass
    raise NotWritten("the API server's answer is no ConfigMap: repeat the request")
