"""`paddock check` on manifests: ConfigMaps alone, in lists and streams, and keys without effect."""

import base64
import gzip
import json
from collections.abc import Sequence
from textwrap import indent

import pytest

from extender.checking.manifest import MOST_OBJECTS
from extender.checking.verdict import Verdict, check_text
from extender.queueconfig.problems import Problem


def document(vcore: object = 2) -> str:
    return (
        "partitions:\n  - name: default\n    queues:\n      - name: root\n        submitacl: '*'\n"
        f"        queues: [{{name: a, resources: {{max: {{vcore: {vcore}}}}}}}]\n"
    )


def config_map(queues: str | None = None, *, name: str = "yunikorn-configs", **data: str) -> str:
    """``data``: plain scalars, their keys with ``__`` for the dots."""
    lines = [f"  {key.replace('__', '.')}: {value}\n" for key, value in data.items()]
    if queues is not None:
        lines.append("  queues.yaml: |\n" + indent(queues, "    "))
    return f"apiVersion: v1\nkind: ConfigMap\nmetadata: {{name: {name}}}\ndata:\n{''.join(lines)}"


def stream(*documents: str) -> str:
    return "---\n".join(documents)


def checked(text: str) -> Verdict:
    return check_text(text.encode(), name="m")


def places(found: Sequence[Problem]) -> list[tuple[str, str, int | None]]:
    return [(each.rule, each.path, each.line) for each in found]


NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: x}\n"
A_MAX = "partitions[0].queues[0].queues[0].resources.max"


@pytest.mark.parametrize("name", ["yunikorn-configs", "yunikorn-defaults", "mine"])
def test_a_config_map_alone_may_have_any_name(name: str) -> None:
    assert checked(config_map(document(), name=name)) == Verdict("m", ())
    verdict = checked(config_map(document("x"), name=name))
    assert places(verdict.problems) == [("CFG-22", f"{A_MAX}.vcore", 11)]


def test_lines_are_those_of_the_file() -> None:
    text = stream("# first\n\n" + NAMESPACE, config_map(document(0), service__frob="x"))
    assert places(checked(text).warnings) == [
        ("Q-2", A_MAX, 18),
        ("SRC-5", 'data["service.frob"]', 11),
    ]
    assert text.split("\n")[17].strip().startswith("queues: [{name: a")


def test_a_document_that_is_packed_or_folded_has_no_lines() -> None:
    packed = base64.b64encode(gzip.compress(document("x").encode())).decode()
    binary = f"apiVersion: v1\nkind: ConfigMap\nbinaryData: {{queues.yaml.gz: {packed}}}\n"
    object_ = {"kind": "ConfigMap", "metadata": {"name": "m"}, "data": {"queues.yaml": document("x")}}
    for text in (binary, json.dumps(object_), json.dumps({"kind": "List", "items": [object_]}, indent=1)):
        assert places(checked(text).problems) == [("CFG-22", f"{A_MAX}.vcore", None)]


@pytest.mark.rule("SRC-1")
@pytest.mark.parametrize("as_list", [False, True], ids=["stream", "list"])
def test_both_maps_of_a_manifest_are_merged_as_in_a_cluster(as_list: bool) -> None:
    defaults = config_map(document("x"), name="yunikorn-defaults", kubernetes__qps="'many'")
    configs = config_map(document(), kubernetes__qps="'5'")
    other = config_map("nonsense\n", name="another")
    objects = [configs, NAMESPACE, other, defaults]
    text = stream(*objects)
    if as_list:
        items = "".join("- " + indent(each, "  ").lstrip() for each in objects)
        text = f"apiVersion: v1\nkind: List\nitems:\n{items}"
    verdict = checked(text)
    assert verdict.right
    assert [each.rule for each in verdict.warnings] == ["SRC-4"]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        (NAMESPACE, "no ConfigMap yunikorn-configs or yunikorn-defaults"),
        (stream(config_map(name="a"), config_map(name="b")), "no ConfigMap yunikorn-configs"),
        (stream(config_map(), config_map()), "yunikorn-configs occurs 2 times"),
        (stream(*[config_map()] * (MOST_OBJECTS + 1)), "more than 100 documents"),
    ],
)
def test_no_guess_is_made_which_config_map_is_meant(text: str, says: str) -> None:
    (problem,) = checked(text).problems
    assert (problem.rule, problem.line) == ("SRC-1", None)
    assert says in problem.message


