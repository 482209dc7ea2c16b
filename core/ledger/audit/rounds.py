"""The audit: recompute everything that is derived from reports, and name every difference.

Each part claims values that follow from the facts, independent of the handlers' bookkeeping: it adds up and
never subtracts. One comparison finds the differences (`core.ledger.audit.drift`). The audit runs in steps, so
that a running process can do it in slices between verbs. A check reads the ledger at the moment of the check,
so changes between two steps cause no false alarm.
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
    """Differences between the ledger and what follows from the reports; empty if it is right."""
    return tuple(drift for step in audit_steps(state) for drift in step)


def audit_steps(state: State) -> Iterator[Step]:
    """Audit steps of about a millisecond each. The ledger may change between two of them."""
    yield from pod_steps(state)
    yield from usage_steps(state)
    yield from free_capacity_steps(state)
    yield from application_steps(state)
    yield from admission_steps(state)
    yield from preemption_steps(state)
    yield from gang_steps(state)
    yield from pod_group_steps(state)
    yield from timer_steps(state)
