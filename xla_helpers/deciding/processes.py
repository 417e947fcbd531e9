"""Does XLA pay for a model, with its shapes, on this machine? In this process, or in several."""

import faulthandler
import inspect
import json
import runpy
import sys
import tempfile
import time
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from ..differences import TOLERANCE
from ..errors import check_number, headline
from ..instruments.machine import describe_machine
from ..instruments.processes import ProcessError, run_in_process
from ..ratios import ENOUGH
from ..startup import prepare_tensorflow
from ..tables import abbreviate
from .costs import ProcessResult
from .study import DRAWING, RACING, Candidates, examine
from .verdict import Decision

CALL_SECONDS = 60  # a child process ends where a call takes longer to trace, compile and run
PROCESS_SECONDS = 600.0  # and where it takes longer than that as a whole
CHILD = """
import sys
from xla_helpers.deciding.processes import find_in_child
find_in_child(*sys.argv[1:])
"""
STARTING = "the start"
NO_CHOICE = STARTING, DRAWING, "graph", "eager"  # what ends there leaves nothing to choose


def decide(
    fn: Any, batches: Iterable, *, kwargs=None, candidates=None, invalid_inputs=(), step=False,
    calls=10_000, tolerance=TOLERANCE, min_speedup=1.05, budget=20.0
) -> Decision:  # fmt: skip
    """Check and race a model as a graph and compiled, for each shape of its calls, and choose.

    The interval is that of this process alone, and where XLA ends the process, it ends yours:
    `decide_file` measures in several others. Traces and compilations are counted in TensorFlow's
    log, which `prepare_tensorflow` must have switched on.

    Args:
        fn: A model or a function, as for `check`.
        batches: Example calls, of which the first 10,000 count; a tuple holds the positional
            arguments of one call, anything else is its only argument. Their shapes, and how often
            each comes, stand for all calls. Ten or more are a sample of the calls to come: what
            they trace and compile says how often further ones will.
        kwargs: Keyword arguments of every call.
        candidates: More to race, label to function, such as "XLA, padded".
        invalid_inputs: Inputs that should fail, in the form of `batches`.
        step: Whether `fn` is a compiled Keras model of which a training step is meant.
        calls: How many calls there will be.
        tolerance: The relative difference of results that is allowed.
        min_speedup: How many times faster than the graph all calls together must be, first calls
            included.
        budget: Seconds after which no further example is called, and no further shape raced.

    Returns:
        A `Decision`.

    Raises:
        TypeError, ValueError: For arguments that make no sense, and where the graph fails.
        AttributeError: For a step of something other than a Keras model.
        RuntimeError: When compilations cannot be counted in this process.
    """
    return _decide(
        Candidates(fn, kwargs, candidates, step), batches, invalid_inputs=invalid_inputs,
        calls=calls, tolerance=tolerance, min_speedup=min_speedup, budget=budget
    )  # fmt: skip


def _decide(
    candidates, batches, *, invalid_inputs, calls, tolerance, min_speedup, budget,
    on_stage=lambda *what: None
):  # fmt: skip
    """on_stage: is told what begins, and the `ProcessResult` as far as there is one."""
    check_number("calls", calls, whole=True)
    check_number("min_speedup", min_speedup)
    check_number("budget", budget)
    study = examine(candidates, batches, tolerance=tolerance, budget=budget, on_stage=on_stage)
    found, bad, notes = study.result, [], []
    for number, batch in enumerate(invalid_inputs, start=1):
        on_stage(f"invalid input {number}", found)
        bad.append(candidates.check(batch, tolerance))
        if not bad[-1]["XLA"].agrees:
            notes.append(f"Invalid input {number} under XLA: {bad[-1].against('XLA')}.")
    if not invalid_inputs:
        notes = ["Not tested: inputs that should fail, in `invalid_inputs`."]
    found = replace(found, notes=(*found.notes, *notes))
    on_stage("the end", found)
    return Decision(
        findings=(found,),
        calls=calls,
        min_speedup=min_speedup,
        checks=study.checks,
        invalid_inputs=tuple(bad),
        races=study.races,
    )