def test_broken_yaml_in_a_stream_is_reported_with_its_line() -> None:
    text = stream(NAMESPACE, "kind: ConfigMap\ndata: [\n")
    (problem,) = checked(text).problems
    assert (problem.rule, problem.line) == ("CFG-2", 7)


def test_a_document_with_the_key_kind_is_still_a_document() -> None:
    assert places(checked(document() + "kind: Queues\n").problems) == [("CFG-1", "kind", 7)]


@pytest.mark.parametrize(
    ("data", "path"),
    [
        ("data:\n  queues.yaml:\n    partitions: []\n", 'data["queues.yaml"]'),
        ("data:\n  a: b\n  service.enableConfigHotRefresh: true\n", 'data["service.enableConfigHotRefresh"]'),
        ("data:\n  kubernetes.qps: 5\n", 'data["kubernetes.qps"]'),
        ("data: |\n  queues.yaml\n", "data"),
        ("data: {a: b}\nbinaryData: []\n", "binaryData"),
    ],
)
def test_what_the_api_server_would_refuse(data: str, path: str) -> None:
    problems = [each for each in checked(f"kind: ConfigMap\n{data}").problems if each.rule == "SRC-1"]
    assert [each.path for each in problems] == [path]
    assert problems[0].line is not None


def test_a_key_that_occurs_twice() -> None:
    text = config_map(document(), a="b") + "  a: c\n"
    assert [(each.rule, each.path) for each in checked(text).problems] == [("CFG-2", "data.a")]


def test_null_is_an_empty_text() -> None:
    assert checked("kind: ConfigMap\ndata:\n  queues.yaml:\n").right


# -- keys ----------------------------------------------------------------------------------------------------


@pytest.mark.rule("SRC-5")
def test_every_value_that_refuses_the_reload_is_a_problem_with_its_place() -> None:
    text = config_map(service__dispatchTimeout="soon", paddock__lease="x", service__placeholderImage="y")
    verdict = checked(text)
    assert sorted(places(verdict.problems)) == [
        ("SRC-5", 'data["paddock.lease"]', 6),
        ("SRC-5", 'data["service.dispatchTimeout"]', 5),
    ]


@pytest.mark.rule("SRC-4")
@pytest.mark.parametrize(
    ("key", "why"),
    [
        ("service.volumeBindTimeout", "bindTimeoutSeconds"),
        ("log.core.scheduler.level", "--log-level"),
        ("event.requestCapacity", "a part of YuniKorn"),
        ("admissionController.accessControl.externalUsers", "manifests/identity"),
        ("admissionController.webHook.amServiceName", "the chart configures the webhook"),
    ],
)
def test_a_key_that_does_nothing_here_is_a_warning_with_the_reason(key: str, why: str) -> None:
    value = {"service.volumeBindTimeout": "10m"}.get(key, "'1'")
    verdict = checked(config_map(document(), **{key: value}))
    assert verdict.right
    ((rule, path, line),) = places(verdict.warnings)
    assert (rule, path, line) == ("SRC-4", f'data["{key}"]', 5)
    assert why in verdict.warnings[0].message


