"""The aggregated API paddock.dev: discovery, its own resources, and the right that each path needs.

The API server forwards all requests below the path of the APIService, and checks RBAC for the same paths. The
routes of REST-4 are subresources of one object, ``ws/v1``. The plans of preemption are the object
``debug/preemptions``.
"""

import hashlib
import re
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from aiohttp import web
from aiohttp.typedefs import Handler

from extender.http.access.delegated import path_access_of
from extender.http.endpoints import ANY_METHOD, Endpoint
from extender.http.statuses import status_response
from extender.identity.caller import Access, ResourceAccess
from extender.identity.refusals import NotAllowed

GROUP, VERSION = "paddock.dev", "v1alpha1"
ROOT = f"/apis/{GROUP}/{VERSION}"
OPENAPI = "/openapi/v3"

WEB_SERVICES = "ws"
EXPLANATIONS, ACTIONS, QUEUES = "explanations", "actions", "queues"
DEBUG = "debug"

PLANS = f"/{DEBUG}/preemptions"
"""Route of the recent plans of preemption, also below `ROOT`."""

READ = (
    *("clusters", "config", "events", "history", "metrics"),
    *("partition", "partitions", "scheduler"),
)
"""First path elements of the routes of REST-4 that read."""

WRITTEN = "config"
"""The one of them that may be written, too."""

CHECKED = ("compare-conf", "validate-conf")
"""First path elements of the routes of REST-4 with a body. These change nothing either."""

_WEB_SERVICE = re.compile(rf"/(\{{{WEB_SERVICES}:[^}}]*\}}|{WEB_SERVICES})/")
"""A pattern of a path whose first element is `WEB_SERVICES`, in whatever letter case."""

_VERBS = {
    "GET": "get",
    "HEAD": "get",
    "POST": "create",
    "PUT": "update",
    "PATCH": "patch",
    "DELETE": "delete",
}
NAMES = ResourceAccess("get", GROUP, WEB_SERVICES, "partition", name="v1")
"""Right of those whom explanations name pods and applications of all namespaces."""

_OF_ALL = {"get": "list", "delete": "deletecollection"}


def aggregated_access_of(request: web.Request) -> Access | None:
    """Return the right that a request needs, as the API server reads its path; None for discovery.

    Raises `NotAllowed` for a request that RBAC cannot name.
    """
    path = path_access_of(request).path
    if not path.startswith(f"{ROOT}/"):
        return None
    parts = path.removeprefix(ROOT).strip("/").split("/")
    namespace = ""
    if len(parts) > 2 and parts[0] == "namespaces":
        namespace, parts = parts[1], parts[2:]
    verb = _VERBS.get(request.method, "")
    resource, name, subresource = [*parts, "", "", ""][:3]
    if not resource or not verb:
        raise NotAllowed
    verb = verb if name else _OF_ALL.get(verb, verb)
    return ResourceAccess(verb, GROUP, resource, subresource, namespace=namespace, name=name)


def below_root(endpoints: Sequence[Endpoint]) -> list[Endpoint]:
    """Routes that the aggregated API has too: those of REST-4, and the plans of preemption."""
    return [each for each in endpoints if _WEB_SERVICE.match(each.path) or each.path == PLANS]


def rest_access_of(request: web.Request) -> Access | None:
    """Return the right that a request at the REST port needs: a resource below `ROOT`, else a path."""
    if request.rel_url.path_safe.startswith(f"{ROOT}/"):
        return aggregated_access_of(request)
    return path_access_of(request)


def resource_endpoints() -> tuple[Endpoint, ...]:
    """Return the group's resources that no other module answers, with paths below `ROOT`."""
    return (
        Endpoint("GET", f"/{QUEUES}", _not_yet("queues are answered below ws/v1/partition")),
        Endpoint("GET", f"/{QUEUES}/{{name}}", _not_yet("queues are answered below ws/v1/partition")),
    )


async def _refused(_request: web.Request) -> web.Response:
    return status_response(403, "actions need a login: ask the API server for them")


ACTIONS_REFUSED = Endpoint(ANY_METHOD, f"{ROOT}/{ACTIONS}", _refused)
"""Endpoint for listeners without a login, which refuse every action."""


def discovery_endpoints() -> tuple[Endpoint, ...]:
    """Return the endpoints for groups, resources and OpenAPI, as ``kubectl api-resources`` reads them."""
    page = f"{OPENAPI}{ROOT}"
    schema = _encoded(_schema())
    tag = hashlib.sha256(schema).hexdigest().upper()
    pages = {"paths": {ROOT.strip("/"): {"serverRelativeURL": f"{page}?hash={tag}"}}}
    documents = {
        "/apis": _encoded({"kind": "APIGroupList", "apiVersion": "v1", "groups": [_group()]}),
        f"/apis/{GROUP}": _encoded({"kind": "APIGroup", "apiVersion": "v1", **_group()}),
        ROOT: _encoded(_resources()),
        OPENAPI: _encoded(pages),
        page: schema,
    }
    return tuple(Endpoint("GET", path, _answering(body)) for path, body in documents.items())


def _encoded(document: Mapping[str, Any]) -> bytes:
    return msgspec.json.encode(document)


def _answering(body: bytes) -> Handler:
    async def answer(_request: web.Request) -> web.Response:
        return web.Response(body=body, content_type="application/json")

    return answer


def _not_yet(message: str) -> Handler:
    async def answer(_request: web.Request) -> web.Response:
        return status_response(501, message)

    return answer


def _group() -> dict[str, Any]:
    version = {"groupVersion": f"{GROUP}/{VERSION}", "version": VERSION}
    return {"name": GROUP, "versions": [version], "preferredVersion": version}


def _resources() -> dict[str, Any]:
    cluster_wide = [(WEB_SERVICES, "WebService", ["get"]), (QUEUES, "Queue", ["get", "list"])]
    cluster_wide += [(f"{WEB_SERVICES}/{name}", "WebService", ["get"]) for name in READ if name != WRITTEN]
    cluster_wide += [(f"{WEB_SERVICES}/{name}", "WebService", ["create"]) for name in CHECKED]
    cluster_wide += [(f"{WEB_SERVICES}/{WRITTEN}", "WebService", ["get", "update"])]
    cluster_wide += [(ACTIONS, "Action", ["create"]), (DEBUG, "Debug", ["get"])]
    listed = [_resource(*each, namespaced=False) for each in cluster_wide]
    listed += [_resource(EXPLANATIONS, "Explanation", ["create", "get"], namespaced=True)]
    return {
        "kind": "APIResourceList",
        "apiVersion": "v1",
        "groupVersion": f"{GROUP}/{VERSION}",
        "resources": sorted(listed, key=lambda each: each["name"]),
    }


def _resource(name: str, kind: str, verbs: list[str], *, namespaced: bool) -> dict[str, Any]:
    singular = "" if "/" in name else kind.lower()
    return {"name": name, "singularName": singular, "namespaced": namespaced, "kind": kind, "verbs": verbs}


def _schema() -> dict[str, Any]:
    """Return an OpenAPI document without schemas, since the answers are not Kubernetes objects."""
    return {"openapi": "3.0.0", "info": {"title": "Paddock", "version": VERSION}, "paths": {}}
