"""The fifteen questions of an operator: each is answered by REST and by the page, where the docs say.

Played: the kubelet. The stale watch is one that a proxy cuts and refuses.
"""

import re
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from e2e.programs.binaries import ROOT
from e2e.programs.browser import Page
from e2e.stands.page.town import FULL, GANG, ODD, SETTINGS, USER, Town
from e2e.stands.stand import eventually
from e2e.tests.page.browsing import open_view, until_shown
from extender.version import version

pytestmark = pytest.mark.xdist_group("page questions")

GUIDE = ROOT / "docs" / "how-to" / "look-at-the-page.md"
SECTION = "## Answer the questions of an operator"
PLACES = {
    "Overview": "#/overview",
    "Queues": "#/queues",
    "Queue": "#/queue/",
    "Applications": "#/applications",
    "Users and groups": "#/usage",
    "Nodes": "#/nodes",
    "Preemptions": "#/preemptions",
    "Configuration": "#/configuration",
    "the pod": "#/why/",
}
"""Views as the docs name them, and their addresses."""


def rows_of_the_docs() -> dict[str, tuple[str, list[str]]]:
    """The table of the docs: question, place on the page, and paths."""
    section = GUIDE.read_text().partition(SECTION)[2].partition("The page answers more")[0]
    rows = [line.strip("| ").split(" | ") for line in section.splitlines() if line.startswith("| ")][1:]
    return {question: (place, re.findall(r"`(/[^`]+)`", paths)) for question, place, paths in rows}


DOCS = rows_of_the_docs()


@dataclass(frozen=True)
class Question:
    """Answers to a question.

    ``rest``: claim about the answers of the paths in the docs. ``views``: addresses, each with its texts.
    ``named``: what the capitals in paths stand for.
    """

    rest: Callable[..., object]
    views: tuple[tuple[str, ...], ...]
    named: Mapping[str, str] = field(default_factory=dict)


def queue_at(tree: Mapping[str, Any], path: str) -> Mapping[str, Any]:
    """A queue of the tree of queues."""
    while tree["queuename"] != path:
        tree = next(each for each in tree["children"] if f"{path}.".startswith(f"{each['queuename']}."))
    return tree


def is_full(tree: Mapping[str, Any]) -> bool:
    queue = queue_at(tree, FULL)
    return queue["maxResource"]["vcore"] == queue["allocatedResource"]["vcore"] == 1000


def is_starved(tree: Mapping[str, Any]) -> bool:
    queue = queue_at(tree, "root.starved")
    used = queue.get("allocatedResource", {}).get("vcore", 0)
    return bool(
        queue["pendingResource"]["vcore"] == 7000 and used < queue["guaranteedResource"]["vcore"] == 8000
    )


def wait_and_why(pending: Mapping[str, Any]) -> bool:
    by_name = {
        each["request"]["allocationTags"]["kubernetes.io/meta/podName"]: each for each in pending["pods"]
    }
    request = by_name["waiting"]["request"]
    reasons = {each["reason"]: each for each in pending["reasons"]}
    quota = reasons["Not enough queue quota"]
    return bool(
        request["allocationLog"][-1]["message"] == "Not enough queue quota"
        and quota["pods"] >= 2
        and quota["oldest"] <= request["requestTime"]
    )


def goes_first(found: Mapping[str, Any]) -> bool:
    return any(each.get("application") == "patient" for each in found["pod"]["before"])


def used_by(users: list[Mapping[str, Any]]) -> bool:
    usage = next(each["queues"] for each in users if each["userName"] == USER)
    (unit,) = usage["children"]
    return bool(unit["resourceUsage"]["vcore"] == 1000 and unit["maxResources"]["vcore"] == 4000)


def is_evicted(found: Mapping[str, Any]) -> bool:
    (plan,) = (each for each in found["preemptions"] if each["pod"].endswith("/poor") and "victims" in each)
    return bool(plan["kind"] == "guarantee" and "/rich-" in plan["victims"][0] and plan["receipt"])


def two_of_three(found: Mapping[str, Any]) -> bool:
    (group,) = found["members"]
    return (group["needed"], group["placed"]) == (3, 2)


def was_full(past: Mapping[str, Any]) -> bool:
    # The first sample comes within a quarter of a minute.
    return 1000 in past["resources"].get("vcore", {"used": []})["used"][-2:]


def is_rejected(apps: list[Mapping[str, Any]]) -> bool:
    (lost,) = (each for each in apps if each["applicationID"] == "lost")
    return bool(lost["rejectedMessage"] == "PlacementFailed: no queue root.nowhere")


def is_stale(ready: str) -> bool:
    return any(line.startswith("stale watches: nodes since 20") for line in ready.splitlines())


def has_version_and_settings(clusters: list[Mapping[str, Any]], document: str) -> bool:
    return clusters[0]["rmBuildInformation"][0]["buildVersion"] == version() and "full" in document


def named_its_queue(story: Mapping[str, Any], rules: list[Mapping[str, Any]]) -> bool:
    return bool(story["placement"]["requested"] == FULL and rules)


def checksum_in(document: str) -> str:
    found = re.search(r"\b[0-9A-Fa-f]{64}\b", document)
    assert found
    return found[0]


