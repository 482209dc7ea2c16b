"""What is told of a pod, beside what is known of it already."""

from dataclasses import replace

from core.ledger.pods.record import PodRecord
from core.workload.pod import PodFacts


def is_same_pod(record: PodRecord, facts: PodFacts) -> bool:
    return (record.facts.namespace, record.facts.name) == (facts.namespace, facts.name)


def is_older(facts: PodFacts, known: PodFacts) -> bool:
    """Older than what is known already: a repeat, or a watch behind a verb's body. 0 cannot be compared."""
    return 0 < facts.version < known.version


def says_the_same(body: PodFacts, shown: PodFacts) -> bool:
    """Whether two agree on what is decided at first sight: whose a pod is, and what it is to a gang."""
    return _whose(body) == _whose(shown)


def _whose(facts: PodFacts) -> tuple[object, ...]:
    gang = facts.placeholder, facts.task_group, facts.gang, facts.owner
    return (facts.scheduler_name, facts.marked, facts.app_id, facts.queue, facts.identity, *gang)


def time_runs(record: PodRecord) -> bool:
    """A reservation's time stands still while its bind call is open, or PreBind is under way."""
    return not (record.placement.binding or is_under_way(record))


def is_under_way(record: PodRecord) -> bool:
    """It shows a nominated node that we did not write."""
    return bool(record.facts.nominated) and record.facts.nominated != record.node_reservation.nominated


def lasting(known: PodFacts, facts: PodFacts) -> PodFacts:
    """What a pod is to its gang is read once: whoever may write on it could turn it into something else."""
    if (known.placeholder, known.task_group) == (facts.placeholder, facts.task_group):
        return facts
    return replace(facts, placeholder=known.placeholder, task_group=known.task_group)
