"""The parts of a PodDisruptionBudget that Paddock reads, as they come from a watch or a list."""

from extender.wire.objects.pod import SelectorRequirement, Wire


class BudgetMetadata(Wire, frozen=True):
    name: str = ""
    namespace: str = ""
    generation: int = 0


class LabelSelector(Wire, frozen=True):
    match_labels: dict[str, str] | None = None
    match_expressions: list[SelectorRequirement] | None = None


class BudgetSpec(Wire, frozen=True):
    selector: LabelSelector | None = None


class BudgetStatus(Wire, frozen=True):
    observed_generation: int = 0
    disruptions_allowed: int = 0


class WireBudget(Wire, frozen=True):
    """A PodDisruptionBudget of policy/v1. Every part may be absent."""

    metadata: BudgetMetadata = BudgetMetadata()
    spec: BudgetSpec = BudgetSpec()
    status: BudgetStatus = BudgetStatus()
