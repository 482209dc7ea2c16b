"""Contents of the fake API server: objects, versions, selectors, requests, refusals. No I/O."""

import asyncio
import copy
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import msgspec
from aiohttp import web

JSON_TYPE = "application/json"

Json = dict[str, Any]


@dataclass(frozen=True)
class Request:
    """A received request. ``body``: its bytes; ``raw``: aiohttp's request."""

    method: str
    path: str
    query: Mapping[str, str]
    headers: Mapping[str, str]
    body: bytes
    raw: web.Request = field(repr=False, compare=False)

    @property
    def is_watch(self) -> bool:
        return self.query.get("watch") in ("true", "1")

    @property
    def json(self) -> Any:
        return msgspec.json.decode(self.body)


@dataclass(frozen=True)
class Target:
    """The parts of a path: ``/api/v1/namespaces/{namespace}/{resource}/{name}/{sub}``."""

    group: str
    resource: str
    namespace: str = ""
    name: str = ""
    sub: str = ""

    @classmethod
    def of(cls, path: str) -> "Target":
        parts = path.strip("/").split("/")
        group = "/".join(parts[: 2 if parts[0] == "api" else 3])
        rest = parts[2 if parts[0] == "api" else 3 :]
        namespace = ""
        if rest[0] == "namespaces" and len(rest) > 2:
            namespace, rest = rest[1], rest[2:]
        return cls(group, rest[0], namespace, *rest[1:3])


@dataclass(frozen=True)
class Stored:
    version: int
    object: Json
    encoded: bytes


@dataclass(frozen=True)
class Change:
    target: Target
    version: int
    before: Json | None
    after: Stored | None


@dataclass(eq=False)
class Watcher:
    """A watch. ``outbox``: bytes to send, None to end cleanly, or "abort" to cut the connection."""

    target: Target
    selector: str
    version: int
    outbox: "asyncio.Queue[bytes | str | None]" = field(default_factory=asyncio.Queue)


def pass_on(change: Change, watcher: Watcher) -> None:
    """Queue the change for a watch, as the event that it is under the watch's selector."""
    target, wanted = change.target, watcher.target
    same = (target.group, target.resource) == (wanted.group, wanted.resource)
    if not same or change.version <= watcher.version or wanted.namespace not in ("", target.namespace):
        return
    old = change.before if change.before and selects(watcher.selector, change.before) else None
    new = change.after if change.after and selects(watcher.selector, change.after.object) else None
    if new is not None:
        kind, body = b"MODIFIED" if old else b"ADDED", new.encoded
    elif old is not None:
        meta = {**old["metadata"], "resourceVersion": str(change.version)}
        kind, body = b"DELETED", msgspec.json.encode({**old, "metadata": meta})
    else:
        return
    watcher.outbox.put_nowait(b'{"type":"%s","object":%s}\n' % (kind, body))


def selects(selector: str, obj: Json) -> bool:
    """True if a field selector (``a.b=c,d!=e``) admits the object; an absent field is empty."""
    for term in filter(None, selector.split(",")):
        path, _, value = term.partition("=")
        node: Any = obj
        for word in path.rstrip("!").split("."):
            node = node.get(word, "") if isinstance(node, dict) else ""
        if (node == value) == path.endswith("!"):
            return False
    return True


def merged(old: Any, patch: Any) -> Any:
    """JSON merge patch. Lists of objects with a ``type`` (conditions) merge by it, as strategic ones do."""
    if isinstance(old, dict) and isinstance(patch, dict):
        result = {name: value for name, value in old.items() if patch.get(name, ...) is not None}
        return result | {
            name: merged(old.get(name, {}), value) for name, value in patch.items() if value is not None
        }
    if isinstance(patch, list) and patch and isinstance(old, list) and "type" in patch[0]:
        by_type = {entry["type"]: entry for entry in old} | {entry["type"]: entry for entry in patch}
        return list(by_type.values())
    return patch


def patched_by(request: Request, old: Json) -> Json:
    """The object after a JSON patch or a merge patch.

    Answers 422 if a JSON patch does not fit, and 409 if a merge patch names another version.
    """
    if "json-patch" not in request.headers["Content-Type"]:
        version = request.json.get("metadata", {}).get("resourceVersion")
        if version not in (None, old["metadata"].get("resourceVersion")):
            raise web.HTTPConflict(reason="the object has been modified")
        found: Json = merged(old, request.json)
        return found
    try:
        found = patched(copy.deepcopy(old), request.json)
    except (LookupError, ValueError) as error:
        raise web.HTTPUnprocessableEntity(reason=f"the patch does not fit: {error}") from None
    return found


def patched(thing: Any, patch: list[Json]) -> Any:
    """JSON patch with the operations ``add`` and ``test``. Raises LookupError or ValueError if one fails."""
    for change in patch:
        *steps, last = (each.replace("~1", "/").replace("~0", "~") for each in change["path"][1:].split("/"))
        place = thing
        for step in steps:
            place = place[int(step) if isinstance(place, list) else step]
        key = int(last) if isinstance(place, list) and last != "-" else last
        if change["op"] == "test" and place[key] != change["value"]:
            raise ValueError(change["path"])
        if change["op"] == "add" and isinstance(place, list):
            place.insert(len(place) if key == "-" else key, change["value"])
        elif change["op"] == "add":
            place[key] = change["value"]
    return thing


def refusal(
    status: int,
    message: str,
    *,
    reason: str = "",
    causes: tuple[Json, ...] = (),
    headers: Mapping[str, str] | None = None,
) -> web.Response:
    """An answer with a ``Status`` body."""
    body = {"kind": "Status", "code": status, "reason": reason, "message": message}
    return web.Response(
        body=msgspec.json.encode({**body, "details": {"causes": causes}}),
        status=status,
        content_type=JSON_TYPE,
        headers=headers,
    )
