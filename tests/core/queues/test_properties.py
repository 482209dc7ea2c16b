"""Properties of queues, and their inheritance by children (Q-4 to Q-6)."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from core.durations import duration_text, seconds_of
from core.ids import QueuePath
from core.queues.properties import (
    PreemptionPolicy,
    QueueProperties,
    SortPolicy,
    inherited,
    properties_from,
    readable,
)
from core.queues.queue import Queue
from core.queues.spec import QueueSpec, TemplateSpec
from core.queues.tree import QueueTree
from tests.builders import make_partition, make_queue


def queue_with(path: str, properties: Mapping[str, str], *, leaf: bool = True) -> QueueSpec:
    return replace(make_queue(path, leaf=leaf), properties=properties)


def leaf(**values: str) -> QueueProperties:
    return properties_from({key.replace("_", "."): value for key, value in values.items()}, is_leaf=True)


@pytest.mark.rule("Q-4")
@pytest.mark.parametrize(
    ("key", "value", "member", "means"),
    [
        ("application.sort.policy", "fifo", "sort_policy", SortPolicy.FIFO),
        ("application.sort.policy", "fair", "sort_policy", SortPolicy.FAIR),
        ("application.sort.policy", "stateaware", "sort_policy", SortPolicy.STATE_AWARE),
        ("application.sort.policy", "Fair", "sort_policy", SortPolicy.FIFO),
        ("application.sort.policy", "", "sort_policy", SortPolicy.FIFO),
        ("application.sort.priority", "DISABLED", "sort_by_priority", False),
        ("application.sort.priority", "off", "sort_by_priority", True),
        ("priority.policy", "Fence", "priority_fence", True),
        ("priority.policy", "fenced", "priority_fence", False),
        ("priority.offset", "+5", "priority_offset", 5),
        ("priority.offset", "-2147483648", "priority_offset", -(2**31)),
        pytest.param(
            "priority.offset", "-" + "0" * 9000 + "7", "priority_offset", -7, id="C6 zeros in front"
        ),
        ("priority.offset", "1" * 9000, "priority_offset", 0),
        ("priority.offset", "2147483648", "priority_offset", 0),
        ("priority.offset", "3000000000", "priority_offset", 0),
        ("priority.offset", "1_000", "priority_offset", 0),
        ("priority.offset", " 5", "priority_offset", 0),
        ("priority.offset", "0x5", "priority_offset", 0),
        ("priority.offset", "1.0", "priority_offset", 0),
        ("preemption.policy", "FENCE", "preemption", PreemptionPolicy.FENCE),
        ("preemption.policy", "disabled", "preemption", PreemptionPolicy.DISABLED),
        ("preemption.policy", "none", "preemption", PreemptionPolicy.DEFAULT),
        ("preemption.delay", "1m30s", "preemption_delay", 90.0),
        ("preemption.delay", "0s", "preemption_delay", 30.0),
        pytest.param("preemption.delay", "0.9ns", "preemption_delay", 30.0, id="C7 below a nanosecond"),
        pytest.param(
            "quota.preemption.delay",
            "2562047h47m16.854775807s",
            "quota_preemption_delay",
            (2**63 - 1) / 1e9,
            id="C7 the longest",
        ),
        ("quota.preemption.delay", "2562047h47m16.854775808s", "quota_preemption_delay", 0.0),
        ("preemption.delay", "-1s", "preemption_delay", 30.0),
        ("preemption.delay", "30", "preemption_delay", 30.0),
        ("quota.preemption.delay", "5m", "quota_preemption_delay", 300.0),
        ("quota.preemption.delay", "never", "quota_preemption_delay", 0.0),
        ("application.unschedasks.backoff", "18446744073709551615", "unscheduled_backoff", 2**64 - 1),
        ("application.unschedasks.backoff", "18446744073709551616", "unscheduled_backoff", 0),
        ("application.unschedasks.backoff", "-1", "unscheduled_backoff", 0),
        ("application.unschedasks.backoff.delay", "100ms", "unscheduled_delay", 0.1),
        ("application.unschedasks.backoff.delay", "0", "unscheduled_delay", 30.0),
    ],
)
def test_what_a_property_means(key: str, value: str, member: str, means: object) -> None:
    assert getattr(properties_from({key: value}, is_leaf=True), member) == means


@pytest.mark.rule("Q-4")
def test_keys_are_case_sensitive_and_unknown_ones_mean_nothing() -> None:
    assert properties_from({"Priority.Offset": "7", "colour": "red"}, is_leaf=True) == QueueProperties()


@pytest.mark.rule("Q-4")
def test_a_parent_orders_its_children_fairly_and_has_no_delay_of_its_own() -> None:
    values = {"application.sort.policy": "fifo", "preemption.delay": "5s"}
    of_parent = properties_from(values, is_leaf=False)
    assert (of_parent.sort_policy, of_parent.preemption_delay) == (SortPolicy.FAIR, 30.0)


PARENT = {
    "application.sort.policy": "fair",
    "application.sort.priority": "disabled",
    "priority.policy": "fence",
    "priority.offset": "100",
    "preemption.policy": "fence",
    "preemption.delay": "5s",
    "quota.preemption.delay": "6s",
    "application.unschedasks.backoff": "3",
    "application.unschedasks.backoff.delay": "7s",
    "colour": "red",
}


@pytest.mark.rule("Q-5")
def test_what_goes_down_to_a_child() -> None:
    down = inherited(PARENT, {})
    reset = {"priority.policy": "default", "priority.offset": "0", "preemption.policy": "default"}
    assert down == {**PARENT, **reset}


@pytest.mark.rule("Q-5")
@pytest.mark.parametrize(
    ("value", "down"), [("disabled", "disabled"), ("Disabled", "Disabled"), ("fence", "default")]
)
def test_of_the_preemption_policy_only_disabled_goes_down(value: str, down: str) -> None:
    assert inherited({"preemption.policy": value}, {}) == {"preemption.policy": down}


@pytest.mark.rule("Q-5")
def test_a_child_may_enable_again_and_a_reload_evaluates_anew() -> None:
    tree = QueueTree()
    off = {"preemption.policy": "disabled", "application.sort.policy": "fair"}
    on = {"preemption.policy": "default"}
    tree.apply(
        make_partition(
            queue_with("root.p", off, leaf=False), queue_with("root.p.same", {}), queue_with("root.p.own", on)
        )
    )
    assert [known(tree, name).preemption for name in ("root.p", "root.p.same", "root.p.own")] == [
        PreemptionPolicy.DISABLED,
        PreemptionPolicy.DISABLED,
        PreemptionPolicy.DEFAULT,
    ]
    assert known(tree, "root.p.same").sort_policy is SortPolicy.FAIR
    tree.apply(make_partition(queue_with("root.p", {}, leaf=False), queue_with("root.p.same", {})))
    assert known(tree, "root.p.same") == QueueProperties()


@pytest.mark.rule("Q-6")
def test_dynamic_queues_inherit_nothing_and_a_leaf_has_its_template() -> None:
    tree = QueueTree()
    parent = replace(
        queue_with("root.p", PARENT, leaf=False), template=TemplateSpec(properties={"priority.offset": "4"})
    )
    tree.apply(make_partition(parent))
    tree.create((QueuePath("root.p.middle"), QueuePath("root.p.middle.leaf")))
    assert known(tree, "root.p.middle") == QueueProperties(sort_policy=SortPolicy.FAIR)
    assert known(tree, "root.p.middle.leaf") == QueueProperties(priority_offset=4)
    tree.apply(make_partition(parent))
    assert known(tree, "root.p.middle.leaf") == QueueProperties(priority_offset=4)


def known(tree: QueueTree, path: str) -> QueueProperties:
    queue = tree.get(path)
    assert isinstance(queue, Queue)
    return queue.properties


@pytest.mark.parametrize(
    ("key", "value", "answer"),
    [
        ("application.sort.policy", "Fair", False),
        ("application.sort.priority", "Enabled", True),
        ("priority.policy", "none", False),
        ("priority.offset", "+7", True),
        ("preemption.policy", "Disabled", True),
        ("preemption.delay", "0s", False),
        ("application.unschedasks.backoff", "0", True),
        ("colour", "red", None),
    ],
)
def test_whether_a_value_is_read(key: str, value: str, answer: bool | None) -> None:
    assert readable(key, value) is answer


# -- durations ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30.0),
        ("1m30s", 90.0),
        ("1.5h", 5400.0),
        (".5s", 0.5),
        ("1.s", 1.0),
        ("+2ms", 0.002),
        ("-1s", -1.0),
        ("0", 0.0),
        ("3us", 3e-6),
        ("3µs", 3e-6),
        ("3μs", 3e-6),
        ("1h1h", 7200.0),
    ],
)
def test_durations_are_read_as_in_go(text: str, seconds: float) -> None:
    assert seconds_of(text) == pytest.approx(seconds)


@pytest.mark.parametrize(
    "text", ["", "s", "1", ".", ".s", "1d", "1 s", "1s ", "1,5s", "--1s", "9" * 30 + "h", "1" * 200 + "s"]
)
def test_what_is_no_duration(text: str) -> None:
    with pytest.raises(ValueError):
        seconds_of(text)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.0, "0s"),
        (30.0, "30s"),
        (90.0, "1m30s"),
        (60.0, "1m0s"),
        (3600.0, "1h0m0s"),
        (3661.5, "1h1m1.5s"),
        (0.25, "250ms"),
        (0.0000015, "1.5µs"),
        (3e-9, "3ns"),
        (-1.5, "-1.5s"),
    ],
)
def test_durations_are_written_as_in_go(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text
