"""Objects that the garbage collector need not visit."""

import gc

from core.ledger import events as on
from tests.builders import START, make_ledger, make_pod, make_queue


def test_a_new_pod_makes_no_index_of_all_pods_young_again() -> None:
    """The collector would visit all of it with the youngest objects. No call is answered meanwhile."""
    ledger = make_ledger(make_queue("root.a"))
    for number in range(50):
        ledger.apply(on.PodObserved(make_pod(f"p{number}", queue="root.a")), now=START)
    gc.collect()
    ledger.apply(on.PodObserved(make_pod("new", queue="root.a")), now=START)
    young = [each for each in gc.get_objects(generation=0) if isinstance(each, dict)]
    assert max((len(each) for each in young), default=0) < 50
