"""The median of a function's seconds, as four tools find it.

Where code and data lie in memory changes a median by a few per cent from one process to the next.
So the tools measure in one process, in turns.
"""

import hashlib
import json
import os
import random
import statistics
import subprocess
import sys
import timeit
import zlib
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from xla_helpers import measure

NUMBERS = random.Random(0).sample(range(100_000), 10_000)
BYTES = bytes(number % 251 for number in NUMBERS) * 200
FUNCTIONS = {  # from one microsecond to a hundred milliseconds, in one thread each
    "add 300 numbers": partial(sum, NUMBERS[:300]),
    "write 300 numbers": partial(json.dumps, NUMBERS[:300]),
    "sort 10,000 numbers": partial(sorted, NUMBERS),
    "compress 2 MB": partial(zlib.compress, BYTES),
    "derive a key": partial(hashlib.pbkdf2_hmac, "sha256", b"word", b"salt", 400_000),
}
OURS, OTHERS = "xla_helpers", ("timeit", "pyperf", "pytest-benchmark")
ROUNDS = 15  # blocks of calls that a tool times, where it can be told
BLOCK = 0.02  # seconds of each
TEST = """
import pytest
from tools.bench.medians import FUNCTIONS, in_turns

@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(benchmark, name):
    for tool, seconds in in_turns(FUNCTIONS[name], benchmark).items():
        benchmark.extra_info[tool] = seconds
"""


def one_pass() -> dict[str, dict[str, float]]:
    """What each tool finds: tool to name of a function to seconds."""
    with TemporaryDirectory() as folder:
        test, file = Path(folder, "test_functions.py"), Path(folder, "medians.json")
        test.write_text(TEST, encoding="utf-8")
        alone = ["-q", "--rootdir", folder, "-c", "/dev/null", "-p", "no:cacheprovider"]
        _run("pytest", *alone, f"--benchmark-json={file}", test)
        found = json.loads(file.read_text(encoding="utf-8"))["benchmarks"]
        medians = {one["params"]["name"]: one["extra_info"] for one in found}
    return {tool: {x: medians[x][tool] for x in medians} for tool in (OURS, *OTHERS)}


def in_turns(fn, benchmark) -> dict[str, float]:
    """Tool to the median of its seconds, all in this process. benchmark: pytest-benchmark's."""

    def by_benchmark():
        benchmark(fn)
        return benchmark.stats.stats.median

    tools = {
        OURS: lambda: measure(fn, rounds=ROUNDS, block=BLOCK).median,
        "timeit": lambda: _timeit(fn),
        "pyperf": lambda: _pyperf(fn),
        "pytest-benchmark": by_benchmark,
    }
    return {tool: tools[tool]() for tool in random.sample(list(tools), len(tools))}


def _timeit(fn):
    number = _calls(fn)
    return statistics.median(timeit.repeat(fn, repeat=ROUNDS, number=number)) / number


def _pyperf(fn):
    """As one of pyperf's workers does it; by itself, it would start processes of its own."""
    import pyperf

    _runners.append(type("Runner", (pyperf.Runner,), {}))  # a class may have one in a process
    runner = _runners[-1]()
    options = ["--worker", "--worker-task=0", "--warmups=1", f"--values={ROUNDS}"]
    runner.parse_args([*options, f"--loops={_calls(fn)}"])
    return runner.bench_func("function", fn).median()


_runners = []


def _calls(fn):
    number, seconds = timeit.Timer(fn).autorange()
    return max(1, round(number * BLOCK / seconds))


def _run(module, *options):
    command = [sys.executable, "-m", module, *map(str, options)]
    same = os.environ | {"PYTHONHASHSEED": "0"}  # or texts hash differently in each
    done = subprocess.run(command, capture_output=True, text=True, env=same)
    if done.returncode:
        raise RuntimeError(f"{module} failed:\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
