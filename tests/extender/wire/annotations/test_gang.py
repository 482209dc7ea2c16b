"""Task groups, policies, markers of placeholders and labels of pod groups, read from pods."""

import json
from typing import Any

import pytest

from core.quantity import INT64_MAX
from core.resource import Resource
from core.workload.gangs.gang import Gang, GangPolicy, GangStyle, Misdefined, PodGroup, TaskGroup
from extender.wire.annotations.gang import (
    LONGEST,
    PLACEHOLDER,
    POD_GROUP_MIN,
    POD_GROUP_NAME,
    POLICY,
    TASK_GROUPS,
    gang_from,
    is_placeholder,
    pod_group_from,
    policy_from,
)
from extender.wire.translate import POD, pod_from
from tests.extender.rigs import Rig, answers_of, filter_body, serving


def group(**more: Any) -> dict[str, Any]:
    return {"name": "g", "minMember": 2, "minResource": {"cpu": "500m"}, **more}


def read(*groups: object) -> Gang | Misdefined | None:
    return gang_from({TASK_GROUPS: json.dumps(groups)})


def gang(*groups: object) -> Gang:
    found = read(*groups)
    assert isinstance(found, Gang), found
    return found


def wrong(*groups: object) -> str:
    found = read(*groups)
    assert isinstance(found, Misdefined), found
    return found.why


@pytest.mark.rule("POD-10", "POD-13")
def test_a_gang_with_its_numbers() -> None:
    found = gang(group(minMember=10, minResource={"cpu": "500m", "memory": "1024M"}))
    (only,) = found.groups
    assert (only.name, only.members) == ("g", 10)
    assert only.size == Resource({"pods": 1, "vcore": 500, "memory": 1_024_000_000})
    assert only.template.requests == {"cpu": "500m", "memory": "1024M"}
    assert found.total == Resource({"pods": 10, "vcore": 5000, "memory": 10_240_000_000})


@pytest.mark.rule("POD-13")
def test_groups_add_up_type_by_type() -> None:
    found = gang(group(), group(name="h", minMember=3, minResource={"memory": "1Ki", "example.com/x": 2}))
    assert found.total == Resource({"pods": 5, "vcore": 1000, "memory": 3072, "example.com/x": 6})
    assert gang(group(minResource={})).total == Resource({"pods": 2})


@pytest.mark.rule("POD-10")
@pytest.mark.parametrize("written", ["", "[]", "null"])
def test_no_task_group_is_no_gang(written: str) -> None:
    assert gang_from({TASK_GROUPS: written}) is None
    assert gang_from({}) is None


@pytest.mark.rule("POD-10")
@pytest.mark.parametrize(
    ("quantity", "vcore"),
    [("1", 1000), (1, 1000), (1.5, 1500), (" 2 ", 2000), (None, 0), ("1e-1", 100), ("0", 0)],
)
def test_a_quantity_is_a_text_or_a_number(quantity: object, vcore: int) -> None:
    assert gang(group(minResource={"cpu": quantity})).groups[0].size.get("vcore") == vcore


@pytest.mark.rule("POD-10")
def test_a_number_counts_as_it_is_written() -> None:
    found = gang_from({TASK_GROUPS: '[{"name":"g","minMember":1,"minResource":{"memory":1e3}}]'})
    assert isinstance(found, Gang)
    assert found.groups[0].template.requests == {"memory": "1e3"}
    assert found.total == Resource({"pods": 1, "memory": 1000})


@pytest.mark.rule("POD-10")
def test_keys_are_read_in_any_case_and_stored_in_the_spelling_of_the_api() -> None:
    found = gang(
        {
            "NAME": "g",
            "minmember": 1,
            "MinResource": {"cpu": "1"},
            "nodeselector": {"Zone": "b"},
            "Tolerations": [{"KEY": "gpu", "Operator": "Exists", "tolerationseconds": 5, "other": 1}],
            "unknown": {"deep": [1]},
        }
    )
    template = found.groups[0].template
    assert template.node_selector == {"Zone": "b"}
    assert template.tolerations == ({"key": "gpu", "operator": "Exists", "tolerationSeconds": 5},)


