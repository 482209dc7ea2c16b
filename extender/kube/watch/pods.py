"""Reflector of the pods."""

from dataclasses import dataclass

from core.ids import PodUid
from core.ledger import events as on
from core.workload.pod import PodFacts
from extender.kube.connection.api import Transport
from extender.kube.watch.objects import Learn
from extender.kube.watch.reflector import Reflector
from extender.kube.watch.reporting import Reporter
from extender.kube.watch.sieve import BoundPods

LIVE_PODS = {"fieldSelector": "status.phase!=Succeeded,status.phase!=Failed"}


def pod_reflector(client: Transport, learn: Learn, reporter: Reporter | None = None) -> Reflector[PodFacts]:
    """Create the reflector that reports every pod that has not ended."""
    sieve = BoundPods()
    return Reflector(
        client,
        path="/api/v1/pods",
        params=LIVE_PODS,
        decode=sieve.decode,
        key=lambda meta: meta.uid,
        order=lambda pod: (pod.created, pod.namespace, pod.name, pod.uid),
        sink=_PodSink(learn),
        reporter=reporter,
        requested=lambda: learn(on.PodsListBegun()),
        caught_up=lambda: learn(on.PodsCaughtUp()),
        sieve=sieve,
    )


@dataclass(frozen=True, slots=True)
class _PodSink:
    """Sink of pods. They have events of their own, since calls and reads report them, too."""

    learn: Learn

    def on_changed(self, item: PodFacts) -> None:
        self.learn(on.PodObserved(item))

    def on_deleted(self, key: str) -> None:
        self.learn(on.PodDeleted(PodUid(key)))

    def on_listed(self, keys: frozenset[str]) -> None:
        self.learn(on.PodsListed(frozenset(map(PodUid, keys))))
