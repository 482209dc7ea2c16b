"""Calls of functions in each step of a pod's life stay at the level that they have reached.

The levels are those of Python 3.11. Later versions make fewer calls for the same source.
"""

import pytest

from e2e.bench.inside.life import FORMS, calls_of

MOST = {
    "plain": {
        "create": 558,
        "update": 280,
        "filter": 489,
        "bind": 807,
        "bound": 286,
        "running": 21,
        "deleted": 490,
    },
    "direct": {"create": 558, "update": 280, "filter": 489, "bound": 500, "running": 21, "deleted": 490},
    "gated": {"create": 577, "gate": 80, "opened": 278, "bound": 709, "running": 21, "deleted": 498},
}
LEEWAY = 1.03
"""Steps differ a little, as counters and indexes grow."""


@pytest.mark.interpreted
@pytest.mark.parametrize("form", FORMS)
async def test_no_step_makes_more_calls_than_it_does_now(form: str) -> None:
    found = await calls_of(form)
    over = {step: (found[step], most) for step, most in MOST[form].items() if found[step] > LEEWAY * most}
    assert over == {}
    assert found.keys() - {"cycle"} == MOST[form].keys()