@pytest.mark.rule("POD-10")
def test_the_placeholder_fields_of_a_group_are_stored() -> None:
    zone = [{"key": "zone", "operator": "In", "values": ["a", "b"]}]
    near = {"labelSelector": {"matchLabels": {"app": "x"}, "matchExpressions": zone}, "topologyKey": "host"}
    affinity = {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": zone, "matchFields": zone}]
            },
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 3, "preference": {"matchExpressions": zone}}
            ],
        },
        "podAntiAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": [{**near, "namespaces": ["dev"]}],
            "preferredDuringSchedulingIgnoredDuringExecution": [{"weight": 1, "podAffinityTerm": near}],
        },
    }
    spread = [{"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule", "minDomains": 2}]
    written = group(
        labels={"a": "b"}, annotations={"c": "d"}, affinity=affinity, topologySpreadConstraints=spread
    )
    template = gang(written).groups[0].template
    assert (template.labels, template.annotations) == ({"a": "b"}, {"c": "d"})
    assert json.loads(json.dumps(template.affinity)) == affinity
    assert json.loads(json.dumps(template.topology_spread)) == spread


@pytest.mark.rule("POD-10")
def test_null_leaves_a_field_as_if_it_were_absent() -> None:
    nothing = dict.fromkeys(
        ("labels", "tolerations", "affinity", "nodeSelector", "topologySpreadConstraints")
    )
    assert gang(group(**nothing)).groups[0] == gang(group()).groups[0]


@pytest.mark.rule("POD-12")
@pytest.mark.parametrize(
    ("written", "why"),
    [
        ({"name": ""}, "a task group must have a name"),
        ({"name": None}, "a task group must have a name"),
        ({"name": 5}, "[0].name: must be a text"),
        ({"minMember": 0}, "minMember must be at least 1"),
        ({"minMember": -1}, "minMember must be at least 1"),
        ({"minMember": None}, "minMember must be at least 1"),
        ({"minMember": "2"}, "[0].minMember: must be a whole number"),
        ({"minMember": 2.0}, "[0].minMember: must be a whole number"),
        ({"minMember": True}, "[0].minMember: must be a whole number"),
        ({"minMember": 2**31}, "[0].minMember: must be a number of 32 bits"),
        ({"minMember": 10**30}, "[0].minMember: must be a number of 32 bits"),
        ({"minResource": None}, "minResource must be there"),
        ({"minResource": []}, "[0].minResource: must be an object"),
        ({"minResource": {"cpu": []}}, "[0].minResource.cpu: must be a quantity"),
        ({"minResource": {"cpu": True}}, "[0].minResource.cpu: must be a quantity"),
        ({"minResource": {"cpu": "lots"}}, "minResource: cpu: quantity 'lots': must be a number"),
        ({"minResource": {"cpu": "9" * 300}}, "is longer than 256 characters"),
        ({"labels": {"a": 1}}, "[0].labels.a: must be a text"),
        ({"labels": []}, "[0].labels: must be an object"),
        ({"tolerations": {}}, "[0].tolerations: must be a list"),
        ({"tolerations": [{"key": 1}]}, "[0].tolerations[0].key: must be a text"),
        ({"tolerations": ["x"]}, "[0].tolerations[0]: must be an object"),
        ({"affinity": {"nodeAffinity": []}}, "[0].affinity.nodeAffinity: must be an object"),
        ({"topologySpreadConstraints": [{"maxSkew": "1"}]}, "maxSkew: must be a whole number"),
    ],
)
def test_one_malformed_value_spoils_all_groups(written: dict[str, Any], why: str) -> None:
    assert why in wrong(group(), group(**written)).replace("[1]", "[0]")


@pytest.mark.rule("POD-12")
@pytest.mark.parametrize(
    "written",
    [
        *("{", "x", '{"name":"g"}', "5", '"[]"', "[1]", "[[]]", "[null]", "NaN", "[1,]", "[" * 100_000),
        *('[{"minMember":' + "9" * 5000 + "}]", '["\\ud800"]', "\ufeff[]", " " * (LONGEST + 1) + "[]"),
    ],
    ids=lambda text: text[:12],
)
def test_what_is_no_list_of_groups_is_misdefined_and_raises_nothing(written: str) -> None:
    found = gang_from({TASK_GROUPS: written})
    assert isinstance(found, Misdefined)
    assert len(found.why) < 400


