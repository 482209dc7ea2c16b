"""State of pod groups, whose members start together (COS)."""

from dataclasses import dataclass, field

from core.workload.gangs.gang import GroupSource
from core.workload.pod_group import Group, GroupKey, GroupNumbers, Terms


@dataclass(slots=True)
class PodGroups:
    """Pod groups with their members, and what PodGroup objects say."""

    #: Groups that have members. Derived.
    known: dict[GroupKey, Group] = field(default_factory=dict)
    #: Groups with a running timer. Derived.
    watched: dict[GroupKey, None] = field(default_factory=dict)
    #: Terms of PodGroup objects, by source.
    terms: dict[tuple[GroupSource, GroupKey], Terms] = field(default_factory=dict)
    #: Kinds of PodGroup objects that the cluster serves.
    sources: set[GroupSource] = field(default_factory=set)
    #: Groups to check once the event is applied.
    touched: dict[GroupKey, None] = field(default_factory=dict)
    #: Groups whose timers are to be set anew once the event is applied.
    untimed: dict[GroupKey, None] = field(default_factory=dict)
    #: Numbers of pod groups since the start.
    numbers: GroupNumbers = field(default_factory=GroupNumbers)
