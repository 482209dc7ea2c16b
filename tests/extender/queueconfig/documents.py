"""Short queue documents for tests, with the expected verdicts."""

from collections.abc import Callable
from typing import Any

import pytest

from core.queues.spec import PartitionSpec, QueueSpec
from extender.queueconfig.load import check_document, load_document
from extender.queueconfig.problems import ConfigError, Problem

View = Callable[[PartitionSpec], Any]


def of_partition(text: str) -> str:
    """A document with one partition of the entries in ``text``."""
    return f"partitions: [{{{text}}}]"


def of_queues(*queues: str) -> str:
    """The entry ``queues`` of a partition: a root with access for all, and these queues below it."""
    return f"queues: [{{name: root, submitacl: '*', queues: [{', '.join(queues)}]}}]"


def of_tree(*queues: str) -> str:
    return of_partition(of_queues(*queues))


def chain(*entries: str, name: str = "a") -> str:
    """A document with nested queues and their entries. The first is the root."""
    nested = ""
    for place, text in reversed(list(enumerate(entries))):
        below = f", queues: [{nested}]" if nested else ""
        more = f", {text}" if text else ""
        nested = f"{{name: {name if place else 'root'}{more}{below}}}"
    return of_partition(f"queues: [{nested}]")


def queue(path: str) -> Callable[[PartitionSpec], QueueSpec]:
    """Reader of one queue of a loaded document."""
    return lambda spec: next(each for each in spec.queues if each.path == path)


def paths(spec: PartitionSpec) -> list[str]:
    return [str(each.path) for each in spec.queues]


def accepts(rule: str, case: str, text: str, see: View, value: Any) -> Any:
    """A case of `check_accepted`: by ``rule`` the document loads, and ``see`` returns ``value``."""
    return pytest.param(text, see, value, id=f"{rule} {case}", marks=_mark(rule, "accepted"))


def rejects(rule: str, case: str, text: str, path: str, says: str, *, by: str = "") -> Any:
    """A case of `check_rejected`. ``path`` begins in the partition.

    ``by``: the rule that the problem names, if a neighbour of ``rule`` refuses the document because of it.
    """
    return pytest.param(text, by or rule, path, says, id=f"{rule} {case}", marks=_mark(rule, "rejected"))


def _mark(rule: str, verdict: str) -> pytest.MarkDecorator:
    return pytest.mark.rule(rule, verdict=verdict) if rule.startswith("CFG") else pytest.mark.rule(rule)


def check_accepted(text: str | bytes, see: View, value: Any) -> None:
    assert check_document(text) == ()
    assert see(load_document(text)) == value


def check_rejected(text: str | bytes, rule: str, path: str, says: str) -> None:
    """The first problem is the one that YuniKorn reports."""
    problems = check_document(text)
    assert problems, "accepted"
    first = problems[0]
    assert (first.rule, first.path.removeprefix("partitions[0].")) == (rule, path)
    assert says in first.message
    with pytest.raises(ConfigError) as raised:
        load_document(text)
    assert raised.value.problems == problems


def found(text: str | bytes) -> list[tuple[str, str]]:
    """Rule and path of every problem, the path from the partition on."""
    return [(each.rule, each.path.removeprefix("partitions[0].")) for each in check_document(text)]


def first_problem(text: str | bytes) -> Problem:
    return check_document(text)[0]
