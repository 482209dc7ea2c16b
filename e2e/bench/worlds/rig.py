"""An engine and its verbs, connected as the server connects them, without an API server."""

import asyncio
import io
import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from core.ids import PodUid
from core.ledger.effects import Effect
from extender.engine.engine import Engine
from extender.engine.outward import Outward
from extender.http.verbs.answering import Measure
from extender.telemetry.logs import DecisionLog, configure_logs
from extender.telemetry.metrics import Metrics
from extender.telemetry.witness import DecisionWitness
from extender.verbs.pure import PureVerbs
from extender.views.journal import Journal
from extender.views.recent_plans import RecentPlans


class _Nowhere(io.StringIO):
    """A log that no one reads."""

    def write(self, text: str) -> int:
        return len(text)


Later = Callable[[float, Callable[[], None]], object]


@dataclass(frozen=True, slots=True)
class Rig:
    """An engine with its verbs. ``measure``: called as the server calls its metrics after each call."""

    engine: Engine
    verbs: PureVerbs
    measure: Measure
    metrics: Metrics


def rig(
    *,
    later: Later | None = None,
    perform: Callable[[Effect], None] = lambda _: None,
    settled: Callable[[Sequence[PodUid], float], None] = lambda *_: None,
) -> Rig:
    """An engine on the running loop.

    ``later``: the loop's own by default. ``perform`` gets the effects, ``settled`` the settled pods.
    """
    loop = asyncio.get_running_loop()
    nowhere = _Nowhere()
    engines: list[Engine] = []
    metrics = Metrics(lambda: engines[0].view)
    log = DecisionLog(loop.call_later, nowhere)
    witness = DecisionWitness(Journal(), configure_logs(nowhere), log, metrics, RecentPlans())
    engine = Engine(Outward(time.time, later or loop.call_later, perform, witness, settled=settled))
    engines.append(engine)

    measure = metrics.calls.measure(metrics.failed)
    return Rig(engine, PureVerbs(engine, asked=engine.asked), measure, metrics)


def filter_body(uid: str, name: str, queue: str, names: list[str], *, app: str, cpu: str = "100m") -> bytes:
    """A body of a usual size: a pod of about 3 KB, and the names of nodes."""
    pod = {
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": uid,
            "resourceVersion": "77",
            "creationTimestamp": "2026-11-20T23:26:49Z",
            "labels": {"yunikorn.apache.org/app-id": app, "yunikorn.apache.org/queue": queue},
        },
        "spec": {"schedulerName": "yunikorn", "containers": [_container(cpu)]},
        "status": {"phase": "Pending"},
    }
    return json.dumps({"Pod": pod, "Nodes": None, "NodeNames": names}).encode()


def _container(cpu: str) -> dict[str, Any]:
    return {
        "name": "main",
        "image": "example",
        "env": [{"name": f"VARIABLE_{n}", "value": "x" * 40} for n in range(30)],
        "resources": {"requests": {"cpu": cpu, "memory": "128Mi"}},
    }
