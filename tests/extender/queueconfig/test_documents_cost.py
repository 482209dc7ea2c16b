"""Documents that are slow on purpose: the effort of a verdict grows linearly with the document.

Each is also checked at nearly the largest accepted size. Quadratic effort would exceed pytest's time-out,
even in C code, whose steps are not counted.
"""

from collections.abc import Callable

import pytest

from extender.queueconfig.load import check_document
from tests.effort import assert_linear


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


def users_and_types(count: int) -> str:
    return f"{{users: [{names(count)}], maxresources: {{{types(count)}}}}}"


def tenants(count: int) -> str:
    own = "resources: {max: {vcore: 10}, guaranteed: {vcore: 1}}"
    limit = "limits: [{users: [u], maxresources: {vcore: 1}, maxapplications: 2}]"
    children = flow(lambda n: f"{{name: c{n}, {own}, {limit}}}", 9)
    above = "resources: {max: {vcore: 100, memory: 100G}, guaranteed: {vcore: 10}}"
    limits = "limits: [{users: [u], maxresources: {vcore: 5}}, {groups: [g, '*'], maxapplications: 3}]"
    return tree(flow(lambda n: f"{{name: t{n}, {above}, {limits}, queues: [{children}]}}", count))


HOSTILE: dict[str, tuple[Callable[[int], str], int, int]] = {
    "ten queues with limits": (tenants, 20, 500),
    "names of one limit": (
        lambda count: tree("{name: a}", f"{{users: [{names(count)}], maxapplications: 1}}"),
        300,
        159_000,
    ),
    "limits on one queue, under many resources": (
        lambda count: tree(
            f"{{name: a, resources: {{max: {{{types(2 * count)}}}}}, limits: ["
            + flow(lambda n: f"{{users: [u{n}], maxresources: {{r1: 1}}}}", count)
            + "]}"
        ),
        200,
        10_000,
    ),
    "names times resources": (
        lambda count: tree(f"{{name: a, limits: [{users_and_types(count)}]}}", users_and_types(count)),
        200,
        25_000,
    ),
    "names times queues": (
        lambda count: tree(
            flow(lambda n: f"{{name: q{n}}}", count),
            f"{{users: [{names(5 * count // 2)}], maxapplications: 1}}",
        ),
        200,
        20_000,
    ),
    "limits at each level of deep queues": (
        lambda count: tree(
            nested(
                45, f"limits: [{flow(lambda n: f'{{users: [u{n}], maxresources: {{r{n}: 5}}}}', count)}],", ""
            )
        ),
        10,
        250,
    ),
    "resources times queues": (
        lambda count: tree(
            f"{{name: p, resources: {{max: {{{types(3 * count // 2)}}}}}, queues: ["
            + flow(lambda n: f"{{name: q{n}}}", count)
            + "]}"
        ),
        200,
        20_000,
    ),
    "another resource guaranteed in each queue": (
        lambda count: tree(
            nested(45, "", flow(lambda n: f"{{name: q{n}, resources: {{guaranteed: {{r{n}: 1}}}}}}", count))
        ),
        200,
        12_000,
    ),
    "many rules": (
        lambda count: (
            f"partitions: [{{queues: [{flow(lambda n: f'{{name: a{n}}}', count)}], placementrules: ["
            + flow(lambda n: f"{{name: fixed, value: root.a{n}, filter: {{users: [u{n}]}}}}", count)
            + "]}]"
        ),
        200,
        10_000,
    ),
}
"""Text for a count, the count at which effort is measured, and the largest count."""


@pytest.mark.parametrize(("text", "count", "largest"), HOSTILE.values(), ids=HOSTILE)
def test_a_large_hostile_document(text: Callable[[int], str], count: int, largest: int) -> None:
    assert_linear(check_document, text, count)
    assert check_document(text(largest)) == ()


def rules(entries: str) -> str:
    return f"partitions: [{{queues: [], placementrules: [{entries}]}}]"


REFUSED: dict[str, tuple[Callable[[], str], str]] = {
    "a path of five million parts": (
        lambda: rules(f"{{name: fixed, create: true, value: {'a.' * 5_000_000}a}}"),
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
    assert any(says in problem.message for problem in check_document(text()))


SIGNS = ("[", "- ", "? ", "a: ", '"\\', "#\n", "\n", "a: |\n ", "[,", "a,", "- - - ", '"a\n\n')


@pytest.mark.parametrize("sign", SIGNS)
def test_ten_megabytes_of_one_sign(sign: str) -> None:
    check_document(sign * (10 * 1024 * 1024 // len(sign)))
