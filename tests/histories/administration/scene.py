"""Steps and queue documents of the histories of administration, and the life of an application."""

from collections.abc import Iterable, Set
from copy import copy
from dataclasses import replace
from random import Random

from core.ids import AppId, PodUid
from core.ledger.view import LedgerView
from core.queues.spec import LimitSpec, QueueSpec
from core.resource import Limit
from core.workload.application import Application
from core.workload.pod import PodFacts
from core.workload.timeouts.execution import SKEW_ALLOWED, shortest
from tests.builders import make_partition, make_queue

STEPS = 60
CHOICES = (
    *("submit", "submit", "submit", "place", "place", "place", "place", "edit", "delete", "terminate"),
    *("move", "move", "move", "end", "lift", "close", "open", "configure", "wait", "wait", "wait", "wait"),
    *("shift", "disturb", "kill", "resign", "tidy", "end_binds"),
)
"""Steps, each a method of the history."""

QUEUES = ("root.a", "root.p.x", "root.p.y")
USERS = ("alice", "bob")
APPS = tuple(AppId(f"app-{at}", "default") for at in range(3))
SPANS = ("7m", "20m", "300s", "1s", "x", "-5m", "")


def limited(spec: QueueSpec, timeout: str = "", bar: str = "") -> QueueSpec:
    found = {"application.execution.timeout": timeout, "application.execution.bar": bar}
    return replace(spec, properties={key: value for key, value in found.items() if value})


GROUPS = LimitSpec((), ("team", "*"), Limit({"vcore": 4000}))
EACH = LimitSpec(("*",), (), Limit({"vcore": 3000}), 2)
A = make_queue("root.a", max={"vcore": 3000})
P = make_queue("root.p", leaf=False, max={"vcore": 4000})
X = make_queue("root.p.x", max={"vcore": 2000})
Y = replace(make_queue("root.p.y"), max_applications=1)
DOCUMENTS = (
    make_partition(A, limited(P, "10m"), X, limited(Y, "8m", "2m")),
    make_partition(A, P, X, Y),
    make_partition(
        replace(limited(A, "15m"), limits=(EACH, GROUPS)), replace(P, limits=(EACH,)), X, limited(Y, "6m")
    ),
    make_partition(limited(A, "10m"), P, limited(Y, "10m")),
    make_partition(limited(A, "1m")),
)
NEVER = float("inf")
UNNOTICED = SKEW_ALLOWED + 1.5
"""Seconds by which an end may be early: clocks 5 s apart count as equal (ACT-45), and times are whole."""


def forged(chance: Random) -> dict[str, str]:
    """Fields of a pod whose author claims a record of Paddock."""
    since = "1970-01-01T00:00:00.000Z" if chance.random() < 0.5 else "2999-01-01T00:00:00.000Z"
    return {"running_since": since, "execution": '{"asked":1,"ends":2,"through":9e9}'}


class Life:
    """Life of an application, as the API server's pods and the acting process tell.

    ``ran``: time since which it ran, by the API server's clock. ``least``: shortest limit that ever held.
    ``steady``: True while nothing could have put its end off.
    """

    def __init__(self, application: Application, ran: float | None = None) -> None:
        self.application = application
        self.ran = ran
        self.least: float = NEVER
        self.shortened: float | None = None
        self.steady = True

    def taken_over(self, application: Application, times: Iterable[float], *, protected: bool) -> "Life":
        """Return the life as another instance knows it. ``times``: when the pods got their nodes."""
        found = copy(self)
        found.application = application
        # Without a limit nothing was recorded. Another queue may have put the end off until this one counts.
        is_recorded = protected and found.least is not NEVER
        # One that was ending already, with an exempt pod and a bind call that was open, is a new one now.
        stays = application.queue == self.application.queue and not self.application.ends
        found.steady = found.steady and is_recorded and stays
        if not protected and found.ran is not None:
            # Without records only the times of the pods themselves count (ACT-41).
            found.ran = min([found.ran, *times])
        return found

    def note_run(self, now: float, relabelled: Set[PodUid]) -> None:
        """Note that it runs, if it does. ``relabelled``: pods whose label was changed."""
        since = self.application.running_since
        if since is not None and self.ran is None:
            # An instance that takes over never saw the former label, and the pod's record comes with it.
            self.ran = now if relabelled.isdisjoint(self.application.pods) else since


def limit_of(view: LedgerView, application: Application) -> float | None:
    """Seconds that an application may run by the document and its originator. None for no limit."""
    leaf = view.tree.get(application.queue or "")
    limits = [each.properties.execution_timeout for each in leaf.chain] if leaf is not None else []
    own = application.execution.asked if application.execution is not None else None
    return None if application.id.name.endswith("-autogen") else shortest((own, *limits))


def goes_on(view: LedgerView, pod: PodFacts) -> bool:
    """True if a host knows a pod in the application of its label, and that is not being ended.

    The record that it stays in another one may have been refused.
    """
    record = view.pod(pod.uid)
    app_id = record.membership.application if record is not None else None
    application = view.application(app_id) if app_id is not None else None
    stays = app_id is not None and app_id.name != pod.app_id
    return record is not None and not stays and not (application is not None and application.ends)
