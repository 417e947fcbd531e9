"""Decide whether XLA pays for a model of yours: one page, and the same as JSON, in build/decide."""

import argparse
import inspect
import math
import os
import re
import shlex
import statistics
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import jinja2
from decision_file import in_json
from markupsafe import Markup, escape

import xla_decide as xd
import xla_helpers as xh
from xla_decide.words import gain_in_words
from xla_helpers.ratios import digits

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "tools" / "page" / "decision.html.j2"
PLANS = (1, 100, 10_000, 1_000_000)  # calls, for the table of other plans
CODES = """exit codes:
  0 the page is there, and what was expected came out; 1 another verdict, or it failed;
  2 words that make no sense; 3 XLA was expected, and its results were not compared"""
PACKAGES = """packages of yours: .venv/bin/uv pip install ...; Keras 2: TF_USE_LEGACY_KERAS=1"""


def forms():
    """The forms of an example, from the docstring of `decide`."""
    doc = inspect.getdoc(xd.decide)
    (found,) = re.findall(r"(?s)Forms of an example:\n(.*?)\n\n", doc)
    return f"forms of an example call:\n{inspect.cleandoc(found)}"


def new_parser():
    """The options, with their help."""
    shown = argparse.RawDescriptionHelpFormatter
    epilog = "\n\n".join([forms(), PACKAGES, CODES])
    top = argparse.ArgumentParser("decide", None, __doc__, epilog, formatter_class=shown)
    top.add_argument("model", metavar="FILE:FUNCTION", help="returns a model and example calls")
    top.add_argument("--calls", type=int, help="how many there will be (10000, or the file's)")
    top.add_argument("--runs", type=int, default=6, help="processes: 1, or at least 6 (6)")
    top.add_argument("--budget", type=float, help="seconds of each process for calls (10)")
    top.add_argument("--min-speedup", type=float, help="what makes XLA worth it (1.05)")
    top.add_argument("--tolerance", type=float, help="relative difference of results (0.0001)")
    same = "the calls to come are the examples, again and again; or new shapes keep coming"
    top.add_argument("--repeats", action=argparse.BooleanOptionalAction, help=same)
    cards = [card.name for card in xd.targets().cards]
    compiled = "compile for this GPU, without one; may be repeated (T4, A100 and H100)"
    top.add_argument(
        "--target", action="append", choices=cards, type=str.upper, help=compiled, metavar="GPU"
    )
    only = "compile for GPUs, and race nothing: an example may be a tf.TensorSpec"
    top.add_argument("--compile-only", action="store_true", help=only)
    top.add_argument("--expect", choices=["graph", "XLA"], help="end with 1 for another verdict")
    return top


def main(words):
    """Decide what the words ask for, those in WORDS first. Returns: an exit code, as in `CODES`."""
    top = new_parser()
    try:
        options = vars(top.parse_args([*shlex.split(os.environ.get("WORDS", "")), *words]))
    except ValueError as error:  # a quotation that does not end
        top.error(str(error))
    model, expect, target, only_compiled = (
        options.pop(name) for name in ("model", "expect", "target", "compile_only")
    )
    file, _, function = model.rpartition(":")
    if not Path(file).is_file():
        is_file = not file and Path(function).is_file()
        top.error(f"no {'function' if is_file else 'file'} for {model!r}; write my_model.py:make")
    if only_compiled:
        programs, why = compiled_for(model, target)
        print(in_lines(programs, why))
        return 1 if why else 0
    page = ROOT / "build" / "decide" / f"{Path(file).stem}-{function}.html"
    for path in (page, page.with_suffix(".json")):
        path.unlink(missing_ok=True)
    try:
        given = {name: value for name, value in options.items() if value is not None}
        decision = xd.decide_file(model, **given)
    except ValueError as error:
        print(f"decide: {error}", file=sys.stderr)
        return 1
    programs, why = compiled_for(model, target)
    keep(page, f"{Path(file).name}:{function}", decision, programs, why)
    print(decision.verdict, in_lines(programs, why), f"open {page.relative_to(ROOT)}", sep="\n")
    return code_of(decision, expect)


def keep(page, name, decision, programs, why):
    """Write the page, and the same as JSON beside it."""
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(written(decision, name, programs, why), encoding="utf-8")
    as_json = in_json(decision, name, answer(decision)[0], programs, why)
    page.with_suffix(".json").write_bytes(as_json)


def compiled_for(model, target):
    """The programs for GPUs that are not there, and why there are none, or ""."""
    try:
        return xd.compile_file(model, **({"target": target} if target else {})), ""
    except ValueError as error:
        return (), f"Not compiled for GPUs: {error}"


