"""Times here are exact: the clock moves only when a candidate says so."""

import math
import sys
from io import StringIO

import numpy as np
import pytest

from xla_helpers import Comparison, ComparisonError, Measurement, Ratio, compare, sweep
from xla_helpers.comparing import TOLERANCE, bootstrap_ratio

SHORT = 1e-9  # a block this short holds one call


def fails(*args):
    raise ArithmeticError("too large")


# Speed


def test_first_calls_and_samples(clock):
    candidates = {"a": clock.takes(8.0, 2.0), "b": clock.takes(4.0, 0.5)}
    c = compare(candidates, rounds=3, clock=clock)
    assert list(c.measurements) == ["a", "b"]
    assert (c["a"].first, c["a"].samples) == (8.0, (2.0, 2.0, 2.0))
    assert (c["b"].first, c["b"].samples) == (4.0, (0.5, 0.5, 0.5))
    assert c["b"].label == "b"
    assert c.baseline == "a"
    assert c.failures == {}


def test_candidates_take_turns(clock):
    candidates = {label: clock.takes(1.0, label=label) for label in "ABC"}
    compare(candidates, rounds=3, block=SHORT, clock=clock)
    order = "".join(clock.labels)
    assert order.startswith("ABC")
    assert order.endswith("ABCABCABC")


def test_samples_stand_in_the_order_of_the_rounds(clock):
    slower_and_slower = clock.takes(*(float(2**n) for n in range(10)))
    samples = compare({"a": slower_and_slower}, rounds=3, block=SHORT, clock=clock)["a"].samples
    assert samples[1] == 2 * samples[0]
    assert samples[2] == 4 * samples[0]


def test_each_candidate_has_its_own_number_of_calls(clock):
    candidates = {"slow": clock.takes(1 / 4), "fast": clock.takes(1 / 64)}
    c = compare(candidates, block=1 / 4, clock=clock)
    assert (c["slow"].calls, c["fast"].calls) == (1, 16)
    assert set(c["fast"].samples) == {1 / 64}


def test_the_arguments_arrive(clock):
    def add(x, y):
        clock.now += 1
        return x + y

    c = compare({"function": add, "method": lambda x, y: add(y, x)}, 2.0, 3.0, clock=clock)
    assert c.differences == {"function": 0.0, "method": 0.0}


def comparison(**samples):
    return Comparison(
        {label: Measurement(label, 1.0, values, 1) for label, values in samples.items()},
        dict.fromkeys(samples, 0.0),
    )


def test_ratios_are_taken_round_by_round():
    c = comparison(a=(2.0, 4.0, 8.0), b=(4.0, 1.0, 2.0))
    assert c.ratio("b").value == 4.0  # of 0.5, 4 and 4; the medians would give 2
    assert c.ratio("a", "b").value == 0.25


def test_drift_does_not_blur_a_ratio():
    drift = np.arange(1.0, 16.0)
    ratio = comparison(a=tuple(2 * drift), b=tuple(drift)).ratio("b")
    assert (ratio.low, ratio.value, ratio.high) == (2, 2, 2)


def test_bootstrap_interval_of_two_rounds_holds_both():
    # Medians of resamples are 1 or 3 with probability 1/4 each, so the 95 % interval holds both.
    assert bootstrap_ratio([1.0, 3.0]) == Ratio(2.0, 1.0, 3.0)


def test_bootstrap_interval_ignores_an_outlier():
    assert bootstrap_ratio([2.0] * 14 + [100.0]) == Ratio(2.0, 2.0, 2.0)


def test_bootstrap_interval_is_the_same_twice_and_holds_the_median():
    ratios = np.random.default_rng(1).lognormal(size=15)
    first = bootstrap_ratio(ratios)
    assert first == bootstrap_ratio(ratios)
    assert min(ratios) <= first.low < first.value == np.median(ratios) < first.high <= max(ratios)


