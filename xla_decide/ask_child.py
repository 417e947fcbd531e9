"""Ask a fresh process about a model in a file, and tell how that process ended."""

import json
import re
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import msgspec

from xla_helpers.errors import headline
from xla_helpers.processes import ProcessError, run_in_process

from .costs import ProcessResult
from .protocol import (
    CALL_SECONDS,
    COMPILE,
    DRAWING,
    END,
    PROCESS_SECONDS,
    RACING,
    SAME_NUMBERS,
    STARTING,
)

CHILD = """
import sys
from xla_decide.child import study_in_child
study_in_child(*sys.argv[1:])
"""
NO_CHOICE = STARTING, DRAWING, "graph"  # what ends there leaves nothing to choose
# How `faulthandler` begins, perhaps behind a progress bar that ends no line.
LATE = re.compile(r"Timeout \(\d+:\d\d:\d\d(\.\d+)?\)!")
# What a process reports in place of a finding.
ANSWERS = {SAME_NUMBERS: "same_numbers", COMPILE: "programs"}
PROGRESS_SECONDS = 10.0  # between two lines of progress


class Ending(NamedTuple):
    """How a process ended: why, "" for as it should, and whether it was stopped for its time."""

    why: str = ""
    is_late: bool = False


def ask(file: Path, name: str, options: dict, who: str, asked: str) -> dict[str, Any]:
    """Ask a fresh process about a model in a file.

    Args:
        file: The file.
        name: Its function without arguments.
        options: Options of `decide`, in place of the file's; of `COMPILE`, `target`.
        who: What the process is called in lines of progress and in errors.
        asked: `STUDY`, `FIRST`, `SAME_NUMBERS` or `COMPILE`.

    Returns:
        What the process reported: its plan, and its `ProcessResult` as "finding", or how it
        compared, or its programs.

    Raises:
        ValueError: For a file that cannot be judged, and where the process ended before there was
            anything to choose.
    """
    report, ended = _run(file, name, options, who, asked)
    stage = report.get("stage", STARTING)
    if "error" in report and "finding" not in report:
        raise ValueError(report["error"])
    has_no_answer = asked in ANSWERS and not _is_answered(asked, report)
    leaves_no_choice = ended.why and stage in NO_CHOICE and "finding" not in report
    if leaves_no_choice or has_no_answer:
        raise ValueError(f"{who} ended at {_in_words(stage)}: {ended.why}")
    if asked in ANSWERS:
        return report
    if "finding" not in report:
        return report | {"finding": _ended_early(report["machine"], stage, who, ended)}
    found = msgspec.convert(report["finding"], ProcessResult)
    if ended.why:
        verb = "was stopped" if ended.is_late else "ended"
        note = f"At {_in_words(stage)} the process {verb}: {ended.why}."
        found = replace(found, notes=(*found.notes, note))
    return report | {"finding": found}


def _run(file, name, options, who, asked):
    """What a fresh process reported, and how it ended."""
    ended = Ending()
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.jsonl")
        try:
            with _progress(log, who):
                args = file, name, json.dumps(options), log, asked
                run_in_process(CHILD, args, timeout=PROCESS_SECONDS)
        except ProcessError as error:
            ended = _ending_of(error)
        report = _report_in(log)
    if "error" in report:
        ended = Ending(report["error"])
    elif not (ended.why or _is_answered(asked, report)):  # os._exit(0), or sys.exit() in the model
        ended = Ending("it ended by itself, with exit code 0")
    return report, ended


def _is_answered(asked, report):
    """Whether a process reported all that it was asked."""
    return ANSWERS[asked] in report if asked in ANSWERS else report.get("stage") == END


def _ending_of(error):
    """How a process ended that did not return."""
    if error.timed_out:
        return Ending(f"it took longer than {PROCESS_SECONDS:g} s in all", True)
    if error.signal is None and LATE.search(error.stderr):
        return Ending(f"it took longer than {CALL_SECONDS} s", True)
    return Ending(error.signal or headline(error))


def _report_in(log):
    """What a process has reported until now; a line that is not whole yet is left out."""
    report = dict[str, Any]()
    if log.exists():
        whole = log.read_text(encoding="utf-8").split("\n")[:-1]  # of a label, U+2028 ends no line
        for line in whole:
            report |= json.loads(line)
    return report


@contextmanager
def _progress(log, who):
    """Print what is being done in a process, every ten seconds."""
    ended = threading.Event()

    def tell():
        start = time.perf_counter()
        while not ended.wait(PROGRESS_SECONDS):
            stage = _report_in(log).get("stage", STARTING)
            print(f"{who}: {time.perf_counter() - start:.0f} s, {stage}", flush=True)

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _in_words(stage):
    """A stage in words: those that are modes are calls."""
    return {"graph": "a call of the graph", "eager": "a call in eager mode"}.get(stage, stage)


def _ended_early(machine, stage, who, ended):
    """What is known of a process that ended at a candidate, or in the race between them."""
    how = f"{'did not end in' if ended.is_late else 'ended'} {who}: {ended.why}"
    if stage == RACING:
        return ProcessResult(machine, {}, {}, {}, inconclusive=f"{stage} {how}")
    objections = {"XLA": f"was not tried to the end, because {stage} {how}"}
    return ProcessResult(machine, {}, {}, objections | {stage: how})
