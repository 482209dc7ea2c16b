"""Limits of users and groups: CFG-13 to CFG-21 on one queue, CFG-41 to CFG-46 along the tree."""

from collections.abc import Callable
from typing import Any

import pytest

from core.queues.spec import LimitSpec, PartitionSpec
from core.resource import Limit
from tests.extender.queueconfig.documents import (
    View,
    accepts,
    chain,
    check_accepted,
    check_rejected,
    found,
    queue,
    rejects,
)

FIRST = "queues[0].queues[0]"
SECOND = f"{FIRST}.queues[0]"
THIRD = f"{SECOND}.queues[0]"


def limits(*entries: str) -> str:
    return f"limits: [{', '.join(f'{{{entry}}}' for entry in entries)}]"


def on_queue(*entries: str, more: str = "") -> str:
    """A document whose queue root.a has these limits."""
    return chain("", f"{more}{', ' if more else ''}{limits(*entries)}")


def along(*levels: str) -> str:
    """A chain of queues below the root with one limit each, none where the text is empty."""
    return chain("", *[limits(level) if level else "" for level in levels])


def of(path: str = "root.a") -> Callable[[PartitionSpec], tuple[LimitSpec, ...]]:
    return lambda spec: queue(path)(spec).limits


def names(spec: PartitionSpec) -> list[tuple[tuple[str, ...], tuple[str, ...]]]:
    return [(each.users, each.groups) for each in of()(spec)]


def users(*listed: str, apps: int = 1) -> str:
    return f"users: [{', '.join(listed)}], maxapplications: {apps}"


def groups(*listed: str) -> str:
    return f"groups: [{', '.join(listed)}], maxapplications: 1"


def bob(resources: str, name: str = "bob") -> str:
    return f"users: [{name}], maxresources: {{{resources}}}"


def group(resources: str) -> str:
    return f"groups: [g], maxresources: {{{resources}}}"


def amounts_of(path: str) -> View:
    return lambda spec: of(path)(spec)[0].max


def count_of(path: str) -> View:
    return lambda spec: of(path)(spec)[0].max_applications


ANY = '"*"'
AT = f"{FIRST}.limits"


def at_limit(rule: str, case: str, place: str, text: str, says: str) -> Any:
    return rejects(rule, case, text, f"{AT}{place}", says)


def too_much(rule: str, case: str, at: str, text: str, says: str) -> Any:
    return rejects(rule, case, text, f"{at}.limits[0].maxresources.vcore", says)


def too_many(rule: str, case: str, at: str, text: str, says: str, *, by: str = "") -> Any:
    return rejects(rule, case, text, f"{at}.limits[0].maxapplications", says, by=by)


NO_USER = "is not the name of a user, nor *; a user begins with"
NO_GROUP = "is not the name of a group, nor *; a group begins with"
LAST = "comes after *; put the wildcard last"
ZERO = "all values are zero; one must be above"
FIVE = "has in a queue above, vcore 5; use at most that"
NO_NUMBER = '0 or absent, which is unlimited, is above the 10 that "bob" has in a queue above; use 1 to 10'


