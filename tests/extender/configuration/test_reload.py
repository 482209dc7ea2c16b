"""Reloads: a configuration is applied completely or not at all, and the former one stays in force."""

import base64
import gzip

import pytest

from core.ledger import events as on
from extender.configuration import reload
from extender.configuration.reload import LiveConfiguration, Source
from extender.configuration.sources import ConfigMapData
from extender.queueconfig.load import load
from tests.builders import make_pod, usage
from tests.extender.rigs import Rig

CONFIGS = Source("ConfigMap", "paddock-system", "yunikorn-configs", "uid-1")
FILE = Source("File", "", "queues.yaml")


def document(vcore: str = "2", *, below_a: str = "") -> str:
    child = f"\n            queues: [{{name: {below_a}}}]" if below_a else ""
    limit = "" if below_a else f"\n            resources: {{max: {{vcore: {vcore}}}}}"
    return f"""
partitions:
  - name: default
    queues:
      - name: root
        submitacl: "*"
        queues:
          - name: a{child}{limit}
"""


class Bench:
    """A configuration before its first document, with a rig. ``refused``, ``applied``: its reports."""

    def __init__(self, **overrides: str) -> None:
        self.rig = Rig()
        self.refused: list[tuple[str, str]] = []
        self.applied: list[tuple[str, tuple[str, ...]]] = []
        self.configuration = LiveConfiguration(
            self.rig.engine,
            overrides=overrides,
            on_refused=lambda source, message: self.refused.append((source.name, message)),
            on_applied=lambda source, held: self.applied.append((source.name, held)),
        )

    def offer(self, queues: str | None = None, **settings: str) -> None:
        """``settings``: keys with ``__`` for the dots."""
        data = {key.replace("__", "."): value for key, value in settings.items()}
        if queues is not None:
            data["queues.yaml"] = queues
        self.configuration.offer_config_maps(None, ConfigMapData(data), CONFIGS)

    def max_of(self, path: str = "root.a") -> dict[str, int]:
        queue = self.rig.engine.view.tree.get(path)
        assert queue is not None
        return dict(queue.max.items()) if queue.max else {}


def test_the_first_document_is_applied() -> None:
    bench = Bench()
    assert bench.configuration.checksum == ""
    bench.offer(document("3"))
    assert bench.max_of() == {"vcore": 3000}
    assert bench.applied == [("yunikorn-configs", ())]
    assert (bench.configuration.error, bench.configuration.reloads) == ("", 1)
    assert len(bench.configuration.checksum) == 64


@pytest.mark.rule("SRC-10")
@pytest.mark.parametrize(
    ("queues", "says"),
    [("partitions: [", "line"), (document("-1"), "vcore")],
    ids=["not YAML", "not a queue"],
)
def test_an_invalid_edit_keeps_the_old_one_and_is_reported(queues: str, says: str) -> None:
    bench = Bench()
    bench.offer(document("3"))
    checksum = bench.configuration.checksum
    bench.offer(queues)
    assert bench.max_of() == {"vcore": 3000}
    assert bench.configuration.checksum == checksum
    ((name, message),) = bench.refused
    assert name == "yunikorn-configs"
    assert says in message
    assert bench.configuration.error == message
    assert bench.configuration.reloads == 1


@pytest.mark.rule("SRC-10")
def test_a_first_document_that_is_refused_leaves_nothing_in_force() -> None:
    bench = Bench()
    bench.offer("partitions: [", paddock__turn__lease="9s")
    assert len(bench.refused) == 1
    assert (bench.configuration.reloads, bench.configuration.checksum) == (0, "")
    assert bench.configuration.settings.turn_lease == 2.0
    bench.offer(document("3"))
    assert bench.max_of() == {"vcore": 3000}


@pytest.mark.rule("SRC-5")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("paddock.reservation.ttl", "soon"),
        ("service.enableConfigHotRefresh", "yes"),
        ("service.volumeBindTimeout", "10"),
        ("service.disableGangScheduling", "maybe"),
        ("service.eventChannelCapacity", "2147483648"),
        ("service.placeholderRunAsUser", "1.5"),
        ("kubernetes.qps", ""),
    ],
)
def test_one_value_that_cannot_be_read_refuses_the_queues_of_the_same_edit_too(key: str, value: str) -> None:
    bench = Bench()
    bench.offer(document("3"))
    bench.offer(document("5"), paddock__turn__lease="9s", **{key: value})
    ((_, message),) = bench.refused
    assert message.startswith(f"{key}: must be ")
    assert bench.max_of() == {"vcore": 3000}
    assert bench.configuration.settings.turn_lease == 2.0