QUESTIONS = {
    "Which queues are there, and how full are they?": Question(is_full, (("#/queues", FULL, "at its max"),)),
    "Which applications are there?": Question(
        lambda apps: {"patient", "first", GANG.name} <= {each["applicationID"] for each in apps},
        (("#/applications", "patient", "first", GANG.name),),
    ),
    "Which pods wait, why, and since when?": Question(
        wait_and_why,
        (
            ("#/overview", "/waiting", "has waited for", "Not enough queue quota"),
            (f"#/queue/{FULL}", "/waiting"),
        ),
    ),
    "What goes before a pod?": Question(
        goes_first,
        ((f"#/why/NAMESPACE/{ODD}", "Goes first", f"1 pod of patient in {FULL}: higher priority"),),
        {"POD": ODD},
    ),
    "What does a user use?": Question(used_by, ((f"#/usage?search={USER}", "root.unit", "below its limit"),)),
    "Which queues are below their guarantee although pods wait?": Question(
        is_starved, (("#/queues?search=starved", "below its guarantee"),)
    ),
    "Which nodes are reserved, and for which pod?": Question(
        lambda nodes: any(each.get("reservations") for each in nodes),
        (("#/nodes", "reserved for a pod"), ("#/node/NODE", "NAMESPACE/large")),
    ),
    "Which pods were evicted, and why?": Question(
        is_evicted, (("#/preemptions", "Evicted for", "/poor", "/rich-", "its queue is below its guarantee"),)
    ),
    "Which gangs wait, and how many of their members are placed?": Question(
        two_of_three,
        (
            (f"#/applications?search={GANG.name}", "2 of 3"),
            (f"#/why/NAMESPACE/{GANG.name}?of=application", "2 of 3 placed"),
        ),
        {"ID": GANG.name},
    ),
    "Which configuration is in force, and since when?": Question(
        lambda document: "name: full" in document,
        (("#/configuration", "Checksum", "CHECKSUM", "Applied", "20"),),
    ),
    "What was an hour ago?": Question(
        was_full, ((f"#/queue/{FULL}", "the last hour", "used 1"),), {"QUEUE": FULL}
    ),
    "Which applications were rejected, and why?": Question(
        is_rejected, (("#/applications?list=rejected", "lost", "no queue root.nowhere"),)
    ),
    "Is what Paddock knows out of date?": Question(
        is_stale, (("#/overview", "stale watches", "nodes since 20", " old, "),)
    ),
    "Which version runs, and with which settings?": Question(
        has_version_and_settings, (("#/overview", version()), ("#/configuration", *SETTINGS))
    ),
    "Where did the queue of a pod come from?": Question(
        named_its_queue,
        (("#/why/NAMESPACE/waiting", "Queue chosen by", f"named {FULL}"),),
        {"POD": "waiting"},
    ),
}


@asynccontextmanager
async def nodes_unheard(town: Town) -> AsyncIterator[None]:
    """The watch of nodes breaks, and is refused until the end."""
    town.stand.proxy.answer_next("GET", "/api/v1/nodes", 500, n=10**6)
    town.stand.proxy.cut_watches("/api/v1/nodes")
    try:
        yield
    finally:
        town.stand.proxy.clear()


async def until_true(question: str, town: Town, named: Mapping[str, str]) -> None:
    """Wait until the answers of the paths in the docs are as wanted."""
    paths = [_filled(path, named) for path in DOCS[question][1]]

    async def is_answered() -> bool:
        return bool(QUESTIONS[question].rest(*[await town.answer(path) for path in paths]))

    await eventually(is_answered, f"{paths} answer: {question}", timeout=30)


def _filled(text: str, named: Mapping[str, str]) -> str:
    return re.sub(r"\b[A-Z]{2,}\b", lambda found: named.get(found[0], found[0]), text)


@pytest.mark.parametrize("question", QUESTIONS)
async def test_a_question_is_answered_by_rest_and_by_the_page(page: Page, town: Town, question: str) -> None:
    asked = QUESTIONS[question]
    _, config = await town.stand.paddock.get("/ws/v1/config")
    nodes = await town.answer("/ws/v1/partition/default/nodes")
    (held, *_) = (each["nodeID"] for each in nodes if each.get("reservations"))
    named = {"NAMESPACE": town.namespace, "NODE": held, "CHECKSUM": checksum_in(config), **asked.named}
    stale = question == "Is what Paddock knows out of date?"
    async with nodes_unheard(town) if stale else _nothing():
        await until_true(question, town, named)
        for fragment, *wanted in asked.views:
            await open_view(page, town.base, _filled(fragment, named))
            for each in wanted:
                await until_shown(page, _filled(each, named))


@asynccontextmanager
async def _nothing() -> AsyncIterator[None]:
    yield


def test_the_docs_have_a_row_for_each_question_which_names_its_views() -> None:
    assert list(DOCS) == list(QUESTIONS)
    assert len(DOCS) == 15
    for question, (place, _) in DOCS.items():
        named = [PLACES[each] for each in PLACES if re.search(rf"(^|\. ){each}\b", place)]
        views = [fragment for fragment, *_ in QUESTIONS[question].views]
        assert named, place
        assert all(any(view.startswith(each) for view in views) for each in named), (question, named, views)
