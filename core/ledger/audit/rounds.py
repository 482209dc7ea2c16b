"""The audit: recompute everything that is derived from what was reported, and name every difference.

Each part says what must be held, written against the facts and not against the handlers' bookkeeping: it adds
up, it never subtracts. One comparer finds what differs (`core.ledger.audit.drift`). The audit runs in steps,
so that a running process can do it in slices between verbs. A check reads the ledger as it is when the check
runs, so a ledger that changes between two steps causes no false alarm.
"""

from collections.abc import Iterator

from core.ledger.audit.admission import admission_steps
from core.ledger.audit.applications import application_steps
from core.ledger.audit.drift import Drift, Step
from core.ledger.audit.free_capacity import free_capacity_steps
from core.ledger.audit.gangs import gang_steps
from core.ledger.audit.pod_groups import pod_group_steps
from core.ledger.audit.pods import pod_steps
from core.ledger.audit.preemption import preemption_steps
from core.ledger.audit.timers import timer_steps
from core.ledger.audit.usage import usage_steps
from core.ledger.state.state import State


def audit(state: State) -> tuple[Drift, ...]:
    """Every difference between the record and what follows from what was reported; empty when it is right."""
    return tuple(drift for step in audit_steps(state) for drift in step)


def audit_steps(state: State) -> Iterator[Step]:
    """Steps of about a millisecond. The ledger may change between two of them."""
    yield from pod_steps(state)
    yield from usage_steps(state)
    yield from free_capacity_steps(state)
    yield from application_steps(state)
    yield from admission_steps(state)
    yield from preemption_steps(state)
    yield from gang_steps(state)
    yield from pod_group_steps(state)
    yield from timer_steps(state)
