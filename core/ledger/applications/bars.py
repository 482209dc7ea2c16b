"""Bars of ended applications: ids whose pods wait until an order is over (ACT-22)."""

from core.instants import has_come
from core.ledger.pods.record import PodRecord
from core.ledger.state.state import State
from core.queues.placement.refusals import refusal_of_ended
from core.reasons import Refusal
from core.workload.application import Application
from core.workload.daemon_set import DaemonSetKey
from core.workload.ending import Ending


def ending_of(state: State, application: Application) -> Ending | None:
    """Order to end an application of this id, or the end of its time if that came later. Else None."""
    ordered = state.applications.endings.get(application.id._replace(recovered=False))
    timed_out = state.applications.timeouts.get(application.id)
    if ordered is None or timed_out is None:
        return ordered or timed_out
    return timed_out if timed_out.since > ordered.since else ordered


def refusal_of_bar(state: State, application: Application) -> Refusal | None:
    """Why the pending pods of an application wait while it is ended, or its id is barred. Else None."""
    ending = ending_of(state, application)
    is_barred = ending is not None and not has_come(ending.until, now=state.now)
    if not (application.ends or is_barred):
        return None
    return refusal_of_ended(application.id, timed_out=ending is not None and ending.timed_out)


def next_bar_end(state: State) -> float | None:
    """Time at which the first bar ends, or None."""
    found = *state.applications.endings.values(), *state.applications.timeouts.values()
    ends = [each.until for each in found]
    return min((each for each in ends if not has_come(each, now=state.now)), default=None)


def may_be_of_daemon_set(state: State, record: PodRecord) -> bool:
    """True if an existing DaemonSet has created a pod. Until they are listed, the pod's claim is enough."""
    facts = record.facts
    if facts.daemon_set is None:
        return False
    daemon_set = state.cluster.daemon_sets.get(DaemonSetKey(facts.namespace, facts.daemon_set.name))
    if daemon_set is None:
        return not state.cluster.daemon_sets_listed
    return daemon_set.made(facts.daemon_set, facts.labels)
