"""Races on a clock that stands still, and on simulated machines that are noisy in known ways."""

import math
import random

import numpy as np
import pytest

from xla_helpers.comparing import compare
from xla_helpers.comparisons import Comparison
from xla_helpers.racing import BUDGET, Race
from xla_helpers.ratios import median_ratio
from xla_helpers.state import State
from xla_helpers.timing import Measurement

SHORT = 1e-9  # a block this short holds one call

pytestmark = pytest.mark.usefixtures("no_tensorflow")


class Machine:
    """A clock that its candidates move: each call takes its seconds times the machine's mood.

    The mood is exp of a noise whose neighbours are correlated, and drifts.
    """

    def __init__(self, noise=0.0, correlation=0.0, drift=0.0, seed=0):
        self.now, self._mood = 0.0, 0.0
        self._noise, self._correlation, self._drift = noise, correlation, drift
        self._random = random.Random(seed)

    def __call__(self):
        return self.now

    def takes(self, seconds):
        def candidate():
            fresh = self._random.gauss(0, self._noise * (1 - self._correlation**2) ** 0.5)
            self._mood = self._correlation * self._mood + fresh
            self.now += seconds * math.exp(self._mood) * (1 + self._drift * self.now)

        return candidate


def raced(machine, a=1.0, b=1.0, **options):
    candidates = {"a": machine.takes(a), "b": machine.takes(b)}
    return compare(candidates, clock=machine, block=SHORT, **options)


def ratio_of(machine, a=1.0, b=1.0):
    """As `raced` finds it, without what `compare` does beside the race: that takes far longer."""
    race = Race({"a": machine.takes(a), "b": machine.takes(b)}, "a", State(), SHORT, machine)
    race.run(15, 60)
    found = {label: Measurement(label, 0.0, tuple(s), 1) for label, s in race.samples.items()}
    return Comparison(found, {}, control=Measurement("a", 0.0, tuple(race.again), 1)).ratio("b")


def rounds_of(comparison):
    (rounds,) = {len(m.samples) for m in comparison.measurements.values()}
    return rounds


def test_a_quiet_machine_needs_no_more_rounds_than_asked_for():
    assert rounds_of(raced(Machine(), rounds=7)) == 7


def test_too_few_rounds_for_an_interval_become_more():
    few = raced(Machine(), rounds=3, budget=1000)
    assert rounds_of(few) == 6 and few.ratio("b").bounded
    assert rounds_of(raced(Machine(), rounds=3, budget=0)) == 3


def test_a_noisy_machine_gets_more_rounds_until_the_interval_is_narrow():
    noisy = raced(Machine(noise=0.05), rounds=15, budget=1e6)
    assert rounds_of(noisy) in (30, 60, 120, 240)
    ratio = noisy.ratio("b")
    assert ratio.high - ratio.low <= 0.05 * ratio.value


def test_the_budget_ends_a_race_between_two_rounds():
    c = raced(Machine(noise=0.5), rounds=7, budget=40)
    seconds = sum(sum(m.samples) for m in (*c.measurements.values(), c.control))
    assert rounds_of(c) > 7 and len(c.control.samples) == rounds_of(c)
    assert 40 < seconds < 100
    assert BUDGET < 10


def test_candidates_alone_need_no_interval(clock):
    assert rounds_of(compare({"only": clock.takes(1.0)}, rounds=2, clock=clock)) == 2


@pytest.mark.parametrize("correlation", [0.0, 0.5, 0.9])
def test_a_function_against_itself_is_seldom_called_different(correlation):
    """Neighbouring calls are alike; the rounds are shuffled, so that their ratios hardly are."""
    machines = [Machine(0.03, correlation, seed=seed) for seed in range(200)]
    clear = [ratio_of(machine).clear for machine in machines]
    assert sum(clear) <= 10


@pytest.mark.parametrize("drift", [1e-4, -1e-3, 1e-2])
def test_a_clock_that_drifts_becomes_no_difference(drift):
    assert not ratio_of(Machine(drift=drift)).clear
    assert ratio_of(Machine(drift=drift), b=0.8).clear


def test_a_planted_slowdown_is_found():
    found = [ratio_of(Machine(0.02, seed=seed), b=1.1) for seed in range(20)]
    assert all(ratio.clear and ratio.value < 1 for ratio in found)


def test_samples_keep_the_order_of_their_rounds():
    """Or neighbours that are alike could not be seen."""
    c = raced(Machine(drift=1e-2), rounds=15, budget=0)
    assert list(c["a"].samples) == sorted(c["a"].samples)
    halves = np.divide(c["a"].samples, [1.0] * 7 + [2.0] * 8)
    assert median_ratio(halves).dependence > 0


def test_like_candidates_have_blocks_of_as_many_calls(clock):
    """However the clock's first look at each of them was disturbed."""
    seconds = {"first": 1 / 64, "like": 1 / 36, "half": 1 / 128, "slow": 1 / 4, "fast": 1 / 1024}
    candidates = {label: clock.takes(s) for label, s in seconds.items()}
    found = compare(candidates, block=1.0, rounds=6, budget=0, clock=clock).measurements
    calls = {label: m.calls for label, m in found.items()}
    assert calls["first"] == calls["like"] == 64
    assert calls["half"] in (64, 256) and calls["slow"] in (4, 16) and calls["fast"] == 1024


@pytest.mark.parametrize("step", [0.0, -1.0])
def test_a_clock_that_stands_or_goes_back_is_a_failure_in_one_line(clock, step):
    def stands():
        clock.now += step if len(clock.labels) > 40 else 1.0
        clock.labels.append("")

    c = compare({"good": clock.takes(1.0), "bad": stands}, rounds=60, clock=clock, strict=False)
    assert list(c.measurements) == ["good"]
    assert "the clock did not move" in str(c.failures["bad"]) and str(c)
