"""The reasons that pods were given."""

import pytest

from core.ids import PodUid
from core.reasons import Code, Refusal
from extender.rest.members import members
from extender.rest.memory.reasons import REASONS, Reasons

P, Q = PodUid("p"), PodUid("q")


@pytest.mark.rule("REST-34")
def test_each_reason_once_the_latest_last_without_amounts() -> None:
    reasons = Reasons()
    quota = Refusal(Code.QUOTA_EXCEEDED, "root.a", "max vcore=3")
    for at, refusal in (
        (1.0, quota),
        (2.0, Refusal(Code.USER_QUOTA_EXCEEDED, "alice", "max vcore=3")),
        (3.0, Refusal(Code.WAITING_FOR_TURN, "root.a")),
        (4.0, Refusal(Code.QUOTA_EXCEEDED, "root.b", "max vcore=9")),
    ):
        reasons.note(P, refusal, now=at)
    assert [members(each) for each in reasons.of(P)] == [
        {"message": "Not enough user quota", "lastOccurrence": 2 * 10**9, "count": 1},
        {"message": "WaitingForTurn: root.a", "lastOccurrence": 3 * 10**9, "count": 1},
        {"message": "Not enough queue quota", "lastOccurrence": 4 * 10**9, "count": 2},
    ]
    assert reasons.of(Q) == ()


def test_memory_is_bounded() -> None:
    reasons = Reasons(pods=1)
    for at in range(REASONS + 5):
        reasons.note(P, Refusal(Code.QUEUE_DRAINING, f"root.q{at}"), now=float(at))
    assert len(reasons.of(P)) == REASONS
    assert reasons.of(P)[-1].message == f"QueueDraining: root.q{REASONS + 4}"
    reasons.note(Q, Refusal(Code.QUEUE_DRAINING, "root.a"), now=1.0)
    assert (reasons.of(P), len(reasons.of(Q))) == ((), 1)
    reasons.forget(Q)
    assert reasons.of(Q) == ()
