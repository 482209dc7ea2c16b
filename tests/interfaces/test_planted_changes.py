"""A planted change of each kind is found, and no other change."""

import argparse
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest
from aiohttp import web
from prometheus_client import Counter
from prometheus_client.core import GaugeMetricFamily

from core.reasons import Code, Refusal
from extender.simulator.scenario.model import ScenarioError
from tests.interfaces import product, scenario_format
from tests.interfaces.comparing import Difference, difference, recorded_lines
from tests.interfaces.kinds import KINDS
from tests.interfaces.settings import SERVICE_KEYS, Settings

Plant = Callable[[pytest.MonkeyPatch], None]


class Planted(NamedTuple):
    """A change of the product, and the lines that it removes and adds."""

    kind: str
    plant: Plant
    removed: list[str]
    new: list[str]


# -- plants --------------------------------------------------------------------------------------------------


def rewritten(old: str, new: str) -> Plant:
    """Other text in the files of the product."""

    def plant(monkeypatch: pytest.MonkeyPatch) -> None:
        read = product.source_of
        monkeypatch.setattr(product, "source_of", lambda path: read(path).replace(old, new))

    return plant


def renamed(old: str, new: str) -> Plant:
    """Replacement of a text wherever the product has exactly this one, as a literal or a module's value."""

    def plant(monkeypatch: pytest.MonkeyPatch) -> None:
        for module, _ in product.parts():
            for name, value in list(vars(module).items()):
                if isinstance(value, str) and value == old:
                    monkeypatch.setattr(module, name, new)
        rewritten(f'"{old}"', f'"{new}"')(monkeypatch)

    return plant


def argument(flag: str, *, named: str = "", **changed: Any) -> Plant:
    """A flag with another name, or with other options."""

    def plant(monkeypatch: pytest.MonkeyPatch) -> None:
        add = argparse.ArgumentParser.add_argument

        def added(self: argparse.ArgumentParser, *names: str, **options: Any) -> argparse.Action:
            if flag in names:
                return add(self, named or flag, **{**options, **changed})
            return add(self, *names, **options)

        monkeypatch.setattr(argparse.ArgumentParser, "add_argument", added)

    return plant


def metric(of: type, name: str, *, named: str = "", labels: tuple[str, ...] | None = None) -> Plant:
    """A series with another name, or with other labels."""

    def plant(monkeypatch: pytest.MonkeyPatch) -> None:
        make = of.__init__  # type: ignore[misc]

        def made(self: Any, given: str, *rest: Any, **options: Any) -> None:
            if given == name and labels and len(rest) > 1:
                make(self, given, rest[0], labels, *rest[2:], **options)
            else:
                make(self, named if named and given == name else given, *rest, **options)

        monkeypatch.setattr(of, "__init__", made)

    return plant


def route(path: str, named: str) -> Plant:
    def plant(monkeypatch: pytest.MonkeyPatch) -> None:
        add = web.UrlDispatcher.add_get

        def added(self: web.UrlDispatcher, given: str, *rest: Any, **options: Any) -> web.AbstractRoute:
            return add(self, named if given == path else given, *rest, **options)

        monkeypatch.setattr(web.UrlDispatcher, "add_get", added)

    return plant


def scenario_key(old: str, new: str) -> Plant:
    """A reader of scenarios that knows a key by another name."""

    def plant(monkeypatch: pytest.MonkeyPatch) -> None:
        read = scenario_format.scenario_from

        def swapped(text: str) -> str:
            return text.replace(old, "\x00").replace(new, old).replace("\x00", new)

        def reads(text: str, **options: Any) -> object:
            try:
                return read(swapped(text), **options)
            except ScenarioError as error:
                found = [
                    each.__class__(each.line, swapped(each.path), swapped(each.message))
                    for each in error.mistakes
                ]
                raise ScenarioError(error.file, tuple(found)) from None

        reads.__module__ = read.__module__
        monkeypatch.setattr(scenario_format, "scenario_from", reads)

    return plant


def other_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Code.QUEUE_DRAINING, "_value_", "QueueIsDraining")


def other_text(monkeypatch: pytest.MonkeyPatch) -> None:
    plain = Refusal.text.fget  # type: ignore[attr-defined]

    def text(self: Refusal) -> str:
        return f"{self.code}: queue {self.subject}" if self.code is Code.QUEUE_DRAINING else plain(self)

    monkeypatch.setattr(Refusal, "text", property(text))


def other_exit_code(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("extender.demo.run_demo", lambda *_given: None)


def other_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Settings.model_fields["turn_lease"], "default", 3.0)


def key_without_default(monkeypatch: pytest.MonkeyPatch) -> None:
    # A copy: putting the key back into the table itself would move it to its end.
    others = {name: key for name, key in SERVICE_KEYS.items() if name != "event.maxStreams"}
    monkeypatch.setattr("tests.interfaces.settings.SERVICE_KEYS", others)


