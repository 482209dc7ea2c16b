"""Corruptions of gangs and pod groups. No tests."""

from core.ids import AppId, NodeName, PodUid
from core.ledger.state.gangs import InLine, Place, Role
from core.workload.pod_group import Group, GroupKey
from tests.builders import (
    START,
)
from tests.core.ledger.audit.corruptions.busy import Corruption

GHOSTS = GroupKey("g", "g")


def _ghost_place() -> Place:
    return Place(Role.WAITING, AppId("gang", "default"), "g", (0, 0.0, 0, PodUid("ghost")))


GANGS: list[Corruption] = [
    ("gangs.places", "place of uid-member", lambda state: state.gangs.places.pop(PodUid("uid-member"))),
    (
        "gangs.places",
        "place of ghost",
        lambda state: state.gangs.places.update({PodUid("ghost"): _ghost_place()}),
    ),
    (
        "gangs.slots_at",
        "slot of ghost",
        lambda state: state.gangs.slots_at.update({PodUid("ghost"): NodeName("n1")}),
    ),
    ("gangs.opening", "link of ghost", lambda state: state.gangs.opening.update({PodUid("ghost"): START})),
    (
        "gangs.line",
        "gangs in line",
        lambda state: state.gangs.line.append(InLine(False, 0, START, AppId("ghost", "default"))),
    ),
    (
        "gangs.in_line",
        "gangs in line",
        lambda state: state.gangs.in_line.update(g=InLine(False, 0, START, AppId("g", "default"))),
    ),
    (
        "gangs.slots",
        "slots of n1/ghost",
        lambda state: state.gangs.slots.update({NodeName("n1"): {PodUid("ghost")}}),
    ),
    (
        "podgroups.known",
        "pod group: any of g/g",
        lambda state: state.podgroups.known.update({GHOSTS: Group(GHOSTS)}),
    ),
    (
        "podgroups.watched",
        "pod group: watched of g/g",
        lambda state: state.podgroups.watched.update({GHOSTS: None}),
    ),
]
