"""Comparisons whose outcome is known beforehand: how often is it found?"""

import time
from collections.abc import Callable
from functools import cache, partial

import numpy as np

import xla_helpers as xh

SHORT = {"block": 0.005, "budget": 0.5}  # a quarter of the usual seconds: there are many races
TURNS = 10_000  # of the loop that a slowdown is planted in
PLANTED = (0.01, 0.02, 0.05, 0.1, 0.5)
GAIN = 0.1  # by which the clock that drifts runs faster after each second


def against_itself(number: int, clock: Callable[[], float] = time.perf_counter) -> bool:
    """Whether a function is called different from itself, another kind of function in turn."""
    fn, args = _kinds()[number % 3]
    return xh.compare({"one": fn, "same": fn}, *args, clock=clock, **SHORT).ratio("same").clear


def with_a_clock_that_drifts(number: int) -> bool:
    """The same, timed by a clock that runs faster and faster."""
    start = time.perf_counter()

    def clock():
        passed = time.perf_counter() - start
        return passed * (1 + GAIN * passed / 2)

    return against_itself(number, clock)


def planted(slowdown: float, number: int) -> bool:
    """Whether a loop with more turns is found to be slower."""
    turns = {"fewer": TURNS, "more": round(TURNS * (1 + slowdown))}
    ratio = xh.compare({x: partial(_loop, n) for x, n in turns.items()}, **SHORT).ratio("more")
    return ratio.clear and ratio.value < 1


def _loop(turns):
    for _ in range(turns):
        pass


@cache
def _kinds():
    """Functions with their arguments: of Python, of NumPy, a graph of TensorFlow."""
    import tensorflow as tf

    numbers = np.random.default_rng(0).random([200, 200])
    graph = tf.function(lambda x: tf.reduce_sum(tf.tanh(x) * x))
    return (_loop, [TURNS]), (np.sort, [numbers]), (graph, [tf.constant(numbers)])