@pytest.mark.rule("SRC-5")
def test_a_key_that_is_removed_goes_back_to_its_default() -> None:
    bench = Bench()
    bench.offer(document(), paddock__turn__lease="9s", paddock__reservation__ttl="9s")
    bench.offer(document(), paddock__turn__lease="8s", service__frobnicate="x")
    assert bench.configuration.settings.turn_lease == 8.0
    assert bench.rig.engine.view.settings.reservation_ttl == 30.0


@pytest.mark.rule("SRC-9")
def test_settings_count_although_the_document_beside_them_is_refused() -> None:
    bench = Bench()
    bench.offer(document("3"))
    bench.offer(document("-1"), paddock__reservation__ttl="9s")
    assert bench.rig.engine.view.settings.reservation_ttl == 9.0
    assert (bench.max_of(), len(bench.refused)) == ({"vcore": 3000}, 1)
    bench.offer(document("3"))
    assert bench.rig.engine.view.settings.reservation_ttl == 30.0
    assert (bench.configuration.error, len(bench.refused)) == ("", 1)


def test_a_right_document_after_a_wrong_one_ends_the_report() -> None:
    bench = Bench()
    bench.offer(document("3"))
    bench.offer("partitions: [")
    bench.offer(document("4"))
    assert bench.configuration.error == ""
    assert bench.max_of() == {"vcore": 4000}


def test_going_back_to_what_is_active_ends_the_report_too() -> None:
    bench = Bench()
    bench.offer(document("3"))
    bench.offer("partitions: [")
    bench.offer(document("3"))
    assert bench.configuration.error == ""
    assert len(bench.applied) == 1


@pytest.mark.rule("SRC-9")
def test_the_same_again_is_not_applied_again() -> None:
    bench = Bench()
    for _ in range(3):
        bench.offer(document())
    assert len(bench.applied) == bench.configuration.reloads == 1
    assert bench.rig.engine.view.generation == 2


@pytest.mark.rule("SRC-9")
def test_a_document_with_another_checksum_in_it_is_the_same() -> None:
    bench = Bench()
    for digit in "AB":
        bench.offer(document() + f"checksum: {digit * 64}")
    assert len(bench.applied) == 1
    bench.offer(document("7") + "checksum: " + "A" * 64)
    assert bench.max_of() == {"vcore": 7000}


def test_a_queue_with_applications_cannot_become_a_parent() -> None:
    bench = Bench()
    bench.offer(document("3"))
    bench.rig.filter("p")
    bench.offer(document(below_a="child"))
    ((_, message),) = bench.refused
    assert message == "root.a runs 1 applications and cannot become a parent queue"
    assert bench.rig.engine.view.tree.get("root.a.child") is None
    assert bench.rig.filter("q")["NodeNames"]
    bench.rig.engine.learn(on.PodDeleted(make_pod("p").uid))
    bench.rig.engine.learn(on.PodDeleted(make_pod("q").uid))
    bench.offer(document(below_a="child"))
    assert bench.rig.engine.view.tree.get("root.a.child") is not None
    assert bench.configuration.error == ""


def test_a_lower_max_keeps_what_runs_and_admits_no_more() -> None:
    bench = Bench()
    bench.offer(document("3"))
    for name in ("p1", "p2"):
        bench.rig.engine.learn(on.PodObserved(make_pod(name, node="n1")))
    bench.offer(document("1"))
    assert usage(bench.rig.ledger, "root.a") == (2000, 0, 0)
    assert bench.rig.filter("p3")["NodeNames"] == []


@pytest.mark.rule("SRC-6")
def test_settings_that_need_a_restart_are_held_and_named() -> None:
    bench = Bench()
    bench.offer(document(), paddock__bind__deadline="50s")
    bench.offer(document(), paddock__bind__deadline="20s", paddock__reservation__ttl="5s")
    assert bench.applied[-1] == ("yunikorn-configs", ("paddock.bind.deadline",))
    assert bench.configuration.settings.bind_deadline == 50.0
    assert bench.rig.engine.view.settings.reservation_ttl == 5.0


@pytest.mark.rule("SRC-6")
@pytest.mark.parametrize(
    ("key", "before", "after"),
    [
        ("service.clusterId", "a", "b"),
        ("service.schedulingInterval", "1s", "2s"),
        ("service.volumeBindTimeout", "600s", "11m"),
        ("service.eventChannelCapacity", "1", "2"),
        ("service.dispatchTimeout", "5m", "1s"),
        ("service.disableGangScheduling", "false", "true"),
        ("service.placeholderImage", "a", "b"),
        ("service.placeholderRunAsUser", "0", "1"),
        ("service.placeholderRunAsGroup", "0", "1"),
        ("service.placeholderFsGroup", "0", "1"),
        ("service.nodeInstanceTypeNodeLabelKey", "a", "b"),
        ("kubernetes.qps", "1000", "1"),
        ("kubernetes.burst", "1000", "1"),
        ("admissionController.filtering.generateUniqueAppId", "false", "true"),
    ],
)
def test_every_other_key_of_the_start_is_reported_when_it_changes(key: str, before: str, after: str) -> None:
    bench = Bench()
    bench.offer(document(), **{key: before})
    bench.offer(document("4"), **{key: after})
    assert bench.applied[-1] == ("yunikorn-configs", (key,))
    assert bench.max_of() == {"vcore": 4000}
    for _ in range(2):
        bench.offer(document("4"), **{key: before})
    assert [held for _, held in bench.applied] == [(), (key,), ()]


