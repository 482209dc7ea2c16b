"""Corruptions of applications. No tests."""

from collections.abc import Callable

from core.ids import AppId, PodUid, QueuePath
from core.ledger.state.state import State
from core.workload.application import Application
from core.workload.gangs.progress import GangProgress
from core.workload.states import AppState
from tests.builders import (
    START,
)
from tests.core.ledger.audit.corruptions.busy import ONE, Corruption


def _lost_application(state: State) -> None:
    state.pods.records[PodUid("uid-bound")].membership.application = None


def _application(state: State, name: str, *uids: str) -> None:
    state.applications.known[AppId(name, "default")] = Application(
        AppId(name, "default"), "", pods={PodUid(uid) for uid in uids}
    )


def _move(state: State, name: str) -> None:
    state.applications.known[AppId(name, "default")].queue = QueuePath("root.b")


def _progress(corrupt: Callable[[GangProgress], object]) -> Callable[[State], object]:
    def corrupted(state: State) -> None:
        gang_progress = state.applications.known[AppId("gang", "default")].gang_progress
        assert gang_progress is not None
        corrupt(gang_progress)

    return corrupted


PROGRESS: list[tuple[str, Callable[[GangProgress], object]]] = [
    ("pods that wait for the gang of default/gang", lambda gang_progress: gang_progress.waiting.clear()),
    ("group g: pending of default/gang", lambda gang_progress: gang_progress.groups["g"].pending.clear()),
    (
        "group g: held of default/gang",
        lambda gang_progress: gang_progress.groups["g"].held.add((0, 0.0, 0, PodUid("x"))),
    ),
    (
        "group g: wanting of default/gang",
        lambda gang_progress: gang_progress.groups["g"].wanting.add((0, 0.0, 0, PodUid("x"))),
    ),
]


APPLICATIONS: list[Corruption] = [
    ("applications.known", "pods: any of default/ghost", lambda state: _application(state, "ghost")),
    (
        "applications.namesakes",
        "applications by id of app-1/default/app-1",
        lambda state: state.applications.namesakes["app-1"].clear(),
    ),
    (
        "applications.namesakes",
        "applications by id: any of nope",
        lambda state: state.applications.namesakes.update({"nope": set()}),
    ),
    (
        "applications.hosts",
        "host of other/app-1",
        lambda state: state.applications.hosts.update({AppId("app-1", "other"): AppId("app-1", "default")}),
    ),
    (
        "applications.known",
        "pods of other namespaces of default/app-1",
        lambda state: state.applications.known[AppId("app-1", "default")].foreign_pods.update(other=1),
    ),
    (
        "applications.unplaced",
        "application without a queue of default/app-1",
        lambda state: state.applications.unplaced.add(AppId("app-1", "default")),
    ),
    ("applications.known", "charge of uid-bound", lambda state: _move(state, "app-1")),
    (
        "applications.known",
        "pods of default/other/uid-bound",
        lambda state: _application(state, "other", "uid-bound"),
    ),
    (
        "applications.known",
        "asked of default/app-1",
        lambda state: state.applications.known[AppId("app-1", "default")].asked.update({7: 1}),
    ),
    (
        "applications.known",
        "used of default/app-1",
        lambda state: state.applications.known[AppId("app-1", "default")].used.add(ONE),
    ),
    (
        "applications.known",
        "group of default/app-1",
        lambda state: setattr(state.applications.known[AppId("app-1", "default")], "group", "ghosts"),
    ),
    (
        "applications.known",
        "running",
        lambda state: state.applications.known[AppId("app-1", "default")].enter(AppState.ACCEPTED, now=START),
    ),
    (
        "applications.known",
        "pods of default/app-1",
        lambda state: state.applications.known[AppId("app-1", "default")].pods.clear(),
    ),
    ("applications.known", "application: any of uid-bound", _lost_application),
    (
        "applications.known",
        "placeholders of default/gang",
        lambda state: state.applications.known[AppId("gang", "default")].holders.clear(),
    ),
    (
        "applications.known",
        "placeholders with a node of default/gang",
        lambda state: setattr(state.applications.known[AppId("gang", "default")], "holding", 7),
    ),
    *[("applications.known", named, _progress(corrupt)) for named, corrupt in PROGRESS],
]
