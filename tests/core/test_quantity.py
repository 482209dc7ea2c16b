"""Texts to amounts: the queue document's syntax (RES-1, RES-2) and Kubernetes' (RES-3)."""

import pytest

from core.errors import PaddockError, QuantityError
from core.quantity import (
    INT64_MAX,
    INT64_MIN,
    LONGEST_TEXT,
    canonical,
    kubernetes_amount,
    queue_amount,
    saturated,
    signed_kubernetes_amount,
)


@pytest.mark.rule("RES-1")
@pytest.mark.rule("RES-2")
@pytest.mark.parametrize(
    ("resource", "text", "amount"),
    [
        pytest.param("vcore", "10", 10_000, id="whole cores become millicores"),
        pytest.param("vcore", "500m", 500, id="millicores are taken as they are"),
        pytest.param("vcore", "2Ki", 2_048_000, id="binary suffixes count cores too"),
        pytest.param("vcore", "1k", 1_000_000, id="decimal suffixes count cores too"),
        pytest.param("memory", "25 k", 25_000, id="blanks may stand before the suffix"),
        pytest.param("memory", "  7Mi\n", 7 * 2**20, id="blanks around are trimmed"),
        pytest.param("memory", "1E", 10**18, id="E is exa"),
        pytest.param("memory", "7Ei", 7 * 2**60, id="the largest whole Ei"),
        pytest.param("memory", "007", 7, id="leading zeros"),
        pytest.param("memory", "0", 0, id="zero"),
        pytest.param("memory", str(INT64_MAX), INT64_MAX, id="the largest amount"),
        pytest.param("cpu", "10", 10, id="cpu is an ordinary name in the queue document"),
        pytest.param("vcores", "10", 10, id="vcores is an ordinary name"),
    ],
)
def test_queue_amounts(resource: str, text: str, amount: int) -> None:
    assert queue_amount(resource, text) == amount


@pytest.mark.rule("RES-1")
@pytest.mark.rule("RES-2")
@pytest.mark.parametrize(
    ("resource", "text", "reason"),
    [
        pytest.param("memory", "1K", "unknown suffix", id="K is not a suffix"),
        pytest.param("memory", "1ki", "unknown suffix", id="ki is not a suffix"),
        pytest.param("vcore", "1mi", "unknown suffix", id="mi is not a suffix"),
        pytest.param("memory", "500m", "vcore only", id="m on memory"),
        pytest.param("cpu", "500m", "vcore only", id="m on cpu, an ordinary name here"),
        pytest.param("memory", "-1", "whole number", id="minus sign"),
        pytest.param("memory", "+1", "whole number", id="plus sign"),
        pytest.param("memory", "1.5", "whole number", id="fraction"),
        pytest.param("memory", "1e3", "whole number", id="exponent"),
        pytest.param("memory", "", "whole number", id="empty"),
        pytest.param("memory", "   ", "whole number", id="blank"),
        pytest.param("memory", "k", "whole number", id="suffix alone"),
        pytest.param("memory", "1 2", "whole number", id="two numbers"),
        pytest.param("memory", "١٢", "whole number", id="digits of another script"),
        pytest.param("memory", "9223372036854775808", "64-bit", id="one above int64"),
        pytest.param("memory", "8Ei", "64-bit", id="suffix takes it above int64"),
        pytest.param("vcore", "9223372036854775807", "64-bit", id="millicores take it above int64"),
        pytest.param("memory", "1" * 100_000, "longer than", id="a text too long to read"),
    ],
)
def test_queue_texts_that_are_refused(resource: str, text: str, reason: str) -> None:
    with pytest.raises(QuantityError, match=reason):
        queue_amount(resource, text)


