"""Laws of amounts, limits, tallies and quantities that hold for any input."""

from fractions import Fraction
from math import ceil

from hypothesis import given
from hypothesis import strategies as st

from core.quantity import INT64_MAX, INT64_MIN, signed_kubernetes_amount
from core.resource import UNLIMITED, ZERO, Limit, Resource, Tally, first_excess

NAMES = st.sampled_from(["vcore", "memory", "pods", "gpu"])
# Small enough that saturation breaks no law below.
AMOUNTS = st.integers(-(2**40), 2**40)
SIZES = st.integers(0, 2**40)


def resources(amounts: st.SearchStrategy[int] = AMOUNTS) -> st.SearchStrategy[Resource]:
    return st.dictionaries(NAMES, amounts).map(Resource)


def limits() -> st.SearchStrategy[Limit]:
    return st.dictionaries(NAMES, AMOUNTS).map(Limit)


@given(resources(), resources(), resources())
def test_add_is_commutative_and_associative(a: Resource, b: Resource, c: Resource) -> None:
    assert a + b == b + a
    assert (a + b) + c == a + (b + c)
    assert a + ZERO == a


@given(resources(), resources())
def test_sub_undoes_add_up_to_explicit_zeros(a: Resource, b: Resource) -> None:
    assert ((a + b) - b).amounts_equal(a)


@given(resources(st.integers(INT64_MIN, INT64_MAX)), resources(st.integers(INT64_MIN, INT64_MAX)))
def test_no_amount_ever_leaves_64_bits(a: Resource, b: Resource) -> None:
    tally = Tally(a)
    tally.add(b)
    sums = (a + b, a - b, a.times(3), a.times_fraction(-7.5), tally.as_resource(), Limit.of(a).minus(b, b))
    for amounts in sums:
        assert all(INT64_MIN <= amount <= INT64_MAX for _, amount in amounts.items())


@given(st.lists(resources(SIZES)), st.randoms(use_true_random=False))
def test_a_tally_is_empty_again_when_all_is_counted_out_in_any_order(
    sizes: list[Resource], chance: object
) -> None:
    tally = Tally()
    for size in sizes:
        tally.add(size)
    assert tally.as_resource().amounts_equal(sum(sizes, ZERO))
    chance.shuffle(sizes)  # type: ignore[attr-defined]
    assert all(tally.subtract(size) == () for size in sizes)
    assert tally == Tally()


@given(resources(SIZES), resources(SIZES))
def test_counting_out_agrees_with_the_arithmetic_and_with_the_shortfall(
    held: Resource, out: Resource
) -> None:
    tally = Tally(held)
    rest, negative = held.minus_checked(out)
    assert tally.shortfall(out) == negative
    assert tally.subtract(out) == negative
    assert tally.as_resource() == rest.pruned()


@given(limits(), limits(), limits())
def test_tightest_is_idempotent_commutative_and_associative(a: Limit, b: Limit, c: Limit) -> None:
    assert a.tightest(a) == a
    assert a.tightest(b) == b.tightest(a)
    assert a.tightest(b).tightest(c) == a.tightest(b.tightest(c))
    assert a.tightest(UNLIMITED) == a


@given(limits(), limits(), resources(SIZES))
def test_the_tightest_of_two_limits_admits_what_both_admit(a: Limit, b: Limit, size: Resource) -> None:
    assert a.tightest(b).admits(size) == (a.admits(size) and b.admits(size))


@given(limits(), resources(SIZES), resources(SIZES))
def test_what_is_admitted_stays_admitted_when_it_shrinks_or_the_cap_grows(
    cap: Limit, size: Resource, more: Resource
) -> None:
    if cap.admits(size + more):
        assert cap.admits(size)
    if cap.admits(size):
        assert cap.plus(more).admits(size)


@given(limits(), resources(SIZES), resources(SIZES), resources(SIZES), resources(SIZES))
def test_first_excess_agrees_with_the_remainder(
    cap: Limit, allocated: Resource, reserved: Resource, size: Resource, extra: Resource
) -> None:
    held = Tally(allocated), Tally(reserved)
    for capacity, more in (
        (cap.minus(allocated, reserved), ()),
        (cap.minus(allocated, reserved).minus(extra), (Tally(extra),)),
    ):
        refused = [name for name, amount in size.items() if not capacity.admits(Resource({name: amount}))]
        assert first_excess(cap, size, *held, *more, size) == (refused[0] if refused else None)


@given(resources(), resources())
def test_equal_values_hash_alike_however_they_were_made(a: Resource, b: Resource) -> None:
    assert hash(a + b) == hash(b + a)
    assert (a == b) == (dict(a.items()) == dict(b.items()))


_FACTORS = {
    **{
        suffix: Fraction(1000) ** power
        for power, suffix in enumerate(["n", "u", "m", "", "k", "M", "G", "T", "P", "E"], -3)
    },
    **{
        suffix: Fraction(1024) ** power
        for power, suffix in enumerate(["Ki", "Mi", "Gi", "Ti", "Pi", "Ei"], 1)
    },
}


@st.composite
def quantities(draw: st.DrawFn) -> tuple[str, Fraction]:
    """A quantity's text, and the number it stands for."""
    sign = draw(st.sampled_from(["", "+", "-"]))
    whole, fraction = (
        draw(st.from_regex(r"[0-9]{1,25}", fullmatch=True)),
        draw(st.from_regex(r"[0-9]{0,12}", fullmatch=True)),
    )
    exponent = draw(st.none() | st.integers(-40, 40))
    suffix = (
        draw(st.sampled_from(sorted(_FACTORS)))
        if exponent is None
        else f"{draw(st.sampled_from('eE'))}{exponent}"
    )
    factor = _FACTORS[suffix] if exponent is None else Fraction(10) ** exponent
    number = Fraction(int(whole + fraction), 10 ** len(fraction)) * factor
    point = "." if fraction or draw(st.booleans()) else ""
    return f"{sign}{whole}{point}{fraction}{suffix}", -number if sign == "-" else number


@given(quantities(), st.sampled_from(["cpu", "memory"]))
def test_a_kubernetes_quantity_is_its_exact_number_rounded_away_from_zero(
    quantity: tuple[str, Fraction], resource: str
) -> None:
    text, number = quantity
    exact = abs(number) * (1000 if resource == "cpu" else 1)
    expected = ceil(exact) if number >= 0 else -ceil(exact)
    assert signed_kubernetes_amount(resource, text) == max(INT64_MIN, min(INT64_MAX, expected))
