"""Fields of a PodDisruptionBudget that Paddock reads, as in a watch or a list."""

from extender.wire.objects.pod import SelectorRequirement, Wire


class BudgetMetadata(Wire, frozen=True):
    """Metadata of a PodDisruptionBudget."""

    name: str = ""
    namespace: str = ""
    generation: int = 0


class LabelSelector(Wire, frozen=True):
    """A label selector of meta/v1."""

    match_labels: dict[str, str] | None = None
    match_expressions: list[SelectorRequirement] | None = None


class BudgetSpec(Wire, frozen=True):
    """Spec of a PodDisruptionBudget."""

    selector: LabelSelector | None = None


class BudgetStatus(Wire, frozen=True):
    """Status of a PodDisruptionBudget."""

    observed_generation: int = 0
    disruptions_allowed: int = 0


class WireBudget(Wire, frozen=True):
    """A PodDisruptionBudget of policy/v1. Every field may be absent."""

    metadata: BudgetMetadata = BudgetMetadata()
    spec: BudgetSpec = BudgetSpec()
    status: BudgetStatus = BudgetStatus()
