"""Placement rules and the node sort policy: CFG-28 to CFG-38 and APPLY-4."""

import pytest

from core.queues.spec import FilterSpec, PartitionSpec, RuleSpec
from tests.extender.queueconfig.documents import (
    View,
    accepts,
    check_accepted,
    check_rejected,
    found,
    of_partition,
    of_queues,
    rejects,
)

QUEUES = of_queues(
    "{name: a}", "{name: p, parent: true, queues: [{name: x}]}", "{name: Mixed}", "{name: rootx}"
)
RULE = "placementrules[0]"


def rules(*entries: str, queues: str = QUEUES) -> str:
    listed = ", ".join(f"{{{entry}}}" for entry in entries)
    return of_partition(f"placementrules: [{listed}], {queues}")


def fixed(value: str, more: str = "") -> str:
    return f"name: fixed, value: {value}{more}"


def below(parent: str) -> str:
    return f", parent: {{{parent}}}"


def filtered(text: str) -> str:
    return rules(f"name: user, filter: {{{text}}}")


def first(spec: PartitionSpec) -> RuleSpec:
    return spec.rules[0]


def filter_of(spec: PartitionSpec) -> FilterSpec:
    return spec.rules[0].filter


def pattern(users: str) -> View:
    return lambda spec: filter_of(spec).users == (users,)


CREATE = ", create: true"
ACCEPTED = [
    *[
        accepts("CFG-28", name, rules(f"name: {name}"), lambda s: s.rules[0].kind, "user")
        for name in ("user", "USER")
    ],
    *[
        accepts("CFG-29", f"type {text!r}", filtered(f"type: {text}"), lambda s: filter_of(s).allow, allow)
        for text, allow in (('""', True), ("allow", True), ("ALLOW", True), ("deny", False), ("DENY", False))
    ],
    *[
        accepts("CFG-30", f"user {text}", filtered(f"users: ['{text}']"), pattern(text), True)
        for text in (
            "bob",
            "a#b/c",
            "robot$",
            "dev*",
            "^dev-[a-z]+$",
            "(a|b)",
            "x{2,3}",
            "a.*b",
            "[]a]",
            "(?i)dev.*",
        )
    ],
    *[
        accepts(
            "CFG-30", f"group {text}", filtered(f"groups: ['{text}']"), lambda s: len(filter_of(s).groups), 1
        )
        for text in ("a.b:c", "^test@group$")
    ],
    accepts(
        "CFG-30",
        "lists of two are never checked",
        filtered("users: ['', '99test'], groups: ['test@group', 'test[test']"),
        lambda spec: (filter_of(spec).users, filter_of(spec).groups),
        (("", "99test"), ("test@group", "test[test")),
    ),
    accepts("CFG-31", "joined", rules(fixed("x", below(fixed("p")))), lambda s: first(s).parent.value, "p"),
    accepts(
        "CFG-31",
        "a root at the beginning",
        rules(fixed("x", below(fixed("root.p")))),
        lambda s: first(s).value,
        "x",
    ),
    accepts(
        "CFG-31",
        "not the static spelling",
        rules("name: Fixed, value: nowhere"),
        lambda s: first(s).kind,
        "fixed",
    ),
    accepts("CFG-32", "a leaf", rules(fixed("root.a")), lambda s: first(s).value, "root.a"),
    accepts(
        "CFG-33",
        "a parent, then a user",
        rules(f"name: user{below(fixed('p'))}"),
        lambda s: first(s).kind,
        "user",
    ),
    accepts("CFG-34", "create", rules(fixed("p.new", CREATE)), lambda s: first(s).create, True),
    accepts(
        "CFG-34", "folded, as recommended", rules(fixed("root.MIXED")), lambda s: first(s).value, "root.MIXED"
    ),
    accepts(
        "CFG-34", "rootx is an ordinary name (PL-4)", rules(fixed("rootx")), lambda s: first(s).value, "rootx"
    ),
    accepts("CFG-35", "below a parent", rules(fixed("P.Y", CREATE)), lambda s: first(s).create, True),
    accepts(
        "CFG-36",
        "the outermost creates",
        rules(f"name: user{CREATE}{below(fixed('new'))}"),
        lambda s: first(s).parent.create,
        False,
    ),
    *[
        accepts(
            "CFG-37",
            repr(name),
            of_partition(f"nodesortpolicy: {{type: '{name}'}}, {QUEUES}"),
            lambda s: s.node_sort.policy,
            policy,
        )
        for name, policy in (("", "fair"), ("fair", "fair"), ("binpacking", "binpacking"))
    ],
    accepts(
        "CFG-38",
        "zero",
        of_partition(f"nodesortpolicy: {{resourceweights: {{vcore: 0, memory: 1_0.5}}}}, {QUEUES}"),
        lambda spec: dict(spec.node_sort.weights),
        {"vcore": 0.0, "memory": 10.5},
    ),
    *[
        accepts("APPLY-4", text, rules(f"name: {text}"), lambda s: first(s).kind, kind)
        for text, kind in (("Provided", "provided"), ("tag, value: namespace", "tag"))
    ],
    accepts(
        "APPLY-4",
        "a path of names",
        rules(fixed("'root.a#1/b@c'", CREATE)),
        lambda s: first(s).value,
        "root.a#1/b@c",
    ),
]


def apply_4(case: str, rule: str, key: str, says: str) -> object:
    return rejects("APPLY-4", case, rules(rule), f"{RULE}.{key}", says)


