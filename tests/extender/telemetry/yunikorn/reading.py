"""Metrics of a ledger in the way of Prometheus, and a ledger with the server's flow of events."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from prometheus_client.parser import text_string_to_metric_families

from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.queues.spec import QueueSpec
from extender.telemetry.metrics import Exported, Metrics
from tests.builders import START, bind_called, filtered, make_ledger, make_pod


class Read(NamedTuple):
    """An exposition. ``kinds``: type by name; ``samples``: value by name and labels."""

    kinds: Mapping[str, str]
    samples: Mapping[tuple[str, frozenset[tuple[str, str]]], float]

    def of(self, name: str, **labels: str) -> float:
        return self.samples[name, frozenset(labels.items())]

    def total(self, name: str) -> float:
        """The sum of all samples of a name."""
        return sum(value for (each, _), value in self.samples.items() if each == name)

    def names(self) -> set[str]:
        return {name for name, _ in self.samples}

    def labels(self, name: str) -> list[dict[str, str]]:
        return [dict(labels) for each, labels in self.samples if each == name]


def read(text: bytes) -> Read:
    """Read a text. Fails for a duplicate sample, and for a family with scattered lines."""
    kinds = dict(line.split(" ")[2:4] for line in text.decode().splitlines() if line.startswith("# TYPE"))
    assert len(kinds) == text.count(b"# TYPE ")
    samples: dict[tuple[str, frozenset[tuple[str, str]]], float] = {}
    for family in text_string_to_metric_families(text.decode()):
        for sample in family.samples:
            # The parser appends to the name of a counter what YuniKorn's names do not have.
            plain = sample.name.removesuffix("_total")
            name = plain if kinds.get(plain) == "counter" else sample.name
            key = (name, frozenset(sample.labels.items()))
            assert key not in samples, key
            samples[key] = sample.value
    return Read(kinds, samples)


class Watched:
    """A ledger and its metrics, which receive every event as in the server."""

    def __init__(self, *queues: QueueSpec, exported: Exported | None = None, **ledger: Any) -> None:
        self.ledger: Ledger = make_ledger(*queues, **ledger)
        self.now = START
        self.metrics = Metrics(lambda: self.ledger.view, exported)

    def learn(self, event: on.Event) -> None:
        self.ledger.apply(event, now=self.now)
        self.metrics.yunikorn.learned(event)

    def see(self, name: str, **pod: Any) -> None:
        self.learn(on.PodObserved(make_pod(name, **pod)))

    def place(self, name: str, node: str = "n1", **pod: Any) -> None:
        """Create, admit and bind a pod."""
        facts = make_pod(name, **pod)
        self.see(name, **pod)
        filtered(self.ledger, facts.uid, now=self.now)
        bind_called(self.ledger, facts.uid, node, now=self.now)
        self.learn(on.PodBound(facts.uid, node))  # type: ignore[arg-type]

    def drop(self, name: str) -> None:
        self.learn(on.PodDeleted(make_pod(name).uid))

    def pass_time(self, seconds: float) -> None:
        self.now += seconds
        self.learn(on.TimePassed())

    def read(self) -> Read:
        return read(self.metrics.exposition())
