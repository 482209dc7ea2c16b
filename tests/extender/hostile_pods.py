"""Huge pods that a tenant may create, in the most expensive shapes. No tests."""

import json
from collections.abc import Callable
from typing import Any

Shape = Callable[[int], dict[str, Any]]
"""Additional fields of a pod, by its number."""

USER_INFO = "yunikorn.apache.org/user.info"
TASK_GROUPS = "yunikorn.apache.org/task-groups"
TASK_GROUP = "yunikorn.apache.org/task-group-name"


def pod_of(number: int, *, spec: Any = None, labels: Any = None, annotations: Any = None) -> bytes:
    """A pending pod of one core in ``root.a``, as JSON."""
    usual = {"containers": [{"name": "main", "resources": {"requests": {"cpu": "1"}}}]}
    names = {"yunikorn.apache.org/app-id": "app", "yunikorn.apache.org/queue": "root.a"}
    return json.dumps(
        {
            "metadata": {
                "name": f"p{number}",
                "namespace": "default",
                "uid": f"uid-{number}",
                "resourceVersion": "1",
                "creationTimestamp": "1970-01-12T13:46:40Z",
                "labels": {**names, **(labels or {})},
                "annotations": annotations or {},
            },
            "spec": {"schedulerName": "yunikorn", **usual, **(spec or {})},
        }
    ).encode()


def needing(*terms: dict[str, Any]) -> dict[str, Any]:
    required = {"nodeSelectorTerms": list(terms)}
    affinity = {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": required}}
    return {"spec": {"affinity": affinity}}


def expressions(*keys: str, values: int = 1) -> dict[str, Any]:
    found = [f"v{at}" for at in range(values)]
    return {"matchExpressions": [{"key": key, "operator": "In", "values": found} for key in keys]}


def asking(count: int, names: int, kind: str = "containers", **more: str) -> dict[str, Any]:
    made = [
        {
            "name": f"c{at}",
            "resources": {"requests": {f"example.com/r{at}-{name}": "1" for name in range(names)}},
            **more,
        }
        for at in range(count)
    ]
    return {"spec": {kind: made}}


def annotated(key: str, value: object) -> dict[str, Any]:
    text = value if isinstance(value, str) else json.dumps(value)
    return {"annotations": {key: text}}


def grouped(count: int) -> dict[str, Any]:
    groups = [{"name": f"g{at}", "minMember": 1, "minResource": {"cpu": "1"}} for at in range(count)]
    return {"annotations": {TASK_GROUP: "g0", TASK_GROUPS: json.dumps(groups)}}


SHAPES: dict[str, Shape] = {
    "14,000 terms": lambda _: needing(*(expressions(f"k{at}") for at in range(14_000))),
    "1,000 terms": lambda _: needing(*(expressions(f"k{at}") for at in range(1_000))),
    "1,000 equal terms": lambda _: needing(*(expressions("k") for _ in range(1_000))),
    "31 terms of its own": lambda number: needing(*(expressions(f"k{number}-{at}") for at in range(31))),
    "a term of 5,000 expressions": lambda _: needing(expressions(*(f"k{at}" for at in range(5_000)))),
    "an expression of 20,000 values": lambda _: needing(expressions("k", values=20_000)),
    "an expression of 900 values": lambda _: needing(expressions("k", values=900)),
    "5,000 labels selected": lambda _: {"spec": {"nodeSelector": {f"k{at}": "v" for at in range(5_000)}}},
    "a label selected of its own": lambda number: {"spec": {"nodeSelector": {f"k{number}": "v"}}},
    "10,000 tolerations": lambda _: {
        "spec": {"tolerations": [{"key": f"k{at}", "operator": "Exists"} for at in range(10_000)]}
    },
    "60 tolerations of its own": lambda number: {
        "spec": {"tolerations": [{"key": f"k{number}-{at}", "operator": "Exists"} for at in range(60)]}
    },
    "2,000 containers": lambda _: asking(2_000, 1),
    "500 containers of ten kinds": lambda _: asking(500, 10),
    "500 sidecars of ten kinds": lambda _: asking(500, 10, "initContainers", restartPolicy="Always"),
    "10,000 kinds of resources": lambda _: asking(1, 10_000),
    "5,000 topology terms": lambda _: {
        "spec": {
            "topologySpreadConstraints": [
                {"whenUnsatisfiable": "DoNotSchedule", "topologyKey": f"k{at}"} for at in range(5_000)
            ]
        }
    },
    "10,000 groups of its user": lambda _: annotated(
        USER_INFO, {"user": "u", "groups": [f"g{at}" for at in range(10_000)]}
    ),
    "2,000 task groups": lambda _: grouped(2_000),
    "a user's name of 250 KB": lambda _: annotated(
        "yunikorn.apache.org/user.info", json.dumps({"user": "u" * 250_000, "groups": ["g"]})
    ),
    "an application id of 250 KB": lambda _: {
        "labels": {"yunikorn.apache.org/app-id": ""},
        **annotated("yunikorn.apache.org/app-id", "a" * 250_000),
    },
    "a queue of 120,000 levels": lambda _: {
        "labels": {"yunikorn.apache.org/queue": ""},
        **annotated("yunikorn.apache.org/queue", "root." + "a." * 120_000),
    },
    "5,000 labels": lambda _: {"labels": {f"k{at}": "v" for at in range(5_000)}},
    "5,000 gates": lambda _: {"spec": {"schedulingGates": [{"name": f"g{at}"} for at in range(5_000)]}},
}
