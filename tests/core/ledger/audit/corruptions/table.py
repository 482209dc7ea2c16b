"""All corruptions of a `busy_ledger`. No tests."""

from tests.core.ledger.audit.corruptions.admission import ADMISSION
from tests.core.ledger.audit.corruptions.applications import APPLICATIONS
from tests.core.ledger.audit.corruptions.busy import Corruption
from tests.core.ledger.audit.corruptions.gangs import GANGS
from tests.core.ledger.audit.corruptions.pods import PODS
from tests.core.ledger.audit.corruptions.preemption import PREEMPTION
from tests.core.ledger.audit.corruptions.queues import QUEUES
from tests.core.ledger.audit.corruptions.timers import TIMERS
from tests.core.ledger.audit.corruptions.usage import USAGE

CORRUPTIONS: list[Corruption] = [
    *ADMISSION,
    *APPLICATIONS,
    *GANGS,
    *PODS,
    *PREEMPTION,
    *QUEUES,
    *TIMERS,
    *USAGE,
]
