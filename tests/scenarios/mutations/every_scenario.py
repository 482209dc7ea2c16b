"""Mutations by scenario: each switches off the rule that the scenario shows."""

from tests.scenarios.mutations.gangs import GANG
from tests.scenarios.mutations.ordering import ORDER
from tests.scenarios.mutations.pod_groups import COSCHEDULING
from tests.scenarios.mutations.pods import PODS
from tests.scenarios.mutations.preemption import PREEMPTION
from tests.scenarios.mutations.preemption_capacity import CAPACITY
from tests.scenarios.mutations.queues import QUEUES
from tests.scenarios.mutations.quota_changes import QUOTA_CHANGE
from tests.scenarios.mutations.seam import Mutate
from tests.scenarios.mutations.simulator import SIMULATOR

PARTS = (COSCHEDULING, GANG, ORDER, PODS, PREEMPTION, QUEUES, QUOTA_CHANGE, CAPACITY, SIMULATOR)

MUTATIONS: dict[str, Mutate] = {name: mutation for part in PARTS for name, mutation in part.items()}
