"""Applications are identified by namespace and id. No pod joins another's, or is excluded from its own."""

from itertools import permutations

import pytest

from core.ids import AppId
from core.ledger import events as on
from core.ledger.applications.membership import OF_ANOTHER
from core.ledger.effects import CreatePlaceholder, MarkFailed, PostEvent
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.spec import QueueSpec
from core.queues.users.identity import Identity
from core.workload.pod import NamespaceFacts, PodFacts
from extender.rest.facts import Facts
from extender.rest.projection.applications import app_from
from extender.rest.projection.usage import one_group, one_user
from tests.builders import START, drifts, filtered, make_gang, make_ledger, make_pod, make_queue, usage

ALICE, BOB, UNKNOWN = Identity("alice", ("dev",)), Identity("bob", ("ops",)), Identity()
SHARED = LedgerSettings(shares_applications=True)


def ledger_of(*queues: QueueSpec, settings: LedgerSettings | None = None, listed: bool = True) -> Ledger:
    """With the namespaces ``default`` and ``other``."""
    ledger = make_ledger(*queues, settings=settings, listed=listed)
    for name in ("other", "third"):
        ledger.apply(on.ObjectObserved(on.NAMESPACES, NamespaceFacts(name)), now=START)
    return ledger


def reasons_after(ledger: Ledger, *pods: PodFacts) -> list[str]:
    """The reasons of the Events that follow."""
    effects = [effect for pod in pods for effect in ledger.apply(on.PodObserved(pod), now=START)]
    return [effect.reason for effect in effects if isinstance(effect, PostEvent)]


def placed(ledger: Ledger) -> dict[str, str]:
    return {str(each.id): str(each.queue) for each in ledger.view.applications()}


@pytest.mark.rule("POD-3", "POD-5")
def test_a_pod_of_another_namespace_makes_an_application_of_its_own() -> None:
    ledger = ledger_of(make_queue("root.a"), make_queue("root.b"))
    assert reasons_after(ledger, make_pod("first", queue="root.a")) == []
    assert reasons_after(ledger, make_pod("theirs", namespace="other", queue="root.b")) == [OF_ANOTHER]
    assert reasons_after(ledger, make_pod("more", namespace="other", queue="root.a")) == []
    assert placed(ledger) == {"default/app-1": "root.a", "other/app-1": "root.b"}
    assert (usage(ledger, "root.a"), usage(ledger, "root.b")) == ((0, 0, 1000), (0, 0, 2000))
    assert ledger.view.identities.tally.of_another == 1


def test_the_event_does_not_say_whose_the_other_one_is() -> None:
    ledger = ledger_of(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod("first", namespace="other")), now=START)
    (event,) = ledger.apply(on.PodObserved(make_pod("second")), now=START)
    assert isinstance(event, PostEvent)
    assert "default" in event.message
    assert "other" not in event.message.replace("another", "")


@pytest.mark.rule("APP-9")
def test_no_user_gets_the_pods_of_another_marked_failed() -> None:
    """Before, a Hard gang that cannot start could be another user's application."""
    ledger = ledger_of(make_queue("root.a"))
    ledger.apply(on.PodObserved(make_pod("gang", gang=make_gang(3), task_group="g")), now=START)
    ledger.apply(on.PodObserved(make_pod("theirs", namespace="other")), now=START)
    effects = ledger.apply(on.TimePassed(), now=START + 1_000_000)
    assert all(each.uid == "uid-gang" for each in effects if isinstance(each, MarkFailed))
    assert filtered(ledger, "uid-theirs", now=START).__class__.__name__ == "Admitted"


@pytest.mark.rule("GANG-10")
def test_placeholders_are_of_the_namespace_of_their_originator() -> None:
    ledger = ledger_of(make_queue("root.a"))
    effects = ledger.apply(on.PodObserved(make_pod("gang", gang=make_gang(2), task_group="g")), now=START)
    names = [each.name for each in effects if isinstance(each, CreatePlaceholder)]
    assert len(names) == 2
    forged = make_pod(names[0], namespace="other", placeholder=True, task_group="g", owner="uid-gang")
    ledger.apply(on.PodObserved(forged), now=START)
    (own,) = [each for each in ledger.view.applications() if each.id == AppId("app-1", "default")]
    assert own.holders == set()
    assert drifts(ledger) == []


@pytest.mark.rule("POD-4")
@pytest.mark.parametrize(
    ("app", "namespace"),
    [
        ("yunikorn-default-autogen", "other"),
        ("", "default-autogen"),
        ("default/app-1", "other"),
        ("x" * 300, "other"),
        ("app-1", "default/app-1"),
    ],
)
def test_no_choice_of_names_leads_into_another_namespace(app: str, namespace: str) -> None:
    ledger = ledger_of(make_queue("root.a"), make_queue("root.b"))
    ledger.apply(on.ObjectObserved(on.NAMESPACES, NamespaceFacts(namespace)), now=START)
    victims = [make_pod(f"v-{at}", app=each) for at, each in enumerate(("", "app-1", app, f"{app}-x"))]
    reasons_after(ledger, *victims)
    reasons_after(ledger, make_pod("rival", app=app, namespace=namespace, queue="root.b"))
    assert usage(ledger, "root.b") == (0, 0, 1000)
    assert usage(ledger, "root.a")[2] == 4000
    assert drifts(ledger) == []


