"""A stage for tests of the preempt verb: one node, two victims, and a due ask."""

import json
from typing import Any

from core.ids import NodeName
from core.ledger import events as on
from core.ledger.applications.forced import FORCED
from core.ledger.effects import EvictPod, PostEvent, WriteRecord
from core.ledger.settings import LedgerSettings, PreemptionSettings
from core.workload.pod import PodFacts
from tests.builders import make_ledger, make_node, make_partition, make_pod, make_queue
from tests.extender.rigs import Rig, preempt_body

QUEUES = (make_queue("root.a", guaranteed={"vcore": 2000}), make_queue("root.b"))
DELAY = 30.0


class Stage:
    """A node of two cores, both used by ``root.b``, and an ask of ``root.a``, whose guarantee is unused."""

    def __init__(self, *, listed: bool = True, names_others: bool = True, **settings: bool) -> None:
        self.rig = Rig(ledger=make_ledger(*QUEUES, nodes=3, listed=listed))
        self.at = self.rig.engine.now
        chosen = LedgerSettings(preemption=PreemptionSettings(**settings), names_others=names_others)
        self.learn(on.Configured(make_partition(*QUEUES), chosen))
        for name in ("n2", "n3"):
            self.learn(on.ObjectDeleted(on.NODES, NodeName(name)))
        self.learn(on.ObjectObserved(on.NODES, make_node("n1", cpu=2000)))
        for number in range(2):
            self.learn(on.PodObserved(self.victim(number)))

    def learn(self, event: on.Event) -> None:
        self.rig.engine.learn(event)

    def victim(self, number: int, **facts: Any) -> PodFacts:
        created = self.at - 100 + number
        return make_pod(f"v{number}", queue="root.b", app=f"b{number}", node="n1", created=created, **facts)

    def ask(self, **facts: Any) -> PodFacts:
        pod = make_pod("ask", queue="root.a", app="a", **{"created": self.at, "complex": True, **facts})
        self.learn(on.PodObserved(pod))
        return pod

    def wait(self, seconds: float) -> None:
        self.rig.time += seconds

    def preempt(self, name: str = "ask", **pod: Any) -> dict[str, Any]:
        body = preempt_body(name, {"n1": ["uid-v0"]}, version="0", **pod)
        answer: dict[str, Any] = json.loads(self.rig.verbs.preempt(body))
        return answer

    def victims(self, **pod: Any) -> list[str]:
        nodes = self.preempt(**pod).get("NodeNameToMetaVictims", {})
        return [each["UID"] for node in nodes.values() for each in node["Pods"]]


def written(effect: WriteRecord, *, reached: bool) -> on.RecordWritten:
    return on.RecordWritten(effect.uid, effect.entries, reached, effect.purpose)


def committed(stage: Stage) -> None:
    stage.ask(complex=False)
    stage.wait(DELAY)
    stage.rig.effects.clear()
    stage.rig.engine.pass_time()
    stage.rig.engine.planner.finish()


def records(stage: Stage) -> list[WriteRecord]:
    return [each for each in stage.rig.effects if isinstance(each, WriteRecord)]


def evictions(stage: Stage) -> list[str]:
    return [str(each.uid) for each in stage.rig.effects if isinstance(each, EvictPod)]


def events(stage: Stage) -> list[PostEvent]:
    """Events, without those about each pod that has a node when first seen."""
    posted = [each for each in stage.rig.effects if isinstance(each, PostEvent)]
    return [each for each in posted if each.reason != FORCED]
