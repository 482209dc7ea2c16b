"""The pace of reviews: never more in any second than the bound, and some only for known callers."""

from hypothesis import given
from hypothesis import strategies as st

from extender.identity.pace import Pace

MOMENTS = st.lists(st.tuples(st.floats(0, 0.5), st.integers(1, 2), st.booleans()), min_size=1, max_size=80)


@given(MOMENTS)
def test_no_second_has_more_than_ten(steps: list[tuple[float, int, bool]]) -> None:
    now = 0.0
    pace = Pace(lambda: now)
    begun: list[tuple[float, bool]] = []
    for pause, reviews, known in steps:
        now += pause
        if pace.take(reviews, known=known):
            begun += [(now, known)] * reviews
        within = [each for each in begun if each[0] > now - 1.0]
        assert len(within) <= 10
        assert sum(not known for _, known in within) <= 8


def test_strangers_leave_two_for_known_callers() -> None:
    pace = Pace(lambda: 0.0)
    assert [pace.take(1, known=False) for _ in range(9)] == [True] * 8 + [False]
    assert [pace.take(1, known=True) for _ in range(3)] == [True, True, False]


def test_two_reviews_are_taken_together_or_not_at_all() -> None:
    pace = Pace(lambda: 0.0)
    assert pace.take(7, known=False)
    assert not pace.take(2, known=False)
    assert pace.take(1, known=False)
