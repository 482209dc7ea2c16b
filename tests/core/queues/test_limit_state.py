"""All limits on an ask agree with the check that names the first of them."""

from core.queues.limit_state import limits_of_ask
from core.resource import Resource
from tests.builders import make_ledger, make_queue, record_of
from tests.core.decisions.explanation.scenes import cycled, observed


def test_the_first_limit_that_is_short_is_the_one_that_refuses() -> None:
    ledger = make_ledger(
        make_queue("root.p", leaf=False, max={"vcore": 1500}), make_queue("root.p.a", max={"memory": 3})
    )
    observed(ledger, "runs", queue="root.p.a", node="n1", memory=2)
    observed(ledger, "ask", queue="root.p.a")
    view = cycled(ledger).view
    record = record_of(ledger, "uid-ask")
    leaf, app_id = view.queue_of(record), record.membership.application
    assert leaf is not None
    assert app_id is not None
    application = view.application(app_id)
    assert application is not None
    for size in ({"vcore": 500}, {"vcore": 501}, {"memory": 1}, {"memory": 2, "vcore": 600}, {"gpu": 1}):
        asked = Resource(size)
        refusal = view.quota_check.refusal(leaf.chain, application.claimant, asked)
        short = [
            each
            for each in limits_of_ask(view.quota_check, leaf.chain, application.claimant, asked)
            if each.short
        ]
        assert bool(short) == (refusal is not None)
        if refusal is not None:
            assert str(short[0].key.path) == refusal.subject
