"""Does XLA pay for a model in a file? Asked in fresh processes, one after the other."""

import json
import re
import tempfile
import threading
import time
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from xla_helpers.errors import check_number, headline
from xla_helpers.processes import ProcessError, run_in_process
from xla_helpers.ratios import ENOUGH
from xla_helpers.tables import abbreviate

from .costs import ProcessResult
from .elsewhere import CARDS
from .gpu.target_programs import TargetProgram
from .stages import (
    ALIKE,
    CALL_SECONDS,
    COMPILE,
    DRAWING,
    END,
    FIRST,
    PROCESS_SECONDS,
    RACING,
    STARTING,
    STUDY,
)
from .verdict import Decision

CHILD = """
import sys
from xla_decide.child import study_in_child
study_in_child(*sys.argv[1:])
"""
NO_CHOICE = STARTING, DRAWING, "graph"  # what ends there leaves nothing to choose
# How `faulthandler` begins, perhaps behind a progress bar that ends no line.
LATE = re.compile(r"Timeout \(\d+:\d\d:\d\d(\.\d+)?\)!\n")
ANSWERS = {ALIKE: "alike", COMPILE: "programs"}  # what is said in place of a finding
TOLD_SECONDS = 10.0  # between two lines of progress
DRAWN = "random numbers are drawn"  # begins why results were not compared


def decide_file(model: str, *, runs: int = ENOUGH, **options) -> Decision:
    """Decide about a model in a file, measured in fresh processes, one after the other.

    The function without arguments that is named returns what to call, the example calls, and
    perhaps a dict of options of `decide`. The interval of a gain is that of the median of all
    processes: of six, the lowest and the highest. Once nothing is left to choose, no further
    process is started. Where random numbers are drawn, one more process compares results, in which
    the graph and XLA draw the same ones. A crash under XLA refuses XLA, and so does a call that
    takes longer than a minute; where the race itself ends the process, nothing is decided.

    Args:
        model: File and function, such as ``my_model.py:make``.
        runs: Processes: 1, or at least 6. A line is printed of each.
        options: Options of `decide` that JSON can hold, in place of the file's.

    Returns:
        A `Decision`, without what only memory can hold.

    Raises:
        ValueError: For arguments that make no sense, where the graph fails, and where two processes
            find different shapes.
    """
    file, name = _parts_of(model)
    check_number("runs", runs, whole=True)
    if 1 < runs < ENOUGH:
        raise ValueError(f"`runs` must be 1, or at least {ENOUGH}: fewer give no interval")
    findings, said = list[ProcessResult](), dict[str, Any]()
    for number in range(1, runs + 1):
        start, who = time.perf_counter(), f"process {number} of {runs}"
        said = _in_child(file, name, options, who, FIRST if number == 1 else STUDY)
        found = said["finding"]
        print(f"{who}: {time.perf_counter() - start:.0f} s, {_gain_in(found)}", flush=True)
        findings.append(found)
        _refuse_others(findings)
        if found.inconclusive or all(found.objections.values()):
            break
        if number == 1 and found.not_compared.get("XLA", "").startswith(DRAWN):
            findings[0] = found = _compared_alike(file, name, options, found)
            if found.objections["XLA"] and len(found.objections) == 1:
                break
    one = findings[0]
    others = [
        replace(
            x, not_compared=one.not_compared, objections={**x.objections, **_given(one.objections)}
        )
        for x in findings[1:]
    ]
    return Decision((one, *others), **said["plan"])


def compile_file(model: str, *, target=CARDS) -> TargetProgram | tuple[TargetProgram, ...]:
    """Compile a model in a file, with its first example call, for GPUs that are not there.

    Args:
        model: File and function, as for `decide_file`.
        target: The name of a GPU that `targets` lists, or several names.

    Returns:
        A `TargetProgram`, or, for several names, one for each; without the texts of the programs.

    Raises:
        ValueError: Where the compiler is missing, for what XLA refuses, and where the process ends
            early.
    """
    file, name = _parts_of(model)
    names = [target] if isinstance(target, str) else list(target)
    start, who = time.perf_counter(), f"compiling for {', '.join(names)}"
    said = _in_child(file, name, {"target": names}, who, COMPILE)
    print(f"{who}: {time.perf_counter() - start:.0f} s", flush=True)
    found = msgspec.convert(said["programs"], tuple[TargetProgram, ...])
    return found[0] if isinstance(target, str) else found


def _given(objections):
    return {label: why for label, why in objections.items() if why}


def _parts_of(model):
    """The file and the name of its function."""
    file, colon, name = model.rpartition(":")
    if not colon and Path(name).is_file():
        raise ValueError(f"no function for {model!r}: name one, such as {model}:make")
    if not Path(file).is_file():
        raise ValueError(f"no file for {model!r}: write my_model.py:make")
    return Path(file).resolve(), name


