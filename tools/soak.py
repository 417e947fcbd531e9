"""Run the notebooks again and again, quiet and with every core loaded: what fails, how often?"""

import argparse
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path

from tools.bench.load import every_core_loaded
from tools.collection import ROOT, UsageError, choose
from tools.commands import carried_out
from tools.suites import Suite, run_tests
from xla_helpers.tables import Seconds, in_one_line, tabulate

LIMIT = 3 * 3600  # seconds after which a run is stopped
AS_MAKE_TEST = ["--numprocesses", "2", "--dist", "loadfile", "--no-loadscope-reorder"]


@dataclass(frozen=True)
class Trial:
    """One run of all that was chosen.

    number: of the run, from 1. loaded: whether every core was. seconds: of wall time. found: what
    pytest counted.
    """

    number: int
    loaded: bool
    seconds: float
    found: Suite

    def __str__(self):
        return f"run {self.number}, {'every core loaded' if self.loaded else 'quiet'}"


def main(arguments=None, root=ROOT):
    options = parser().parse_args(arguments)
    return carried_out("soak", lambda: soak(options, root))


def parser():
    command = argparse.ArgumentParser(
        prog="python -m tools.soak",
        description=f"{__doc__} Two files run at a time, as in `make test`. What runs print is "
        "kept below build/soak/.",
    )
    command.add_argument(
        "notebooks",
        nargs="*",
        metavar="NOTEBOOK",
        help="a number, a name or a file, such as 2 or 02_compile_a_keras_model, or a file or "
        "folder of tests, such as tests/tools; default: every notebook",
    )
    command.add_argument("--runs", type=int, default=20, metavar="N", help="of all; default: 20")
    command.add_argument(
        "--loaded",
        type=int,
        metavar="N",
        help="of the runs, how many have every core loaded: the last ones; default: 5, or all "
        "when there are fewer",
    )
    return command


def soak(options, root):
    """Run all, with a line for each run and a table in the end; 1 when something failed."""
    loaded = min(5, options.runs) if options.loaded is None else options.loaded
    if options.runs < 1 or not 0 <= loaded <= options.runs:
        raise UsageError("give at least 1 run, and no more loaded runs than runs")
    paths = targets(options.notebooks, root)
    logs = root / "build" / "soak" / time.strftime("%Y-%m-%d_%H-%M-%S")
    trials = []
    try:
        for trial in tried(paths, options.runs, loaded, logs):
            trials.append(trial)
            print(progress(trial, options.runs), flush=True)
    finally:
        if trials:
            print("", table(trials), *reasons(trials, logs), sep="\n", flush=True)
    return 1 if any(trial.found.failed for trial in trials) else 0


def targets(wanted, root):
    """The notebooks and tests that are meant; every notebook when none is named."""
    tests = [name for name in wanted if Path(name).parts[:1] == ("tests",)]
    for name in tests:
        if not (root / name).exists():
            raise UsageError(f"there is no {name}")
    notebooks = [name for name in wanted if name not in tests]
    chosen = choose(notebooks, root) if notebooks or not tests else []
    return [*chosen, *(root / name for name in tests)]


def tried(
    paths: list[Path], runs: int, loaded: int, logs: Path, once: Callable | None = None
) -> Iterator[Trial]:
    """Run all, then all again; in the last runs with every core loaded.

    logs: a folder for what runs print. once: what runs all, `run_once`.
    """
    for number in range(1, runs + 1):
        busy = number > runs - loaded
        with every_core_loaded() if busy else nullcontext():
            start = time.perf_counter()
            found = (once or run_once)(paths, logs / f"run-{number}.log")
            seconds = time.perf_counter() - start
        yield Trial(number, busy, seconds, found)


def run_once(paths: list[Path], log: Path) -> Suite:
    """What pytest finds in one run. log: a file for what it prints."""
    return run_tests(sys.executable, [*AS_MAKE_TEST, *paths], log, LIMIT)


def progress(trial, count):
    said = f"[{trial.number}/{count}] {trial}: {trial.found}, {trial.seconds:.0f} s"
    return in_one_line(" ".join([said, *trial.found.lines[:1]]))


def table(trials):
    """How often a run failed and how long it took, then how often each test failed."""
    kinds = [[trial for trial in trials if trial.loaded is busy] for busy in (False, True)]
    seconds = [trial.seconds for trial in trials]
    times = [Seconds(statistics.median(seconds)), Seconds(max(seconds))]
    rows = [["a run", *(share(kind, lambda found: found.failed) for kind in kinds), *times]]
    for name in dict.fromkeys(name for trial in trials for name in trial.found.failed):
        failed = [share(kind, lambda found, name=name: name in found.failed) for kind in kinds]
        rows.append([name, *failed, "", ""])
    columns = ["", "failed, quiet", "failed, loaded", "median", "longest"]
    return tabulate("What failed how often.", columns, rows)


def share(trials, failed):
    return f"{sum(bool(failed(trial.found)) for trial in trials)} of {len(trials)}"


def reasons(trials, logs):
    """A line for each failure, and where the logs are."""
    said = [in_one_line(f"{trial}: {line}") for trial in trials for line in trial.found.lines]
    return ["", *said, f"see {os.path.relpath(logs)}"] if said else []


if __name__ == "__main__":
    sys.exit(main())
