"""Documents made to be slow: a verdict within a second, up to the largest that is read at all.

Times are of the processor, and generous, since the machine that runs the tests may be slow.
"""

import time
from collections.abc import Callable

import pytest

from extender.queueconfig.load import check_document
from extender.queueconfig.problems import Problem

LARGE = 4.0
"""Seconds; each takes less than one."""


def checked(text: str, *, within: float) -> tuple[Problem, ...]:
    start = time.process_time()
    problems = check_document(text)
    assert time.process_time() - start < within
    return problems


def flow(entry: Callable[[int], str], count: int) -> str:
    return ", ".join(entry(number) for number in range(count))


def tree(queues: str, limits: str = "") -> str:
    return f"partitions: [{{queues: [{{name: root, limits: [{limits}], queues: [{queues}]}}]}}]"


def nested(levels: int, entries: str, innermost: str) -> str:
    return f"{{name: a, {entries} queues: [" * levels + innermost + "]}" * levels


def types(count: int) -> str:
    return flow(lambda n: f"r{n}: 5", count)


def names(count: int) -> str:
    return flow(lambda n: f"u{n}", count)


def test_five_thousand_queues_with_limits() -> None:
    own = "resources: {max: {vcore: 10}, guaranteed: {vcore: 1}}"
    limit = "limits: [{users: [u], maxresources: {vcore: 1}, maxapplications: 2}]"
    children = flow(lambda n: f"{{name: c{n}, {own}, {limit}}}", 9)
    above = "resources: {max: {vcore: 100, memory: 100G}, guaranteed: {vcore: 10}}"
    limits = "limits: [{users: [u], maxresources: {vcore: 5}}, {groups: [g, '*'], maxapplications: 3}]"
    tenants = flow(lambda n: f"{{name: t{n}, {above}, {limits}, queues: [{children}]}}", 500)
    assert checked(tree(tenants), within=2.0) == ()


def users_and_types(count: int) -> str:
    return f"{{users: [{names(count)}], maxresources: {{{types(count)}}}}}"


HOSTILE = {
    "limits on one queue, under many resources": lambda: tree(
        f"{{name: a, resources: {{max: {{{types(20_000)}}}}}, limits: ["
        + flow(lambda n: f"{{users: [u{n}], maxresources: {{r1: 1}}}}", 10_000)
        + "]}"
    ),
    "names times resources": lambda: tree(
        f"{{name: a, limits: [{users_and_types(25_000)}]}}", users_and_types(25_000)
    ),
    "names times queues": lambda: tree(
        flow(lambda n: f"{{name: q{n}}}", 20_000), f"{{users: [{names(50_000)}], maxapplications: 1}}"
    ),
    "limits at each level of deep queues": lambda: tree(
        nested(45, f"limits: [{flow(lambda n: f'{{users: [u{n}], maxresources: {{r{n}: 5}}}}', 250)}],", "")
    ),
    "resources times queues": lambda: tree(
        f"{{name: p, resources: {{max: {{{types(30_000)}}}}}, queues: ["
        + flow(lambda n: f"{{name: q{n}}}", 20_000)
        + "]}"
    ),
    "another resource guaranteed in each queue": lambda: tree(
        nested(45, "", flow(lambda n: f"{{name: q{n}, resources: {{guaranteed: {{r{n}: 1}}}}}}", 12_000))
    ),
    "many rules": lambda: (
        "partitions: [{queues: [{name: a}], placementrules: ["
        + flow(lambda n: f"{{name: fixed, value: root.a, filter: {{users: [u{n}]}}}}", 10_000)
        + "]}]"
    ),
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_a_large_hostile_document(text: Callable[[], str]) -> None:
    assert checked(text(), within=LARGE) == ()


def rules(entries: str) -> str:
    return f"partitions: [{{queues: [], placementrules: [{entries}]}}]"


REFUSED: dict[str, tuple[Callable[[], str], str]] = {
    "a path of a million parts": (
        lambda: rules(f"{{name: fixed, create: true, value: {'a.' * 500_000}a}}"),
        "use at most 6500",
    ),
    "a long text repeated by aliases": (
        lambda: tree(f"{{name: x, submitacl: &b '{'a,' * 400_000}'}}" + ", {submitacl: *b}" * 50_000),
        "when aliases are written out",
    ),
    "large regular expressions": (
        lambda: rules(flow(lambda n: f"{{name: user, filter: {{users: ['(a{{90}}){{9}}{n}']}}}}", 5_000)),
        "too many large ones",
    ),
    "tag directives": (lambda: "".join(f"%TAG !t{n}! x\n" for n in range(50_000)) + "---\na: b", "%TAG"),
    "long paths of queues": (
        lambda: tree(nested(45, "", flow(lambda n: f"{{name: q{n}}}", 20_000)).replace("a,", "a" * 64 + ",")),
        "all queue paths together",
    ),
    "a value of the wrong kind everywhere": (
        lambda: "partitions: [{queues: [], limits: [" + "5, " * 100_000 + "]}]",
        "100000 keys that are unknown or values of another kind",
    ),
}


@pytest.mark.parametrize(("text", "says"), REFUSED.values(), ids=REFUSED)
def test_a_hostile_document_that_is_refused(text: Callable[[], str], says: str) -> None:
    problems = checked(text(), within=LARGE)
    assert any(says in problem.message for problem in problems)


SIGNS = ("[", "- ", "? ", "a: ", '"\\', "#\n", "\n", "a: |\n ", "[,", "a,", "- - - ", '"a\n\n')


@pytest.mark.parametrize("sign", SIGNS)
def test_ten_megabytes_of_one_sign(sign: str) -> None:
    checked(sign * (10 * 1024 * 1024 // len(sign)), within=LARGE)