@pytest.mark.parametrize(
    ("seconds", "cost", "calls"),
    [
        ((8.0, 1.0), None, 6.0),  # the first call took 6 s more, each later one saves 1 s
        ((8.0, 1.0), 3.0, 3.0),
        ((1.0, 1.0), None, 0.0),
        ((8.0, 2.0), None, math.inf),
        ((8.0, 4.0), None, math.inf),
    ],
)
def test_calls_to_repay(clock, seconds, cost, calls):
    candidates = {"graph": clock.takes(2.0), "XLA": clock.takes(*seconds)}
    c = compare(candidates, rounds=3, block=SHORT, clock=clock)
    assert c.calls_to_repay("XLA", cost=cost) == calls
    assert c.calls_to_repay("XLA", "graph", cost) == calls


def test_a_single_round_shows_nothing():
    ratio = bootstrap_ratio([2.0])
    assert ratio.value == 2.0
    assert not ratio.clear


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (Ratio(2.0, 1.5, 2.5), "2.00x faster [1.50, 2.50]"),
        (Ratio(0.5, 0.4, 0.8), "2.00x slower [1.25, 2.50]"),
        (Ratio(1.2, 0.9, 1.4), "no clear difference [0.90, 1.40]"),
        (Ratio(1.2, 1.0, 1.4), "no clear difference [1.00, 1.40]"),
        (Ratio(0.8, 0.6, 1.0), "no clear difference [0.60, 1.00]"),
        (Ratio(1.03, 1.00007, 1.1), "no clear difference [1.00, 1.10]"),
        (Ratio(418.4, 0.0, math.inf), "418x faster, seen once"),
        (Ratio(0.25, 0.0, math.inf), "4x slower, seen once"),
    ],
)
def test_ratio_in_words(ratio, text):
    assert repr(ratio) == text
    assert ratio.clear is not ("no clear" in text or "seen once" in text)


def test_table(clock):
    steady = clock.takes(4.0, 2.0)
    restless = clock.takes(1.0, *[1.0] * 4, 0.5, 1.5, 0.5, 1.5)
    text = str(compare({"eager": steady, "XLA": restless}, rounds=4, block=SHORT, clock=clock))
    assert text.startswith(f"Largest relative difference of results 0, allowed {TOLERANCE:.1g}.")
    eager, xla = (
        next(row for row in text.splitlines() if name in row[:6]) for name in ("eager", "XLA")
    )
    assert eager.split() == ["eager", "4", "s", "2", "s", "0", "s"]
    assert "against eager" in text
    assert xla.endswith("noisy")
    assert "noisy" not in eager


def test_table_in_html_says_the_same(clock):
    c = compare({"eager": clock.takes(2.0), "XLA": clock.takes(1.0)}, rounds=3, clock=clock)
    assert "2.00x faster [2.00, 2.00]" in c._repr_html_()
    assert "2.00x faster [2.00, 2.00]" in str(c)


# Failures: the others are still reported


def others_are_measured(error, *labels):
    c = error.comparison
    assert list(c.measurements) == list(labels)
    assert all(len(m.samples) == 3 for m in c.measurements.values())
    assert all(label in str(error) for label in labels)
    return c


BAD = {
    "raises": (fails, "ArithmeticError: too large"),
    "NaN": (lambda: np.array([math.nan, 2.0]), "its result holds NaN"),
    "shape": (lambda: np.zeros([3]), "its result has shape (3,)"),
    "structure": (lambda: {"a": np.zeros([2])}, "its result has parts [\"result['a']\"]"),
    "nothing": (lambda: None, "its result has parts []"),
    "text": (lambda: np.array(["1", "2"]), "its result has type <U1"),
    "value": (lambda: np.array([1.0, 2.5]), "its result differs from that of 'good' by 0.25"),
}


