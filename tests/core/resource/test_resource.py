"""Resources, limits and tallies, with the operators that calculate or compare."""

from collections.abc import Mapping

import pytest

from core.quantity import INT64_MAX, INT64_MIN
from core.resource import (
    UNLIMITED,
    ZERO,
    Limit,
    Resource,
    Tally,
    first_excess,
    largest,
    minus_known,
    plus_known,
    tightest,
    tightest_of_known,
)

Plain = Mapping[str, int] | None


def res(amounts: Plain) -> Resource | None:
    return None if amounts is None else Resource(amounts)


def lim(amounts: Plain) -> Limit | None:
    return None if amounts is None else Limit(amounts)


# --- what the types are ----------------------------------------------------------------------------


def test_amounts_are_added_to_plain_ones_without_those_of_zero() -> None:
    amounts = Resource({"memory": 1, "gpu": 2}).copied()
    Resource({"gpu": 3, "pods": 0, "vcore": 4}).add_to(amounts)
    assert amounts == {"memory": 1, "gpu": 5, "vcore": 4}


def test_an_absent_name_is_zero_in_a_resource_and_unlimited_in_a_limit() -> None:
    assert Resource({"memory": 1}).get("gpu") == 0
    assert Tally({"memory": 1}).get("gpu") == 0
    assert Limit({"memory": 1}).get("gpu") is None


def test_names_come_in_order_whatever_order_they_were_given_in() -> None:
    assert list(Resource({"b": 1, "a": 2}).items()) == [("a", 2), ("b", 1)]
    assert list((Resource({"b": 1}) + Resource({"a": 2})).names()) == ["a", "b"]
    assert list(Limit({"b": 1}).filled(Limit({"a": 2})).names()) == ["a", "b"]


def test_equal_values_are_one_dictionary_key_and_explicit_zeros_are_another() -> None:
    assert len({Resource({"a": 1, "b": 2}), Resource({"b": 2, "a": 1})}) == 1
    assert Resource({"a": 1}) != Resource({"a": 1, "b": 0})


def test_a_resource_never_equals_a_limit_or_a_tally_of_the_same_amounts() -> None:
    different: list[object] = [Limit({"a": 1}), Tally({"a": 1}), {"a": 1}]
    assert all(other != Resource({"a": 1}) for other in different)


def test_building_from_a_mapping_copies_it_and_saturates() -> None:
    source = {"a": 2**70, "b": -(2**70)}
    built = Resource(source)
    source["a"] = 1
    assert dict(built.items()) == {"a": INT64_MAX, "b": INT64_MIN}


def test_truth_length_and_membership_go_by_names() -> None:
    assert Resource({"a": 0})
    assert not ZERO
    assert "a" in Limit({"a": 0})
    assert len(Resource({"a": 0, "b": 1})) == 2


def test_a_value_reads_like_the_call_that_makes_it() -> None:
    assert repr(Resource({"b": 1, "a": 2})) == "Resource({'a': 2, 'b': 1})"
    assert repr(Tally({"b": 1, "a": 2})) == "Tally({'a': 2, 'b': 1})"


def test_a_limit_and_a_resource_turn_into_each_other_by_name_only() -> None:
    assert Limit.of(Tally({"a": 1})) == Limit({"a": 1})
    assert Limit({"a": -1}).as_resource() == Resource({"a": -1})


# --- arithmetic ------------------------------------------------------------------------------------


@pytest.mark.rule("RES-3.3")
@pytest.mark.parametrize(
    ("left", "right", "total", "rest"),
    [
        pytest.param({"a": 1}, {"b": 2}, {"a": 1, "b": 2}, {"a": 1, "b": -2}, id="union of names"),
        pytest.param({"a": 1}, {}, {"a": 1}, {"a": 1}, id="nothing added"),
        pytest.param({"a": 1}, {"a": 1}, {"a": 2}, {"a": 0}, id="an explicit zero is left"),
        pytest.param(
            {"a": INT64_MAX}, {"a": 1}, {"a": INT64_MAX}, {"a": INT64_MAX - 1}, id="saturates above"
        ),
        pytest.param(
            {"a": INT64_MIN}, {"a": 1}, {"a": INT64_MIN + 1}, {"a": INT64_MIN}, id="saturates below"
        ),
    ],
)
def test_add_and_sub(left: Plain, right: Plain, total: Plain, rest: Plain) -> None:
    assert res(left) + res(right) == res(total)
    assert res(left) - res(right) == res(rest)