REJECTED = [
    *[
        rejects(
            "CFG-28",
            text,
            rules(f"name: {text}"),
            f"{RULE}.name",
            "cannot be the name of a rule; there are provided",
        )
        for text in ("us-er", '""', "9user")
    ],
    rejects(
        "CFG-28",
        "nested",
        rules(f"name: user{below('name: a b')}"),
        f"{RULE}.parent.name",
        "cannot be the name",
    ),
    rejects(
        "CFG-29",
        "no type",
        filtered("type: 'no'"),
        f"{RULE}.filter.type",
        '"no" is no type of filter; say allow or deny',
    ),
    *[
        rejects("CFG-30", f"user {text!r}", filtered(f"users: ['{text}']"), f"{RULE}.filter.users[0]", says)
        for text, says in (
            ("", "none of ^ $ * + ? ( ) [ { } |; write names, or a pattern like"),
            ("user name", "it has none of"),
            ("99test", "it has none of"),
            ("test[test", '"test[test" is neither a user nor a regular expression, ends too early; write'),
            ("a**", "repeats a repetition"),
            ("(?=a)", "is not supported"),
        )
    ],
    rejects(
        "CFG-30",
        "group test@group",
        filtered("groups: ['test@group']"),
        f"{RULE}.filter.groups[0]",
        "neither a group nor",
    ),
    rejects(
        "CFG-31",
        "a root further on",
        rules(fixed("root.x", below(fixed("p")))),
        f"{RULE}.value",
        "leave root out",
    ),
    rejects(
        "CFG-31",
        "in the middle",
        rules(f"name: user{below(fixed('ROOT', below(fixed('p'))))}"),
        f"{RULE}.parent.value",
        "leave root out",
    ),
    rejects(
        "CFG-32",
        "a parent",
        rules(fixed("root.p")),
        RULE,
        '"root.p" is a parent queue; name one of its leaves',
    ),
    rejects(
        "CFG-33",
        "a leaf, then a user",
        rules(f"name: user{below(fixed('a'))}"),
        RULE,
        '"root.a" is a leaf, and the next rule names a queue below it; name a parent',
    ),
    rejects(
        "CFG-34",
        "no such queue",
        rules(fixed("new")),
        RULE,
        'there is no queue "root.new"; define it or set create: true',
    ),
    rejects("CFG-34", "no such queue below a parent", rules(fixed("p.new")), RULE, 'no queue "root.p.new"'),
    rejects(
        "CFG-35",
        "below a leaf",
        rules(fixed("a.y.z", CREATE)),
        RULE,
        '"root.a.y.z" goes on below the leaf "root.a"; name the leaf',
    ),
    rejects(
        "CFG-36",
        "create of a nested rule saves nothing",
        rules(f"name: user{below(fixed('new', CREATE))}"),
        RULE,
        'there is no queue "root.new"',
        by="CFG-34",
    ),
    *[
        rejects(
            "CFG-37",
            name,
            of_partition(f"nodesortpolicy: {{type: {name}}}, {QUEUES}"),
            "nodesortpolicy.type",
            f"undefined policy: {name}; use fair",
        )
        for name in ("invalid", "Fair")
    ],
    rejects(
        "CFG-38",
        "-1",
        of_partition(f"nodesortpolicy: {{resourceweights: {{vcore: -1}}}}, {QUEUES}"),
        "nodesortpolicy.resourceweights.vcore",
        "-1 is negative; use 0 or more",
    ),
    *[
        apply_4(text, f"name: {text}", "name", f'there is no rule "{text}"; use one of')
        for text in ("test", "recovery", "nowhere")
    ],
    apply_4(
        "a tag without value", "name: tag", "value", "a tag rule needs a value; give a tag, such as namespace"
    ),
    apply_4(
        "a fixed without value", f"name: Fixed{CREATE}", "value", "a fixed rule needs a value; give the path"
    ),
    *[
        apply_4(
            f"fixed {value}", fixed(value, CREATE), "value", "is not the path of a queue; use names with dots"
        )
        for value in ("a b", "p..b", "p.é", f"p.{'x' * 65}", "'p.'")
    ],
    apply_4(
        "too long a path",
        fixed("p." + "a." * 3300 + "a", CREATE),
        "value",
        "a path of 6603 characters; use at most 6500",
    ),
    apply_4(
        "a whole path with a parent",
        fixed("root.new", CREATE + below("name: user")),
        "parent",
        "leave parent out",
    ),
]


@pytest.mark.parametrize(("text", "see", "value"), ACCEPTED)
def test_accepted(text: str, see: View, value: object) -> None:
    check_accepted(text, see, value)


@pytest.mark.parametrize(("text", "rule", "path", "says"), REJECTED)
def test_rejected(text: str, rule: str, path: str, says: str) -> None:
    check_rejected(text, rule, path, says)


def test_the_path_ends_at_the_first_rule_that_is_not_fixed() -> None:
    assert found(rules(fixed("root.a", below(f"name: user{below(fixed('p'))}")))) == [
        ("APPLY-4", f"{RULE}.parent")
    ]


@pytest.mark.parametrize(
    ("pattern", "count", "accepted"),
    [
        pytest.param("^team-{}-.*$", 500, True, id="ordinary ones"),
        pytest.param("^(x[0-9]{{1,9}}){}", 64, True, id="large ones"),
        pytest.param("^(x[0-9]{{1,9}}){}", 65, False, id="too many large ones"),
        pytest.param("^x{{9}}", 200, True, id="the same large one again"),
    ],
)
def test_what_all_regular_expressions_may_cost(pattern: str, count: int, accepted: bool) -> None:
    many = rules(*[f"name: user, filter: {{users: ['{pattern.format(n)}']}}" for n in range(count)])
    assert (found(many) == []) == accepted
