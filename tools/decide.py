"""Decide whether XLA pays for a model of yours, and write one page about it into build/decide."""

import argparse
import math
import os
import shlex
import statistics
import sys
from dataclasses import replace
from datetime import date
from pathlib import Path

import jinja2

import xla_helpers as xh

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "tools" / "page" / "decision.html.j2"
PLANS = (1, 100, 10_000, 1_000_000)  # calls, for the table of other plans


def main(words):
    """Decide what the words ask for, those in WORDS first. Returns: the exit code.

    0: the page is there, and what was expected came out; 1: something else, or it failed. Words
    that make no sense end it with 2, before anything runs.
    """
    top = argparse.ArgumentParser(prog="decide", description=__doc__)
    top.add_argument("model", metavar="FILE:FUNCTION", help="returns a model and example calls")
    top.add_argument("--calls", type=int, help="how many there will be (10000, or the file's)")
    top.add_argument("--runs", type=int, default=6, help="processes: 1, or at least 6 (6)")
    top.add_argument("--budget", type=float, help="seconds of each process for races (20)")
    top.add_argument("--min-speedup", type=float, help="what makes XLA worth it (1.05)")
    top.add_argument("--tolerance", type=float, help="relative difference of results (0.0001)")
    top.add_argument("--expect", choices=["graph", "XLA"], help="end with 1 for another verdict")
    try:
        options = vars(top.parse_args([*shlex.split(os.environ.get("WORDS", "")), *words]))
    except ValueError as error:  # a quotation that does not end
        top.error(str(error))
    model, expect = options.pop("model"), options.pop("expect")
    file, _, function = model.rpartition(":")
    if not Path(file).is_file():
        top.error(f"no file for {model!r}; write MODEL=my_model.py:make")
    page = ROOT / "build" / "decide" / f"{Path(file).stem}-{function}.html"
    page.unlink(missing_ok=True)
    try:
        given = {name: value for name, value in options.items() if value is not None}
        decision = xh.decide_file(model, **given)
    except ValueError as error:
        print(f"decide: {error}", file=sys.stderr)
        return 1
    page.parent.mkdir(parents=True, exist_ok=True)
    page.write_text(written(decision, f"{Path(file).name}:{function}"), encoding="utf-8")
    print(decision.verdict, f"open {page.relative_to(ROOT)}", sep="\n")
    if expect and not decision.label.startswith(expect):
        print(f"decide: {expect} was expected", file=sys.stderr)
        return 1
    return 0


def written(decision, model):
    """The page about a decision, as HTML."""
    gains = {label: decision.gains_of(label) for label in decision.gains}
    ends = [1.0, decision.min_speedup, *(gain for own in gains.values() for gain in own)]
    low, high = math.log(min(ends) / 1.1), math.log(max(ends) * 1.1)
    others = {calls: replace(decision, calls=calls).label for calls in PLANS if gains}
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    return environment.from_string(PAGE.read_text(encoding="utf-8")).render(
        model=model,
        decision=decision,
        answer=answer(decision),
        day=date.today().isoformat(),
        gains=gains,
        place=lambda gain: f"{100 * (math.log(gain) - low) / (high - low):.1f}%",
        plans={calls: label or "undecided" for calls, label in others.items()},
    )


def answer(decision):
    """A verdict for somebody who asks no more than whether to switch XLA on."""
    label, gains = decision.subject, decision.gains
    if label not in gains:
        head = "No verdict" if decision.inconclusive else "No: keep the graph"
        return f"{head}: {decision.inconclusive or f'{label} {decision.objections[label]}'}."
    gain, first, processes = gains[label], decision.findings[0], len(decision.findings)
    head = "Not decided" if not decision.label else "No: keep the graph"
    if decision.label == label:
        head = f"Yes: {'switch XLA on (jit_compile=True)' if label == 'XLA' else f'use “{label}”'}"
    calls = [
        statistics.median(f.costs[x].call for f in decision.findings) for x in ("graph", label)
    ]
    before, after = (xh.format_si(seconds, "s") for seconds in calls)
    ends = (gain.low, gain.high) if gain.value >= 1 else (1 / gain.high, 1 / gain.low)
    low, high = (f"{end:.2f}" if end < 10 else f"{end:.0f}" for end in ends)
    times = f"{low} to {high} times as {'fast' if gain.value >= 1 else 'slow'}"
    where = "in one process" if processes == 1 else f"over {processes} processes"
    if not gain.has_interval:
        times = "too few processes to say how much"
    said = f"{head}. {before} → {after} a call with {label}"
    if first.costs[label].new > len(first.shapes):
        cost = first.costs[label]
        said += f", but {cost.new} of {cost.examples} example calls trace or compile first"
    said += f"; all {decision.calls:,} calls that were assumed are {times} {where}"
    if gain.value >= 1 and decision.label != label:
        return f"{said}, and {decision.min_speedup} times was asked for."
    needed = decision.break_even_calls(label)
    return f"{said}." if math.isinf(needed) else f"{said}; repaid after {needed:,.0f} of them."


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
    except OSError as error:
        sys.exit(f"decide: {error}")
