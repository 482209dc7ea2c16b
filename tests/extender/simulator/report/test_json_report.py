"""A recording as JSON: its contents, and equal bytes each time."""

import json
from dataclasses import fields, replace

from extender.simulator.report.json_report import data_of, json_of
from extender.simulator.report.recording import (
    Difference,
    Happening,
    NodeHistory,
    QueueHistory,
    QueueSample,
    Recording,
    Stay,
)
from tests.extender.simulator.report.recordings import (
    five_pods,
    large,
    make_history,
    make_recording,
    make_sample,
    with_difference,
)

NAMED_OTHERWISE = {"name": "scenario", "file": "scenario", "is_leaf": "isLeaf"}


def test_every_field_of_a_recording_is_in_it() -> None:
    data = data_of(with_difference(five_pods()))
    shapes = {
        Recording: data,
        Happening: data["timeline"][0],
        QueueHistory: data["queues"][0],
        QueueSample: data["queues"][0]["samples"][0],
        NodeHistory: data["nodes"][0] | {"scenario": ""},
        Stay: data["nodes"][0]["stays"][0],
        Difference: data["differences"][0],
    }
    for kind, shape in shapes.items():
        missing = {NAMED_OTHERWISE.get(each.name, each.name) for each in fields(kind)} - set(shape)
        assert not missing, kind


def test_the_last_sample_is_the_final_state() -> None:
    web = data_of(five_pods())["queues"][1]
    assert web["path"] == "root.web"
    assert web["final"] == web["samples"][-1]
    assert web["final"]["used"] == {"memory": 2 * 2**30, "vcore": 1000}
    assert data_of(make_recording(queues=(QueueHistory("root", False, ()),)))["queues"][0]["final"] is None


def test_no_bound_and_a_bound_of_zero_differ() -> None:
    histories = (make_history("root.a"), make_history("root.b", make_sample(max={"vcore": 0})))
    assert [each["final"]["max"] for each in data_of(make_recording(queues=histories))["queues"]] == [
        None,
        {"vcore": 0},
    ]


def test_pods_keep_the_order_of_their_creation() -> None:
    assert [pod["name"] for pod in data_of(five_pods())["pods"]] == list(five_pods().pods)


def test_the_order_of_amounts_and_fields_does_not_show() -> None:
    one = make_sample(used={"vcore": 1, "memory": 2})
    other = make_sample(used={"memory": 2, "vcore": 1})
    pods = {"web-0": {"queue": "root.a", "node": ""}}, {"web-0": {"node": "", "queue": "root.a"}}
    texts = [
        json_of(make_recording(queues=(make_history("root", sample),), pods=pod))
        for sample, pod in zip((one, other), pods, strict=True)
    ]
    assert texts[0] == texts[1]


def test_the_same_run_gives_the_same_bytes() -> None:
    assert json_of(large(300, 10, 9)) == json_of(large(300, 10, 9))
    assert json_of(five_pods()) != json_of(replace(five_pods(), end=31_000))


def test_any_text_survives() -> None:
    name = 'a "name" \ud800 \x1b </script> é'
    text = json_of(make_recording(name=name))
    assert text.isascii()
    assert json.loads(text)["scenario"]["name"] == name
