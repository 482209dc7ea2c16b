"""Comparison of a report about a pod with what is known of it."""

from dataclasses import replace

from core.ledger.pods.record import PodRecord
from core.workload.pod import PodFacts


def is_same_pod(record: PodRecord, facts: PodFacts) -> bool:
    """True if both have the same namespace and name."""
    return (record.facts.namespace, record.facts.name) == (facts.namespace, facts.name)


def is_older(facts: PodFacts, known: PodFacts) -> bool:
    """True for a repeat, or a watch behind a verb's body. Version 0 cannot be compared."""
    return 0 < facts.version < known.version


def agrees(body: PodFacts, shown: PodFacts) -> bool:
    """True if both agree on what is decided at first sight: the owner of a pod, and its role in a gang."""
    return _whose(body) == _whose(shown)


def _whose(facts: PodFacts) -> tuple[object, ...]:
    gang = facts.placeholder, facts.task_group, facts.gang, facts.owner
    return (facts.scheduler_name, facts.marked, facts.app_id, facts.queue, facts.identity, *gang)


def time_runs(record: PodRecord) -> bool:
    """True if the time of a pod's reservation runs: no bind call is open, and no PreBind is under way."""
    return not (record.placement.binding or is_under_way(record))


def is_under_way(record: PodRecord) -> bool:
    """True if it shows a nominated node that Paddock did not write."""
    return bool(record.facts.nominated) and record.facts.nominated != record.node_reservation.nominated


def lasting(known: PodFacts, facts: PodFacts) -> PodFacts:
    """Facts with the pod's first role in its gang. A later writer could turn it into something else."""
    if (known.placeholder, known.task_group) == (facts.placeholder, facts.task_group):
        return facts
    return replace(facts, placeholder=known.placeholder, task_group=known.task_group)