ACCEPTED = [
    accepts("CFG-13", "users alone", on_queue(users("u")), names, [(("u",), ())]),
    accepts("CFG-13", "groups alone", on_queue(groups("g")), names, [((), ("g",))]),
    *[
        accepts("CFG-14", f"user {name}", on_queue(users(f"'{name}'")), names, [((name,), ())])
        for name in ("*", "_a", "a#b/c:d.e@f-9", "robot$", "system:serviceaccount:ns:sa")
    ],
    *[
        accepts("CFG-14", f"group {name}", on_queue(groups(f"'{name}'")), names, [((), (name,))])
        for name in ("_a", "a.b:c-d_9")
    ],
    accepts("CFG-14", "group *", on_queue(groups("g", ANY)), names, [((), ("g", "*"))]),
    accepts("CFG-15", "other names", on_queue(users("u"), users("v")), names, [(("u",), ()), (("v",), ())]),
    accepts(
        "CFG-15",
        "a user named like a group",
        on_queue(f"groups: [u], {users('u')}"),
        names,
        [(("u",), ("u",))],
    ),
    accepts("CFG-16", "bob, then * in one list", on_queue(users("bob", ANY)), names, [(("bob", "*"), ())]),
    accepts("CFG-16", "groups before it", on_queue(groups("g"), groups("h", ANY)), lambda s: len(of()(s)), 2),
    accepts("CFG-17", "a group before it, same list", on_queue(groups("g", ANY)), names, [((), ("g", "*"))]),
    accepts(
        "CFG-17", "a group in an entry before", on_queue(groups("g"), groups(ANY)), lambda s: len(of()(s)), 2
    ),
    accepts("CFG-17", "no such rule for users", on_queue(users(ANY)), names, [(("*",), ())]),
    accepts(
        "CFG-18",
        "gpu banned",
        on_queue("users: [u], maxresources: {memory: 100, gpu: 0}"),
        amounts_of("root.a"),
        Limit({"memory": 100, "gpu": 0}),
    ),
    accepts(
        "CFG-19",
        "resources without a number of applications",
        on_queue(bob("vcore: 1")),
        count_of("root.a"),
        0,
    ),
    accepts(
        "CFG-20",
        "as many as the queue",
        on_queue(users("u", apps=2), more="maxapplications: 2"),
        count_of("root.a"),
        2,
    ),
    accepts(
        "CFG-20",
        "more than an unlimited queue",
        on_queue(users("u", apps=9)),
        count_of("root.a"),
        9,
    ),
    accepts(
        "CFG-21",
        "as much as the queue, undefined is unlimited",
        on_queue(bob("vcore: 1, gpu: 9"), more="resources: {max: {vcore: 1}}"),
        amounts_of("root.a"),
        Limit({"vcore": 1000, "gpu": 9}),
    ),
    accepts(
        "CFG-41",
        "undefined types are unlimited",
        along(bob("vcore: 5"), bob("vcore: 5, gpu: 1")),
        amounts_of("root.a.a"),
        Limit({"vcore": 5000, "gpu": 1}),
    ),
    accepts(
        "CFG-42",
        "as much as the wildcard",
        along(bob("vcore: 5", ANY), bob("vcore: 5")),
        amounts_of("root.a.a"),
        Limit({"vcore": 5000}),
    ),
    accepts(
        "CFG-42",
        "the named value itself is carried down",
        along(bob("vcore: 5", ANY), bob("gpu: 1"), bob("vcore: 100")),
        amounts_of("root.a.a.a"),
        Limit({"vcore": 100_000}),
    ),
    accepts(
        "CFG-43",
        "a wildcard below a name",
        along(bob("vcore: 5"), bob("vcore: 9", ANY)),
        amounts_of("root.a.a"),
        Limit({"vcore": 9000}),
    ),
    accepts(
        "CFG-44",
        "10 below 10",
        along(users("bob", apps=10), users("bob", apps=10)),
        count_of("root.a.a"),
        10,
    ),
    accepts(
        "CFG-45",
        "2 below a wildcard's 2",
        along(users(ANY, apps=2), users("bob", apps=2)),
        count_of("root.a.a"),
        2,
    ),
    accepts(
        "CFG-46",
        "any below no number",
        along(bob("vcore: 9"), users("bob", apps=99)),
        count_of("root.a.a"),
        99,
    ),
]

