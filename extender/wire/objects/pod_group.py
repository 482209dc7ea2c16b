"""PodGroup objects of scheduler-plugins (COS-10) and of Kubernetes itself (COS-22).

Only the fields that Paddock reads. Paddock never writes to these objects.
"""

import msgspec

from core.workload.gangs.gang import GroupSource
from core.workload.pod_group import GroupKey, PodGroupFacts, Terms
from extender.wire.objects.pod import PodMetadata, Quantities, Wire
from extender.wire.objects.sizing import amounts_of


class WireGangPolicy(Wire, frozen=True):
    """Policy ``gang`` of Kubernetes' PodGroup."""

    min_count: int = 0


class SchedulingPolicy(Wire, frozen=True):
    """Policy of a PodGroup. ``gang``: None for the policy ``basic``, which requires nothing."""

    gang: WireGangPolicy | None = None


class PodGroupSpec(Wire, frozen=True):
    """Fields of both kinds of PodGroup. No object has those of both."""

    min_member: int | None = None
    min_resources: Quantities | None = None
    schedule_timeout_seconds: int | None = None
    scheduling_policy: SchedulingPolicy | None = None


class WirePodGroup(Wire, frozen=True):
    """A PodGroup object of either kind. Every field may be absent."""

    metadata: PodMetadata = PodMetadata()
    spec: PodGroupSpec = PodGroupSpec()


def pod_group_facts_from(source: GroupSource, group: WirePodGroup) -> PodGroupFacts:
    """Facts of a PodGroup object. Raises ``QuantityError`` for an invalid amount."""
    meta, spec = group.metadata, group.spec
    key = GroupKey(meta.namespace or "default", meta.name)
    if source is GroupSource.NATIVE:
        policy = spec.scheduling_policy
        gang = policy.gang if policy is not None else None
        return PodGroupFacts(key, Terms(max(1, gang.min_count) if gang is not None else 0))
    needed = amounts_of(spec.min_resources, "minResources")
    # Zero amounts require nothing, and checking them on every node would cost time.
    least = tuple(sorted((name, amount) for name, amount in needed.items() if amount))
    timeout = spec.schedule_timeout_seconds
    wanted = float(timeout) if timeout is not None and timeout > 0 else None
    return PodGroupFacts(key, Terms(max(1, spec.min_member or 0), least, wanted))


POD_GROUP = msgspec.json.Decoder(WirePodGroup)
