"""Answers about explanations: what the caller may not read is summed by queue."""

from core.decisions.explanation import values as core
from core.decisions.explanation.explaining import explain_at_once
from core.ids import AppId, NodeName, PodUid, QueuePath
from core.ledger import events as on
from core.ledger.ledger import Ledger
from core.reasons import Code
from extender.rest.members import members
from extender.rest.projection.explanations import Reader, pod_of
from tests.builders import START, make_ledger, make_node, make_pod, make_queue

TENANT, VIEWER = Reader("default", False), Reader("default", True)
LEAF = QueuePath("root.a")
OTHER = core.OtherPod("canary-space", "canary-pod", LEAF)
OWN = core.OtherPod("default", "mine", LEAF)


def explanation() -> core.PodExplanation:
    """A value that names others in each place in which it can."""
    held = core.Holder("canary-space", "canary-app", LEAF, 700), core.Holder("default", "mine", LEAF, 300)
    return core.PodExplanation(
        "default",
        "ask",
        LEAF,
        AppId("asks", "default"),
        core.PodStanding.PENDING,
        obstacles=(
            core.Obstacle(Code.NODE_RESERVED, "ask", "text", others=(OTHER, OTHER, OWN)),
            core.Obstacle(Code.QUOTA_EXCEEDED, LEAF, "text", holders=(*held, held[0])),
            core.Obstacle(Code.UNSCHEDULABLE, "canary-node", "text"),
            core.Obstacle(core.Barrier.OWN_NODE, "canary-node", "text"),
        ),
        nodes=core.NodeCounts(2, 0, 0, (("capacity", 2),), NodeName("canary-node")),
        before=(
            core.Ahead(core.Precedence.AGE, LEAF, AppId("canary-app", "canary-space"), 2),
            core.Ahead(core.Precedence.AGE, LEAF, AppId("canary-two", "canary-space"), 3),
            core.Ahead(core.Precedence.AGE, LEAF, AppId("mine", "default"), 1),
        ),
        preemption=core.Preempting(possible=True, victims=(OTHER, OWN)),
    )


def shown(reader: Reader) -> str:
    return str(members(pod_of(Ledger().view, explanation(), reader)))


def test_a_tenant_reads_no_foreign_name() -> None:
    assert "canary" not in shown(TENANT)
    for name in ("canary-space", "canary-pod", "canary-app", "canary-node", "mine"):
        assert name in shown(VIEWER)


def test_what_is_not_named_is_summed_by_queue() -> None:
    found = pod_of(Ledger().view, explanation(), TENANT)
    reserved, quota, nowhere, own_node = found.obstacles
    assert [(each.queue, each.name, each.count) for each in reserved.others] == [
        ("root.a", "", 2),
        ("root.a", "mine", 1),
    ]
    assert [(each.name, each.count, each.amount) for each in quota.holders] == [
        ("", 2, 1400),
        ("mine", 1, 300),
    ]
    assert [(each.application, each.pods) for each in found.before] == [("", 5), ("mine", 1)]
    assert (nowhere.subject, own_node.subject) == ("", "")
    assert found.nodes is not None
    assert (found.nodes.nearest, found.nodes.unfit) == ("", {"capacity": 2})


def test_pods_that_a_change_would_end_are_named_to_viewers() -> None:
    ledger = make_ledger(make_queue("root.a", max={"vcore": 1000}), nodes=0)
    ledger.apply(on.ObjectObserved(on.NODES, make_node("n1")), now=START)
    theirs = make_pod("canary-pod", namespace="canary-space", app="canary-app", node="n1")
    for pod in (theirs, make_pod("ask", app="asks")):
        ledger.apply(on.PodObserved(pod), now=START)
    while ledger.view.cycle_wanted:
        ledger.apply(on.CycleDue(), now=START)
    found = explain_at_once(ledger.view, PodUid("uid-ask"), now=START)
    assert found is not None
    for reader in (TENANT, VIEWER):
        remedies = pod_of(ledger.view, found, reader).remedies
        assert remedies is not None
        ended = [each.ended for each in remedies.changes if each.ended]
        assert [(each.name, each.count) for (each,) in ended] == [
            ("canary-pod" if reader.names_others else "", 1)
        ]
        assert [each.text for each in remedies.changes][-1] == "end 1 pod"