@pytest.mark.rule("RES-3")
@pytest.mark.parametrize(
    ("resource", "text", "amount"),
    [
        pytest.param("cpu", "1", 1000, id="cores become millicores"),
        pytest.param("cpu", "500m", 500, id="millicores"),
        pytest.param("cpu", "1.5", 1500, id="a fraction of a core"),
        pytest.param("cpu", "0.1m", 1, id="less than a millicore rounds up"),
        pytest.param("cpu", "1001u", 2, id="microcores round up"),
        pytest.param("cpu", "1n", 1, id="a nanocore rounds up"),
        pytest.param("cpu", "2k", 2_000_000, id="kilocores"),
        pytest.param("memory", "1Gi", 2**30, id="binary suffix"),
        pytest.param("memory", "1.5Gi", 3 * 2**29, id="fraction of a binary suffix"),
        pytest.param("memory", "0.5Ki", 512, id="half a binary suffix"),
        pytest.param("memory", "3000M", 3_000_000_000, id="decimal suffix"),
        pytest.param("memory", "1500m", 2, id="milli-bytes round up"),
        pytest.param("memory", "1e3", 1000, id="small e exponent"),
        pytest.param("memory", "1E3", 1000, id="capital E exponent"),
        pytest.param("memory", "12E-1", 2, id="negative exponent"),
        pytest.param("memory", "1e+3", 1000, id="signed exponent"),
        pytest.param("memory", "1E", 10**18, id="E alone is exa"),
        pytest.param("memory", "+5", 5, id="plus sign"),
        pytest.param("memory", "-0", 0, id="minus zero is not negative"),
        pytest.param("memory", "5.", 5, id="nothing after the point"),
        pytest.param("memory", ".5k", 500, id="nothing before the point"),
        pytest.param("memory", "16Ei", INT64_MAX, id="beyond 64 bits saturates"),
        pytest.param("cpu", "9223372036854775807", INT64_MAX, id="millicores beyond 64 bits saturate"),
        pytest.param("memory", "1e999999999999", INT64_MAX, id="a huge exponent saturates"),
        pytest.param("memory", "0e999999999999", 0, id="zero with a huge exponent"),
        pytest.param("memory", "1e-999999999999", 1, id="a tiny exponent rounds up"),
        pytest.param("vcore", "2", 2, id="only cpu is counted in millicores"),
        pytest.param("nvidia.com/gpu", "2", 2, id="any other name keeps its unit"),
    ],
)
def test_kubernetes_amounts(resource: str, text: str, amount: int) -> None:
    assert kubernetes_amount(resource, text) == amount


@pytest.mark.rule("RES-3")
@pytest.mark.parametrize(
    "text",
    [
        *(
            "",
            " ",
            " 1",
            "1 ",
            "+",
            "-",
            ".",
            "-.",
            "1.2.3",
            "--1",
            "1K",
            "1ki",
            "1mi",
            "1e",
            "1e1.5",
            "e3",
            "m",
        ),
        *("1eE3", "1EE", "0x10", "1_000", "Inf", "NaN", "٣", "1,5", "1" * (LONGEST_TEXT + 1)),
    ],
)
def test_kubernetes_texts_outside_the_grammar_are_refused(text: str) -> None:
    with pytest.raises(QuantityError):
        kubernetes_amount("memory", text)


@pytest.mark.rule("NS-1")
@pytest.mark.parametrize(
    ("resource", "text", "amount"),
    [
        ("cpu", "-1", -1000),
        ("memory", "-1Ki", -1024),
        ("memory", "-1500m", -2),
        ("memory", "-1e300", INT64_MIN),
        ("memory", "5", 5),
    ],
)
def test_annotations_may_hold_negative_amounts(resource: str, text: str, amount: int) -> None:
    assert signed_kubernetes_amount(resource, text) == amount


@pytest.mark.parametrize("text", ["-1", "-1n", "-1e300"])
def test_objects_may_not_hold_negative_amounts(text: str) -> None:
    with pytest.raises(QuantityError, match="negative"):
        kubernetes_amount("memory", text)


@pytest.mark.rule("RES-3")
def test_only_cpu_changes_its_name() -> None:
    assert [canonical(name) for name in ("cpu", "memory", "vcore", "nvidia.com/gpu")] == [
        *("vcore", "memory", "vcore", "nvidia.com/gpu")
    ]


def test_saturation_holds_both_ends() -> None:
    assert [saturated(value) for value in (2**80, INT64_MAX, 0, INT64_MIN, -(2**80))] == [
        *(INT64_MAX, INT64_MAX, 0, INT64_MIN, INT64_MIN)
    ]


def test_an_error_names_the_text_the_reason_and_where_it_was_found() -> None:
    error = QuantityError("12x", "is odd").inside("memory").inside("container 'app'")
    assert str(error) == "container 'app', memory: quantity '12x': is odd"
    assert (error.text, error.reason, error.where) == ("12x", "is odd", "container 'app', memory")
    assert isinstance(error, PaddockError)
    assert isinstance(error, ValueError)


def test_an_error_shows_only_the_head_of_a_long_text() -> None:
    with pytest.raises(QuantityError) as caught:
        queue_amount("memory", "9" * 100_000)
    assert len(str(caught.value)) < 120
    assert str(caught.value.inside("memory")).count("…") == 1