REJECTED = [
    at_limit("CFG-13", "nobody", "[0]", on_queue("maxapplications: 1"), "neither users nor groups; name at"),
    *[
        at_limit("CFG-14", f"user {name!r}", "[0].users[0]", on_queue(users(f"'{name}'")), NO_USER)
        for name in ("1a", "a b", "", "a$b", "é", "**")
    ],
    *[
        at_limit("CFG-14", f"group {name!r}", "[0].groups[0]", on_queue(groups(f"'{name}'")), NO_GROUP)
        for name in ("a/b", "a@b", "a$", "")
    ],
    at_limit(
        "CFG-15", "another entry", "[1].users[0]", on_queue(users("u"), users("u")), "already; keep one"
    ),
    at_limit(
        "CFG-15", "one list", "[0].users[1]", on_queue(users("u", "u")), '"u" has a limit on this queue'
    ),
    at_limit("CFG-15", "a group", "[1].groups[0]", on_queue(groups("g"), groups("g")), "keep one"),
    at_limit(
        "CFG-16", "*, then bob", "[0].users[1]", on_queue(users(ANY, "bob")), '"bob" comes after *; put'
    ),
    at_limit("CFG-16", "in a later entry", "[1].users[0]", on_queue(users(ANY), users("bob")), LAST),
    at_limit("CFG-16", "groups likewise", "[1].groups[0]", on_queue(groups("g", ANY), groups("h")), LAST),
    at_limit("CFG-17", "alone", "[0].groups", on_queue(groups(ANY)), "a named group before it; name one"),
    at_limit(
        "CFG-18", "memory 0", "[0].maxresources", on_queue(f"{bob('memory: 0')}, maxapplications: 1"), ZERO
    ),
    at_limit("CFG-18", "no quantity", "[0].maxresources.vcore", on_queue(bob("vcore: x")), "; write it like"),
    at_limit(
        "CFG-19", "nothing", "[0]", on_queue("users: [u]"), "limits nothing; give maxresources or maxapp"
    ),
    at_limit(
        "CFG-20",
        "2 of 1",
        "[0].maxapplications",
        on_queue(users("u", apps=2), more="maxapplications: 1"),
        "2 is above the queue's own 1; use at most 1",
    ),
    at_limit(
        "CFG-21",
        "2 of 1",
        "[0].maxresources.vcore",
        on_queue(bob("vcore: 2"), more="resources: {max: {vcore: 1}}"),
        "vcore 2 is above the queue's max, vcore 1; use at most that",
    ),
    too_much(
        "CFG-41", "6 below 5", SECOND, along(bob("vcore: 5"), bob("vcore: 6")), '"bob" has in a queue above'
    ),
    too_much("CFG-41", "over a level without", THIRD, along(bob("vcore: 5"), "", bob("vcore: 6")), FIVE),
    too_much(
        "CFG-41", "the minimum goes down", THIRD, along(bob("vcore: 5"), bob("gpu: 1"), bob("vcore: 6")), FIVE
    ),
    too_much("CFG-41", "a group", SECOND, along(group("vcore: 5"), group("vcore: 6")), FIVE),
    too_much("CFG-42", "6 below a wildcard's 5", SECOND, along(bob("vcore: 5", ANY), bob("vcore: 6")), FIVE),
    too_much("CFG-43", "*: 6 below 5", SECOND, along(bob("vcore: 5", ANY), bob("vcore: 6", ANY)), FIVE),
    too_many(
        "CFG-44", "no number below 10", SECOND, along(users("bob", apps=10), bob("vcore: 1")), NO_NUMBER
    ),
    too_many(
        "CFG-44", "11 below 10", SECOND, along(users("bob", apps=10), users("bob", apps=11)), "use 1 to 10"
    ),
    too_many("CFG-45", "3 below *: 2", SECOND, along(users(ANY, apps=2), users("bob", apps=3)), "use 1 to 2"),
    too_many(
        "CFG-46",
        "the child's number is carried down",
        THIRD,
        along(bob("vcore: 9"), users("bob", apps=99), users("bob", apps=100)),
        "use 1 to 99",
        by="CFG-44",
    ),
]


@pytest.mark.parametrize(("text", "see", "value"), ACCEPTED)
def test_accepted(text: str, see: View, value: object) -> None:
    check_accepted(text, see, value)


@pytest.mark.parametrize(("text", "rule", "path", "says"), REJECTED)
def test_rejected(text: str, rule: str, path: str, says: str) -> None:
    check_rejected(text, rule, path, says)


def test_siblings_do_not_inherit_from_each_other() -> None:
    sibling = "{name: %s, limits: [{users: [bob], maxapplications: %d, maxresources: {vcore: %d}}]}"
    text = f"queues: [{{name: root, queues: [{sibling % ('a', 1, 1)}, {sibling % ('b', 9, 9)}]}}]"
    assert found(f"partitions: [{{{text}}}]") == []


def test_a_number_that_is_too_high_is_judged_by_what_is_right_further_down() -> None:
    text = along(users("bob", apps=10), bob("vcore: 1"), users("bob", apps=11))
    assert found(text) == [
        ("CFG-44", f"{SECOND}.limits[0].maxapplications"),
        ("CFG-44", f"{THIRD}.limits[0].maxapplications"),
    ]


def test_the_smallest_of_all_values_above_is_named() -> None:
    text = along(bob("vcore: 5, gpu: 3"), bob("vcore: 4"), bob("vcore: 6, gpu: 4"))
    assert [rule for rule, _ in found(text)] == ["CFG-41", "CFG-41"]