@pytest.mark.rule("POD-31")
@pytest.mark.parametrize("name", ["process", "bypass", "label", "noLabel"])
def test_a_key_that_only_the_policy_of_adoption_reads(name: str) -> None:
    """F-9: an expression that does not compile would stop the policy."""
    key = f"admissionController.filtering.{name}Namespaces"
    verdict = checked(config_map(document(), **{key: "'^team-, b$'"}))
    ((rule, path, line),) = places(verdict.warnings)
    assert (rule, path, line) == ("POD-31", f'data["{key}"]', 5)
    assert "counts only where manifests/adopt is installed" in verdict.warnings[0].message
    verdict = checked(config_map(document(), **{key: "'^team-, (b'"}))
    assert verdict.right
    assert [each.rule for each in verdict.warnings] == ["POD-31", "POD-31"]
    assert '"(b" is no regular expression' in verdict.warnings[1].message


@pytest.mark.rule("SRC-4")
def test_keys_that_work_are_no_warning() -> None:
    keys = {
        "service.policyGroup": "queues",
        "service.enableConfigHotRefresh": "'false'",
        "admissionController.filtering.generateUniqueAppId": "'true'",
        "paddock.turn.lease": "1s",
        "paddock.gang.maxPods": "'5'",
        "service.placeholderImage": "pause",
        "service.placeholderRunAsUser": "'1'",
        "service.placeholderRunAsGroup": "'1'",
        "service.placeholderFsGroup": "'1'",
    }
    assert checked(config_map(document(), **keys)) == Verdict("m", ())


@pytest.mark.rule("GANG-3")
@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("service.placeholderImage", "''"),
        ("service.placeholderRunAsUser", "'-1'"),
        ("service.placeholderRunAsGroup", "'2147483648'"),
        ("service.placeholderFsGroup", "'9223372036854775807'"),
    ],
)
def test_what_no_placeholder_can_be_made_of_is_a_warning(key: str, value: str) -> None:
    verdict = checked(config_map(document(), **{key: value}))
    assert verdict.right
    assert places(verdict.warnings) == [("GANG-3", f'data["{key}"]', 5)]
    assert "every placeholder is refused" in verdict.warnings[0].message


@pytest.mark.rule("SRC-5")
@pytest.mark.parametrize(
    ("key", "hint"),
    [
        ("service.policygroup", "did you mean service.policyGroup"),
        ("paddock.reservationTTL", "did you mean paddock.reservation.ttl"),
        ("frobnicate", "it can be left out"),
    ],
)
def test_an_unknown_key_is_a_warning_with_the_nearest(key: str, hint: str) -> None:
    (warning,) = checked(config_map(document(), **{key: "x"})).warnings
    assert warning.rule == "SRC-5"
    assert warning.message.endswith(hint)


@pytest.mark.rule("SRC-3")
def test_a_document_that_is_not_the_one_of_the_policy_group_is_a_warning() -> None:
    text = config_map(document("x"), service__policyGroup="batch") + "  batch.yaml: |\n"
    verdict = checked(text + indent(document(), "    "))
    assert verdict.right
    assert places(verdict.warnings) == [("SRC-3", 'data["queues.yaml"]', 6)]


@pytest.mark.rule("SRC-2")
def test_packed_entries_that_give_nothing_are_warnings() -> None:
    text = "kind: ConfigMap\nbinaryData: {queues.yaml.zip: AAAA, other.gz: AAAA}\n"
    verdict = checked(text)
    assert verdict.right
    assert [(each.rule, each.path) for each in verdict.warnings] == [
        ("SRC-3", ""),
        ("SRC-2", 'binaryData["other.gz"]'),
        ("SRC-2", 'binaryData["queues.yaml.zip"]'),
    ]


@pytest.mark.rule("SRC-3")
@pytest.mark.parametrize(
    ("settings", "warned"),
    [("{log.level: INFO}", True), ('{paddock.config.builtinDefault: "true"}', False)],
)
def test_a_map_without_a_document_is_a_warning(settings: str, warned: bool) -> None:
    """F-4: Paddock is not ready with it, unless a setting allows the built-in document."""
    verdict = checked(f"kind: ConfigMap\ndata: {settings}\n")
    assert verdict.right
    found = [each.message for each in verdict.warnings if each.rule == "SRC-3"]
    assert [each.partition(":")[0] for each in found] == ["there is no document under queues.yaml"] * warned
