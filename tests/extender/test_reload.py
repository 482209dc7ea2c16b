"""A configuration on its way in: everything or nothing, and what stays in force when it is nothing."""

import base64
import gzip

import pytest

from core.ledger import events as on
from extender.queueconfig.sources import ConfigMapData
from extender.reload import Configuration, Source
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
    """A configuration before its first document, over a rig; ``refused`` and ``applied``: what was told."""

    def __init__(self, **overrides: str) -> None:
        self.rig = Rig()
        self.refused: list[tuple[str, str]] = []
        self.applied: list[tuple[str, tuple[str, ...]]] = []
        self.configuration = Configuration(
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
        queue = self.rig.engine.snapshot.tree.get(path)
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


@pytest.mark.rule("SRC-5")
@pytest.mark.parametrize(
    ("queues", "settings", "says"),
    [
        ("partitions: [", {}, "line"),
        (document("-1"), {}, "vcore"),
        (document("5"), {"paddock__reservation__ttl": "soon"}, "paddock.reservation.ttl: must be a duration"),
    ],
    ids=["not YAML", "not a queue", "not a setting"],
)
def test_an_invalid_edit_keeps_the_old_one_and_is_reported(
    queues: str, settings: dict[str, str], says: str
) -> None:
    bench = Bench()
    bench.offer(document("3"))
    checksum = bench.configuration.checksum
    bench.offer(queues, paddock__turn__lease="9s", **settings)
    assert bench.max_of() == {"vcore": 3000}
    assert bench.configuration.checksum == checksum
    assert bench.configuration.settings.turn_lease == 2.0
    ((name, message),) = bench.refused
    assert name == "yunikorn-configs"
    assert says in message
    assert bench.configuration.error == message
    assert bench.configuration.reloads == 1


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
    assert bench.rig.engine.snapshot.generation == 2


def test_a_queue_with_applications_cannot_become_a_parent() -> None:
    bench = Bench()
    bench.offer(document("3"))
    bench.rig.filter("p")
    bench.offer(document(below_a="child"))
    ((_, message),) = bench.refused
    assert message == "root.a runs 1 applications and cannot become a parent queue"
    assert bench.rig.engine.snapshot.tree.get("root.a.child") is None
    assert bench.rig.filter("q")["NodeNames"]
    bench.rig.engine.learn(on.PodDeleted(make_pod("p").uid))
    bench.rig.engine.learn(on.PodDeleted(make_pod("q").uid))
    bench.offer(document(below_a="child"))
    assert bench.rig.engine.snapshot.tree.get("root.a.child") is not None
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
    assert bench.applied[-1] == ("yunikorn-configs", ("bind_deadline",))
    assert bench.configuration.settings.bind_deadline == 50.0
    assert bench.rig.engine.snapshot.settings.reservation_ttl == 5.0


def test_an_override_stays_over_a_reload() -> None:
    bench = Bench(reservation_ttl="7s")
    bench.offer(document(), paddock__reservation__ttl="5s")
    assert bench.rig.engine.snapshot.settings.reservation_ttl == 7.0


def test_hot_refresh_off_takes_the_first_and_no_other() -> None:
    bench = Bench()
    bench.offer(document("3"), service__enableConfigHotRefresh="false")
    bench.offer(document("4"), service__enableConfigHotRefresh="true")
    bench.offer("partitions: [")
    assert bench.max_of() == {"vcore": 3000}
    assert (bench.refused, len(bench.applied)) == ([], 1)


@pytest.mark.rule("SRC-7")
def test_without_any_map_the_built_in_document_is_applied() -> None:
    bench = Bench()
    bench.configuration.offer_config_maps(None, None, CONFIGS)
    assert bench.rig.engine.snapshot.generation == 2
    assert bench.refused == []


@pytest.mark.rule("SRC-1")
def test_the_second_map_wins_key_by_key() -> None:
    bench = Bench()
    defaults = ConfigMapData({"queues.yaml": document("3"), "paddock.reservation.ttl": "9s"})
    packed = base64.b64encode(gzip.compress(document("4").encode())).decode()
    configs = ConfigMapData({}, {"queues.yaml.gz": packed})
    bench.configuration.offer_config_maps(defaults, configs, CONFIGS)
    assert bench.max_of() == {"vcore": 4000}
    assert bench.rig.engine.snapshot.settings.reservation_ttl == 9.0


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