def _gain_in(found):
    """What a process found, in a few words."""
    if "XLA" not in found.costs:
        return "no race"
    gain = found.costs["graph"].call / found.costs["XLA"].call
    return f"a call with XLA {gain:.2f}x as fast"


def _refuse_others(findings):
    """Raise where two processes found different shapes."""
    first, last = findings[0], findings[-1]
    are_known = first.shapes and last.shapes and first.is_whole and last.is_whole
    if are_known and first.shapes != last.shapes:
        both = (abbreviate(x.shapes, 9) for x in (first, last))
        raise ValueError(f"processes found different shapes: {'; '.join(both)}")


def _compared_alike(file, name, options, found):
    """The finding, with results compared in a process in which both draw the same numbers."""
    start = time.perf_counter()
    try:
        said = _in_child(file, name, options, "the comparison", ALIKE)["alike"]
    except ValueError as error:
        said = {"differs": "", "not compared": f"{found.not_compared['XLA']} ({error})"}
    print(f"the same random numbers for both: {time.perf_counter() - start:.0f} s", flush=True)
    if why := said["not compared"]:
        return replace(found, not_compared=found.not_compared | {"XLA": why})
    rest = {label: why for label, why in found.not_compared.items() if label != "XLA"}
    note = "XLA draws other random numbers. Results were compared where both draw the same ones."
    return replace(
        found,
        not_compared=rest,
        objections=found.objections | {"XLA": found.objections["XLA"] or said["differs"]},
        notes=(note, *found.notes),
    )


def _in_child(file, name, options, who, asked):
    """What a fresh process said: its plan, and its `ProcessResult` or how it compared."""
    ended, is_late = "", False
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.jsonl")
        try:
            args = file, name, json.dumps(options), log, asked
            with _progress(log, who):
                run_in_process(CHILD, args, timeout=PROCESS_SECONDS)
        except ProcessError as error:
            ended = error.signal or headline(error)
            if error.timed_out:
                ended, is_late = f"it took longer than {PROCESS_SECONDS:g} s in all", True
            elif error.signal is None and LATE.search(error.stderr):
                ended, is_late = f"it took longer than {CALL_SECONDS} s", True
        said = _said_in(log)
    stage = said.get("stage", STARTING)
    has_answer = ANSWERS[asked] in said if asked in ANSWERS else stage == END
    if not (ended or has_answer or "error" in said):  # os._exit(0), or sys.exit() in the model
        ended = "it ended by itself, with exit code 0"
    if "error" in said or (ended and stage in NO_CHOICE and "finding" not in said):
        raise ValueError(said.get("error") or f"{who} ended at {_told(stage)}: {ended}")
    if asked in ANSWERS:
        if ANSWERS[asked] not in said:
            raise ValueError(f"{who} ended at {_told(stage)}: {ended}")
        return said
    if "finding" not in said:
        return said | {"finding": _ended_early(said["machine"], stage, f"{who}: {ended}", is_late)}
    found = msgspec.convert(said["finding"], ProcessResult)
    how = "was stopped" if is_late else "ended"
    more = (f"At {_told(stage)} the process {how}: {ended}.",) if ended else ()
    return said | {"finding": replace(found, notes=(*found.notes, *more))}


def _said_in(log):
    """What a process has said until now; a line that is not whole yet is left out."""
    said = dict[str, Any]()
    if log.exists():
        whole = log.read_text(encoding="utf-8").split("\n")[:-1]  # of a label, U+2028 ends no line
        for line in whole:
            said |= json.loads(line)
    return said


@contextmanager
def _progress(log, who):
    """Print what is being done in a process, every ten seconds."""
    ended = threading.Event()

    def tell():
        start = time.perf_counter()
        while not ended.wait(TOLD_SECONDS):
            stage = _said_in(log).get("stage", STARTING)
            print(f"{who}: {time.perf_counter() - start:.0f} s, {stage}", flush=True)

    thread = threading.Thread(target=tell, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()


def _told(stage):
    """A stage in words: those that are modes are calls."""
    return {"graph": "a call of the graph", "eager": "a call in eager mode"}.get(stage, stage)


def _ended_early(machine, stage, how, is_late):
    """What is known of a process that ended at a candidate, or in the race between them."""
    verb = "did not end in" if is_late else "ended"
    if stage == RACING:
        return ProcessResult(machine, {}, {}, {}, inconclusive=f"{stage} {verb} {how}")
    objections = {"XLA": f"was not tried to the end, because {stage} {verb} {how}"}
    return ProcessResult(machine, {}, {}, objections | {stage: f"{verb} {how}"})
