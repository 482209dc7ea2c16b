"""One accepted and one rejected document for each rule about access, limits, placement and node order."""

import json
from pathlib import Path

import pytest

from extender import cli
from extender.queueconfig.load import check_document

QUEUES = "queues: [{name: root, submitacl: '*', queues: [{name: a, resources: {max: {vcore: 5}}}, "
QUEUES += "{name: p, parent: true, queues: [{name: x}]}]}]"


def problems(partition: str) -> list[tuple[str, str]]:
    text = f"partitions: [{{name: default, {partition}}}]"
    return [(each.rule, each.path.removeprefix("partitions[0].")) for each in check_document(text)]


def queue(text: str) -> str:
    return f"queues: [{{name: root, queues: [{{name: a, {text}}}]}}]"


def limits(*entries: str, below: str = "") -> str:
    child = f", queues: [{{name: b, limits: [{below}]}}]" if below else ""
    return queue(f"limits: [{', '.join(entries)}]{child}")


def rules(*entries: str) -> str:
    return f"placementrules: [{', '.join(entries)}], {QUEUES}"


LIMITS = "queues[0].queues[0].limits"
U1 = "{users: [u], maxapplications: 1}"
CASES: list[tuple[str, str, str, str]] = [
    (
        "CFG-8",
        f"limits: [{U1}], queues: [{{name: root, limits: [{U1}]}}]",
        f"limits: [{U1}], queues: [{{name: root, limits: [{{users: [v], maxapplications: 1}}]}}]",
        "limits",
    ),
    ("CFG-12", queue("submitacl: 'a b'"), queue("submitacl: 'a b c'"), "queues[0].queues[0].submitacl"),
    ("CFG-13", limits(U1), limits("{maxapplications: 1}"), f"{LIMITS}[0]"),
    (
        "CFG-14",
        limits("{users: ['a#b/c'], maxapplications: 1}"),
        limits("{users: ['1a'], maxapplications: 1}"),
        f"{LIMITS}[0].users[0]",
    ),
    (
        "CFG-14",
        limits("{groups: ['a.b'], maxapplications: 1}"),
        limits("{groups: ['a/b'], maxapplications: 1}"),
        f"{LIMITS}[0].groups[0]",
    ),
    ("CFG-15", limits(U1, "{users: [v], maxapplications: 1}"), limits(U1, U1), f"{LIMITS}[1].users[0]"),
    (
        "CFG-16",
        limits("{users: [bob, '*'], maxapplications: 1}"),
        limits("{users: ['*', bob], maxapplications: 1}"),
        f"{LIMITS}[0].users[1]",
    ),
    (
        "CFG-17",
        limits("{groups: [g, '*'], maxapplications: 1}"),
        limits("{groups: ['*'], maxapplications: 1}"),
        f"{LIMITS}[0].groups",
    ),
    (
        "CFG-18",
        limits("{users: [u], maxresources: {memory: 100, gpu: 0}}"),
        limits("{users: [u], maxresources: {memory: 0}, maxapplications: 1}"),
        f"{LIMITS}[0].maxresources",
    ),
    (
        "CFG-18",
        limits("{users: [u], maxresources: {vcore: 1}}"),
        limits("{users: [u], maxresources: {vcore: x}}"),
        f"{LIMITS}[0].maxresources.vcore",
    ),
    ("CFG-19", limits("{users: [u], maxresources: {vcore: 1}}"), limits("{users: [u]}"), f"{LIMITS}[0]"),
    (
        "CFG-20",
        queue(f"maxapplications: 1, limits: [{U1}]"),
        queue("maxapplications: 1, limits: [{users: [u], maxapplications: 2}]"),
        f"{LIMITS}[0].maxapplications",
    ),
    (
        "CFG-21",
        queue("resources: {max: {vcore: 1}}, limits: [{users: [u], maxresources: {vcore: 1, gpu: 9}}]"),
        queue("resources: {max: {vcore: 1}}, limits: [{users: [u], maxresources: {vcore: 2}}]"),
        f"{LIMITS}[0].maxresources.vcore",
    ),
    ("CFG-28", rules("{name: user}"), rules("{name: 'us-er'}"), "placementrules[0].name"),
    (
        "CFG-29",
        rules("{name: user, filter: {type: DENY}}"),
        rules("{name: user, filter: {type: no}}"),
        "placementrules[0].filter.type",
    ),
    *[
        (
            "CFG-30",
            rules("{name: user, filter: {users: ['^dev']}}"),
            rules(f"{{name: user, filter: {{users: ['{bad}']}}}}"),
            "placementrules[0].filter.users[0]",
        )
        for bad in ("", "user name", "99test", "test[test")
    ],
    (
        "CFG-30",
        rules("{name: user, filter: {groups: [a, 'b@c']}}"),
        rules("{name: user, filter: {groups: ['test@group']}}"),
        "placementrules[0].filter.groups[0]",
    ),
    (
        "CFG-31",
        rules("{name: fixed, value: x, parent: {name: fixed, value: p}}"),
        rules("{name: fixed, value: root.x, parent: {name: fixed, value: p}}"),
        "placementrules[0].value",
    ),
    (
        "CFG-32",
        rules("{name: fixed, value: root.a}"),
        rules("{name: fixed, value: root.p}"),
        "placementrules[0]",
    ),
    (
        "CFG-33",
        rules("{name: user, parent: {name: fixed, value: p}}"),
        rules("{name: user, parent: {name: fixed, value: a}}"),
        "placementrules[0]",
    ),
    (
        "CFG-34",
        rules("{name: fixed, value: new, create: true}"),
        rules("{name: fixed, value: new}"),
        "placementrules[0]",
    ),
    (
        "CFG-35",
        rules("{name: fixed, value: P.Y, create: true}"),
        rules("{name: fixed, value: a.y, create: true}"),
        "placementrules[0]",
    ),
    (
        "CFG-37",
        f"nodesortpolicy: {{type: binpacking}}, {QUEUES}",
        f"nodesortpolicy: {{type: invalid}}, {QUEUES}",
        "nodesortpolicy.type",
    ),
    (
        "CFG-38",
        f"nodesortpolicy: {{resourceweights: {{vcore: 0}}}}, {QUEUES}",
        f"nodesortpolicy: {{resourceweights: {{vcore: -1}}}}, {QUEUES}",
        "nodesortpolicy.resourceweights.vcore",
    ),
    (
        "CFG-41",
        limits(
            "{users: [u], maxresources: {vcore: 5}}", below="{users: [u], maxresources: {vcore: 5, gpu: 1}}"
        ),
        limits("{users: [u], maxresources: {vcore: 5}}", below="{users: [u], maxresources: {vcore: 6}}"),
        "queues[0].queues[0].queues[0].limits[0].maxresources.vcore",
    ),
    (
        "CFG-42",
        limits("{users: ['*'], maxresources: {vcore: 5}}", below="{users: [u], maxresources: {vcore: 5}}"),
        limits("{users: ['*'], maxresources: {vcore: 5}}", below="{users: [u], maxresources: {vcore: 6}}"),
        "queues[0].queues[0].queues[0].limits[0].maxresources.vcore",
    ),
    (
        "CFG-43",
        limits("{users: [u], maxresources: {vcore: 5}}", below="{users: ['*'], maxresources: {vcore: 9}}"),
        limits("{users: ['*'], maxresources: {vcore: 5}}", below="{users: ['*'], maxresources: {vcore: 9}}"),
        "queues[0].queues[0].queues[0].limits[0].maxresources.vcore",
    ),
    (
        "CFG-44",
        limits("{users: [bob], maxapplications: 10}", below="{users: [bob], maxapplications: 10}"),
        limits("{users: [bob], maxapplications: 10}", below="{users: [bob], maxresources: {vcore: 1}}"),
        "queues[0].queues[0].queues[0].limits[0].maxapplications",
    ),
    (
        "CFG-45",
        limits("{users: ['*'], maxapplications: 2}", below="{users: [bob], maxapplications: 2}"),
        limits("{users: ['*'], maxapplications: 2}", below="{users: [bob], maxapplications: 3}"),
        "queues[0].queues[0].queues[0].limits[0].maxapplications",
    ),
    ("APPLY-2", queue("submitacl: 'a '"), queue("submitacl: ' a b'"), "queues[0].queues[0].submitacl"),
    (
        "APPLY-3",
        queue("childtemplate: {resources: {max: {vcore: 1}}}"),
        queue("childtemplate: {resources: {max: {vcore: -1}}}"),
        "queues[0].queues[0].childtemplate.resources.max.vcore",
    ),
    *[
        ("APPLY-4", rules("{name: Provided}"), rules(f"{{name: {bad}}}"), "placementrules[0].name")
        for bad in ("test", "recovery", "nowhere")
    ],
    ("APPLY-4", rules("{name: tag, value: namespace}"), rules("{name: tag}"), "placementrules[0].value"),
]