def test_sub_eliminate_negative_stops_at_zero() -> None:
    assert Resource({"a": 1}).minus_floored(Resource({"a": 5, "b": 1})) == Resource({"a": 0, "b": 0})


def test_sub_error_negative_names_what_was_missing() -> None:
    left = Resource({"a": 1, "c": 3})
    assert left.minus_checked(Resource({"c": 1, "b": 1, "a": 2})) == (
        Resource({"a": 0, "b": 0, "c": 2}),
        ("a", "b"),
    )
    assert left.minus_checked(Resource({"a": 1})) == (Resource({"a": 0, "c": 3}), ())


@pytest.mark.parametrize(
    ("base", "change", "raised", "lowered"),
    [
        pytest.param({"a": 5}, {"a": 2, "b": 9}, {"a": 7}, {"a": 3}, id="names of the base only"),
        pytest.param({"a": 5, "b": 1}, {"a": 9}, {"a": 14, "b": 1}, {"a": -4, "b": 1}, id="may go negative"),
        pytest.param({}, {"a": 1}, {}, {}, id="an empty base stays empty"),
        pytest.param(None, {"a": 1}, None, None, id="an undefined base stays undefined"),
        pytest.param({"a": 5}, None, {"a": 5}, {"a": 5}, id="undefined change is nothing"),
        pytest.param(
            {"a": INT64_MAX}, {"a": 1}, {"a": INT64_MAX}, {"a": INT64_MAX - 1}, id="saturates above"
        ),
        pytest.param(
            {"a": INT64_MIN}, {"a": 1}, {"a": INT64_MIN + 1}, {"a": INT64_MIN}, id="saturates below"
        ),
    ],
)
def test_add_and_sub_only_existing(base: Plain, change: Plain, raised: Plain, lowered: Plain) -> None:
    assert plus_known(lim(base), res(change)) == lim(raised)
    assert minus_known(lim(base), res(change)) == lim(lowered)


def test_the_remainder_of_several_usages() -> None:
    assert Limit({"a": 10}).minus(Tally({"a": 3}), Resource({"a": 2, "b": 1})) == Limit({"a": 5})
    assert Limit({"a": 10}).minus() == Limit({"a": 10})


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        pytest.param(
            {"a": 5, "b": 1}, {"a": 3, "c": 7}, {"a": 3, "b": 1, "c": 7}, id="one-sided caps are kept"
        ),
        pytest.param({"a": -5}, {"a": 3}, {"a": -5}, id="a negative cap is the tightest"),
        pytest.param({}, {"a": 3}, {"a": 3}, id="empty caps nothing"),
        pytest.param({"a": 3}, {}, {"a": 3}, id="empty caps nothing on the right"),
        pytest.param(None, None, None, id="both undefined stay undefined"),
        pytest.param(None, {"a": 3}, {"a": 3}, id="left undefined"),
        pytest.param({"a": 3}, None, {"a": 3}, id="right undefined"),
    ],
)
def test_cwmin(left: Plain, right: Plain, expected: Plain) -> None:
    assert tightest(lim(left), lim(right)) == lim(expected)


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        pytest.param({"a": 5, "b": 1}, {"a": 3, "c": 7}, {"a": 3, "b": 1}, id="names of the left only"),
        pytest.param({}, {"a": 3}, {}, id="empty stays empty"),
        pytest.param(None, {"a": 3}, None, id="undefined stays undefined"),
        pytest.param({"a": 5}, None, {"a": 5}, id="right undefined"),
    ],
)
def test_cwmin_only_existing(left: Plain, right: Plain, expected: Plain) -> None:
    assert tightest_of_known(lim(left), lim(right)) == lim(expected)


