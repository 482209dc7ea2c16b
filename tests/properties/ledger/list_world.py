"""An API server whose etcd may be restored, its watch, its pages, and a ledger that follows it (F-8).

No tests. The server's state is the truth. The ledger learns it late, in pieces, and with forged bodies.
"""

from dataclasses import replace
from typing import Any

from core.decisions.decision import BindNow
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.pods.record import Held
from core.ledger.settings import LedgerSettings
from core.workload.pod import PodFacts
from tests.builders import START, bind_called, charges, drifts, filtered, make_ledger, make_pod, make_queue

MAX = 3000
SIZES = (1000, 2000, 500, 1500)
NAMES = tuple(f"p{at}" for at in range(len(SIZES)))
FAR = 10**12
TTL = LedgerSettings().reservation_ttl

Pods = dict[PodUid, PodFacts]


class ListWorld:
    """A history. Impossible steps do nothing.

    ``forged``: True if anything but the server's truth was reported or restored. Usage may then exceed the
    max before the ledger knows.
    """

    def __init__(self) -> None:
        self.ledger = make_ledger(make_queue("root.a", max={"vcore": MAX}))
        self.now = START
        self.version = 1
        self.pods: Pods = {}
        self.backup: tuple[int, Pods] = (1, {})
        self.pending_events: list[on.Event] = []
        self.page: Pods | None = None
        self.watching, self.listing, self.forged = True, False, False
        self.lives = dict.fromkeys(NAMES, 0)

    # -- the server -----------------------------------------------------------------------------------------

    def _uid(self, at: int) -> PodUid:
        return PodUid(f"{NAMES[at]}-{self.lives[NAMES[at]]}")

    def _write(self, pod: PodFacts) -> None:
        self.version += 1
        self.pods[pod.uid] = replace(pod, version=self.version)
        self.pending_events.append(on.PodObserved(self.pods[pod.uid]))

    def create(self, at: int) -> None:
        if any(pod.name == NAMES[at] for pod in self.pods.values()):
            return
        self.lives[NAMES[at]] += 1
        pod = make_pod(NAMES[at], uid=self._uid(at), app=NAMES[at], cpu=SIZES[at], created=float(at))
        self._write(pod)

    def edit(self, at: int) -> None:
        """Make a change that matters to no reader."""
        if self._uid(at) in self.pods:
            self._write(self.pods[self._uid(at)])

    def delete(self, at: int) -> None:
        if self.pods.pop(self._uid(at), None) is not None:
            self.version += 1
            self.pending_events.append(on.PodDeleted(self._uid(at)))

    def save(self, _: int) -> None:
        self.backup = self.version, dict(self.pods)

    def restore(self, _: int) -> None:
        """Restore etcd from its backup. Versions continue from there, and every watch breaks."""
        self.version, self.pods = self.backup[0], dict(self.backup[1])
        self.pending_events.clear()
        self.watching, self.page, self.forged = False, None, True

    # -- what the ledger hears -------------------------------------------------------------------------------

    def hear(self, _: int) -> None:
        """Let the watch show the next event."""
        if self.watching and self.pending_events:
            self.apply(self.pending_events.pop(0))

    def cut(self, _: int) -> None:
        """Break the watch."""
        self.watching = False

    def request(self, _: int) -> None:
        """Request a list. An unfinished one is dropped."""
        if not self.watching:
            self.listing, self.page = True, None
            self.apply(on.PodsListBegun())

    def read(self, _: int) -> None:
        """Read the first page. All others show the same moment."""
        if self.listing and self.page is None:
            self.page = dict(self.pods)
            self.pending_events.clear()

    def end(self, _: int) -> None:
        """End the list. The watch continues from there."""
        if self.page is None:
            return
        for pod in self.page.values():
            self.apply(on.PodObserved(pod))
        self.apply(on.PodsListed(frozenset(self.page)))
        self.watching, self.listing, self.page = True, False, None
        self.pending_events.append(on.PodsCaughtUp())

    def forge(self, at: int) -> None:
        """Send a forged body with a distant version, another size, and no node."""
        self.forged = True
        self.apply(on.PodOffered(self._body(at, cpu=1, queue="root.b")))

    def forge_node(self, at: int) -> None:
        """Send a forged body of a pod that claims to be bound."""
        self.apply(on.PodOffered(self._body(at, cpu=9000, node="n1")))

    def _body(self, at: int, **forged: Any) -> PodFacts:
        """A body.

        A pod that does not exist names an application of its own: the first pod's queue is final.
        """
        there = self._uid(at) in self.pods
        app = NAMES[at] if there else "ghost"
        return make_pod(NAMES[at], uid=self._uid(at), app=app, version=FAR, **forged)

    # -- kube-scheduler ------------------------------------------------------------------------------------

    def ask(self, at: int) -> None:
        """Ask as kube-scheduler, which knows the server's state.

        An admitted pod is bound, if it is in time.
        """
        pod = self.pods.get(self._uid(at))
        if pod is None or pod.node:
            return
        known = self.ledger.view.pod(pod.uid)
        if known is None or known.facts.version < pod.version:
            self.apply(on.PodOffered(pod))
        filtered(self.ledger, pod.uid, now=self.now)

    def bind(self, at: int) -> None:
        pod = self.pods.get(self._uid(at))
        verdict = bind_called(self.ledger, self._uid(at), now=self.now)
        if not isinstance(verdict, BindNow):
            return
        if pod is None or pod.node:
            self.apply(on.BindFailed(self._uid(at), certain=True))
            return
        self._write(replace(pod, node=NodeName("n1")))
        self.apply(on.PodBound(pod.uid, NodeName("n1")))

    def wait(self, seconds: int) -> None:
        self.now += (0.5, 5.0, 31.0, 700.0)[seconds]
        self.apply(on.TimePassed())

    # -- what must hold ----------------------------------------------------------------------------------

    def apply(self, event: on.Event) -> None:
        self.ledger.apply(event, now=self.now)

    def bound(self) -> int:
        return sum(pod.size.get("vcore") for pod in self.pods.values() if pod.node)

    def check(self) -> None:
        assert drifts(self.ledger) == []
        assert self.forged or self.bound() <= MAX

    def settle(self) -> None:
        """Report everything, and let promises expire."""
        self.cut(0)
        for step in (self.request, self.read, self.end, self.hear, self.wait_out, self.wait_out):
            step(0)
        charged = {
            uid: (charge.held, charge.size.get("vcore")) for uid, charge in charges(self.ledger).items()
        }
        assert charged == {
            uid: (Held.ALLOCATED if pod.node else Held.PENDING, pod.size.get("vcore"))
            for uid, pod in self.pods.items()
        }

    def wait_out(self, _: int) -> None:
        self.wait(2)


STEPS = (
    *("create", "edit", "delete", "save", "restore", "hear", "hear", "cut", "request", "read", "end"),
    *("forge", "forge_node", "ask", "ask", "bind", "bind", "wait"),
)
HONEST = tuple(step for step in STEPS if step not in ("restore", "forge"))
