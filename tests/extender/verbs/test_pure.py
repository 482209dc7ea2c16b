"""Answers of filter, prioritize and preempt (DESIGN-3, DESIGN-7, DESIGN-10)."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
import yaml

from core.decisions.decision import Scored, Unscored
from core.decisions.scoring import TOP_SCORE
from core.ids import NodeName, PodUid
from core.ledger import events as on
from core.ledger.effects import WakePod
from core.ledger.ledger import Ledger
from core.ledger.settings import LedgerSettings
from core.queues.spec import NodeSortSpec
from core.reasons import CODE_SETTLES
from extender.simulator.scheduler import node_choice
from extender.verbs.faults import CallFault, NotReady
from extender.wire.calls.extender_v1 import BadBody
from tests.builders import make_node, make_partition, make_pod, make_queue
from tests.extender.rigs import Rig, filter_body, nodes_of, preempt_body

FULL = "QuotaExceeded: root.a max vcore=2"


@pytest.mark.rule("QUO-7")
def test_a_queue_takes_what_fits_and_refuses_the_rest_on_every_node() -> None:
    rig = Rig()
    for name in ("p1", "p2"):
        assert rig.filter(name) == {"NodeNames": ["n1", "n2"]}
    assert rig.filter("p3") == {
        "NodeNames": [],
        "FailedAndUnresolvableNodes": {"n1": FULL, "n2": FULL, "n3": FULL},
    }
    assert rig.audit() == ()


def test_a_refusal_names_nodes_of_the_request_that_the_ledger_does_not_know() -> None:
    rig = Rig(make_queue("root.a", max={"vcore": 500}))
    answer = rig.filter("p1", nodes=["n1", "new"])
    assert set(answer["FailedAndUnresolvableNodes"]) == {"n1", "n2", "n3", "new"}


def test_unknown_node_names_pass() -> None:
    assert Rig().filter("p1", nodes=["unheard-of"]) == {"NodeNames": ["unheard-of"]}


def test_accepted_lists_are_echoed_to_the_byte() -> None:
    body = filter_body("p1").replace(b'["n1", "n2"]', b'[ "n1" ,"n\\u0032" ]')
    assert Rig().verbs.filter(body) == b'{"NodeNames":[ "n1" ,"n\\u0032" ]}'


def test_full_nodes_are_echoed_and_refused_in_their_own_shape() -> None:
    rig = Rig(make_queue("root.a", max={"vcore": 1000}))
    accepted = rig.filter("p1", full=True)
    assert [item["metadata"]["name"] for item in accepted["Nodes"]["items"]] == ["n1", "n2"]
    refused = rig.filter("p2", full=True)
    assert refused["Nodes"]["items"] == []
    assert set(refused["FailedAndUnresolvableNodes"]) == {"n1", "n2", "n3"}


def test_filter_again_for_the_same_pod_counts_it_once() -> None:
    rig = Rig()
    for _ in range(5):
        assert rig.filter("p1")["NodeNames"]
    assert rig.filter("p2")["NodeNames"]


def test_the_text_stays_while_another_code_has_not_settled() -> None:
    """DESIGN-3: the text is sticky, so that statuses are rarely written."""
    rig = Rig(make_queue("root.a", max={"vcore": 2000, "memory": 10**9}))
    rig.filter("p1", cpu="2")
    first = rig.filter("p2")["FailedAndUnresolvableNodes"]["n1"]
    rig.engine.learn(on.Configured(make_partition(make_queue("root.b")), rig.engine.view.settings))
    assert rig.filter("p2")["FailedAndUnresolvableNodes"]["n1"] == first
    rig.engine.learn(
        on.Configured(make_partition(make_queue("root.a", max={"vcore": 1000})), rig.engine.view.settings)
    )
    assert rig.filter("p2")["FailedAndUnresolvableNodes"]["n1"] == first
    rig.time += CODE_SETTLES - 1
    assert rig.filter("p2")["FailedAndUnresolvableNodes"]["n1"] == first
    rig.time += 1
    assert rig.filter("p2")["FailedAndUnresolvableNodes"]["n1"] == "QuotaExceeded: root.a max vcore=1"


def test_texts_name_no_usage() -> None:
    rig = Rig()
    rig.filter("p1", cpu="1500m")
    text = rig.filter("p2")["FailedAndUnresolvableNodes"]["n1"]
    assert text == FULL


@pytest.mark.parametrize(
    ("namespace", "scheduler", "queue", "ours"),
    [
        ("default", "default-scheduler", "", False),
        ("default", "yunikorn", "", True),
        ("default", "paddock", "", True),
        ("default", "default-scheduler", "root.a", True),
        ("kube-system", "yunikorn", "root.a", False),
    ],
)
def test_pods_that_are_managed(namespace: str, scheduler: str, queue: str, ours: bool) -> None:
    rig = Rig(make_queue("root.a", max={"vcore": 1}))
    answer = rig.filter("p", namespace=namespace, scheduler=scheduler, queue=queue)
    assert bool(answer["NodeNames"]) is not ours


def test_an_unmanaged_pod_is_counted_on_its_node_and_in_no_queue() -> None:
    rig = Rig()
    rig.engine.learn(on.PodObserved(make_pod("x", scheduler_name="other", app="", queue="", node="n1")))
    use = rig.engine.view.use_of(next(iter(nodes_of("n1"))))
    assert use is not None
    assert use.occupied.get("vcore") == 1000
    assert rig.engine.view.tree.root.allocated.get("vcore") == 0


def test_before_the_lists_are_in() -> None:
    """DESIGN-10: managed pods are refused, and unmanaged pods are let through."""
    rig = Rig(ledger=Ledger())
    with pytest.raises(NotReady):
        rig.filter("p")
    with pytest.raises(NotReady):
        rig.filter("maybe", scheduler="default-scheduler", queue="")
    assert rig.filter("dns", namespace="kube-system")["NodeNames"] == ["n1", "n2"]
    assert rig.verbs.prioritize(filter_body("p")) == b"[]"
    assert rig.verbs.preempt(preempt_body("p", {"n1": ["v"]})) == b"{}"


def test_unsynced_with_namespaces_known_unmanaged_pods_pass() -> None:
    ledger = Ledger()
    ledger.apply(on.ObjectsListed(on.NAMESPACES, frozenset()), now=0.0)
    rig = Rig(ledger=ledger)
    assert rig.filter("x", scheduler="default-scheduler", queue="")["NodeNames"]
    answer = json.loads(
        rig.verbs.preempt(preempt_body("x", {"n1": ["v"], "n2": []}, scheduler="other", queue=""))
    )
    assert list(answer["NodeNameToMetaVictims"]) == ["n1"]


def test_a_deleted_pod_is_known_as_deleted_for_ten_minutes() -> None:
    rig = Rig()
    rig.engine.learn(on.PodObserved(make_pod("p")))
    rig.engine.learn(on.PodDeleted(PodUid("uid-p")))
    with pytest.raises(CallFault, match="pod is gone"):
        rig.filter("p")
    rig.time += 600
    rig.engine.pass_time()
    assert rig.filter("p")["NodeNames"]


def test_a_uid_that_belongs_to_another_pod_is_refused() -> None:
    rig = Rig()
    rig.filter("p")
    with pytest.raises(CallFault, match="uid belongs to pod default/p"):
        rig.filter("q", uid="uid-p")
    assert rig.audit() == ()


def test_a_bound_pod_is_not_placed_again() -> None:
    rig = Rig()
    rig.engine.learn(on.PodObserved(make_pod("p", node="n1", version=9)))
    with pytest.raises(CallFault, match="already bound to n1"):
        rig.filter("p")


def test_a_newer_body_updates_what_the_watch_showed() -> None:
    """Fact 16: a pending pod that was resized counts with its new size at once (RES-8)."""
    rig = Rig()
    rig.engine.learn(on.PodObserved(make_pod("p", cpu=1000, version=3)))
    assert rig.filter("p", cpu="3", version="7")["NodeNames"] == []
    assert rig.filter("q")["NodeNames"]


@pytest.mark.parametrize("queue", ["root.nowhere", "nowhere", ""])
def test_without_a_queue_placement_fails(queue: str) -> None:
    rig = Rig()
    answer = rig.filter("p", queue=queue)
    assert answer["FailedAndUnresolvableNodes"]["n1"].startswith("PlacementFailed: ")


def test_freed_capacity_wakes_the_ones_that_fit() -> None:
    rig = Rig()
    for name in ("p1", "p2", "p3", "p4"):
        rig.filter(name)
    rig.run_planned()
    rig.effects.clear()
    rig.engine.learn(on.PodDeleted(PodUid("uid-p1")))
    rig.run_planned()
    assert [effect.name for effect in rig.effects if isinstance(effect, WakePod)] == ["p3"]


def test_new_nodes_change_what_a_refusal_names() -> None:
    rig = Rig(make_queue("root.a", max={"vcore": 500}), nodes=1)
    assert set(rig.filter("p", nodes=["n1"])["FailedAndUnresolvableNodes"]) == {"n1"}
    rig.engine.learn(on.ObjectObserved(on.NODES, make_node("n9")))
    assert set(rig.filter("p", nodes=["n1"])["FailedAndUnresolvableNodes"]) == {"n1", "n9"}


def scoring_rig(*, setting: bool = False) -> Rig:
    """n1 is fuller than n2. The document names binpacking, unless a ``setting`` does."""
    rig = Rig(make_queue("root.a"), nodes=2)
    sort = NodeSortSpec() if setting else NodeSortSpec("binpacking", {}, named=True)
    partition = replace(make_partition(make_queue("root.a")), node_sort=sort)
    rig.engine.learn(on.Configured(partition, LedgerSettings(scores_nodes=setting)))
    rig.engine.learn(on.PodObserved(make_pod("on-n1", cpu=50_000, node="n1")))
    return rig


def test_prioritize_leaves_the_choice_to_kube_scheduler_unless_a_policy_is_named() -> None:
    assert Rig().verbs.prioritize(filter_body("p")) == b"[]"


def test_prioritize_reads_the_names_only_if_it_scores_them() -> None:
    body = filter_body("p").replace(b'"n1"', b"1")
    assert Rig().verbs.prioritize(body) == b"[]"
    rig = scoring_rig()
    rig.engine.learn(on.PodObserved(make_pod("p")))
    with pytest.raises(BadBody):
        rig.verbs.prioritize(body)


@pytest.mark.parametrize("full", [False, True], ids=["names", "whole nodes"])
@pytest.mark.rule("NODE-1")
def test_prioritize_answers_ranks_with_the_best_at_ten(full: bool) -> None:
    rig = scoring_rig()
    body = filter_body("p", nodes=["n2", "new", "n1"], full=full)
    rig.verbs.filter(body)
    assert json.loads(rig.verbs.prioritize(body)) == [
        {"Host": "n1", "Score": 10},
        {"Host": "n2", "Score": 9},
        {"Host": "new", "Score": 0},
    ]


def test_prioritize_is_fair_where_only_the_setting_says_so() -> None:
    answer = scoring_rig(setting=True).verbs.prioritize(filter_body("p"))
    assert json.loads(answer) == [{"Host": "n2", "Score": 10}, {"Host": "n1", "Score": 9}]


def test_prioritize_tells_what_it_decided_of_pods_that_are_ours() -> None:
    rig, plain = scoring_rig(), Rig()
    for each in (rig, plain):
        each.verbs.prioritize(filter_body("p", nodes=["n2", "new", "n1"]))
        each.verbs.prioritize(filter_body("foreign", queue="", scheduler="other"))
    bands = tuple((score, (NodeName(name),)) for score, name in ((10, "n1"), (9, "n2"), (0, "new")))
    assert rig.witness.decisions == [("prioritize", "p", Scored("binpacking", bands))]
    assert plain.witness.decisions == [("prioritize", "p", Unscored())]


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(filter_body("p", queue="", scheduler="other"), id="unmanaged"),
        pytest.param(filter_body("p", nodes=[]), id="no node is offered"),
        pytest.param(filter_body("p", uid="uid-on-n1"), id="a uid of another pod"),
    ],
)
def test_prioritize_has_no_scores_for(body: bytes) -> None:
    assert scoring_rig().verbs.prioritize(body) == b"[]"


def test_prioritize_has_no_scores_for_a_deleted_pod_or_before_the_lists_are_in() -> None:
    rig = scoring_rig()
    rig.engine.learn(on.PodDeleted(PodUid("uid-p")))
    assert rig.verbs.prioritize(filter_body("p")) == b"[]"
    ledger = Ledger()
    partition = replace(make_partition(make_queue("root.a")), node_sort=NodeSortSpec("fair", {}, named=True))
    unsynced = Rig(ledger=ledger)
    unsynced.engine.learn(on.Configured(partition, LedgerSettings()))
    assert unsynced.verbs.prioritize(filter_body("p")) == b"[]"


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"{}", id="nothing"),
        pytest.param(filter_body("p").replace(b'["n1", "n2"]', b'["n1", 2]'), id="a name that is none"),
        pytest.param(filter_body("p").replace(b'["n1", "n2"]', b"null"), id="neither list"),
        pytest.param(filter_body("p", cpu="many"), id="an amount that is none"),
    ],
)
def test_prioritize_refuses_a_bad_body(body: bytes) -> None:
    with pytest.raises(BadBody):
        scoring_rig().verbs.prioritize(body)


IN_TREE_WEIGHTS = {
    "TaintToleration": 3,
    "NodeAffinity": 2,
    "PodTopologySpread": 2,
    "InterPodAffinity": 2,
    "NodeResourcesFit": 1,
    "NodeResourcesBalancedAllocation": 1,
    "ImageLocality": 1,
    "DynamicResources": 2,
}
"""kube-scheduler's default scoring plugins (CONTRACT-3.7). Each gives 0 to 100."""

