"""One engine for both races: the same seeds give the intervals that two engines gave before."""

import math
import random

import pytest

import xla_helpers as xh
from xla_decide.stream import Example, Stream
from xla_decide.stream_race import race_passes
from xla_helpers.calls import Call
from xla_helpers.racing import Race
from xla_helpers.timing import time_block, time_each
from xla_helpers.variables import Snapshot


def noisy(clock, seed, *seconds):
    """A function for each of the seconds; its calls take them, times a noise of its own."""

    def takes(usual, draws):
        def call(*args):
            clock.now += usual * math.exp(draws.gauss(0, 0.03))

        return call

    return [takes(s, random.Random(f"{seed} {s} {n}")) for n, s in enumerate(seconds)]


def compared(clock, seed):
    """The interval of `compare`, of a function that takes a tenth longer."""
    a, b = noisy(clock, seed, 1.0, 1.1)
    found = xh.compare({"a": a, "b": b}, (1,), clock=clock, block=1e-9, budget=60)
    return found.ratio("b"), len(found["a"].samples)


def streamed(clock, seed):
    """The interval of the race over a stream, of calls that take half the time."""
    shapes = "aabb"
    stream = Stream({"a": 2, "b": 2}, tuple(Example(n, x, ()) for n, x in enumerate(shapes)))
    seconds = {"graph": (0.2, 0.2, 0.4, 0.4), "XLA": (0.1, 0.1, 0.2, 0.2)}
    calls = {x: [Call(fn) for fn in noisy(clock, seed, *mine)] for x, mine in seconds.items()}
    found = race_passes(stream, calls, Snapshot(), 60.0, clock)
    return found.ratio("XLA"), len(found.seconds["graph"])


BEFORE = {  # of each seed: ratio, low and high, and how many rounds there were
    compared: (
        (0.9087410083671766, 0.8897348022774656, 0.9356712495992922, 35),
        (0.9012117935103546, 0.8806202933956534, 0.912651482152657, 35),
        (0.9116173890921077, 0.8993188485186647, 0.9272685583588427, 35),
    ),
    streamed: (
        (1.984174802978628, 1.944749557593117, 2.040344940690874, 9),
        (1.979008890379037, 1.957486166698551, 2.05373832624546, 10),
        (2.0082414414928986, 1.956254138006374, 2.0412223991962946, 15),
    ),
}


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("race", [compared, streamed])
def test_the_same_seed_gives_the_same_interval(clock, race, seed):
    ratio, rounds = race(clock, seed)
    *numbers, count = BEFORE[race][seed]
    assert [ratio.value, ratio.low, ratio.high] == pytest.approx(numbers) and rounds == count


def test_a_lane_of_one_call_is_timed_alike_as_a_whole_and_each_by_itself(clock):
    call = clock.takes(8.0, 2.0)
    whole, each = time_block([call], 4, clock), time_each([clock.takes(8.0, 2.0)], 4, clock)
    assert whole.seconds == each.seconds[0] == (8 + 3 * 2) / 4


def test_a_race_ends_with_the_candidate_that_is_needed(clock):
    def fails():
        raise OSError("no more")

    lanes, options = {"a": [fails], "b": [clock.takes(1.0)]}, {"timer": time_each, "clock": clock}
    race = Race(lanes, Snapshot(), control="a", **options)
    race.until(lambda: clock.now > 2)
    assert list(race.errors) == ["a"] and race.blocks.keys() == {"b"} and not race.again
    with pytest.raises(OSError, match="no more"):
        Race(lanes, Snapshot(), control="a", needed="a", **options).round()
