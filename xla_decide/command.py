"""The command `xla-decide`: does XLA pay for a model of yours? One page, and the same as JSON."""

import argparse
import inspect
import re
import shlex
import sys
from pathlib import Path

import msgspec

from .decision_file import in_json
from .gpu.targets import targets
from .in_memory import decide
from .in_processes import compile_file, decide_file, parts_of, race_rivals
from .page import answer, html_of

FOLDER = "xla-decide"  # below the one where one stands
KERAS_2 = "Keras 2: TF_USE_LEGACY_KERAS=1 before the command"
CODES = """exit codes:
  0 the page is there, and what was expected came out; 1 another verdict, or it failed;
  2 arguments it cannot read; 3 XLA was expected, but its results were not compared"""


def run() -> None:
    """Decide what the command line asks for, and end the process with an exit code."""
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        sys.exit(f"xla-decide: {error}")


def main(words: list[str]) -> int:
    """Decide what the words ask for.

    Args:
        words: What follows the name of the command.

    Returns:
        An exit code, as in `CODES`.

    Raises:
        SystemExit: For `--help`, and for words that make no sense.
    """
    parser = _parser()
    options = vars(parser.parse_args(words))
    model, expect, target, only_compiled = (
        options.pop(name) for name in ("model", "expect", "target", "compile_only")
    )
    try:
        parts_of(model)
    except ValueError as error:
        parser.error(str(error))
    if only_compiled:
        programs, why = compiled_for(model, target, options)
        print(_in_lines(programs, why))
        return 1 if why else 0
    try:
        decision = _decided(model, options, target, shlex.join(["xla-decide", *words]))
    except ValueError as error:
        print(f"xla-decide: {error}", file=sys.stderr)
        return 1
    return code_of(decision, expect)


def _decided(model, options, target, command):
    """Decide, compile for GPUs, race other runtimes, and write and print what came out."""
    file, function = parts_of(model)
    title = ":".join(filter(None, [file.name, function]))
    page = Path(options.pop("out"), "-".join(filter(None, [file.stem, function])) + ".html")
    before = _verdict_in(page.with_suffix(".json"))
    for path in (page, page.with_suffix(".json")):
        path.unlink(missing_ok=True)
    with_rivals = options.pop("rivals")
    given = {name: value for name, value in options.items() if value is not None}
    decision = decide_file(model, **given)
    programs, why = compiled_for(model, target, options)
    rivals, no_rivals = raced_with(model, given) if with_rivals else (None, "")
    both = {"rivals": rivals, "no_rivals": no_rivals}
    text = html_of(decision, title, programs, why, command=command, before=before, **both)
    as_json = in_json(decision, title, answer(decision)[0], programs, why, **both)
    _write(page, text, as_json)
    lines = [decision.verdict, _in_lines(programs, why), *_rival_lines(rivals, no_rivals)]
    print(*lines, f"open {page}", sep="\n")
    return decision


def _write(page, text, as_json):
    """Write the page, and the same as JSON beside it."""
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(text, encoding="utf-8")
    page.with_suffix(".json").write_bytes(as_json)


