"""What a pass over the queues leaves behind."""

import gc

from core.ledger import events as on
from core.ledger.walk import Branch
from core.workload.pod import OWN_GATE
from tests.builders import START, make_ledger, make_pod, make_queue


def test_a_pass_leaves_nothing_to_the_garbage_collector() -> None:
    """Branches point at each other; to find those of many passes would stop everything for a while."""
    ledger = make_ledger(make_queue("root.p", leaf=False), make_queue("root.p.a"), make_queue("root.p.b"))
    for name in ("a", "b"):
        pod = make_pod(name, queue=f"root.p.{name}", app=name, gates=(OWN_GATE,))
        ledger.apply(on.PodObserved(pod), now=START)
    gc.collect()
    gc.disable()
    try:
        effects = ledger.apply(on.PassDue(), now=START)
        assert (len(effects), ledger.snapshot.pass_wanted) == (2, False)
        assert [each for each in gc.get_objects() if isinstance(each, Branch)] == []
    finally:
        gc.enable()
