"""F-4: a lost document stays in force, and a start without one waits."""

import base64
import gzip
from collections.abc import Mapping

import pytest

from extender.configuration.missing_notice import APART, REPEATED, MissingNotice
from extender.configuration.reload import LiveConfiguration, Source
from extender.configuration.sources import ConfigMapData
from tests.builders import make_pod
from tests.extender.configuration.test_reload import CONFIGS, FILE, document
from tests.extender.rigs import Rig

TTL = "paddock.reservation.ttl"
BUILT_IN = "paddock.config.builtinDefault"
ABSENT = Source("ConfigMap", "paddock-system", "")
RETAINED = "the queues and settings that it held stay in force until a restart; put it back"
NAMED = "ConfigMap paddock-system/yunikorn-configs"

Data = Mapping[str, str]


def packed(text: str) -> str:
    return base64.b64encode(gzip.compress(text.encode())).decode()


class Bench:
    """A configuration with a rig. ``missing``, ``refused`` and ``applied``: its reports."""

    def __init__(self, **overrides: str) -> None:
        self.rig = Rig()
        self.missing: list[tuple[str, str]] = []
        self.refused: list[str] = []
        self.applied: list[str] = []
        self.configuration = LiveConfiguration(
            self.rig.engine,
            overrides=overrides,
            on_refused=lambda _, message: self.refused.append(message),
            on_applied=lambda source, _: self.applied.append(source.name),
            on_missing=lambda source, message: self.missing.append((source.name, message)),
        )

    def offer(self, configs: Data | None, *, defaults: Data | None = None) -> None:
        maps = [None if each is None else ConfigMapData(each) for each in (defaults, configs)]
        self.configuration.prepare(maps[0], maps[1])
        self.configuration.offer_config_maps(maps[0], maps[1], CONFIGS if configs is not None else ABSENT)

    def offer_packed(self, **packed: str) -> None:
        data = ConfigMapData({}, {key.replace("__", "."): value for key, value in packed.items()})
        self.configuration.offer_config_maps(None, data, CONFIGS)

    @property
    def cores(self) -> int | None:
        """The max of root.a."""
        queue = self.rig.engine.view.tree.get("root.a")
        return dict(queue.max.items())["vcore"] // 1000 if queue is not None and queue.max else None

    @property
    def ttl(self) -> float:
        return self.rig.engine.view.settings.reservation_ttl

    @property
    def manages_default(self) -> bool | None:
        return self.rig.engine.is_managed(make_pod("p", scheduler_name="default-scheduler", queue="", app=""))


def queues(cores: str, **settings: str) -> dict[str, str]:
    """A map with a document; ``settings``: keys with ``__`` for the dots."""
    return {
        "queues.yaml": document(cores),
        **{key.replace("__", "."): value for key, value in settings.items()},
    }


LOSSES: list[tuple[str, Data | None, str]] = [
    ("deleted", None, "is gone"),
    ("emptied", {}, "is empty"),
    ("its key removed", {TTL: "5s"}, "has no queues.yaml any more"),
    ("an empty text", {"queues.yaml": "", TTL: "5s"}, "has no queues.yaml any more"),
    ("blank lines and comments", {"queues.yaml": "\n# partitions:\n"}, "has no queues.yaml any more"),
    ("another key", {"batch.yaml": document("9")}, "has no queues.yaml any more"),
]


@pytest.mark.rule("SRC-3", "SRC-5", "SRC-7")
@pytest.mark.parametrize(("_", "lost", "how"), LOSSES, ids=[each[0] for each in LOSSES])
def test_a_document_that_is_lost_stays_in_force_with_its_settings(
    _: str, lost: Data | None, how: str
) -> None:
    bench = Bench()
    bench.offer(queues("3", paddock__reservation__ttl="9s"))
    checksum = bench.configuration.checksum
    for _ in range(3):
        bench.offer(lost)
    assert (bench.cores, bench.ttl, bench.configuration.checksum) == (3, 9.0, checksum)
    assert bench.missing == [("yunikorn-configs", f"{NAMED} {how}: {RETAINED}")]
    assert bench.configuration.missing == bench.missing[0][1]
    assert (bench.refused, bench.configuration.reloads) == ([], 1)


def test_a_packed_document_that_is_lost_stays_in_force() -> None:
    bench = Bench()
    bench.offer_packed(queues__yaml__gz=packed(document("3")))
    for lost in ({"queues__yaml__gz": "AAAA"}, {"queues__yaml__zip": packed(document("4"))}, {}):
        bench.offer_packed(**lost)
        assert (bench.cores, bool(bench.configuration.missing)) == (3, True)
    bench.offer_packed(queues__yaml__gz=packed(document("5")))
    assert (bench.cores, bench.configuration.missing) == (5, "")


