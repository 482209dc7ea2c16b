"""Texts for victims (E7)."""

import pytest

from core.decisions.preemption.receipts import Finding, Kind, Plan, VictimReceipt
from core.decisions.preemption.wording import LONGEST, eviction_reason
from core.ids import NodeName, PodUid, QueuePath
from tests.core.preemption_world import World, queue


@pytest.mark.rule("PRE-20")
def test_e7_a_sentence_names_both_queues_with_their_figures_and_the_laws_last() -> None:
    world = World(queue("root.a", guaranteed=5000), queue("root.b", guaranteed=1000), nodes={"n1": 3000})
    for number in range(3):
        world.runs(f"v{number}", "root.b", 1000, created=float(number), app_id="job")
    world.asks("ask", "root.a", 1000)
    plan = world.plan()
    assert isinstance(plan, Plan)
    (victim,) = plan.receipt.victims
    assert eviction_reason(plan.kind, victim) == (
        "root.a was below its guarantee (0 of 5 cpu), root.b above (3 of 1)"
        " (guarantee: LAW-2, LAW-3, LAW-5, LAW-6, LAW-7)"
    )


@pytest.mark.rule("PRE-20")
def test_e7_a_queue_without_a_guarantee_is_said_to_have_none() -> None:
    world = World(queue("root.a", guaranteed=5000), queue("root.b"), nodes={"n1": 1000})
    world.runs("v", "root.b", 1000)
    world.asks("ask", "root.a", 1000)
    plan = world.plan()
    assert isinstance(plan, Plan)
    assert plan.receipt.victims[0].why == "root.a was below its guarantee (0 of 5 cpu), root.b has none"


@pytest.mark.parametrize("kind", Kind)
def test_a_text_is_bounded_and_keeps_its_laws(kind: Kind) -> None:
    receipt = VictimReceipt(
        PodUid("v"), "d/v", NodeName("n"), QueuePath("q"), (Finding("LAW-2", ""),), "x" * 999
    )
    text = eviction_reason(kind, receipt)
    assert len(text) == LONGEST
    assert text.endswith(f"… ({kind}: LAW-2)")