@pytest.mark.parametrize(("rule", "right", "wrong", "path"), CASES)
def test_each_rule_accepts_and_rejects(rule: str, right: str, wrong: str, path: str) -> None:
    assert problems(right) == []
    assert (rule, path) in problems(wrong)


@pytest.mark.rule("CFG-46")
def test_below_no_number_any_is_right() -> None:
    above = "{users: [bob], maxresources: {vcore: 9}}"
    assert problems(limits(above, below="{users: [bob], maxapplications: 99}")) == []


@pytest.mark.rule("CFG-36")
def test_create_of_a_parent_rule_is_not_looked_at() -> None:
    assert problems(rules("{name: user, parent: {name: fixed, value: new}}")) == [
        ("CFG-34", "placementrules[0]")
    ]


def test_check_says_everything(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    right, wrong, map_ = tmp_path / "right.yaml", tmp_path / "wrong.yaml", tmp_path / "map.yaml"
    right.write_text("partitions: [{name: default, queues: [{name: root}]}]\n")
    wrong.write_text(
        "partitions:\n- name: default\n  queues: [{name: a b}, {name: c, resources: {max: {vcore: x}}}]\n"
    )
    body = {"queues.yaml": wrong.read_text(), "paddock.turn.lease": "soon"}
    map_.write_text(json.dumps({"kind": "ConfigMap", "data": body}))
    assert cli.main(["check", str(right)]) == 0
    assert "no problems" in capsys.readouterr().out
    assert cli.main(["check", str(wrong), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)["problems"]
    assert {each["rule"] for each in found} == {"CFG-9", "CFG-22"}
    assert cli.main(["check", str(map_)]) == 1
    assert "paddock.turn.lease: must be a duration" in capsys.readouterr().out
    assert cli.main(["check", str(tmp_path / "none")]) == 2
    (tmp_path / "binary").write_bytes(b"\xff\x00\xff")
    assert cli.main(["check", str(tmp_path / "binary")]) == 1
