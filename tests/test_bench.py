"""Does `compare` keep its word? Races whose outcome is known beforehand, for docs/bench.md.

`make bench` runs them: about ten minutes, in which nothing else should run on the machine.
"""

import math
import os
import random
import re
import statistics
import subprocess
import sys
import time
import timeit
from collections import Counter
from contextlib import contextmanager, nullcontext
from functools import cache, partial
from pathlib import Path

import numpy as np
import pytest

import xla_helpers as xh

pytestmark = pytest.mark.bench
PAGE = Path(__file__).parents[1] / "docs" / "bench.md"
SHORT = {"block": 0.005, "budget": 0.5}  # a quarter of the usual seconds: there are many races
CLAIMED = 0.05  # share of races that may claim a difference that is not there
FOUND = {0.05: 20, 0.1: 28}  # slowdown to how many of 30 races must find it
CLAIMS = 40  # of each wrong claim
APART = 0.03  # how far a median may lie from timeit's
TURNS = 10_000  # of the loop that a slowdown is planted in
BUSY = "import os, sys\nwhile os.getppid() == int(sys.argv[1]): sum(range(10**6))"


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
    """Question to condition to what was found; in the end they are written as a page.

    What is not asked again keeps its answer, on the same machine.
    """
    found, before = {}, PAGE.read_text(encoding="utf-8")
    if xh.describe_machine() in before:
        found = shown(before)
    yield found
    said = {asked: [own.get(x, "") for x in CONDITIONS] for asked, own in found.items()}
    rows = "\n".join(f"| {asked} | {' | '.join(answers)} |" for asked, answers in said.items())
    PAGE.write_text(
        "# Does the table keep its word?\n\n"
        "`make bench` asks what is known beforehand, and writes this page. A function is raced "
        "against itself, slowdowns are planted, and medians are set beside those of `timeit`.\n\n"
        f"| | {' | '.join(CONDITIONS)} |\n|---|---|---|\n{rows}\n\n{false_alarms(found)}"
        f"*Measured on {xh.describe_machine()}.*\n",
        encoding="utf-8",
    )


def shown(page):
    """Question to condition to what was found, of the text of a page."""
    rows = [line.strip("| ").split(" | ") for line in page.splitlines() if line[:2] == "| "]
    return {asked: dict(zip(CONDITIONS, said, strict=False)) for asked, *said in rows[1:]}


def false_alarms(found):
    """What it means that equals were told apart more often than promised; "" where they were not.

    found: as `shown` returns it.
    """
    said = []
    for asked, answers in found.items():
        for condition, answer in answers.items():
            counted = re.fullmatch(r"(\d+) of (\d+)", answer)
            claimed, races = map(int, counted.groups()) if counted else (0, 0)
            if "called different" not in asked or claimed <= CLAIMED * races:
                continue
            chance = sum(
                math.comb(races, k) * CLAIMED**k * (1 - CLAIMED) ** (races - k)
                for k in range(claimed, races + 1)
            )
            said.append(
                f"An interval of {1 - CLAIMED:.0%} allows {CLAIMED * races:.0f} false alarms in "
                f"{races} races, and {claimed} were counted ({condition}). Chance alone gives so "
                f"many or more in {chance:.0%} of benches: before you trust a small difference, "
                "measure it again on a quiet machine.\n\n"
            )
    return "".join(said)


def loop(turns):
    for _ in range(turns):
        pass


@cache
def kinds(tf):
    """Functions with their arguments: of Python, of NumPy, a graph of TensorFlow."""
    numbers = np.random.default_rng(0).random([200, 200])
    graph = tf.function(lambda x: tf.reduce_sum(tf.tanh(x) * x))
    return (loop, (TURNS,)), (np.sort, (numbers,)), (graph, (tf.constant(numbers),))


def steady():
    return time.perf_counter


def drifting():
    """A clock that runs a tenth faster after each second."""
    start = time.perf_counter()
    return lambda: (passed := time.perf_counter() - start) * (1 + 0.05 * passed)


@pytest.mark.parametrize("clock", [steady, drifting])
def test_equals_are_not_told_apart(tf, condition, clock, page):
    claimed = 0
    for number in range(100):
        fn, args = kinds(tf)[number % 3]
        found = xh.compare({"one": fn, "same": fn}, args, clock=clock(), **SHORT)
        claimed += found.ratio("same").significant
    asked = f"a function against itself by a {clock.__name__} clock, called different"
    page.setdefault(asked, {})[condition] = f"{claimed} of 100"
    assert claimed <= CLAIMED * 100