@pytest.mark.rule("POD-12")
def test_a_reason_never_repeats_what_was_written_at_length() -> None:
    assert len(wrong(group(minResource={"x" * 10_000: "y" * 200}))) < 400
    assert len(wrong(group(minResource={"x" * 10_000: "-1"}))) < 400
    assert len(wrong(group(labels={"x" * 10_000: 1}))) < 400


@pytest.mark.rule("POD-11")
@pytest.mark.parametrize(
    ("members", "resources", "fits"),
    [
        (1, {"memory": str(INT64_MAX)}, True),
        (2, {"memory": str(INT64_MAX)}, False),
        (1, {"memory": str(INT64_MAX + 1)}, False),
        (1, {"memory": "1e40"}, False),
        (1, {"cpu": str(INT64_MAX // 1000)}, True),
        (1, {"cpu": str(INT64_MAX // 1000 + 1)}, False),
        (2**31 - 1, {"memory": "4Gi"}, True),
        (2**31 - 1, {"memory": "4294967299"}, False),
        (1, {"cpu": "-1"}, False),
        (1, {"memory": "-1m"}, False),
        (1, {"paddock.dev/filter": "-1"}, False),
        (1, {"cpu": "1", "vcore": "1"}, False),
        (1, {"vcore": "1"}, True),
        (1, {"pods": "1"}, False),
        (1, {"pods": "0"}, False),
    ],
)
def test_amounts_that_a_group_may_have(members: int, resources: dict[str, str], fits: bool) -> None:
    found = read(group(minMember=members, minResource=resources))
    assert isinstance(found, Gang if fits else Misdefined), found


@pytest.mark.rule("POD-11")
@pytest.mark.parametrize(("more", "fits"), [(0, True), (1, False)])
def test_all_groups_together_stay_within_64_bits(more: int, fits: bool) -> None:
    half = INT64_MAX // 2
    found = read(
        group(minMember=1, minResource={"memory": str(half)}),
        group(minMember=1, minResource={"memory": str(half + 1 + more)}),
    )
    assert isinstance(found, Gang if fits else Misdefined), found


@pytest.mark.rule("POD-13")
def test_markers_are_no_part_of_a_group() -> None:
    found = gang(group(minResource={"cpu": "1", "paddock.dev/filter": "1", "": "1"}))
    assert found.total == Resource({"pods": 2, "vcore": 2000})
    assert found.groups[0].template.requests == {"cpu": "1"}


@pytest.mark.rule("POD-14")
@pytest.mark.parametrize(
    ("written", "style", "timeout"),
    [
        ("", "Soft", 0),
        ("gangSchedulingStyle=Hard placeholderTimeoutInSeconds=30", "Hard", 30),
        ("placeholderTimeoutInSeconds=30  gangSchedulingStyle=Hard", "Hard", 30),
        ("placeholderTimeoutInSeconds=50=25", "Soft", 0),
        ("placeholderTimeoutInSeconds=5 placeholderTimeoutInSeconds=50=25", "Soft", 5),
        ("placeholderTimeoutInSeconds=5 placeholderTimeoutInSeconds=7", "Soft", 7),
        ("placeholderTimeoutInSeconds=5 placeholderTimeoutInSeconds=soon", "Soft", 0),
        ("placeholderTimeoutInSeconds=-5", "Soft", -5),
        ("placeholderTimeoutInSeconds=+5", "Soft", 5),
        ("placeholderTimeoutInSeconds=1_0", "Soft", 0),
        ("placeholderTimeoutInSeconds=9223372036854775807", "Soft", INT64_MAX),
        ("placeholderTimeoutInSeconds=9223372036854775808", "Soft", 0),
        ("placeholdertimeoutinseconds=5 gangschedulingstyle=Hard", "Soft", 0),
        ("gangSchedulingStyle=hard", "Soft", 0),
        ("gangSchedulingStyle=Hard gangSchedulingStyle=Firm", "Soft", 0),
        ("gangSchedulingStyle=Hard\tplaceholderTimeoutInSeconds=5", "Soft", 0),
        ("other=1 gangSchedulingStyle=Hard", "Hard", 0),
    ],
)
def test_the_policy_of_a_gang(written: str, style: str, timeout: int) -> None:
    assert policy_from(written) == GangPolicy(GangStyle(style), timeout)


@pytest.mark.rule("POD-14")
@pytest.mark.parametrize(
    ("timeout", "seconds"),
    [(0, 900.0), (-1, 900.0), (1, 1.0), (9_223_372_036, 9_223_372_036.0), (9_223_372_037, 900.0)],
)
def test_how_long_placeholders_have(timeout: int, seconds: float) -> None:
    assert GangPolicy(timeout=timeout).placeholder_timeout == seconds


@pytest.mark.rule("POD-9")
@pytest.mark.parametrize(
    ("written", "is_one"),
    [
        *((text, True) for text in ("1", "t", "T", "true", "TRUE", "True")),
        *((text, False) for text in ("", "0", "false", "yes", "tRUE", " true", "on")),
    ],
)
def test_the_flag_of_a_placeholder(written: str, is_one: bool) -> None:
    assert is_placeholder({PLACEHOLDER: written}) is is_one
    assert not is_placeholder({"yunikorn.apache.org/placeholder": written})


@pytest.mark.rule("COS-1")
@pytest.mark.parametrize(
    ("name", "least", "members"),
    [
        *(("g", "1", 1), ("g", "+3", 3), ("g", "2147483647", 2147483647)),
        *(("g", text, None) for text in ("", "0", "-1", "two", "1.0", " 1", "2147483648", "9" * 5000)),
    ],
)
def test_the_labels_of_a_pod_group(name: str, least: str, members: int | None) -> None:
    found = pod_group_from({POD_GROUP_NAME: name, POD_GROUP_MIN: least})
    if members is None:
        assert isinstance(found, Misdefined)
    else:
        assert found == PodGroup(name, members)


@pytest.mark.rule("COS-1")
def test_without_a_name_there_is_no_group() -> None:
    assert pod_group_from({}) is None
    assert pod_group_from({POD_GROUP_NAME: "", POD_GROUP_MIN: "x"}) is None
    assert isinstance(pod_group_from({POD_GROUP_NAME: "g"}), Misdefined)


@pytest.mark.rule("POD-8", "POD-14")
def test_a_pod_brings_all_of_it_along() -> None:
    groups, policy = json.dumps([group()]), "gangSchedulingStyle=Hard"
    annotations = {
        "yunikorn.apache.org/task-group-name": "g",
        TASK_GROUPS: groups,
        POLICY: policy,
        PLACEHOLDER: "true",
    }
    labels = {POD_GROUP_NAME: "solo", POD_GROUP_MIN: "4"}
    body = json.dumps({"metadata": {"uid": "u", "annotations": annotations, "labels": labels}, "spec": {}})
    facts = pod_from(POD.decode(body))
    assert (facts.task_group, facts.placeholder) == ("g", True)
    assert facts.pod_group == PodGroup("solo", 4)
    assert isinstance(facts.gang, Gang)
    assert facts.gang.policy == GangPolicy(GangStyle.HARD)
    assert (facts.gang.written, facts.gang.policy_written) == (groups, policy)


@pytest.mark.rule("POD-8")
def test_the_plain_pod_has_none_of_it() -> None:
    facts = pod_from(POD.decode(b'{"metadata":{"uid":"u"},"spec":{}}'))
    assert (facts.task_group, facts.placeholder, facts.gang, facts.pod_group) == ("", False, None, None)


def test_the_first_group_of_a_name_is_found() -> None:
    found = gang(group(), group(minMember=5), group(name="h"))
    named = found.group("g")
    assert isinstance(named, TaskGroup)
    assert named.members == 2
    assert found.group("x") is None


@pytest.mark.rule("POD-12")
@pytest.mark.parametrize(
    "written", ["[" * 50_000, "{", "\u0000", '[{"minMember":1e999}]', json.dumps([{"name": "g"}])]
)
async def test_a_pod_with_any_of_it_is_answered_like_any_other(written: str) -> None:
    body = json.loads(filter_body("p"))
    body["Pod"]["metadata"].setdefault("annotations", {}).update({TASK_GROUPS: written, POLICY: "=" * 9999})
    rig = Rig()
    async with serving(answers_of(rig)) as door:
        status, answer = await door.post("filter", json.dumps(body).encode())
        assert (status, answer) == (200, {"NodeNames": ["n1", "n2"]})
    assert door.faults == []
    assert rig.audit() == ()