CONFIGURATIONS = sorted(Path(__file__).parents[3].glob("manifests/*/scheduler-config-prioritize.yaml"))


@pytest.mark.parametrize("path", CONFIGURATIONS, ids=lambda path: path.parent.name)
@pytest.mark.rule("NODE-1")
def test_one_step_of_rank_outweighs_all_in_tree_scores(path: Path) -> None:
    document = yaml.safe_load(path.read_text())
    (weight,) = [each["weight"] for each in document["extenders"] if "prioritizeVerb" in each]
    one_step = weight * (100 // TOP_SCORE)
    assert one_step > 100 * sum(IN_TREE_WEIGHTS.values())
    assert weight == node_choice.WEIGHT, "the played scheduler decides as the shipped one"


@pytest.mark.parametrize("full", [False, True], ids=["meta victims", "full victims"])
def test_preempt_passes_candidates_through_without_the_empty_ones(full: bool) -> None:
    victims = {"n1": ["v1", "v2"], "n2": [], "n3": None}
    body = preempt_body("p", victims, full=full, scheduler="other", queue="")
    assert json.loads(Rig().verbs.preempt(body)) == {
        "NodeNameToMetaVictims": {"n1": {"Pods": [{"UID": "v1"}, {"UID": "v2"}], "NumPDBViolations": 1}}
    }


def test_preempt_is_vetoed_without_headroom() -> None:
    rig = Rig()
    assert rig.verbs.preempt(preempt_body("big", {"n1": ["v"]}, cpu="3")) == b"{}"
    unmanaged = preempt_body("x", {"n1": ["v"]}, cpu="3", scheduler="other", queue="")
    assert json.loads(rig.verbs.preempt(unmanaged))["NodeNameToMetaVictims"]
