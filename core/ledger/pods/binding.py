"""Binding of a pod to a node: the open bind call, and the node of Paddock's own POST."""

from core.ids import NO_NODE, NodeName
from core.ledger.pods.record import PodRecord


def begin_binding(record: PodRecord, node: NodeName, *, waits: bool) -> None:
    """Note a bind call. ``waits``: it waits for the other members of the pod group."""
    record.placement.binding, record.placement.waits_bind = node, waits
    record.placement.readmitted = record.placement.unanswered = False


def note_bound(record: PodRecord, node: NodeName) -> None:
    """Note that the API server accepted the Binding."""
    end_binding(record)
    record.placement.bound_to, record.placement.unanswered = node, False


def end_binding(record: PodRecord) -> None:
    """Note that no bind call is open any more."""
    record.placement.binding, record.placement.waits_bind = NO_NODE, False


def note_unanswered(record: PodRecord) -> None:
    """Note that a Binding was sent, and that its answer is not known."""
    record.placement.unanswered = True


def may_be_bound(record: PodRecord) -> bool:
    """True if a Binding may give it a node: a bind call is open, or it holds quota for an unanswered one."""
    if record.node:
        return False
    holds = record.admission.reservation is not None
    return bool(record.placement.binding) or (record.placement.unanswered and holds)


def end_binding_wait(record: PodRecord) -> None:
    """Let a bind call go on, as it waits for no other pod any more."""
    record.placement.waits_bind = False


def note_readmitted(record: PodRecord) -> None:
    """Note that filter admitted a pod while its bind call is open."""
    record.placement.readmitted = True


def disbelieve_bound(record: PodRecord) -> None:
    """Forget an accepted Binding that nothing has shown in time."""
    record.placement.bound_to = NO_NODE
