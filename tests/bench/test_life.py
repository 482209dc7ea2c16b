"""Calls of functions in each step of a pod's life stay at the level that they have reached.

The levels are those of Python 3.11. Later versions make fewer calls for the same source, and so does compiled
code, in which neither `isinstance` nor a constructor is called.
"""

import pytest

from e2e.bench.inside.life import FORMS, calls_of

MOST = {
    "plain": {
        "create": 552,
        "update": 279,
        "filter": 485,
        "bind": 762,
        "bound": 284,
        "running": 21,
        "deleted": 488,
    },
    "direct": {"create": 552, "update": 279, "filter": 485, "bound": 482, "running": 21, "deleted": 488},
    "gated": {"create": 571, "gate": 90, "opened": 275, "bound": 697, "running": 21, "deleted": 496},
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
