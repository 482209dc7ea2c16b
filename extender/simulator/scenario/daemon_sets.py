"""DaemonSets of a scenario.

``daemonSet: true`` on a pod stands for a DaemonSet that exists for the whole course.
"""

from collections.abc import Iterable

from core.workload.daemon_set import DaemonSetFacts, DaemonSetKey
from core.workload.nodes.affinity import Requirement
from extender.simulator.scenario.model import PodEntry, Step

LABEL = "scenario.paddock.dev/daemon-set"
"""The label by which a DaemonSet selects its pods, whatever their other labels are."""


def owner_reference(entry: PodEntry) -> dict[str, object]:
    """Owner reference of such a pod."""
    return {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "name": entry.name,
        "uid": _uid(entry),
        "controller": True,
    }


def daemon_sets_of(steps: Iterable[Step]) -> tuple[DaemonSetFacts, ...]:
    """Every DaemonSet that pods of a scenario name."""
    entries = [entry for step in steps for entry in step.submit if entry.daemon_set]
    return tuple({_key(entry): _facts(entry) for entry in entries}.values())


def _key(entry: PodEntry) -> DaemonSetKey:
    return DaemonSetKey(entry.namespace, entry.name)


def _facts(entry: PodEntry) -> DaemonSetFacts:
    return DaemonSetFacts(_key(entry), _uid(entry), (Requirement(LABEL, "In", (entry.name,)),))


def _uid(entry: PodEntry) -> str:
    return f"daemon-set-{entry.namespace}-{entry.name}"