@pytest.mark.rule("SRC-6")
def test_the_same_value_in_another_spelling_is_no_change() -> None:
    bench = Bench()
    bench.offer(document(), service__volumeBindTimeout="600s")
    bench.offer(document(), kubernetes__burst="1000")
    assert len(bench.applied) == 1


@pytest.mark.rule("SRC-6", "SRC-3")
def test_the_document_is_that_of_the_policy_group_of_the_start() -> None:
    bench = Bench()
    batch = {"batch.yaml": document("7")}
    bench.offer(document("3"), **batch)
    bench.offer(document("4"), service__policyGroup="batch", **batch)
    assert bench.max_of() == {"vcore": 4000}
    assert bench.applied[-1][1] == ("service.policyGroup",)
    fresh = Bench()
    fresh.offer(document("4"), service__policyGroup="batch", **batch)
    assert fresh.max_of() == {"vcore": 7000}


@pytest.mark.rule("SRC-6")
def test_hot_refresh_itself_can_be_switched_off_by_a_reload() -> None:
    bench = Bench()
    bench.offer(document("3"))
    bench.offer(document("4"), service__enableConfigHotRefresh="false")
    bench.offer(document("5"))
    assert bench.max_of() == {"vcore": 4000}
    assert bench.applied[-1][1] == ()


def test_an_override_stays_over_a_reload() -> None:
    bench = Bench(reservation_ttl="7s")
    bench.offer(document(), paddock__reservation__ttl="5s")
    assert bench.rig.engine.view.settings.reservation_ttl == 7.0


@pytest.mark.rule("SRC-7")
def test_hot_refresh_off_takes_the_first_and_no_other() -> None:
    bench = Bench()
    bench.offer(document("3"), service__enableConfigHotRefresh="false")
    bench.offer(document("4"), service__enableConfigHotRefresh="true")
    bench.offer("partitions: [")
    assert bench.max_of() == {"vcore": 3000}
    assert (bench.refused, len(bench.applied)) == ([], 1)


@pytest.mark.rule("SRC-1")
def test_the_second_map_wins_key_by_key() -> None:
    bench = Bench()
    defaults = ConfigMapData({"queues.yaml": document("3"), "paddock.reservation.ttl": "9s"})
    packed = base64.b64encode(gzip.compress(document("4").encode())).decode()
    configs = ConfigMapData({}, {"queues.yaml.gz": packed})
    bench.configuration.offer_config_maps(defaults, configs, CONFIGS)
    assert bench.max_of() == {"vcore": 4000}
    assert bench.rig.engine.view.settings.reservation_ttl == 9.0


def test_a_plain_file() -> None:
    bench = Bench()
    bench.configuration.offer_file(document("3").encode(), FILE)
    bench.configuration.offer_file(b"partitions: \xff", FILE)
    assert bench.max_of() == {"vcore": 3000}
    assert bench.refused == [("queues.yaml", "not UTF-8 at byte 12")]


def test_a_source_that_cannot_be_read() -> None:
    bench = Bench()
    bench.offer(document("3"))
    bench.configuration.refuse(FILE, "queues.yaml: No such file or directory")
    assert bench.configuration.error == "queues.yaml: No such file or directory"
    assert bench.max_of() == {"vcore": 3000}


def test_a_document_that_was_prepared_is_not_read_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither the valid nor the invalid one is applied. A prepared document is not used for another one."""
    bench, reads = Bench(), []
    monkeypatch.setattr(reload, "load", lambda text, **more: reads.append(text) or load(text, **more))
    for queues in (document("3"), "partitions: [", document("4")):
        data = ConfigMapData({"queues.yaml": queues})
        bench.configuration.prepare(None, data)
        bench.configuration.offer_config_maps(None, data, CONFIGS)
    assert reads == [document("3"), "partitions: [", document("4")]
    assert (bench.max_of(), len(bench.refused)) == ({"vcore": 4000}, 1)
    bench.configuration.prepare(None, ConfigMapData({"queues.yaml": document("5")}))
    bench.offer(document("6"))
    assert bench.max_of() == {"vcore": 6000}
