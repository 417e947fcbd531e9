"""Run the notebooks again and again, quiet and with every core loaded: what fails, how often?"""

import argparse
import os
import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from xml.etree import ElementTree

from tools.bench.load import every_core_loaded
from tools.collection import ROOT, UsageError, choose
from tools.commands import carried_out
from xla_helpers.tables import Seconds, in_one_line, tabulate
from xla_helpers.watching import guarded, watch
from xla_helpers.writing import write_file

LIMIT = 3600  # seconds after which a run is stopped
PYTEST = ["-m", "pytest", "-q", "--color=no", "-p", "no:cacheprovider"]
COLOUR = re.compile(r"(?:\x1b|#x1B)\[[\d;]*m")  # the second is how XML holds it
ARROW = re.compile(r"^-+> *\d+ +", re.MULTILINE)  # before the line of a cell that failed
HEADING = "Notebook cell execution failed\n"


@dataclass(frozen=True)
class Trial:
    """One run of a notebook, or of a file or folder of tests.

    path: what was run. number: of the run, from 1. loaded: whether every core was. seconds: of
    wall time. failures: a line for each cell or test that failed.
    """

    path: Path
    number: int
    loaded: bool
    seconds: float
    failures: list[str]

    @property
    def where(self) -> str:
        return f"run {self.number}, {'every core loaded' if self.loaded else 'quiet'}"


def main(arguments=None, root=ROOT):
    options = parser().parse_args(arguments)
    return carried_out("soak", lambda: soak(options, root))


def parser():
    command = argparse.ArgumentParser(
        prog="python -m tools.soak",
        description=f"{__doc__} One runs at a time, each in a fresh process. What failing runs "
        "print is kept below build/soak/.",
    )
    command.add_argument(
        "notebooks",
        nargs="*",
        metavar="NOTEBOOK",
        help="a number, a name or a file, such as 2 or 02_compile_a_keras_model, or a file or "
        "folder of tests, such as tests/tools; default: every notebook",
    )
    command.add_argument("--runs", type=int, default=20, metavar="N", help="of each; default: 20")
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
            print(progress(trial, len(trials), len(paths) * options.runs), flush=True)
    finally:
        print("", table(trials), *failed(trials, logs), sep="\n", flush=True)
    return 1 if any(trial.failures for trial in trials) else 0


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
    """Run all, one at a time, then all again; in the last runs with every core loaded.

    logs: a folder for what failing runs print. once: what runs one of them, `run_once`.
    """
    for number in range(1, runs + 1):
        busy = number > runs - loaded
        for path in paths:
            with every_core_loaded() if busy else nullcontext():
                start = time.perf_counter()
                failures = (once or run_once)(path, logs / _log_of(path, number))
                seconds = time.perf_counter() - start
            yield Trial(path, number, busy, seconds, failures)


def _log_of(path, number):
    return f"{path.parent.name}.{path.stem}.run-{number}.log"


def run_once(path: Path, log: Path) -> list[str]:
    """A line for each failure of one run; its `log` is kept when there is any."""
    with tempfile.TemporaryDirectory() as folder:
        report, printed = Path(folder, "report.xml"), Path(folder, "printed.txt")
        command = [sys.executable, *PYTEST, f"--junitxml={report}", str(path)]
        how, code = ended(command, printed, os.environ | {"XLA_RESULTS": folder})
        text = printed.read_text(encoding="utf-8", errors="replace")
        failures = failures_in(report) if report.exists() else []
    if code and not failures:
        failures = [why(how, code, text)]
    if failures:
        log.parent.mkdir(parents=True, exist_ok=True)
        write_file(log, text)
    return failures


def ended(command, printed, environment):
    """How a command ended, and its exit code; it prints into the file `printed`."""
    with open(printed, "wb") as file:
        process = subprocess.Popen(
            command,
            cwd=ROOT,
            env=environment,
            stdout=file,
            stderr=file,
            stdin=subprocess.DEVNULL,
            start_new_session=True,
        )
        with guarded(process):
            how = watch(process, LIMIT).how
    return how, process.returncode


def why(how, code, text):
    """Why a run failed in which no test did."""
    if how == "time":
        return f"stopped after {LIMIT} s"
    lines = text.strip().splitlines() or ["nothing was printed"]
    return f"pytest ended with exit code {code}: {lines[-1]}"


def failures_in(report: Path) -> list[str]:
    """A line for each cell or test that failed: its name and its error.

    report: what pytest writes with ``--junitxml``.
    """
    lines = []
    for case in ElementTree.parse(report).iter("testcase"):
        problems = [one for one in case if one.tag in ("failure", "error")]
        lines += [f"{case.get('name')}: {error_in(one)}" for one in problems]
    return lines


def error_in(problem):
    """In one line what a cell raised, or else what pytest says."""
    code, *after = in_cell(COLOUR.sub("", problem.text or ""))
    raised = [line for line in after if re.match(r"[\w.]+:", line)]
    if not raised:
        said = problem.get("message", "").removeprefix(HEADING)
        return re.sub(r"^Cell \d+: ", "", said).split("\n")[0]
    return f"AssertionError: {code}" if raised[0].strip() == "AssertionError:" else raised[0]


def in_cell(traceback):
    """The line that failed and all below it; one empty line where no cell failed."""
    parts = ARROW.split(traceback)
    return parts[-1].splitlines() if len(parts) > 1 else [""]


def progress(trial, number, count):
    end = f" FAILED: {trial.failures[0]}" if trial.failures else ""
    what = f"[{number}/{count}] {trial.path.stem}, {trial.where}"
    return in_one_line(f"{what}: {trial.seconds:.0f} s{end}")


def table(trials):
    """For each path, how many of its runs failed, and how long they took."""
    rows = [
        row(path.stem, [trial for trial in trials if trial.path == path])
        for path in dict.fromkeys(trial.path for trial in trials)
    ]
    columns = ["", "failed, quiet", "failed, loaded", "median", "longest"]
    return tabulate("What failed how often.", columns, rows)


def row(name, trials):
    shares = [share([trial for trial in trials if trial.loaded is busy]) for busy in (False, True)]
    seconds = [trial.seconds for trial in trials]
    return [name, *shares, Seconds(statistics.median(seconds)), Seconds(max(seconds))]


def share(trials):
    return f"{sum(bool(trial.failures) for trial in trials)} of {len(trials)}"


def failed(trials, logs):
    """A line for each run that failed, with its first failure, and where the logs are."""
    bad = [trial for trial in trials if trial.failures]
    lines = [in_one_line(f"{x.path.stem}, {x.where}: {x.failures[0]}") for x in bad]
    return ["", *lines, f"see {os.path.relpath(logs)}"] if bad else []


if __name__ == "__main__":
    sys.exit(main())
