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

from .comparisons import ENOUGH
from .decisions import Decision, Finding
from .differences import TOLERANCE
from .errors import check_number, headline
from .processes import ProcessError, run_in_process
from .startup import describe_machine, prepare_tensorflow
from .studying import Study
from .tables import first_of

CALL_SECONDS = 60  # a child process ends where a call takes longer to trace, compile and run
PROCESS_SECONDS = 600.0  # and where it takes longer than that as a whole
CHILD = "import sys\nfrom xla_helpers.deciding import find_in_child\nfind_in_child(*sys.argv[1:])"


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
        AttributeError: For a step of what is no Keras model.
        RuntimeError: When compilations cannot be counted in this process.
    """
    options = {"kwargs": kwargs, "candidates": candidates, "step": step, "tolerance": tolerance}
    return _decide(fn, batches, invalid_inputs, calls, min_speedup, budget=budget, **options)


def _decide(fn, batches, invalid_inputs, calls, min_speedup, doing=lambda *what: None, **options):
    """doing: is told what begins, and the `Finding` as far as there is one."""
    check_number("calls", calls, whole=True)
    check_number("min_speedup", min_speedup)
    check_number("budget", options["budget"])
    study = Study(fn, batches, doing=doing, **options)
    found, bad, notes = study.finding, [], []
    for number, one in enumerate(invalid_inputs, start=1):
        doing(f"invalid input {number}", found)
        bad.append(study.check(one))
        if not bad[-1]["XLA"].agrees:
            notes.append(f"Invalid input {number} under XLA: {bad[-1].against('XLA')}.")
    if not invalid_inputs:
        notes = ["Not tested: inputs that should fail, in `invalid_inputs`."]
    found = replace(found, notes=(*found.notes, *notes))
    doing("the end", found)
    return Decision((found,), calls, min_speedup, study.checks, tuple(bad), study.races)


def decide_file(model: str, *, runs: int = ENOUGH, **options) -> Decision:
    """Decide about a model in a file, measured in fresh processes, one after the other.

    The function without arguments that is named returns what to call, the example calls, and
    perhaps a dict of options of `decide`. The interval of a gain is the lowest and the highest of
    all processes. Once nothing is left to choose, no further process is started. A crash under XLA
    refuses XLA, and so does a call that takes longer than a minute.

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
    findings, plan = list[Finding](), {}
    for number in range(1, runs + 1):
        start = time.perf_counter()
        found, plan = _in_child(Path(file).resolve(), name, options, f"process {number} of {runs}")
        findings.append(found)
        print(f"process {number} of {runs}: {time.perf_counter() - start:.0f} s", flush=True)
        if found.shapes and found.shapes != findings[0].shapes:
            both = (first_of(x.shapes, 9) for x in (findings[0], found))
            raise ValueError(f"processes found different shapes: {'; '.join(both)}")
        if found.undecided or all(found.objections.values()):
            break
    return Decision(tuple(findings), **plan, checks={}, invalid_inputs=(), races={})


def _in_child(file, name, options, who):
    """The `Finding` of a fresh process, and the plan: the options of a `Decision`."""
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
    doing = said.get("doing", "the start")
    if "error" in said or doing in ("graph", "eager", "the start"):
        raise ValueError(said.get("error") or f"{who} ended at {doing}: {ended}")
    if "finding" not in said:
        why = f"ended {who}: {ended}"
        return Finding(said["machine"], {}, {}, {"XLA": why, doing: why}), said["plan"]
    found = msgspec.convert(said["finding"], Finding)
    more = (f"In {doing} the process ended: {ended}.",) if ended else ()
    return replace(found, notes=(*found.notes, *more)), said["plan"]


def find_in_child(file, name, options, log):
    """Write what is done, and what is found about a model, as lines of JSON."""

    def say(**what):
        with open(log, "ab") as lines:
            lines.write(msgspec.json.encode(what) + b"\n")

    def doing(what, found=None):
        if what == "the race":  # of what has run before
            faulthandler.cancel_dump_traceback_later()
        else:
            faulthandler.dump_traceback_later(CALL_SECONDS, exit=True)
        say(doing=what, **({"finding": found} if found else {}))

    prepare_tensorflow()
    sys.path.insert(0, str(Path(file).parent))  # so that the file can import its neighbours
    try:
        fn, batches, *own = runpy.run_path(file)[name]()
        asked = inspect.signature(decide).bind(fn, batches, **(dict(*own) | json.loads(options)))
        asked.apply_defaults()
        plan = {x: asked.arguments[x] for x in ("calls", "min_speedup")}
        say(machine=describe_machine(), plan=plan)
        _decide(**asked.arguments, doing=doing)
    except Exception as error:  # whatever a reader's code raises
        say(error=headline(error, 1000).removeprefix("ValueError: "))
    faulthandler.cancel_dump_traceback_later()
