"""The choice: the graph, XLA, XLA after padding, XLA for a part, or undecided, in three lines."""

import math
from collections.abc import Mapping
from dataclasses import dataclass

from ..results import Result
from ..tables import counted
from .caveats import measured_on, not_tested
from .costs import Costs
from .findings import PADDED, Findings, label_of_part
from .standing import (
    covered_calls,
    graph_fails,
    nothing_ran,
    refused,
    runs_inside,
    standings,
)

ALIKE = 1.05  # what raced against itself: from here on an idle machine would help
BUSY = 0.5  # cores of other work, from which on the same holds
ENOUGH = 3  # processes that show how far they lie apart


@dataclass(frozen=True)
class Choice:
    """What to use, by what is known.

    label: "graph" or that of a candidate, "" for undecided. lines: three, to paste: the choice with
    its numbers; what they were measured on; what was not tested, and what to mind. reasons: how
    each candidate stands, in a sentence.
    """

    label: str
    lines: tuple[str, str, str]
    reasons: tuple[str, ...] = ()


def judge(findings: Findings, races: Mapping[int, Result]) -> Choice:
    """Choose by what is known, and say it in three lines.

    A candidate is XLA, XLA after padding, or the graph of which one layer is compiled. Eager mode
    is none. What counts is `Costs.gain`: how many times faster than the graph all calls of the
    plan are, first calls included, in an interval that holds how far a run was from itself and how
    far the runs lay apart.

    A candidate wins when the low end reaches `findings.floor`. Of several the one with the largest
    gain is chosen, and where the interval of a simpler one overlaps, that one. The graph is chosen
    when no candidate can gain as much: the high end is at most the floor, or it cannot be used,
    because XLA refuses it, does not come to an end, or gives another result. All else is undecided:
    an interval on both sides of the floor, shapes raced for less than half of the calls, a row that
    did not run what it is called, a graph that fails, a run that was not finished.
    """
    costs = Costs(findings, races)
    known = findings.plan is not None and not findings.unfinished
    stand = standings(findings, races, costs) if known else ()
    label, line = _chosen(findings, races, costs, stand)
    lines = (line, measured_on(findings, races, costs), not_tested(findings, races, costs, label))
    return Choice(label, lines, tuple(f"{one.label} {one.why.rstrip('.')}." for one in stand))


def _chosen(findings, races, costs, stand):
    """The label, and the first line."""
    nothing = _nothing_known(findings, races)
    if nothing:
        late = findings.plan is not None and _late(findings, "first calls, graph")
        return "", _to_decide(nothing, ["a larger budget"] if late else [])
    if any(one.how == "wins" for one in stand):
        return _winner(findings, races, costs, stand)
    if any(one.how in ("open", "unknown") for one in stand):
        return "", _undecided(findings, races, costs, stand)
    return "graph", _graph(findings, races, costs, stand)


def _nothing_known(findings, races):
    """Why there is nothing to choose by, in a clause; "" when there is something."""
    if findings.unfinished:
        return "not finished"
    if findings.plan is None:
        return "it was not called"
    if graph_fails(findings):
        return graph_fails(findings)
    return "the row called graph ran nothing of TensorFlow" if nothing_ran(races) else ""


def _late(findings, part):
    """Whether a part had too little time."""
    end = findings.end_of(part)
    return end is not None and end.how in ("time", "left out")


# A candidate wins


def _winner(findings, races, costs, stand):
    winners = [one for one in stand if one.how == "wins"]
    best = max(winners, key=lambda one: one.gain.value)
    alike = [one for one in winners if one.gain.high >= best.gain.low]
    chosen, *others = alike
    said = [_over(findings, races, costs, chosen), *_repaid(costs, chosen.label)]
    if others:
        said.append(f"as far as this can tell, {_names(others)} may gain as much")
    said += _each_once(one for one in stand if one.how == "out" and one.label == "XLA")
    return chosen.label, f"{_head(findings, chosen.label)}: {'; '.join(said)}."


def _head(findings, label):
    if label == PADDED:
        return f"XLA after padding ({findings.plan.pad})" if findings.plan.pad else label
    if label == label_of_part(findings):
        return f"{label} alone, and the graph for the rest"
    return label


def _over(findings, races, costs, one):
    gain = one.gain.as_ratio().against(_graph_name(races))
    return f"{_calls(findings, costs)} {gain}, first calls included"