PLANTED = [
    Planted("codes", other_code, ["QueueDraining"], ["QueueIsDraining"]),
    Planted("commands", argument("--junit", named="--junit-xml"), ["test --junit"], ["test --junit-xml"]),
    Planted(
        "commands",
        argument("--log-level", choices=["info"]),
        ["serve --log-level choices=info,debug default=info"],
        ["serve --log-level choices=info default=info"],
    ),
    Planted(
        "conditions",
        renamed("paddock.dev/Admitted", "paddock.dev/LetIn"),
        ["paddock.dev/Admitted False …", "paddock.dev/Admitted True Admitted"],
        ["paddock.dev/LetIn False …", "paddock.dev/LetIn True Admitted"],
    ),
    Planted(
        "conditions",
        renamed("ResourceReservationTimeout", "Timeout"),
        ["phase Failed ResourceReservationTimeout"],
        ["phase Failed Timeout"],
    ),
    Planted("environment", renamed("KUBECONFIG", "KUBE_CONFIG"), ["KUBECONFIG"], ["KUBE_CONFIG"]),
    Planted(
        "events",
        renamed("PreemptionInVain", "PlanInVain"),
        ["PreemptionInVain Warning Pod"],
        ["PlanInVain Warning Pod"],
    ),
    Planted(
        "events",
        renamed("PlaceholderAllocated", "PlaceholderBound"),
        ["GangScheduling Normal Pod PlaceholderAllocated"],
        ["GangScheduling Normal Pod PlaceholderBound"],
    ),
    Planted(
        "exit-codes",
        other_exit_code,
        ["paddock demo --verbs-port PROBED: 1"],
        ["paddock demo --verbs-port PROBED: 0"],
    ),
    Planted(
        "fault-texts",
        rewritten('"pod is already bound"', '"pod has a node"'),
        ["Faulted: pod is already bound"],
        ["Faulted: pod has a node"],
    ),
    Planted(
        "keys-read",
        renamed("yunikorn.apache.org/user.info", "yunikorn.apache.org/user"),
        ["Pod annotation yunikorn.apache.org/user.info"],
        ["Pod annotation yunikorn.apache.org/user"],
    ),
    Planted("make", rewritten("\nbench: ", "\nbenchmark: "), ["make bench"], []),
    Planted(
        "metrics",
        metric(Counter, "paddock_reloads", named="paddock_documents"),
        ["paddock_reloads_created counter {fate}", "paddock_reloads_total counter {fate}"],
        ["paddock_documents_created counter {fate}", "paddock_documents_total counter {fate}"],
    ),
    Planted(
        "metrics",
        metric(Counter, "paddock_lists", labels=("of",)),
        [f"paddock_lists_{each} counter {{kind}}" for each in ("created", "total")],
        [f"paddock_lists_{each} counter {{of}}" for each in ("created", "total")],
    ),
    Planted(
        "metrics",
        metric(GaugeMetricFamily, "paddock_queue_over_max", named="paddock_queue_excess"),
        ["paddock_queue_over_max gauge {queue, resource}"],
        ["paddock_queue_excess gauge {queue, resource}"],
    ),
    Planted(
        "names", renamed("paddock.dev/wake", "paddock.dev/woken"), ["paddock.dev/wake"], ["paddock.dev/woken"]
    ),
    Planted("ports", argument("--admin-port", default=10292), ["127.0.0.1:10291"], ["127.0.0.1:10292"]),
    Planted(
        "refusal-shapes",
        rewritten("no node has room for it", "no node takes it"),
        ["Unschedulable: no node has room for it"],
        ["Unschedulable: no node takes it"],
    ),
    Planted("refusal-texts", other_text, ["QueueDraining: root.b"], ["QueueDraining: queue root.b"]),
    Planted(
        "routes",
        route("/readyz", "/ready"),
        ["10291 GET /readyz", "10291 HEAD /readyz"],
        ["10291 GET /ready", "10291 HEAD /ready"],
    ),
    Planted(
        "scenario-format",
        scenario_key("ungate", "opengate"),
        ["steps[].ungate: names"],
        ["steps[].opengate: names"],
    ),
    Planted("service-keys", key_without_default, ["event.maxStreams default=100 works"], []),
    Planted(
        "settings",
        other_default,
        ["paddock.turn.lease default=2 --turn-lease PADDOCK_TURN_LEASE"],
        ["paddock.turn.lease default=3 --turn-lease PADDOCK_TURN_LEASE"],
    ),
]


@pytest.mark.parametrize("planted", PLANTED, ids=lambda each: each.kind)
def test_a_planted_change_is_found(planted: Planted, monkeypatch: pytest.MonkeyPatch) -> None:
    planted.plant(monkeypatch)
    found = difference(recorded_lines(planted.kind), KINDS[planted.kind]())
    assert Difference(sorted(found.removed), sorted(found.new)) == Difference(
        sorted(planted.removed), sorted(planted.new)
    )
    assert found


def test_every_kind_has_a_planted_change() -> None:
    assert {each.kind for each in PLANTED} == set(KINDS)