@pytest.mark.parametrize(
    ("bad", "position"),
    [*((bad, place) for bad in BAD for place in (1, 2)), ("raises", 0), ("NaN", 0)],
)
def test_a_bad_candidate_does_not_hide_the_good_ones(clock, bad, position):
    function, reason = BAD[bad]
    candidates = [
        (label, clock.takes(1.0, result=np.array([1.0, 2.0]))) for label in ("good", "fine")
    ]
    candidates.insert(position, ("bad", function))
    with pytest.raises(ComparisonError) as caught:
        compare(dict(candidates), rounds=3, clock=clock)
    c = others_are_measured(caught.value, "good", "fine")
    assert list(c.failures) == ["bad"]
    assert reason in c.failures["bad"]
    assert f"- bad: {c.failures['bad']}" in str(caught.value)


@pytest.mark.parametrize("bad", ["shape", "structure", "nothing", "text", "value"])
def test_the_first_result_is_the_reference(clock, bad):
    good = clock.takes(1.0, result=np.array([1.0, 2.0]))
    with pytest.raises(ComparisonError) as caught:
        compare(
            {"bad": BAD[bad][0], "good": good, "fine": good}, rounds=3, block=SHORT, clock=clock
        )
    assert list(caught.value.comparison.failures) == ["good", "fine"]


def test_a_difference_is_reported_with_its_size_and_the_tolerance(clock):
    candidates = {"a": clock.takes(1.0, result=2.0), "b": clock.takes(1.0, result=3.0)}
    with pytest.raises(ComparisonError) as caught:
        compare(candidates, tolerance=0.25, clock=clock)
    assert (
        "b: its result differs from that of 'a' by 0.5 (relative), more than `tolerance` = 0.25"
        in str(caught.value)
    )
    assert caught.value.comparison.differences == {"a": 0.0, "b": 0.5}
    assert compare(candidates, tolerance=0.5, clock=clock).differences == {"a": 0.0, "b": 0.5}


@pytest.mark.parametrize("good_calls", [1, 2, 4])
def test_a_candidate_may_fail_in_a_later_call(clock, good_calls):
    countdown = iter(range(good_calls))

    def breaks():
        clock.now += 1
        if next(countdown, None) is None:
            raise MemoryError("no room")

    candidates = {"a": clock.takes(1.0), "breaks": breaks, "b": clock.takes(1.0)}
    with pytest.raises(ComparisonError, match="breaks: MemoryError: no room") as caught:
        compare(candidates, rounds=3, clock=clock)
    others_are_measured(caught.value, "a", "b")


def test_failures_can_be_recorded_only(clock):
    c = compare({"a": fails, "b": clock.takes(1.0)}, rounds=3, strict=False, clock=clock)
    assert c.failures == {"a": "ArithmeticError: too large"}
    assert c.baseline == "b"
    with pytest.raises(KeyError, match="'a' was not measured: ArithmeticError: too large"):
        c["a"]


def test_all_candidates_may_fail():
    with pytest.raises(ComparisonError, match="No candidate gave a result") as caught:
        compare({"a": fails, "b": fails})
    assert list(caught.value.comparison.failures) == ["a", "b"]


def test_an_interrupt_is_no_failure(clock):
    def interrupted():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        compare({"a": interrupted}, clock=clock)


# Arguments that make no sense


@pytest.mark.parametrize("candidates", [None, {}, [], [len], len, "a"])
def test_candidates_must_be_a_mapping(candidates):
    with pytest.raises(TypeError, match="`candidates` must map labels to functions, for example"):
        compare(candidates)


def test_candidates_must_be_callable():
    with pytest.raises(TypeError, match=r"`candidates\['b'\]` is int, which cannot be called"):
        compare({"a": fails, "b": 3})


@pytest.mark.parametrize("name", ["rounds", "block"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), None])
def test_counts_must_be_positive(name, value):
    with pytest.raises(ValueError, match=f"`{name}` is {value!r}: give a number above zero"):
        compare({"a": fails}, **{name: value})