def in_lines(programs, why):
    """A line for each program, or why there are none."""
    return why or "\n".join(program.title for program in programs)


def code_of(decision, expect):
    """The exit code, where one verdict was expected or none; an error says what is wrong."""
    if not expect or (decision.choice.startswith(expect) and decision.label == decision.choice):
        return 0
    if decision.choice.startswith(expect):
        print(f"decide: {expect} was expected, and its results not compared", file=sys.stderr)
        return 3
    print(f"decide: {expect} was expected", file=sys.stderr)
    return 1


def written(decision, model, programs=(), why=""):
    """The page about a decision, as HTML, with what was compiled for GPUs, or why nothing was."""
    gains = {label: decision.gains_of(label) for label in decision.gains}
    ends = [1.0, decision.min_speedup, *(gain for own in gains.values() for gain in own)]
    low, high = math.log(min(ends) / 1.1), math.log(max(ends) * 1.1)
    others = {calls: replace(decision, calls=calls).label for calls in PLANS if gains}
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    environment.filters["code"] = with_code
    head, sums = answer(decision)
    return environment.from_string(PAGE.read_text(encoding="utf-8")).render(
        model=model,
        decision=decision,
        head=head,
        sums=sums,
        tiles=tiles(decision),
        reason=reason(decision),
        programs=programs,
        why=why,
        si=xh.format_si,
        day=date.today().isoformat(),
        gains=gains,
        place=lambda gain: f"{100 * (math.log(gain) - low) / (high - low):.1f}%",
        plans={calls: label or "undecided" for calls, label in others.items()},
    )


def with_code(text):
    """A text as HTML, with what stands between backticks as code."""
    return Markup(re.sub("`([^`]+)`", r"<code>\1</code>", str(escape(text))))


def answer(decision):
    """A verdict in a sentence, for somebody who asks no more than that, and what explains it.

    The second is "" where `tiles` say it.
    """
    label, gains = decision.subject, decision.gains
    if decision.inconclusive:
        return "No verdict.", f"{decision.inconclusive[0].upper()}{decision.inconclusive[1:]}."
    if label not in gains:
        objection = f"{label} {decision.objections[label]}."
        return "No: keep the graph.", f"{objection}{_would(decision, label)}"
    if decision.has_two_sums and not decision.choice:
        return "It depends on your calls.", f"{label} is {gain_in_words(decision, label)}."
    head = "No: keep the graph." if decision.choice else "Not decided."
    if decision.choice == label:
        use = "switch XLA on (jit_compile=True)" if label == "XLA" else f"use “{label}”"
        unsure = ", if you trust its results, which were not compared"
        head = f"Yes: {use}{unsure if label in decision.not_compared else ''}."
    return head, ""


def _would(decision, label):
    """How fast a candidate would be that was raced and that nobody should choose."""
    if not all(label in found.costs for found in decision.findings):
        return ""
    return f" It would be {_times(decision.gain(label))}."


def _times(gain):
    low, high = map(digits, gain.ends)
    return f"{low} to {high} times as {'fast' if gain.value >= 1 else 'slow'}"


def tiles(decision):
    """What the answer rests on: a name, a value and a remark each; [] where there is no sum."""
    label = decision.subject
    if label not in decision.gains or (decision.has_two_sums and not decision.choice):
        return []
    graph, mine = (
        xh.format_si(statistics.median(found.costs[x].call for found in decision.findings), "s")
        for x in ("graph", label)
    )
    processes, needed = len(decision.findings), decision.break_even_calls(label)
    where = "in one process" if processes == 1 else f"over {processes} processes"
    asked = f"{where}, first calls included; {decision.min_speedup} times was asked for"
    repaid = "never repaid" if math.isinf(needed) else f"repaid after {needed:,.0f} calls"
    compared = "not compared" if label in decision.not_compared else "agree"
    return [
        ("A call", f"{graph} → {mine}", f"in the graph and with {label}"),
        (f"All {decision.calls:,} calls", _times(decision.gains[label]), asked),
        ("First calls", repaid, "as far as they take longer than the graph's"),
        ("Results", compared, "with the graph's, on the example calls"),
    ]


def reason(decision):
    """Why, in a sentence; "" where nobody knows."""
    label = decision.subject
    if label in decision.gains and label in decision.not_compared:
        return f"Results were not compared: {decision.not_compared[label]}."
    return next((x.why for x in decision.findings if x.why and decision.choice != label), "")


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        sys.exit(f"decide: {error}")
