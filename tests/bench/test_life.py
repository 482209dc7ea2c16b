"""Calls of functions in each step of a pod's life stay at the level that they have reached.

The levels are those of Python 3.11. Later versions make fewer calls for the same source.
"""

import pytest

from e2e.bench.inside.life import FORMS, calls_of

MOST = {
    "plain": {
        "create": 548,
        "update": 268,
        "filter": 480,
        "bind": 752,
        "bound": 274,
        "running": 21,
        "deleted": 490,
    },
    "direct": {"create": 548, "update": 268, "filter": 480, "bound": 493, "running": 21, "deleted": 490},
    "gated": {"create": 567, "gate": 77, "opened": 266, "bound": 706, "running": 21, "deleted": 498},
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
