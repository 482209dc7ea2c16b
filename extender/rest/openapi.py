"""OpenAPI 3.1 document of the interface, generated from the Structs of its answers."""

import re
from typing import Any

import msgspec

from extender.rest.comparison import ConfigComparison
from extender.rest.model.answer import Answer, Fault
from extender.rest.model.applications import App
from extender.rest.model.cluster import Cluster, Partition
from extender.rest.model.config import Config
from extender.rest.model.events import EventBatch, StreamHead
from extender.rest.model.explanations import Explanation, Simulation
from extender.rest.model.health import Health
from extender.rest.model.histories import ApplicationSample, ContainerSample, QueuePast
from extender.rest.model.nodes import Node, NodeUtilizations
from extender.rest.model.pending import Pending
from extender.rest.model.placement import Rule
from extender.rest.model.queues import Queue
from extender.rest.model.usage import GroupUsage, UserUsage

_PARTITION = "/ws/v1/partition/:partition"

EXPLANATION = "/apis/paddock.dev/v1alpha1/namespaces/:namespace/explanations/:name"
"""Path of explanations, as the aggregated API has it."""

SIMULATION = "/apis/paddock.dev/v1alpha1/namespaces/:namespace/explanations"
"""Path of simulations, which are asked for with a body."""

COMPARISON = "/ws/v1/compare-conf"
"""Path of comparisons of queue documents, which are asked for with a body."""

ANSWERS: dict[str, tuple[type[Answer], bool]] = {
    EXPLANATION: (Explanation, False),
    SIMULATION: (Simulation, False),
    "/ws/v1/clusters": (Cluster, True),
    COMPARISON: (ConfigComparison, False),
    "/ws/v1/config": (Config, False),
    "/ws/v1/partitions": (Partition, True),
    f"{_PARTITION}/pending": (Pending, False),
    f"{_PARTITION}/placementrules": (Rule, True),
    f"{_PARTITION}/queues": (Queue, False),
    f"{_PARTITION}/queue/:queue": (Queue, False),
    f"{_PARTITION}/queue/:queue/applications": (App, True),
    f"{_PARTITION}/queue/:queue/applications/:state": (App, True),
    f"{_PARTITION}/queue/:queue/application/:application": (App, False),
    f"{_PARTITION}/applications/:state": (App, True),
    f"{_PARTITION}/application/:application": (App, False),
    f"{_PARTITION}/nodes": (Node, True),
    f"{_PARTITION}/node/:node": (Node, False),
    f"{_PARTITION}/usage/users": (UserUsage, True),
    f"{_PARTITION}/usage/user/:user": (UserUsage, False),
    f"{_PARTITION}/usage/groups": (GroupUsage, True),
    f"{_PARTITION}/usage/group/:group": (GroupUsage, False),
    "/ws/v1/scheduler/node-utilizations": (NodeUtilizations, True),
    "/ws/v1/scheduler/healthcheck": (Health, False),
    "/ws/v1/history/apps": (ApplicationSample, True),
    "/ws/v1/history/containers": (ContainerSample, True),
    "/ws/v1/history/queue/:queue": (QueuePast, False),
    "/ws/v1/events/batch": (EventBatch, False),
    "/ws/v1/events/stream": (StreamHead, False),
}
"""Type of the answer by path. True: the answer is a list of that type."""

QUERIES: dict[str, tuple[str, ...]] = {
    EXPLANATION: ("of",),
    f"{_PARTITION}/queue/:queue": ("subtree",),
    f"{_PARTITION}/queue/:queue/applications/:state": ("status",),
    f"{_PARTITION}/applications/:state": ("status",),
    f"{_PARTITION}/pending": ("queue", "node", "count"),
    "/ws/v1/history/queue/:queue": ("span", "resource"),
    "/ws/v1/events/batch": ("start", "count"),
    "/ws/v1/events/stream": ("count",),
}
"""Names of query parameters by path."""

_NAME = re.compile(r":(\w+)")


def openapi_document(version: str) -> dict[str, Any]:
    """Build the document. ``version``: Paddock's version."""
    structs = sorted({struct for struct, _ in ANSWERS.values()} | {Fault}, key=lambda each: each.__name__)
    references, schemas = msgspec.json.schema_components(structs, ref_template="#/components/schemas/{name}")
    by_struct = dict(zip(structs, references, strict=True))
    return {
        "openapi": "3.1.0",
        "info": {"title": "Paddock", "version": version},
        "paths": {
            _NAME.sub(r"{\1}", path): _path(path, by_struct[struct], by_struct[Fault], many=many)
            for path, (struct, many) in sorted(ANSWERS.items())
        },
        "components": {"schemas": dict(sorted(schemas.items()))},
    }


def _path(path: str, schema: dict[str, Any], fault: dict[str, Any], *, many: bool) -> dict[str, Any]:
    answer = {"type": "array", "items": schema} if many else schema
    return {
        "post" if path in (COMPARISON, SIMULATION) else "get": {
            "parameters": [
                *(_parameter(name, "path") for name in _NAME.findall(path)),
                *(_parameter(name, "query") for name in QUERIES.get(path, ())),
            ],
            "responses": {"200": _response("Answer", answer), "default": _response("Fault", fault)},
        }
    }


def _parameter(name: str, place: str) -> dict[str, Any]:
    return {"name": name, "in": place, "required": place == "path", "schema": {"type": "string"}}


def _response(description: str, schema: dict[str, Any]) -> dict[str, Any]:
    return {"description": description, "content": {"application/json": {"schema": schema}}}
