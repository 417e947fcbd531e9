"""What was timed, as sections of the page: speed, and the first calls."""

from collections.abc import Mapping
from dataclasses import replace

from ..modes import mode_of
from ..tables import Seconds, counted, format_seconds
from .costs import Costs
from .findings import PADDED, Findings
from .markdown import Markdown, fill, table
from .sections import unlike
from .standing import covered_calls
from .wording import (
    arguments,
    arguments_of,
    calls_of,
    seconds_of,
    shapes_of,
    share,
    the,
    why_nothing,
)

SHAPES = 10  # shapes that have rows of their own
NOT_SEEN = "not seen"


def speed(findings: Findings, races: Mapping, picture: Markdown) -> Markdown:
    """How each candidate stands to the graph, for each shape and over the plan."""
    costs = Costs(findings, races)
    numbers = findings.plan.most_frequent(costs.shapes) if findings.plan else []
    more = len(numbers) - SHAPES
    return fill(
        "speed",
        costs=bool(costs.labels),
        why=why_nothing(findings, "race 1"),
        over_the_plan=_over_the_plan(costs),
        covered=_covered(costs),
        unlike=_unlike(costs, races),
        picture=picture,
        shapes=_speeds(findings, races, costs, numbers[:SHAPES]),
        more=counted(more, "shape") + " that are less frequent" if more > 0 else "",
        alone=len(costs.labels) == 1,
        reading=_reading(costs, races),
        noise=_noise(costs),
        eager=_eager(findings, races, numbers),
    )


def _over_the_plan(costs):
    return [
        {"label": label, "ratio": costs.ratio(label).as_ratio(costs.noise).against("the graph")}
        for label in costs.labels
        if label != "graph"
    ]


def _unlike(costs, races):
    """Which rows did not run what they are called."""
    found = [(label, unlike(races[n].runs, label)) for label in costs.labels for n in costs.shapes]
    return list(dict.fromkeys(f"the row {label} is {why}" for label, why in found if why))


def _covered(costs):
    if round(costs.covered, 6) == 1:
        return "the whole plan"
    return f"the {share(costs.covered)} of the plan's calls whose shapes were raced"


def _speeds(findings, races, costs, numbers):
    heads = ["shape", "of the calls", "", "per call", "against the graph", "medians"]
    rows = []
    for number in numbers:
        runs = [run for run in races[number].runs if "graph" in run.measurements]
        labels = dict.fromkeys(label for run in runs for label in run.measurements)
        shape = arguments(findings.plan.shapes[number].arguments)
        part = share(findings.plan.share(number))
        for label in ("graph", *(x for x in labels if x not in ("graph", "eager"))):
            first = [shape, part] if label == "graph" else ["", ""]
            rows.append([*first, *_speed(costs, races[number], number, label)])
    return table(heads, rows)


def _speed(costs, result, number, label):
    if label not in costs.labels:
        return _in_last_run(result, label)
    seconds = Seconds(costs.seconds(label, number).value)
    if label == "graph":
        return [label, seconds, "", ""]
    ratio = costs.times(label, number).as_ratio(costs.noise)
    return [label, seconds, repr(ratio), _medians(result, label, ratio)]


def _in_last_run(result, label):
    """Of what was not timed at every shape: it stands here alone, and not in what is weighted."""
    run = [run for run in result.runs if {label, "graph"} <= set(run.measurements)][-1]
    return [label, Seconds(run[label].median), repr(run.ratio(label, "graph")), "the last run"]


def _medians(result, label, ratio):
    """How far the medians of several runs lie apart, where there is a difference at all."""
    between = result.between_runs(label, "graph")
    if between is None:
        return "one run"
    return repr(between) if ratio.clear else counted(len(between.ratios), "run")


def _reading(costs, races):
    words = (
        "In a run, a ratio is the median of its rounds, in which the candidates took turns; of "
        "several runs, the median of theirs."
    )
    if PADDED in costs.labels:
        words += f' That of "{PADDED}" counts padding, and cutting the result, too.'
    alone = sum(len(races[shape].runs) == 1 for shape in costs.shapes)
    if alone:
        of = f" of {counted(alone, 'shape')}" if alone < len(costs.shapes) else ""
        return f"{words} There was one run{of}, in one process: another may be further off."
    runs = f"all runs, {costs.runs} of a shape at the least, each in a process of its own"
    return f"{words} Its interval reaches over {runs}."


def _noise(costs):
    if not costs.itself:
        return "Nothing was raced against itself, so how much of this is noise is not known."
    words = f"In the same rounds, {the(costs.itself)} was raced against itself: up to"
    return f"{words} {costs.noise:.2f}x apart. A ratio that is as close to 1 says nothing."