@pytest.mark.parametrize(
    ("found", "cores", "reloads"),
    [(queues("3"), 3, 1), (queues("4"), 4, 2), (queues("3", paddock__reservation__ttl="7s"), 3, 2)],
    ids=["the same", "another", "the same with other settings"],
)
def test_a_document_that_is_there_again_counts(found: Data, cores: int, reloads: int) -> None:
    bench = Bench()
    bench.offer(queues("3"))
    for _ in range(2):
        bench.offer(None)
        bench.offer(found)
    assert (bench.cores, bench.configuration.reloads) == (cores, reloads)
    assert [bool(message) for _, message in bench.missing] == [True, False] * 2
    assert bench.configuration.missing == ""


def test_an_explicit_document_without_limits_is_obeyed() -> None:
    bench = Bench()
    bench.offer(queues("3"))
    bench.offer({"queues.yaml": "partitions: [{name: default, queues: [{name: root, queues: [{name: a}]}]}]"})
    assert (bench.cores, bench.missing, bench.refused) == (None, [], [])
    bench.offer(None)
    assert bench.cores is None


@pytest.mark.rule("SRC-7")
def test_the_other_map_does_not_take_the_place_of_one_that_is_lost() -> None:
    """The last contents of each map count. Keys overridden by `yunikorn-configs` stay so until a restart."""
    defaults = {"queues.yaml": document("9"), TTL: "5s"}
    bench = Bench()
    bench.offer(queues("3"), defaults=defaults)
    bench.offer(None, defaults=defaults)
    assert (bench.cores, bench.ttl) == (3, 5.0)
    bench.offer(None, defaults={**defaults, TTL: "6s"})
    assert (bench.cores, bench.ttl, bool(bench.configuration.missing)) == (3, 6.0, True)
    bench.offer({TTL: "7s", "queues.yaml": document("4")}, defaults=None)
    assert (bench.cores, bench.ttl) == (4, 7.0)
    assert bench.configuration.missing == f"ConfigMap paddock-system/yunikorn-defaults is gone: {RETAINED}"


@pytest.mark.parametrize("built_in", ["true", "false"])
def test_a_map_that_had_no_document_cannot_empty_that_of_the_other(built_in: str) -> None:
    """SRC-3 would then use the built-in document, which has no limits."""
    bench = Bench(builtin_default=built_in)
    defaults = {"queues.yaml": document("3"), TTL: "5s"}
    bench.offer(None, defaults=defaults)
    for _ in range(2):
        bench.offer({"queues.yaml": "", TTL: "9s"}, defaults=defaults)
    assert (bench.cores, bench.ttl, bench.configuration.reloads) == (3, 5.0, 1)
    assert bench.missing == [("yunikorn-configs", f"{NAMED} empties queues.yaml: {RETAINED}")]
    bench.offer({TTL: "9s"}, defaults=defaults)
    assert (bench.cores, bench.ttl, bench.configuration.missing) == (3, 9.0, "")


def test_what_hid_the_other_document_goes_on_hiding_it_when_both_are_deleted() -> None:
    bench = Bench()
    bench.offer(None, defaults=queues("1"))
    bench.offer({"queues.yaml": ""}, defaults=queues("2"))
    assert bench.cores == 1
    bench.offer(None, defaults=None)
    assert bench.cores == 1


def test_both_maps_can_be_lost_at_once() -> None:
    bench = Bench()
    bench.offer({TTL: "7s"}, defaults={"queues.yaml": document("3")})
    bench.offer(None)
    assert (bench.cores, bench.ttl) == (3, 7.0)
    lost = "ConfigMap paddock-system/yunikorn-defaults is gone and ConfigMap paddock-system/yunikorn-configs"
    assert bench.missing == [("yunikorn-configs", f"{lost} is gone: {RETAINED}")]


def test_settings_of_a_deleted_map_stay_in_force() -> None:
    """Otherwise pods that are managed only by the settings would exceed every quota from then on."""
    names = {"paddock.schedulerNames": "default-scheduler"}
    bench = Bench()
    bench.offer(queues("3"), defaults=names)
    bench.offer(queues("4"), defaults=None)
    assert (bench.cores, bench.manages_default) == (4, True)
    assert [name for name, _ in bench.missing] == ["yunikorn-defaults"]


def test_a_document_that_was_refused_before_it_was_lost_is_not_reported_again() -> None:
    bench = Bench()
    bench.offer(queues("3"))
    bench.offer({"queues.yaml": "partitions: ["})
    bench.offer(None)
    assert (bench.cores, len(bench.refused), len(bench.missing)) == (3, 1, 1)


@pytest.mark.rule("SRC-7")
def test_with_hot_refresh_off_a_loss_is_still_reported() -> None:
    bench = Bench(hot_refresh="false")
    bench.offer(queues("3"))
    bench.offer(None)
    bench.offer(queues("4"))
    assert (bench.cores, [bool(message) for _, message in bench.missing]) == (3, [True, False])
    assert bench.configuration.ignored