def test_merge_if_not_present_keeps_our_cap_and_takes_the_others() -> None:
    assert Limit({"b": 0}).filled(Limit({"a": 1, "b": 9})) == Limit({"a": 1, "b": 0})


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        pytest.param({"a": 5, "b": 1}, {"a": 7}, {"a": 7, "b": 1}, id="union of names"),
        pytest.param({"a": -5}, {}, {"a": 0}, id="a negative beside an absent name is 0"),
        pytest.param({"a": -5}, {"a": -7}, {"a": -5}, id="two negatives"),
        pytest.param(None, {"a": 3}, {}, id="left undefined"),
        pytest.param({"a": 3}, None, {}, id="right undefined"),
    ],
)
def test_cwmax(left: Plain, right: Plain, expected: Plain) -> None:
    assert largest(res(left), res(right)) == res(expected)


def test_prune_drops_zeros_only() -> None:
    assert Resource({"a": 0, "b": -1, "c": 2}).pruned() == Resource({"b": -1, "c": 2})


def test_multiply_by_a_whole_number_saturates() -> None:
    assert Resource({"a": 3, "b": 2**62, "c": -(2**62)}).times(4) == Resource(
        {"a": 12, "b": INT64_MAX, "c": INT64_MIN}
    )


@pytest.mark.parametrize(
    ("amount", "factor", "expected"),
    [
        pytest.param(10, 0.75, 7, id="truncated"),
        pytest.param(-10, 0.75, -7, id="truncated toward zero"),
        pytest.param(2**62, 4.0, INT64_MAX, id="saturates above"),
        pytest.param(2**62, -4.0, INT64_MIN, id="saturates below"),
        pytest.param(2**62, 1e308, INT64_MAX, id="an infinite product"),
    ],
)
def test_multiply_by_a_float(amount: int, factor: float, expected: int) -> None:
    assert Resource({"a": amount}).times_fraction(factor) == Resource({"a": expected})


@pytest.mark.parametrize("factor", [float("nan"), float("inf"), float("-inf")])
def test_multiply_by_what_is_no_number_is_an_error(factor: float) -> None:
    with pytest.raises(ValueError, match="cannot multiply"):
        Resource({"a": 1}).times_fraction(factor)


# --- does it fit -----------------------------------------------------------------------------------


@pytest.mark.rule("RES-3.3")
@pytest.mark.parametrize(
    ("caps", "size", "covers", "admits", "holds"),
    [
        pytest.param({"a": 5}, {"a": 5}, True, True, True, id="exactly full"),
        pytest.param({"a": 5}, {"a": 6}, False, False, False, id="one too many"),
        pytest.param({"a": 5}, {"b": 1}, False, True, True, id="a name without a cap"),
        pytest.param({"a": 5}, {"b": 0}, True, True, True, id="nothing of a name without a cap"),
        pytest.param({"a": 5}, {}, True, True, True, id="nothing at all"),
        pytest.param({"a": -1}, {"a": 0}, True, True, False, id="nothing, in a room overdrawn"),
        pytest.param({"a": -1}, {"a": -2}, True, True, True, id="less than the overdraft"),
        pytest.param({"a": -1}, {"b": 1}, False, True, True, id="another name, in a room overdrawn"),
        pytest.param({"a": 0}, {"a": 1}, False, False, False, id="a cap of zero bans the name"),
        pytest.param({}, {"a": 1}, False, True, True, id="no caps"),
    ],
)
def test_the_three_ways_to_fit(caps: Plain, size: Plain, covers: bool, admits: bool, holds: bool) -> None:
    asked = Resource(size or {})
    assert Resource(caps or {}).covers(asked) is covers, "FitIn"
    assert Limit(caps or {}).admits(asked) is admits, "FitInMaxUndef"
    assert Limit(caps or {}).holds(asked) is holds, "FitInActual"