@pytest.mark.parametrize("slowdown", [0.01, 0.02, 0.05, 0.1])
def test_a_planted_slowdown_is_found(condition, slowdown, page):
    turns = {"fewer": TURNS, "more": round(TURNS * (1 + slowdown))}
    candidates = {name: partial(loop, n) for name, n in turns.items()}
    ratios = [xh.compare(candidates, **SHORT).ratio("more") for _ in range(30)]
    found = sum(ratio.significant and ratio.value < 1 for ratio in ratios)
    wrong = sum(ratio.significant and ratio.value > 1 for ratio in ratios)
    page.setdefault(f"a slowdown of {slowdown:.0%}, found", {})[condition] = f"{found} of 30"
    assert found > wrong and wrong <= CLAIMED * 30
    assert slowdown not in FOUND or found >= FOUND[slowdown]  # smaller ones are reported


def outcome(candidates):
    """Of a claim that the second candidate takes longer."""
    race = xh.compare(candidates, **SHORT)

    def again():
        return race.again().ratio("less")

    try:
        return xh.claim("less takes longer", race.ratio("less"), below=1, again=again)
    except AssertionError:
        return "refuted"


@pytest.mark.parametrize("factor", [1.0, 1.05, 1.1, 1.2])
def test_a_claim_that_is_wrong_seldom_holds(condition, factor, page):
    """The other one takes `factor` times as long; by a factor of 1, none takes longer."""
    candidates = {"more": partial(loop, round(TURNS * factor)), "less": partial(loop, TURNS)}
    found = Counter(outcome(candidates) for _ in range(CLAIMS))
    told = ", ".join(str(found[x]) for x in ("held", "undecided", "refuted"))
    asked = f"a claim that is wrong by a factor of {factor:g}: held, undecided, refuted"
    page.setdefault(asked, {})[condition] = f"{told} of {CLAIMS}"
    assert factor == 1 or found["held"] <= CLAIMED * CLAIMS
    assert factor < 1.2 or condition != "quiet" or found["refuted"] > 0.9 * CLAIMS


@pytest.mark.parametrize("size", [100, 10_000, 300_000])  # microseconds to tenths of a second
def test_a_median_is_that_of_timeit(size, page):
    fn, rounds = partial(sorted, random.Random(0).sample(range(10**6), size)), 15
    number, seconds = timeit.Timer(fn).autorange()
    calls = max(1, round(number * 0.02 / seconds))
    ratios = []
    for _ in range(9):  # in turns, because a machine is slower for a while
        theirs = statistics.median(timeit.repeat(fn, repeat=rounds, number=calls)) / calls
        ratios.append(xh.measure(fn, rounds=rounds).median / theirs)
    apart = abs(statistics.median(ratios) - 1)
    asked = f"{size:,} numbers sorted: how far the median lies from that of `timeit`"
    page[asked] = {"quiet": f"{apart:.1%}"}
    assert apart <= APART


def training_step(tf, seed):
    """Slopes of a small network with a bias before a normalization, and the steps that Adam makes.

    The slope of that bias is rounding alone, and its step is a whole one, up or down.
    """
    draw = np.random.default_rng(seed)
    width, rows = int(draw.integers(4, 33)), int(draw.integers(8, 65))
    first, last = (draw.normal(size=(width, width)).astype("float32") for _ in range(2))
    weights = {"first": first, "bias": np.zeros(width, "float32"), "last": last}

    def step(x):
        given = {name: tf.constant(value) for name, value in weights.items()}
        with tf.GradientTape() as tape:
            tape.watch(given)
            y = x @ given["first"] + given["bias"]
            y = (y - tf.reduce_mean(y, 0)) / (tf.math.reduce_std(y, 0) + 1e-3)
            loss = tf.reduce_mean(tf.nn.softplus(tf.nn.relu(y) @ given["last"]))
        slopes = tape.gradient(loss, given)
        steps = {f"step of {x}": g / (tf.abs(g) + 1e-7) for x, g in slopes.items()}
        return {"loss": loss, **slopes, **steps}

    return step, draw.normal(size=(rows, width)).astype("float32"), draw


def test_rounding_is_no_error_and_an_error_is_not_rounding(tf, page):
    """XLA sums in another order; what is planted is a thousandth of one array."""
    models, called, planted, found = 100, 0, 0, 0
    for seed in range(models):
        step, x, draw = training_step(tf, seed)
        names = [name for name in step(x) if name != "bias"]  # a thousandth of rounding is nothing
        name = names[draw.integers(len(names))]

        def wrong(x, step=step, name=name):
            result = step(x)
            return result | {name: result[name] * 1.001}

        modes = {"graph": tf.function(step), "XLA": tf.function(step, jit_compile=True)}
        modes["planted"] = tf.function(wrong)
        race = xh.compare(modes, (x,), rounds=1, strict=False, block=1e-9, budget=0)
        called += "XLA" in race.failures or bool(race.inconclusive)
        if f"result[{name!r}]" not in {array.place for array in race.sensitive}:
            planted += 1
            found += "planted" in race.failures
    asked = "training steps under XLA, called different for their rounding alone"
    page[asked] = {"quiet": f"{called} of {models}"}
    asked = "an error of 0.001 planted in a compared array, found"
    page[asked] = {"quiet": f"{found} of {planted}"}
    assert called <= CLAIMED * models and found >= 0.95 * planted
