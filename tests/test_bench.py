"""Does `compare` keep its word? Races whose outcome is known beforehand, for docs/bench.md.

`make bench` runs them: about ten minutes, in which nothing else should run on the machine.
"""

import hashlib
import json
import os
import random
import statistics
import subprocess
import sys
import time
import timeit
import zlib
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest

import xla_helpers as xh

pytestmark = pytest.mark.bench
PAGE = Path(__file__).parents[1] / "docs" / "bench.md"
SHORT = {"block": 0.005, "budget": 0.5}  # a quarter of the usual seconds: there are many races
CLAIMED = 0.05  # share of races that may claim a difference where there is none
APART = 0.03  # how far a median may lie from timeit's
TURNS = 10_000  # of the loop that a slowdown is planted in
BUSY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]): sum(range(10**6))"
NUMBERS = random.Random(0).sample(range(100_000), 10_000)
FUNCTIONS = {  # from one microsecond to a hundred milliseconds, in one thread each
    "add 300 numbers": partial(sum, NUMBERS[:300]),
    "write 300 numbers": partial(json.dumps, NUMBERS[:300]),
    "sort 10,000 numbers": partial(sorted, NUMBERS),
    "compress 2 MB": partial(zlib.compress, bytes(number % 251 for number in NUMBERS) * 200),
    "derive a key": partial(hashlib.pbkdf2_hmac, "sha256", b"word", b"salt", 400_000),
}


@contextmanager
def every_core_loaded():
    """As many processes as there are cores compute until the block ends."""
    command = [sys.executable, "-c", BUSY, str(os.getpid())]
    busy = [subprocess.Popen(command) for _ in range(os.cpu_count())]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


CONDITIONS = {"quiet": nullcontext, "every core loaded": every_core_loaded}


@pytest.fixture(params=CONDITIONS)
def condition(request):
    with CONDITIONS[request.param]():
        yield request.param


@pytest.fixture(scope="module")
def page():
    """Question to condition to what was found; in the end they are written as a page."""
    found = {}
    yield found
    rows = "\n".join(f"| {asked} | {' | '.join(said.values())} |" for asked, said in found.items())
    PAGE.write_text(
        "# Does the table keep its word?\n\n"
        "`make bench` asks what is known beforehand, and writes this page. A function is raced "
        "against itself, slowdowns are planted, and medians are set beside those of `timeit`.\n\n"
        f"| | {' | '.join(CONDITIONS)} |\n|---|---|---|\n{rows}\n\n"
        f"*Measured on {xh.describe_machine()}.*\n",
        encoding="utf-8",
    )


def loop(turns):
    for _ in range(turns):
        pass


@cache
def kinds():
    """Functions with their arguments: of Python, of NumPy, a graph of TensorFlow."""
    xh.prepare_tensorflow()
    import tensorflow as tf

    numbers = np.random.default_rng(0).random([200, 200])
    graph = tf.function(lambda x: tf.reduce_sum(tf.tanh(x) * x))
    return (loop, [TURNS]), (np.sort, [numbers]), (graph, [tf.constant(numbers)])


def is_told_apart(number, clock=time.perf_counter):
    """Whether a function is called different from itself, another kind of function in turn."""
    fn, args = kinds()[number % 3]
    return xh.compare({"one": fn, "same": fn}, *args, clock=clock, **SHORT).ratio("same").clear


def drifting_clock():
    """A clock that runs a tenth faster after each second."""
    start = time.perf_counter()

    def clock():
        passed = time.perf_counter() - start
        return passed * (1 + 0.05 * passed)

    return clock


def test_equals_are_not_told_apart(condition, page):
    claimed = sum(is_told_apart(number) for number in range(150))
    page.setdefault("a function against itself, called different", {})[condition] = (
        f"{claimed} of 150"
    )
    assert claimed <= CLAIMED * 150


def test_a_clock_that_drifts_deceives_nobody(condition, page):
    claimed = sum(is_told_apart(number, drifting_clock()) for number in range(60))
    page.setdefault("the same by a clock that drifts", {})[condition] = f"{claimed} of 60"
    assert claimed <= CLAIMED * 60


@pytest.mark.parametrize("slowdown", [0.01, 0.02, 0.05, 0.1, 0.5])
def test_a_planted_slowdown_is_found(condition, slowdown, page):
    turns = {"fewer": TURNS, "more": round(TURNS * (1 + slowdown))}
    candidates = {name: partial(loop, n) for name, n in turns.items()}
    ratios = [xh.compare(candidates, **SHORT).ratio("more") for _ in range(30)]
    found = sum(ratio.clear and ratio.value < 1 for ratio in ratios)
    page.setdefault(f"a slowdown of {slowdown:.0%}, found", {})[condition] = f"{found} of 30"
    assert found >= 28 or slowdown < 0.5  # how small a one is found belongs to the machine


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_median_is_that_of_timeit(name, page):
    fn, rounds = FUNCTIONS[name], 15
    number, seconds = timeit.Timer(fn).autorange()
    calls = max(1, round(number * 0.02 / seconds))
    ratios = []
    for _ in range(9):  # in turns, because a machine is slower for a while
        theirs = statistics.median(timeit.repeat(fn, repeat=rounds, number=calls)) / calls
        ratios.append(xh.measure(fn, rounds=rounds).median / theirs)
    apart = abs(statistics.median(ratios) - 1)
    page[f"{name}: how far the median lies from that of `timeit`"] = {
        "quiet": f"{apart:.1%}",
        "": "",
    }
    assert apart <= APART