def test_ids_that_are_cut_alike_are_of_their_namespaces() -> None:
    one, other = "n" * 62 + "a", "n" * 62 + "b"
    ledger = ledger_of(make_queue("root.a"))
    for name in (one, other):
        ledger.apply(on.ObjectObserved(on.NAMESPACES, NamespaceFacts(name)), now=START)
        ledger.apply(on.PodObserved(make_pod(f"p-{name}", app="", namespace=name)), now=START)
    assert len(placed(ledger)) == 2


# -- the same user in several namespaces ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("settings", "user", "joins"),
    [
        (SHARED, ALICE, True),
        (SHARED, BOB, False),
        (SHARED, UNKNOWN, False),
        (LedgerSettings(), ALICE, False),
    ],
    ids=["the same user", "another", "nobody", "never"],
)
def test_the_same_user_may_join_from_another_namespace(
    settings: LedgerSettings, user: Identity, joins: bool
) -> None:
    ledger = ledger_of(make_queue("root.a"), make_queue("root.b"), settings=settings)
    reasons_after(ledger, make_pod("first", identity=ALICE))
    events = reasons_after(ledger, make_pod("second", namespace="other", queue="root.b", identity=user))
    assert events == ([] if joins else [OF_ANOTHER])
    assert usage(ledger, "root.b") == ((0, 0, 0) if joins else (0, 0, 1000))
    assert drifts(ledger) == []


def test_pods_without_a_user_join_no_application_of_another() -> None:
    ledger = ledger_of(make_queue("root.a"), make_queue("root.b"), settings=SHARED)
    reasons_after(ledger, make_pod("first"), make_pod("second", namespace="other", queue="root.b"))
    assert usage(ledger, "root.b") == (0, 0, 1000)


@pytest.mark.rule("ID-3")
def test_within_a_namespace_the_first_pod_counts_also_when_it_joined_another() -> None:
    ledger = ledger_of(make_queue("root.a"), make_queue("root.b"), settings=SHARED)
    reasons_after(ledger, make_pod("first", identity=ALICE))
    reasons_after(ledger, make_pod("second", namespace="other", identity=ALICE, queue="root.b"))
    reasons_after(ledger, make_pod("third", namespace="other", identity=BOB, queue="root.b"))
    assert placed(ledger) == {"default/app-1": "root.a"}
    for name in ("second", "third"):
        ledger.apply(on.PodDeleted(make_pod(name).uid), now=START)
    reasons_after(ledger, make_pod("again", namespace="other", identity=BOB, queue="root.b"))
    assert placed(ledger) == {"default/app-1": "root.a", "other/app-1": "root.b"}
    assert drifts(ledger) == []


def test_what_is_shown_names_the_namespace_where_the_id_alone_would_not_do() -> None:
    ledger = ledger_of(make_queue("root.a"))
    reasons_after(ledger, make_pod("first", identity=ALICE), make_pod("alone", app="alone", identity=ALICE))
    reasons_after(ledger, make_pod("second", namespace="other", identity=ALICE))
    facts = Facts(ledger.view)
    views = [app_from(facts, each) for each in ledger.view.identities.named("app-1")]
    assert [(each.application_id, each.namespace) for each in views] == [
        ("app-1", "default"),
        ("app-1", "other"),
    ]
    for name in ("first", "second", "alone"):
        filtered(ledger, f"uid-{name}", now=START)
    view = one_user(facts, "alice")
    assert view is not None
    assert view.queues is not None
    assert view.queues.running_applications == ("alone", "default/app-1", "other/app-1")
    assert one_group(facts, "dev") is None


# -- after a restart ------------------------------------------------------------------------------------


@pytest.mark.rule("APP-19")
@pytest.mark.parametrize("settings", [LedgerSettings(), SHARED], ids=["never", "sameUser"])
def test_it_is_the_same_after_a_restart_in_whatever_order_the_namespaces_come(
    settings: LedgerSettings,
) -> None:
    """Within a namespace pods are reported by age (`Feeds`). Between namespaces the order has no meaning."""
    pods = [
        make_pod("a", queue="root.a", node="n1", identity=ALICE, created=1.0),
        make_pod("b", namespace="other", queue="root.b", node="n1", identity=BOB, created=2.0),
        make_pod("c", namespace="third", queue="root.b", identity=UNKNOWN, created=3.0),
    ]
    found = set()
    for order in permutations(pods):
        ledger = ledger_of(make_queue("root.a"), make_queue("root.b"), settings=settings, listed=False)
        reasons_after(ledger, *order)
        ledger.apply(on.PodsListed(frozenset(pod.uid for pod in pods)), now=START)
        assert drifts(ledger) == []
        found.add((tuple(sorted(placed(ledger).items())), usage(ledger, "root.a"), usage(ledger, "root.b")))
    assert len(found) == 1
