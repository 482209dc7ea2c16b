"""Pods as no honest user writes them, drawn from a seed. The API server takes most of them."""

import json
import random
from collections.abc import Callable

from e2e.cluster.client import Object

DOMAIN = "yunikorn.apache.org/"
GROUP = "pod-group.scheduling.x-k8s.io/"

TEXTS = (
    "",
    " ",
    "root",
    "root.mine.theirs",
    "root..mine",
    "@recovery@",
    "root.@recovery@",
    "x" * 10_000,
    "../../etc",
    "\u202e\ufeff\x00"[:2],
    '{"a":',
    "[" * 500,
    "null",
    "-1",
    "9" * 400,
    "1e400",
    "NaN",
)
KEYS = (
    "queue",
    "app-id",
    "user.info",
    "task-groups",
    "task-group-name",
    "schedulingPolicyParameters",
    "allow-preemption",
    "parentqueue",
)
AMOUNTS = ("0", "1n", "1", "3", "1e3", "1Ei", "100000", "1500m")

Change = Callable[[Object, random.Random], None]


def hostile_pod(pod: Object, rng: random.Random) -> Object:
    """A pod with some of the changes below."""
    for change in rng.sample(CHANGES, rng.randint(1, 4)):
        change(pod, rng)
    return pod


def _annotations(pod: Object, rng: random.Random) -> None:
    for key in rng.sample(KEYS, 3):
        pod["metadata"]["annotations"][DOMAIN + key] = rng.choice(TEXTS)


def _labels(pod: Object, rng: random.Random) -> None:
    for key in rng.sample(KEYS[:4], 2):
        pod["metadata"]["labels"][DOMAIN + key] = rng.choice(["", "root.theirs", "root", "x" * 63, "a.b-c_d"])
    pod["metadata"]["labels"][GROUP + "name"] = rng.choice(["g", "x" * 63])
    pod["metadata"]["labels"][GROUP + "min-available"] = rng.choice(["0", "-1", "3", "9" * 63, "x"])


def _large_annotation(pod: Object, rng: random.Random) -> None:
    groups = [{"name": f"g{at}", "minMember": 1, "minResource": {"cpu": "1"}} for at in range(2_000)]
    pod["metadata"]["annotations"][DOMAIN + "task-groups"] = json.dumps(groups)


def _sizes(pod: Object, rng: random.Random) -> None:
    for container in pod["spec"]["containers"]:
        container["resources"]["requests"] = {"cpu": rng.choice(AMOUNTS), "memory": rng.choice(AMOUNTS)}


def _containers(pod: Object, rng: random.Random) -> None:
    resources = {"requests": {"cpu": rng.choice(AMOUNTS)}}
    pod["spec"]["initContainers"] = [
        {"name": f"i{at}", "image": "pause", "resources": resources} for at in range(rng.randint(1, 200))
    ]


def _resource_names(pod: Object, rng: random.Random) -> None:
    for container in pod["spec"]["containers"]:
        extended = {f"example.com/r{at}": "1" for at in range(rng.randint(1, 500))}
        container["resources"] = {"requests": {"cpu": "1", **extended}, "limits": extended}


def _tolerations(pod: Object, rng: random.Random) -> None:
    pod["spec"]["tolerations"] = [
        {"key": f"k{at}", "operator": "Exists"} for at in range(rng.randint(1, 3_000))
    ]


def _affinity(pod: Object, rng: random.Random) -> None:
    operator = rng.choice(["In", "NotIn", "Gt", "Lt"])
    expression = {"key": "k", "operator": operator, "values": ["5"]}
    terms = [{"matchExpressions": [expression] * rng.randint(1, 5)} for _ in range(rng.randint(1, 1_000))]
    required = {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}
    pod["spec"]["affinity"] = {"nodeAffinity": required}


def _owners(pod: Object, rng: random.Random) -> None:
    kind = rng.choice(["DaemonSet", "Job", "Node", "Pod"])
    version = {"DaemonSet": "apps/v1", "Job": "batch/v1"}.get(kind, "v1")
    owner = {"apiVersion": version, "kind": kind, "name": "invented", "uid": "invented", "controller": True}
    pod["metadata"]["ownerReferences"] = [owner]


def _gates(pod: Object, rng: random.Random) -> None:
    names = ["paddock.dev/queue", "example.com/other"]
    pod["spec"]["schedulingGates"] = [{"name": name} for name in rng.sample(names, rng.randint(1, 2))]


def _place(pod: Object, rng: random.Random) -> None:
    pod["spec"]["nodeName"] = rng.choice(["n1", "no-such-node"])


CHANGES: list[Change] = [
    _annotations,
    _labels,
    _large_annotation,
    _sizes,
    _containers,
    _resource_names,
    _tolerations,
    _affinity,
    _owners,
    _gates,
    _place,
]