def decide_file(model: str, *, runs: int = ENOUGH, **options) -> Decision:
    """Decide about a model in a file, measured in fresh processes, one after the other.

    The function without arguments that is named returns what to call, the example calls, and
    perhaps a dict of options of `decide`. The interval of a gain is that of the median of all
    processes: of six, the lowest and the highest. Once nothing is left to choose, no further
    process is started. A crash under XLA refuses XLA, and so does a call that takes longer than a
    minute; where the race itself ends the process, nothing is decided.

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
    file, _, name = model.rpartition(":")
    if not Path(file).is_file():
        raise ValueError(f"no file for {model!r}: write my_model.py:make")
    check_number("runs", runs, whole=True)
    if 1 < runs < ENOUGH:
        raise ValueError(f"`runs` must be 1, or at least {ENOUGH}: fewer give no interval")
    findings, plan = list[ProcessResult](), {}
    for number in range(1, runs + 1):
        start = time.perf_counter()
        found, plan = _in_child(Path(file).resolve(), name, options, f"process {number} of {runs}")
        findings.append(found)
        print(f"process {number} of {runs}: {time.perf_counter() - start:.0f} s", flush=True)
        if found.shapes and found.shapes != findings[0].shapes:
            both = (abbreviate(x.shapes, 9) for x in (findings[0], found))
            raise ValueError(f"processes found different shapes: {'; '.join(both)}")
        if found.inconclusive or all(found.objections.values()):
            break
    return Decision(tuple(findings), **plan, checks={}, invalid_inputs=(), races={})


def _in_child(file, name, options, who):
    """The `ProcessResult` of a fresh process, and the plan: the options of a `Decision`."""
    said, ended = dict[str, Any](), ""
    with tempfile.TemporaryDirectory() as folder:
        log = Path(folder, "log.jsonl")
        try:
            args = file, name, json.dumps(options), log
            run_in_process(CHILD, args, timeout=PROCESS_SECONDS)
        except ProcessError as error:
            late = error.timed_out or "Timeout (" in error.stderr
            ended = error.signal or ("it took too long" if late else headline(error))
        for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else ():
            said |= json.loads(line)
    stage = said.get("stage", STARTING)
    if "error" in said or stage in NO_CHOICE:
        raise ValueError(said.get("error") or f"{who} ended at {stage}: {ended}")
    if "finding" not in said:
        return _ended_early(said["machine"], stage, f"{who}: {ended}"), said["plan"]
    found = msgspec.convert(said["finding"], ProcessResult)
    more = (f"In {stage} the process ended: {ended}.",) if ended else ()
    return replace(found, notes=(*found.notes, *more)), said["plan"]


def _ended_early(machine, stage, how):
    """What is known of a process that ended at a candidate, or in the race between them."""
    if stage == RACING:
        return ProcessResult(machine, {}, {}, {}, inconclusive=f"{stage} ended {how}")
    objections = {"XLA": f"was not tried to the end, because {stage} ended {how}"}
    return ProcessResult(machine, {}, {}, objections | {stage: f"ended {how}"})


def find_in_child(file: str, name: str, options: str, log: str) -> None:
    """Write what is done, and what is found about a model, as lines of JSON."""

    def say(**what):
        with open(log, "ab") as lines:
            lines.write(msgspec.json.encode(what) + b"\n")

    def on_stage(stage, found=None):
        if stage == RACING:  # of what has run before
            faulthandler.cancel_dump_traceback_later()
        else:
            faulthandler.dump_traceback_later(CALL_SECONDS, exit=True)
        say(stage=stage, **({"finding": found} if found else {}))

    prepare_tensorflow()
    sys.path.insert(0, str(Path(file).parent))  # so that the file can import its neighbours
    try:
        fn, batches, *more = runpy.run_path(file)[name]()
        asked = inspect.signature(decide).bind(fn, batches, **(dict(*more) | json.loads(options)))
        asked.apply_defaults()
        given = dict(asked.arguments)
        say(machine=describe_machine(), plan={x: given[x] for x in ("calls", "min_speedup")})
        model = [given.pop(x) for x in ("fn", "kwargs", "candidates", "step")]
        _decide(Candidates(*model), given.pop("batches"), **given, on_stage=on_stage)
    except Exception as error:  # whatever a reader's code raises
        say(error=headline(error, 1000).removeprefix("ValueError: "))
    faulthandler.cancel_dump_traceback_later()