@pytest.mark.parametrize("value", [-1, float("nan"), float("inf"), None])
def test_tolerance_must_not_be_negative(value):
    with pytest.raises(ValueError, match=f"`tolerance` is {value!r}: give a number, 0 for equal"):
        compare({"a": fails}, tolerance=value)


def test_equality_to_the_last_bit_can_be_asked_for(clock):
    near = {"a": clock.takes(1.0, result=1.0), "b": clock.takes(1.0, result=1.0 + 2**-52)}
    with pytest.raises(ComparisonError, match="more than `tolerance` = 0"):
        compare(near, tolerance=0, clock=clock)
    equal = {"a": clock.takes(1.0, result=1.0), "b": clock.takes(1.0, result=1.0)}
    assert compare(equal, tolerance=0, clock=clock).failures == {}


# Sweeps


def make(clock, broken=()):
    def candidates_of(size):
        fast = fails if size in broken else clock.takes(size / 4)
        return {"slow": clock.takes(float(size)), "fast": fast}, (size,)

    return candidates_of


def test_sweep(clock):
    s = sweep(make(clock), [1, 2, 4], name="rows", rounds=3, clock=clock)
    assert list(s.comparisons) == [1, 2, 4]
    assert s.labels == ["slow", "fast"]
    assert [s[size]["slow"].median for size in (1, 2, 4)] == [1.0, 2.0, 4.0]
    assert s[4].ratio("fast").value == 4.0
    lines = str(s).splitlines()
    assert lines[1].split() == ["rows", "slow", "fast", "fast", "against", "slow"]
    assert lines[-1].split() == ["4", "4", "s", "1", "s", "4.00x", "faster", "[4.00,", "4.00]"]


def test_a_sweep_goes_on_after_a_failure(clock):
    with pytest.raises(ComparisonError, match="fast at rows 2: ArithmeticError") as caught:
        sweep(make(clock, broken=[2]), [1, 2, 4], name="rows", rounds=3, clock=clock)
    s = caught.value.comparison
    assert list(s.failures) == ["fast at rows 2"]
    assert [s[size]["slow"].median for size in (1, 2, 4)] == [1.0, 2.0, 4.0]
    assert s[4]["fast"].median == 1.0
    assert s.labels == ["slow"]
    assert "against" not in str(s)


def test_a_size_that_cannot_be_made_does_not_stop_a_sweep(clock):
    def make_small(size):
        if size > 2:
            raise MemoryError("too large")
        return make(clock)(size)

    with pytest.raises(ComparisonError, match="rows 4: MemoryError: too large") as caught:
        sweep(make_small, [1, 4, 2], name="rows", rounds=3, clock=clock)
    assert list(caught.value.comparison.comparisons) == [1, 2]
    s = sweep(make_small, [1, 4, 2], name="rows", strict=False, rounds=3, clock=clock)
    assert s.failures == {"rows 4": "MemoryError: too large"}


def test_a_sweep_may_fail_everywhere(clock):
    with pytest.raises(ComparisonError) as caught:
        sweep(lambda size: ({"only": fails}, ()), [1, 2], clock=clock)
    assert list(caught.value.comparison.failures) == ["only at size 1", "only at size 2"]


def test_the_progress_of_a_sweep_is_seen_in_a_terminal(clock, monkeypatch):
    class Terminal(StringIO):
        def isatty(self):
            return True

    monkeypatch.setattr(sys, "stdout", Terminal())
    sweep(make(clock), [1, 2], name="rows", rounds=3, clock=clock)
    assert "rows:" in sys.stdout.getvalue()
    assert "0/2" in sys.stdout.getvalue()


def test_no_sizes_are_refused():
    with pytest.raises(ValueError, match="`sizes` is empty: give at least one"):
        sweep(fails, [])


@pytest.mark.parametrize("bad", [0, -8, float("nan"), None, "8"])
def test_sizes_must_be_positive(bad):
    with pytest.raises(ValueError) as caught:
        sweep(fails, [4, bad])
    assert f"`sizes[1]` is {bad!r}: give a number above zero" in str(caught.value)