@pytest.mark.rule("QUO-8")
@pytest.mark.parametrize(
    ("cap", "allocated", "reserved", "size", "excess"),
    [
        pytest.param({"a": 5}, {"a": 2}, {"a": 2}, {"a": 1}, None, id="exactly full with what is reserved"),
        pytest.param({"a": 5}, {"a": 2}, {"a": 3}, {"a": 1}, "a", id="the reservation takes the last room"),
        pytest.param({"a": 1, "b": 0}, {"b": 1}, {}, {"a": 1}, None, id="over quota in a name not asked for"),
        pytest.param({"a": 1, "b": 0}, {"b": 1}, {}, {"b": 1}, "b", id="over quota in the name asked for"),
        pytest.param({"a": 1}, {"a": 9}, {}, {"a": 0}, None, id="asking nothing of a name over quota"),
        pytest.param({"a": 1}, {}, {}, {"b": 9}, None, id="a name without a cap"),
        pytest.param({"a": 1, "b": 1}, {}, {}, {"b": 2, "a": 2}, "a", id="the first name in order"),
        pytest.param({"a": 9, "b": 1}, {}, {}, {"b": 2, "a": 2}, "b", id="the first name that exceeds"),
        pytest.param({}, {"a": 1}, {}, {"a": 1}, None, id="no caps"),
        pytest.param({"a": -1}, {}, {}, {"a": 1}, "a", id="a negative cap"),
    ],
)
def test_first_excess(cap: Plain, allocated: Plain, reserved: Plain, size: Plain, excess: str | None) -> None:
    asked = Resource(size or {})
    assert first_excess(Limit(cap or {}), asked, Tally(allocated), Tally(reserved), asked) == excess


# --- headroom examples -----------------------------------------------------------------------------


@pytest.mark.rule("QUO-3")
def test_headroom_down_a_path() -> None:
    parent = Limit({"a": 20, "b": 10}).minus(Resource({"a": 5, "b": 5, "c": 10, "d": 5}))
    assert parent == Limit({"a": 15, "b": 5})
    first = Limit({"a": 10, "c": 10}).minus(Resource({"a": 5, "b": 5, "c": 5}))
    assert parent.tightest(first) == Limit({"a": 5, "b": 5, "c": 5})
    second = Limit({"d": 10}).minus(Resource({"c": 5, "d": 5}))
    assert UNLIMITED.tightest(parent).tightest(second) == Limit({"a": 15, "b": 5, "d": 5})


# --- tallies ---------------------------------------------------------------------------------------


@pytest.mark.rule("QUO-2")
def test_a_tally_counts_in_and_out_and_keeps_no_zero() -> None:
    tally = Tally()
    tally.add(Resource({"a": 5, "b": 1, "z": 0}))
    tally.add(Resource({"a": 2}))
    assert dict(tally.items()) == {"a": 7, "b": 1}
    assert tally.subtract(Resource({"a": 3, "b": 1, "z": 0})) == ()
    assert tally == Tally({"a": 4})
    assert tally.as_resource() == Resource({"a": 4})


@pytest.mark.rule("QUO-10")
def test_counting_out_more_than_there_is_stops_at_zero_and_names_it() -> None:
    tally = Tally({"a": 5, "c": 1})
    too_much = Resource({"a": 6, "b": 1, "c": 1})
    assert tally.shortfall(too_much) == ("a", "b")
    assert tally == Tally({"a": 5, "c": 1}), "asking changes nothing"
    assert tally.subtract(too_much) == ("a", "b")
    assert tally == Tally()


def test_a_tally_gives_back_exactly_what_two_huge_pods_added() -> None:
    """A value that is read saturates. The count itself must not, or a pod's author could make it drift."""
    huge = Resource({"a": INT64_MAX})
    tally = Tally()
    tally.add(huge)
    tally.add(huge)
    assert tally.as_resource() == huge
    tally.subtract(huge)
    assert tally == Tally({"a": INT64_MAX})
    tally.subtract(huge)
    assert tally == Tally()


def test_a_tally_cancels_out_negative_amounts() -> None:
    tally = Tally({"a": 2})
    tally.add(Resource({"a": -2, "b": -1}))
    assert dict(tally.items()) == {"b": -1}
    tally.add(Resource({"b": INT64_MIN}))
    assert tally.as_resource().get("b") == INT64_MIN


def test_a_copy_goes_its_own_way() -> None:
    tally = Tally({"a": 1})
    other = tally.copy()
    other.add(Resource({"a": 1}))
    tally.clear()
    assert (tally, other) == (Tally(), Tally({"a": 2}))


def test_a_tally_is_no_dictionary_key_and_equals_tallies_only() -> None:
    with pytest.raises(TypeError):
        hash(Tally())
    assert Tally({"a": 1, "b": 0}) == Tally({"a": 1})
    assert Tally() != {}