def _repaid(costs, label):
    repaid = costs.repaid(label)
    if repaid is None:
        yield "not clearly faster per call"
    elif not math.isfinite(repaid.high):
        yield "when it is repaid is not known"
    elif not repaid.high:
        yield "it costs no more once than the graph does"
    else:
        low, value, high = map(_number, (repaid.low, repaid.value, repaid.high))
        yield f"repaid after {value} {'call' if value == '1' else 'calls'} [{low}, {high}]"


# The graph is chosen, or nothing


def _graph(findings, races, costs, stand):
    said = [_loses(findings, races, costs, one) for one in stand if one.how == "loses"]
    said += _each_once(one for one in stand if one.how == "out")
    return f"graph: {'; '.join([*said, *_no_part(findings)])}."


def _loses(findings, races, costs, one):
    """Slower, or too little gained, or not repaid within the plan."""
    gain = one.gain.as_ratio().against(_graph_name(races))
    said = [f"{_calls(findings, costs)} {one.label} is {gain}, first calls included"]
    if one.gain.high > 1:
        said.append(f"less than the {findings.floor:.4g}x that was asked for")
    if _faster_per_call(findings, costs, one):
        said += [f"though per call it is faster, {words}" for words in _repaid(costs, one.label)]
    return ", ".join(said)


def _faster_per_call(findings, costs, one):
    """By as much as was asked for, and clearly so: a floor may be below 1."""
    asked = costs.relied(one.label).low >= findings.floor
    return asked and costs.repaid(one.label) is not None


def _each_once(stand):
    """Label and reason; what is said of one candidate already is not said of the next."""
    reasons = {}
    for one in stand:
        reasons.setdefault(one.why, f"{one.label} {one.why}")
    return list(reasons.values())


def _no_part(findings):
    """That no layer was compiled alone, where the whole is refused and one was looked for."""
    end = findings.end_of("inside")
    if refused(findings) and end and end.how == "finished" and findings.inside is None:
        yield "no layer was compiled alone"


def _undecided(findings, races, costs, stand):
    opened = [one for one in stand if one.how == "open"]
    said = [_open(findings, races, costs, one) for one in opened]
    said += _each_once(one for one in stand if one.how in ("unknown", "out"))
    return _to_decide("; ".join(said), _what_would_decide(findings, costs, opened))


def _to_decide(why, would):
    line, would = f"Undecided: {why}.", list(dict.fromkeys(would))
    return f"{line} To decide it: {', or '.join(would)}." if would else line


def _open(findings, races, costs, one):
    gain = one.gain.as_ratio().against(_graph_name(races))
    asked = f"at least {findings.floor:.4g}x was asked for"
    return f"{_calls(findings, costs)} {one.label} is {gain}, first calls included, where {asked}"


def _what_would_decide(findings, costs, opened):
    """What would move an interval, make it narrower, or show more of the plan."""
    if not opened and (_late(findings, "race 1") or 0 < costs.covered < 1):
        yield "a larger budget"
    if not opened:
        return
    faster = [one for one in opened if _faster_per_call(findings, costs, one)]
    name = len(faster) > 1
    repaid = [
        f"{one.label} is {words}" if name else words
        for one in faster
        for words in _repaid(costs, one.label)
    ]
    if repaid:
        yield f"more calls ({', '.join(repaid)})"
    if not findings.isolated:
        yield 'processes of its own, for which it takes a text such as "module:name"'
    elif costs.runs < ENOUGH:
        yield f"a larger budget, for races in {ENOUGH} processes"
    busy = max((cores or 0.0 for cores in findings.load), default=0.0)
    if busy >= BUSY or costs.noise >= ALIKE:
        yield "an idle machine"


# Words


def _graph_name(races):
    programs = runs_inside(races)
    own = f" (which itself runs {counted(programs, 'program')} of XLA)" if programs else ""
    return f"the graph{own}"


def _calls(findings, costs):
    shapes = len(costs.shapes)
    of = f" of {counted(shapes, 'shape')}" if shapes > 1 else ""
    if covered_calls(findings, costs) == findings.calls:
        return f"over {counted(findings.calls, 'call')}{of}"
    raced = f"{covered_calls(findings, costs):,} of {counted(findings.calls, 'call')}"
    return f"over the {raced} whose shapes were raced"


def _number(calls):
    return f"{float(f'{calls:.3g}'):,.0f}"


def _names(stand):
    return " and ".join(one.label for one in stand)
