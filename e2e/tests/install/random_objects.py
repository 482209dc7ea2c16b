"""Random pods and workloads, with the keys, names and fields that the rules read."""

import random
from collections.abc import Iterator
from typing import Any

from e2e.cluster.client import Object

DOMAIN = "yunikorn.apache.org/"
INFO = f"{DOMAIN}user.info"
_LABELS = (
    f"{DOMAIN}app-id",
    f"{DOMAIN}queue",
    "applicationId",
    "queue",
    "spark-app-selector",
    "app",
    "other",
)
_ANNOTATIONS = (f"{DOMAIN}app-id", f"{DOMAIN}queue", INFO, "other")
_VALUES = ("", "a", "root.a", "yunikorn", "x-1")
_SCHEDULERS = ("", "", "default-scheduler", "yunikorn", "paddock", "other")
_GATES: tuple[list[Object], ...] = (
    [],
    [],
    [{"name": "other"}],
    [{"name": "paddock.dev/queue"}],
    [{"name": "other"}, {"name": "paddock.dev/queue"}],
)
_AMOUNTS: tuple[Object | None, ...] = (
    None,
    {},
    {"requests": {"cpu": "100m"}},
    {"limits": {"memory": "64Mi"}},
    {"requests": {"paddock.dev/filter": "1"}, "limits": {"paddock.dev/filter": "1"}},
)
USERS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("alice", ()),
    ("CN=bob,O=\"the 'best'\"", ("a\\b", "g")),
    ("system:serviceaccount:team:runner", ("system:serviceaccounts",)),
    ("system:serviceaccount:kube-system:job-controller", ("system:serviceaccounts",)),
    ("system:kube-controller-manager", ()),
    ("system:node:n1", ("system:nodes",)),
)
"""Names and groups of callers."""


def random_pods(number: int, seed: int) -> Iterator[Object]:
    """Pods without a namespace."""
    chance = random.Random(seed)
    for at in range(number):
        spec: Object = {
            "containers": [_container(chance, f"c{each}") for each in range(chance.choice((1, 1, 2)))],
        }
        if name := chance.choice(_SCHEDULERS):
            spec["schedulerName"] = name
        # The API server refuses a pod with both.
        if chance.random() < 0.15:
            spec["nodeName"] = "n1"
        elif gates := chance.choice(_GATES):
            spec["schedulingGates"] = gates
        metadata = {
            "name": f"p{at}",
            "labels": _some(chance, _LABELS),
            "annotations": _some(chance, _ANNOTATIONS),
        }
        yield {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def _some(chance: random.Random, keys: tuple[str, ...]) -> dict[str, str]:
    wanted = chance.choice((0.0, 0.15, 0.4))
    return {key: chance.choice(_VALUES) for key in keys if chance.random() < wanted}


def _container(chance: random.Random, name: str) -> Object:
    amounts = chance.choice(_AMOUNTS)
    return {"name": name, "image": "pause", **({} if amounts is None else {"resources": amounts})}


def deployment(name: str, *, image: str = "pause", replicas: int = 1, annotations: Any = None) -> Object:
    """A Deployment. ``annotations``: of its template; None for none."""
    labels = {"run": name}
    metadata = {"labels": labels, **({} if annotations is None else {"annotations": annotations})}
    template = {"metadata": metadata, "spec": {"containers": [{"name": "c", "image": image}]}}
    return {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "metadata": {"name": name},
        "spec": {"replicas": replicas, "selector": {"matchLabels": labels}, "template": template},
    }


def cron_job(name: str) -> Object:
    """A CronJob, whose template is inside a template."""
    pod = {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "pause"}]}}
    spec = {"schedule": "0 0 * * *", "jobTemplate": {"spec": {"template": pod}}}
    return {"apiVersion": "batch/v1", "kind": "CronJob", "metadata": {"name": name}, "spec": spec}
