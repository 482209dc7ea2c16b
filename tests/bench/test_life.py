"""Calls of functions in each step of a pod's life stay at the level that they have reached.

The levels are those of Python 3.11. Later versions make fewer calls for the same source.
"""

import pytest

from e2e.bench.inside.life import FORMS, calls_of

MOST = {
    "plain": {
        "create": 433,
        "update": 241,
        "filter": 443,
        "bind": 664,
        "bound": 236,
        "running": 21,
        "deleted": 311,
    },
    "direct": {"create": 433, "update": 241, "filter": 443, "bound": 375, "running": 21, "deleted": 311},
    "gated": {"create": 452, "gate": 98, "opened": 239, "bound": 584, "running": 21, "deleted": 319},
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
