"""Complete reports about invalid request bodies, made by pydantic.

Used only after the fast decoder has failed, so its cost does not matter. A report never contains values of
the body.
"""

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field, ValidationError

_MOST = 5
_LONGEST = 600


class _Metadata(BaseModel):
    uid: str
    name: str = ""
    namespace: str = ""
    resource_version: str = Field(default="", alias="resourceVersion")
    creation_timestamp: str | None = Field(default=None, alias="creationTimestamp")
    labels: dict[str, str] | None = None
    annotations: dict[str, str] | None = None


class _ResourcesShape(BaseModel):
    requests: dict[str, str | int | float | None] | None = None


class _Container(BaseModel):
    name: str = ""
    resources: _ResourcesShape | None = None


class _SpecShape(BaseModel):
    scheduler_name: str = Field(default="", alias="schedulerName")
    node_name: str = Field(default="", alias="nodeName")
    priority: int | None = None
    containers: list[_Container] | None = None
    init_containers: list[_Container] | None = Field(default=None, alias="initContainers")


class _Pod(BaseModel):
    metadata: _Metadata
    spec: _SpecShape = Field(default_factory=_SpecShape)
    status: dict[str, Any] = Field(default_factory=dict)


class _NodeMetadata(BaseModel):
    name: str = ""


class _Node(BaseModel):
    metadata: _NodeMetadata


class _Nodes(BaseModel):
    items: list[_Node] | None = None


class _FilterArgs(BaseModel):
    Pod: _Pod
    NodeNames: list[str] | None = None
    Nodes: _Nodes | None = None


class _MetaPodShape(BaseModel):
    UID: str


class _MetaVictimsShape(BaseModel):
    Pods: list[_MetaPodShape | None] | None = None
    NumPDBViolations: int = 0


class _Victims(BaseModel):
    Pods: list[_Pod | None] | None = None
    NumPDBViolations: int = 0


class _PreemptArgs(BaseModel):
    Pod: _Pod
    NodeNameToMetaVictims: dict[str, _MetaVictimsShape | None] | None = None
    NodeNameToVictims: dict[str, _Victims | None] | None = None


class _BindArgsShape(BaseModel):
    PodName: str
    PodNamespace: str
    PodUID: str
    Node: str


_TWINS: Mapping[str, type[BaseModel]] = {
    "filter": _FilterArgs,
    "preempt": _PreemptArgs,
    "bind": _BindArgsShape,
    "pod": _Pod,
}


def report_on(kind: str, body: bytes) -> str:
    """Errors in a body with their places, at most five. Empty if none is found.

    ``kind``: filter (also for prioritize), preempt, bind, or pod.
    """
    try:
        _TWINS[kind].model_validate_json(body, strict=True)
    except ValidationError as error:
        found = error.errors(include_url=False, include_context=False, include_input=False)
        lines = [f"{'.'.join(str(step) for step in each['loc']) or 'body'}: {each['msg']}" for each in found]
        more = [f"and {len(lines) - _MOST} more"] if len(lines) > _MOST else []
        return "; ".join([*lines[:_MOST], *more])[:_LONGEST]
    return ""