@pytest.mark.rule("SRC-6")
def test_the_document_that_can_be_lost_is_that_of_the_policy_group() -> None:
    both = {"service.policyGroup": "batch", "batch.yaml": document("7"), "queues.yaml": document("3")}
    bench = Bench()
    bench.offer(both)
    bench.offer({key: text for key, text in both.items() if key != "queues.yaml"})
    assert (bench.cores, bench.missing) == (7, [])
    bench.offer({"service.policyGroup": "queues", "queues.yaml": document("3")})
    assert bench.cores == 7
    assert "has no batch.yaml any more" in bench.configuration.missing


# -- a start without a document ---------------------------------------------------------------------------


@pytest.mark.rule("SRC-7", "SRC-8")
@pytest.mark.parametrize(
    "configs", [None, {}, {"queues.yaml": "# to come\n"}], ids=["no map", "empty", "comment"]
)
def test_a_start_without_a_document_waits_for_one(configs: Data | None) -> None:
    bench = Bench()
    for _ in range(2):
        bench.offer(configs)
    assert (bench.configuration.reloads, bench.applied, bench.refused) == (0, [], [])
    ((name, message),) = bench.missing
    assert name == "yunikorn-configs"
    assert message.startswith(f"{NAMED} has no queues.yaml: pods of queues wait until it has one; ")
    assert BUILT_IN in message
    bench.offer(queues("3"))
    assert (bench.cores, bench.applied, bench.configuration.missing) == (3, ["yunikorn-configs"], "")


def test_settings_beside_a_missing_document_show_which_pods_wait() -> None:
    bench = Bench()
    bench.offer({"paddock.schedulerNames": "default-scheduler", "paddock.lease": "a/b"})
    assert (bench.manages_default, bench.configuration.settings.lease) == (True, "a/b")


def test_a_first_document_that_is_refused_leaves_it_waiting() -> None:
    bench = Bench()
    bench.offer({})
    bench.offer({"queues.yaml": "partitions: ["})
    assert (len(bench.refused), bool(bench.configuration.missing)) == (1, True)


@pytest.mark.rule("SRC-8")
@pytest.mark.parametrize("by", ["flag", "key"])
def test_the_built_in_document_counts_where_a_setting_says_so(by: str) -> None:
    bench = Bench(**({"builtin_default": "true"} if by == "flag" else {}))
    bench.offer({BUILT_IN: "true"} if by == "key" else None)
    assert (bench.applied, bench.missing) == (["yunikorn-configs"] if by == "key" else [""], [])
    bench.offer({TTL: "9s", BUILT_IN: "true"})
    assert (bench.ttl, bench.configuration.missing) == (9.0, "")
    bench.offer(queues("3"))
    assert bench.cores == 3
    bench.offer({BUILT_IN: "true"})
    assert bench.cores == 3, "what is in force stays until a restart"


def test_the_built_in_document_stays_when_its_permission_goes() -> None:
    bench = Bench()
    bench.offer({BUILT_IN: "true", TTL: "9s"})
    bench.offer(None)
    assert (bench.ttl, bench.configuration.reloads, len(bench.missing)) == (9.0, 1, 1)
    bench.offer({TTL: "8s"})
    assert (bench.ttl, bench.configuration.missing) == (8.0, "")


@pytest.mark.parametrize("text", [b"", b"\n# nothing\n"])
def test_an_empty_file(text: bytes) -> None:
    """An editor may empty a file before it writes it."""
    bench = Bench()
    bench.configuration.offer_file(text, FILE)
    assert bench.configuration.missing.startswith("File queues.yaml holds no document: ")
    bench.configuration.offer_file(document("3").encode(), FILE)
    bench.configuration.offer_file(text, FILE)
    assert bench.cores == 3
    assert bench.configuration.missing == f"File queues.yaml holds no document any more: {RETAINED}"


# -- how often it is told ---------------------------------------------------------------------------------


class Notice:
    def __init__(self) -> None:
        self.now = 0.0
        self.posted: list[tuple[float, str]] = []
        self.notice = MissingNotice(
            lambda: self.now, lambda _, message: self.posted.append((self.now, message))
        )

    def at(self, now: float, message: str | None = None) -> None:
        self.now = now
        if message is None:
            self.notice.check()
        else:
            self.notice.changed(CONFIGS, message)


def test_a_loss_that_lasts_is_reported_again() -> None:
    notice = Notice()
    notice.at(5, "gone")
    for now in range(6, 1300):
        notice.at(now)
    assert notice.posted == [(5, "gone"), (5 + REPEATED, "gone"), (5 + 2 * REPEATED, "gone")]


def test_a_map_that_comes_and_goes_makes_no_event_each_time() -> None:
    notice = Notice()
    for now in range(120):
        notice.at(now, "gone" if now % 2 == 0 else "")
    assert [now for now, _ in notice.posted] == [0, APART]
    notice.at(120, "gone")
    notice.at(500)
    assert [now for now, _ in notice.posted] == [0, APART, 2 * APART]
    notice.at(501, "")
    notice.at(3000)
    assert len(notice.posted) == 3
