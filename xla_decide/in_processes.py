"""Does XLA pay for a model in a file? Asked in fresh processes, one after the other."""

import importlib.util
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec

from xla_helpers.errors import check_number
from xla_helpers.ratios import ENOUGH
from xla_helpers.tables import abbreviate

from .ask_child import ask
from .costs import ProcessResult
from .decision import Decision
from .gpu.target_programs import MISSING, TargetProgram, packages_folder
from .on_cards import CARDS
from .protocol import COMPILE, FIRST, SAME_NUMBERS, STUDY
from .rivals.race import race
from .rivals.table import Rivals
from .saved_file import MADE_UP, is_saved

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
        model: File and function, such as ``my_model.py:make``; or a `.keras` file or a folder of
            a SavedModel, perhaps with ``:signature``, of which example calls are made up: of
            `batches` rows, with whole numbers below `below`.
        runs: Processes: 1, or at least 6. A line is printed of each.
        options: Options of `decide` that JSON can hold, in place of the file's.

    Returns:
        A `Decision`, without what only memory can hold.

    Raises:
        ValueError: For arguments that make no sense, where the graph fails, and where two processes
            find different shapes.
    """
    file, name = parts_of(model)
    check_number("runs", runs, whole=True)
    if 1 < runs < ENOUGH:
        raise ValueError(f"`runs` must be 1, or at least {ENOUGH}: fewer give no interval")
    findings, report = list[ProcessResult](), dict[str, Any]()
    for number in range(1, runs + 1):
        start, who = time.perf_counter(), f"process {number} of {runs}"
        report = ask(file, name, options, who, FIRST if number == 1 else STUDY)
        found = report["finding"]
        print(f"{who}: {time.perf_counter() - start:.0f} s, {_gain_in(found)}", flush=True)
        findings.append(found)
        _refuse_others(findings)
        if found.inconclusive or all(found.objections.values()):
            break
        if number == 1 and found.not_compared.get("XLA", "").startswith(DRAWN):
            findings[0] = found = _compared_with_same_numbers(file, name, options, found)
            if found.objections["XLA"] and len(found.objections) == 1:
                break
    one = findings[0]
    if is_saved(file):
        one = replace(one, warnings=(MADE_UP, *one.warnings))
    others = [
        replace(
            x, not_compared=one.not_compared, objections={**x.objections, **_given(one.objections)}
        )
        for x in findings[1:]
    ]
    return Decision((one, *others), **report["plan"])


def compile_file(
    model: str, *, target=CARDS, batches=None, below=None
) -> TargetProgram | tuple[TargetProgram, ...]:
    """Compile a model in a file, with its first example call, for GPUs that are not there.

    Args:
        model: File and function, as for `decide_file`.
        target: The name of a GPU that `targets` lists, or several names.
        batches: Of a saved model, as for `decide_file`.
        below: The same.

    Returns:
        A `TargetProgram`, or, for several names, one for each; without the texts of the programs.

    Raises:
        ValueError: Where the compiler is missing, for what XLA refuses, and where the process ends
            early.
    """
    file, name = parts_of(model)
    if packages_folder() is None:
        raise ValueError(MISSING)
    names = [target] if isinstance(target, str) else list(target)
    start, who = time.perf_counter(), f"compiling for {', '.join(names)}"
    asked = {"batches": batches, "below": below}
    options = {"target": names} | {x: value for x, value in asked.items() if value is not None}
    report = ask(file, name, options, who, COMPILE)
    print(f"{who}: {time.perf_counter() - start:.0f} s", flush=True)
    found = msgspec.convert(report["programs"], tuple[TargetProgram, ...])
    return found[0] if isinstance(target, str) else found


def race_rivals(model: str | Path, *, quiet: bool = False, **options) -> Rivals:
    """Race a model in a file in other runtimes, beside the graph and XLA.

    It is exported for LiteRT, ONNX Runtime and OpenVINO, by the converters' own calls, and a Keras
    model is made again on JAX. Each runtime loads it in a process of its own, with as many threads
    as there are cores, and makes the first example call. Its results are held against the graph's.
    Then all are timed in turns. What cannot be exported, or does not run, is a row with its reason.

    Args:
        model: File and function, or what was saved, as for `decide_file`.
        quiet: Whether to print no lines of progress.
        options: Options of `decide` that JSON can hold, in place of the file's.

    Returns:
        A `Rivals`, which shows itself as a table.

    Raises:
        ValueError: For a file that cannot be judged, and where the graph fails.
    """
    file, name = parts_of(str(model))
    return race(file, name, options, jax_environment(), (lambda line: None) if quiet else _tell)


def _tell(line):
    print(f"rivals: {line}", flush=True)


def jax_environment() -> dict[str, str] | None:
    """Environment variables of a process in which Keras runs on JAX, on the processor.

    Returns:
        None where JAX is not installed.
    """
    folder = packages_folder()
    if folder is None and importlib.util.find_spec("jax") is None:
        return None
    path = os.pathsep.join(filter(None, [str(folder or ""), os.environ.get("PYTHONPATH", "")]))
    return {"KERAS_BACKEND": "jax", "JAX_PLATFORMS": "cpu", "PYTHONPATH": path}


def _given(objections):
    return {label: why for label, why in objections.items() if why}


def parts_of(model: str) -> tuple[Path, str]:
    """The file, and the name of its function, or of a signature, or "".

    Raises:
        ValueError: Where there is no such file, or no function.
    """
    if is_saved(Path(model)):
        return Path(model).absolute(), ""  # a link keeps its suffix
    file, colon, name = model.rpartition(":")
    if colon and is_saved(Path(file)):
        return Path(file).absolute(), name
    if Path(file or name).suffix == ".ipynb":
        notebook = file or name
        raise ValueError(f"{notebook!r} is a notebook: put what returns the model into a file")
    if not colon and Path(name).is_file():
        raise ValueError(f"no function for {model!r}: name one, such as {model}:make")
    if not Path(file).is_file():
        is_saved_one = not colon and Path(name).suffix in ("", ".keras")
        hint = "" if is_saved_one else ": write my_model.py:make"
        raise ValueError(f"no file for {model!r}{hint}")
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


def _compared_with_same_numbers(file, name, options, found):
    """The finding, with results compared in a process in which both draw the same numbers."""
    start = time.perf_counter()
    try:
        report = ask(file, name, options, "the comparison", SAME_NUMBERS)["same_numbers"]
    except ValueError as error:
        report = {
            "differs": "",
            "not compared": f"{found.not_compared['XLA']} (and with stand-ins for them, {error})",
        }
    print(f"the same random numbers for both: {time.perf_counter() - start:.0f} s", flush=True)
    if why := report["not compared"]:
        return replace(found, not_compared=found.not_compared | {"XLA": why})
    rest = {label: why for label, why in found.not_compared.items() if label != "XLA"}
    note = "XLA draws other random numbers. Results were compared where both draw the same ones."
    return replace(
        found,
        not_compared=rest,
        objections=found.objections | {"XLA": found.objections["XLA"] or report["differs"]},
        notes=(note, *found.notes),
    )