def _parser():
    """The options, with their help."""
    shown = argparse.RawDescriptionHelpFormatter
    top = argparse.ArgumentParser(
        "xla-decide",
        "xla-decide MODEL [options]  (--help lists them)",
        __doc__,
        f"{_forms()}\n\n{KERAS_2}\n\n{CODES}",
        formatter_class=shown,
    )
    top.add_argument(
        "model", metavar="MODEL", help="FILE:FUNCTION, which returns a model and example calls; or "
        "a .keras file; or the folder of a SavedModel, perhaps with :SIGNATURE"
    )  # fmt: skip
    top.add_argument("--calls", type=int, help="how many there will be (10000, or the file's)")
    top.add_argument("--runs", type=int, default=6, help="processes: 1, or at least 6 (6)")
    top.add_argument("--budget", type=float, help="seconds of each process for calls (10)")
    top.add_argument("--min-speedup", type=float, help="what makes XLA worth it (1.05)")
    top.add_argument("--tolerance", type=float, help="relative difference of results (0.0001)")
    same = "the calls to come are the examples, again and again; or new shapes keep coming"
    top.add_argument("--repeats", action=argparse.BooleanOptionalAction, help=same)
    cards = [card.name for card in targets().cards]
    compiled = "compile for this GPU, without one; may be repeated (T4, A100 and H100)"
    top.add_argument(
        "--target", action="append", choices=cards, type=str.upper, help=compiled, metavar="GPU"
    )
    only = "compile for GPUs, and race nothing: an example may be a tf.TensorSpec"
    top.add_argument("--compile-only", action="store_true", help=only)
    others = "race it in LiteRT, ONNX Runtime, OpenVINO and Keras on JAX, too, where they are there"
    top.add_argument("--rivals", action="store_true", help=others)
    rows = "rows of the calls that are made up for a saved model (1 8 32)"
    top.add_argument("--batches", type=int, nargs="+", metavar="ROWS", help=rows)
    top.add_argument("--below", type=int, help="a saved model's whole numbers are drawn below this")
    top.add_argument("--expect", choices=["graph", "XLA"], help="end with 1 for another verdict")
    where = f"folder of the page and the JSON ({FOLDER})"
    top.add_argument("--out", default=FOLDER, metavar="FOLDER", help=where)
    return top


def _forms():
    """The forms of an example, from the docstring of `decide`."""
    (found,) = re.findall(r"(?s)Forms of an example:\n(.*?)\n\n", inspect.getdoc(decide) or "")
    return f"forms of an example call:\n{inspect.cleandoc(found)}"


def compiled_for(model: str, target: list[str] | None, options: dict) -> tuple:
    """The programs for GPUs that are not there, and why there are none, or ""."""
    asked = {"target": target} | {name: options.get(name) for name in ("batches", "below")}
    try:
        return compile_file(model, **{x: value for x, value in asked.items() if value}), ""
    except ValueError as error:
        return (), f"Not compiled for GPUs: {error}"


def raced_with(model: str, options: dict) -> tuple:
    """The race with other runtimes, and why there is none, or ""."""
    own = {x: value for x, value in options.items() if x != "runs"}
    try:
        return race_rivals(model, **own), ""
    except ValueError as error:
        return None, f"Not raced in other runtimes: {error}"


def _rival_lines(rivals, why):
    """A line for each other runtime, or why there are none."""
    if rivals is None:
        return [why] if why else []
    found = rivals.comparison
    raced = [
        f"{row.label}: {found.ratio(row.label)}, results {row.results}"
        for row in rivals.rows[1:]
        if row.call
    ]
    return [*raced, *(f"{label}: {reason}" for label, reason in rivals.not_raced.items())]


def _in_lines(programs, why):
    """A line for each program, or why there are none."""
    return why or "\n".join(program.title for program in programs)


class _Before(msgspec.Struct):
    """What is read of a decision that stood there before."""

    day: str
    verdict: str


def _verdict_in(path):
    """The day and the verdict of a decision in a file; "" where there is none."""
    try:
        found = msgspec.json.decode(path.read_bytes(), type=_Before)
    except (OSError, msgspec.DecodeError):
        return ""
    return f"on {found.day}: {found.verdict}"


def code_of(decision, expect: str | None) -> int:
    """The exit code, where one verdict was expected or none; an error says what is wrong."""
    if not expect or (decision.choice.startswith(expect) and decision.label == decision.choice):
        return 0
    if decision.choice.startswith(expect):
        print(f"xla-decide: {expect} was expected, but results were not compared", file=sys.stderr)
        return 3
    print(f"xla-decide: {expect} was expected", file=sys.stderr)
    return 1