def _eager(findings, races, numbers):
    """What eager mode took, as a footnote, for the most frequent shape at which it was timed."""
    for number in numbers:
        runs = [run for run in races[number].runs if {"eager", "graph"} <= set(run.measurements)]
        if runs and not unlike(runs, "eager"):
            eager, graph = (format_seconds(runs[-1][x].median) for x in ("eager", "graph"))
            shape = arguments(findings.plan.shapes[number].arguments)
            return f"Eager mode, a footnote: {eager} per call for {shape}; the graph, {graph}."
    return ""


def first_calls(findings: Findings, races: Mapping, picture: Markdown) -> Markdown:
    """What the first call of each program took, and when that is repaid."""
    costs = Costs(findings, races)
    rows, more = _first_rows(findings)
    heads = ["", "shape", "first call", "tracing", "compiling", "traces", "programs", "note"]
    return fill(
        "first_calls",
        first=table(heads, rows),
        isolated=findings.isolated,
        more=counted(more, "shape") if more else "",
        why=why_nothing(findings, "first calls, graph"),
        charged=[_charged(first) for first in findings.first if _is_charged(first)],
        picture=picture,
        calls=_calls(findings, costs),
        totals=_totals(findings, costs),
        no_totals=why_nothing(findings, "race 1"),
        repaid=[_repaid(findings, costs, label) for label in costs.labels if label != "graph"],
    )


def _first_rows(findings):
    """A row for each of the first programs of each candidate, a sum, and how many have none."""
    rows, more = [], 0
    for first in findings.first:
        calls = first.calls if len(first.calls) <= SHAPES + 2 else first.calls[:SHAPES]
        more = max(more, len(first.calls) - len(calls))
        rows += [_first_row(findings, first, call) for call in calls]
        if len(first.calls) > 1:
            rows.append(_sum(first))
    return rows, more


def _first_row(findings, first, call):
    shape = arguments_of(findings, first.label, call.shape)
    return [first.label, shape, *_costs(first, [call]), call.error]


def _sum(first):
    return [first.label, f"all {len(first.calls)}", *_costs(first, first.calls), ""]


def _costs(first, calls):
    """What calls took and caused; compilations are not known where none was seen at all."""
    names = ("seconds", "trace_seconds", "compile_seconds", "traces", "compilations")
    sums = (sum(getattr(call, name) for call in calls) for name in names)
    seconds, tracing, compiling, traces, programs = sums
    made = [Seconds(compiling), int(programs)]
    if mode_of(first.label) == "XLA" and not any(call.compilations for call in first.calls):
        made = [NOT_SEEN, NOT_SEEN]
    return [Seconds(seconds), Seconds(tracing), made[0], traces, made[1]]


def _is_charged(first):
    """Eager mode stands beside the plan, and an error costs nothing that could be repaid."""
    return first.label != "eager" and any(not call.error for call in first.calls)


def _charged(first):
    """What the calls without an error made: no other is charged."""
    first = replace(first, calls=tuple(call for call in first.calls if not call.error))
    traces = counted(sum(call.traces for call in first.calls), "trace")
    number = sum(call.compilations for call in first.calls)
    programs = counted(number, "program") if number else "no program that was seen"
    what = traces if first.label == "graph" else f"{traces} and {programs}"
    words = f"{the(first.label)} is charged for what it really made: {what}"
    return f"{words[0].upper()}{words[1:]} for {shapes_of(first)}."


def _totals(findings, costs):
    rows = [
        [x, seconds_of(costs.once(x)), seconds_of(costs.per_call(x)), seconds_of(total)]
        for x in costs.labels
        for total in [costs.total(x, covered_calls(findings, costs))]
    ]
    return table(["", "once", "per call", "all of it"], rows)


def _calls(findings, costs):
    """What the totals are of: the plan, or that much of it of which the speed is known."""
    calls = counted(covered_calls(findings, costs), "call")
    if covered_calls(findings, costs) == findings.calls:
        return f"the whole plan, {calls}"
    return f"{calls} of {findings.calls:,}, those whose shapes were raced"


def _repaid(findings, costs, label):
    """When a candidate has repaid what it costs once beyond the graph, with its interval."""
    repaid = costs.repaid(label)
    if repaid is None:
        return f"{label} is not known to be faster per call, so nothing is known to repay it."
    if repaid.high == 0:
        return f"{label} costs less than the graph once, too: there is nothing to repay."
    words = f"{label} has repaid what it costs once after {calls_of(repaid)}"
    calls = covered_calls(findings, costs)
    where = "the plan" if calls == findings.calls else "the calls whose shapes were raced"
    if repaid.low > calls:
        return f"{words}: not within {where}."
    return f"{words}{'' if repaid.high <= calls else f', perhaps not within {where}'}."
