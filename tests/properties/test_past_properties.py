"""The packed past of queues against a naive one: dictionaries of samples by tick (REST-50)."""

from collections import defaultdict
from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from extender.rest.history.past import Past
from extender.rest.history.series import full_size
from extender.rest.history.spans import DAY, PLANS, SPANS, TICK
from tests.extender.rest.history.past_rows import Amounts, make_rows, record, shown

QUEUES = ("root", "root.a", "root.a.b", "root.c")
RESOURCES = ("gpu", "memory", "vcore")
INT64 = st.integers(-(2**63) + 2, 2**63 - 1)
AMOUNTS = st.tuples(INT64, INT64, INT64 | st.none(), INT64 | st.none())
DOCUMENTS = st.dictionaries(st.sampled_from(QUEUES), st.dictionaries(st.sampled_from(RESOURCES), AMOUNTS))
AHEAD = st.integers(1, 3) | st.integers(1, 30) | st.integers(1, DAY + 400)
STEPS = st.lists(st.tuples(AHEAD, DOCUMENTS, st.integers(1, 25)), min_size=1, max_size=8)
"""Ticks until a sample, its amounts, and how often it is repeated at the ticks after it."""

IDLE: Amounts = (0, 0, None, None)


class Naive:
    """Every sample of each span, by queue, resource and tick."""

    def __init__(self) -> None:
        self.spans: list[dict[tuple[str, str], dict[int, Amounts]]] = [defaultdict(dict) for _ in SPANS]
        self.named: dict[tuple[str, str], int] = {}

    def record(self, tick: int, rows: Mapping[str, Mapping[str, Amounts]], plan: tuple[int, ...]) -> None:
        """Keep a sample, and forget what the past says that it forgets."""
        self._forget(tick, rows, plan)
        for path, amounts in rows.items():
            for name in {*amounts, *(each for queue, each in self.named if queue == path)}:
                if name in amounts:
                    self.named[path, name] = tick
                for samples_of, every in zip(self.spans, plan, strict=True):
                    if tick % every == 0:
                        samples_of[path, name][tick] = amounts.get(name, IDLE)

    def _forget(self, tick: int, rows: Mapping[str, Mapping[str, Amounts]], plan: tuple[int, ...]) -> None:
        for samples_of, span, every in zip(self.spans, SPANS, plan, strict=True):
            for samples in samples_of.values():
                for at in [at for at in samples if at % every or at // every < tick // every - span // every]:
                    del samples[at]
        for key, named in list(self.named.items()):
            removed = not any(samples_of[key] for samples_of in self.spans)
            if named + DAY < tick or (removed and key[0] not in rows):
                del self.named[key]
                for samples_of in self.spans:
                    samples_of.pop(key, None)

    def shown(self, key: tuple[str, str], place: int, tick: int, every: int) -> dict[int, Amounts]:
        """Samples of a span at a tick."""
        oldest = tick // every - SPANS[place] // every
        return {at: each for at, each in self.spans[place][key].items() if at // every > oldest}


def compare(past: Past, naive: Naive, tick: int) -> None:
    for place, span in enumerate(SPANS):
        for path in QUEUES:
            for name in RESOURCES:
                found = shown(past, path, name, seconds=span * TICK, tick=tick)
                assert found == naive.shown((path, name), place, tick, past.plan[place])


@given(STEPS)
@pytest.mark.rule("REST-50")
def test_every_sample_comes_back_and_nothing_else(steps: list[tuple[int, dict, int]]) -> None:  # type: ignore[type-arg]
    past, naive, tick = Past(), Naive(), 1_000_000
    for ahead, document, times in steps:
        tick += ahead
        for tick in range(tick, tick + times):  # noqa: B020 - the clock goes on
            record(past, tick, make_rows(document))
            naive.record(tick, document, past.plan)
        compare(past, naive, tick)
    assert past.figures.unrecorded == past.figures.dropped == 0


@given(STEPS, st.data())
@pytest.mark.rule("REST-50")
def test_a_bound_makes_samples_fewer_and_never_wrong(
    steps: list[tuple[int, dict, int]],  # type: ignore[type-arg]
    data: st.DataObject,
) -> None:
    """While nothing is dropped as a whole, exactly the samples at the coarser step stay."""
    past, naive, tick = Past(), Naive(), 1_000_000
    least = len(QUEUES) * (600 + len(RESOURCES) * (56 + full_size(PLANS[-1])))
    for ahead, document, times in steps:
        bound = data.draw(st.integers(least, 3 * least))
        tick += ahead
        for tick in range(tick, tick + times):  # noqa: B020 - the clock goes on
            record(past, tick, make_rows(document), bound=bound)
            naive.record(tick, document, past.plan)
            assert past.figures.used <= bound
        if past.figures.dropped:
            return
        compare(past, naive, tick)
        assert past.figures.unrecorded == 0


@given(STEPS, st.lists(st.integers(0, 20_000), min_size=8, max_size=8), st.data())
@pytest.mark.rule("REST-50")
def test_whatever_happens_no_amount_is_shown_that_was_not_there(
    steps: list[tuple[int, dict, int]],  # type: ignore[type-arg]
    back: list[int],
    data: st.DataObject,
) -> None:
    """With a clock that is set back, and with bounds below what anything needs."""
    past, tick, truth = Past(), 1_000_000, dict[int, dict[str, dict[str, Amounts]]]()
    for (ahead, document, times), behind in zip(steps, back, strict=False):
        bound = data.draw(st.integers(1, 400_000))
        tick += ahead - behind
        for tick in range(tick, tick + min(times, 5)):  # noqa: B020 - the clock goes on
            if tick != past.last:
                truth = {at: each for at, each in truth.items() if at < tick} | {tick: document}
            record(past, tick, make_rows(document), bound=bound)
        rows = len(truth[past.last]) * (600 + len(RESOURCES) * 56)
        assert past.figures.used <= max(past.figures.limit, rows)
        for path in QUEUES:
            for name in RESOURCES:
                for span in SPANS:
                    for at, each in shown(past, path, name, seconds=span * TICK, tick=tick).items():
                        assert each == truth[at][path].get(name, IDLE)
