"""Pictures of what was found for a decision; one without data is left out."""

from collections.abc import Callable, Iterable, Mapping

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import LogLocator, NullLocator

from ..figures import (
    COLOURS,
    GUIDE,
    Picture,
    beside,
    colours,
    draw_bars,
    finish,
    guide,
    label_lines,
    log_durations,
    new_axes,
    picture,
    plain,
    ring,
    seconds_axis,
    times_axis,
)
from ..plots import TICKS
from ..tables import counted, format_seconds
from .costs import Costs
from .findings import Findings
from .limits import draw_limit, draw_memory
from .standing import covered_calls
from .wording import (
    arguments,
    calls_of,
    end_of,
    in_runs,
    seconds_of,
    share,
    the,
)

SHAPES = 8  # shapes that have a row of their own
LAYERS = 8  # layers that have a row of their own
POWERS = 7  # powers of ten that an axis of calls has room for
NOWHERE = "not in a layer"
NAME = 34  # characters of a layer's path or a shape
MARKS = ("o", "s", "D")  # of candidates, all of them of XLA
STYLES = ("-", "--", ":")  # of lines whose labels have one colour
NARROW = 6  # times: how far an axis reaches that has the finer ticks
FINE = (0.2, 0.3, 0.4, 0.5, 0.6, 0.8, 1, 1.2, 1.5, 2, 2.5, 3, 4, 5, 6, 8, 10)  # times faster


def plain_style():
    """A context in which pictures look the same, whatever style of matplotlib the reader has."""
    return plt.style.context("default")


def draw_all(
    findings: Findings, races: Mapping, names: Iterable[str] | None = None
) -> dict[str, Picture]:
    """Name to `Picture`, for all that there is data for.

    races: number of a shape to its `Result`. names: of those to draw; all when not given.
    """
    names = DRAW if names is None else names
    drawn = {name: DRAW[name](findings, races) for name in names}
    return {name: found for name, found in drawn.items() if found}


def draw_speed(findings: Findings, races: Mapping) -> Picture | None:
    """How many times faster than the graph, for each shape and over the plan."""
    costs = Costs(findings, races)
    rows = _speeds(findings, races, costs)
    if not rows:
        return None
    ax = new_axes(1.2 + 0.38 * len(rows))
    ax.axvspan(1 / costs.noise, costs.noise, color=GUIDE, alpha=0.15, linewidth=0)
    labels = list(dict.fromkeys(label for _, label, *_ in rows))
    for place, (_, label, ratio, runs) in enumerate(rows):
        words = ratio.short if len(labels) == 1 else f"{ratio.short}, {plain(label)}"
        _draw_ratio(ax, place, MARKS[labels.index(label) % len(MARKS)], ratio, runs, words)
    guide(ax, "as fast as the graph", x=1)
    named = [name if label == labels[0] else "" for name, label, *_ in rows]
    ax.set_yticks(range(len(rows)), map(plain, named))
    ax.set_ylim(len(rows) - 0.4, -1.1)
    _ratios_across(ax)
    rings = ", ring: a run" if any(len(runs) > 1 for *_, runs in rows) else ""
    noise = f", grey: {the(costs.itself)} against itself" if costs.itself else ""
    across = f"times faster, log scale (line: interval{rings}{noise})"
    told = "; ".join(f"{label}, {name}: {ratio!r}" for name, label, ratio, _ in rows)
    title = "How many times faster than the graph, first calls left out"
    return picture(finish(ax, title, across), f"{title}. {told}.")


def _speeds(findings, races, costs):
    """Name of a row, label, ratio and the ratios of runs: the plan first, then its shapes."""
    labels = [label for label in costs.labels if label != "graph"]
    rows = [
        ("over the plan", label, costs.ratio(label).as_ratio(costs.noise), ()) for label in labels
    ]
    rows = rows if len(costs.shapes) > 1 else []
    for number in findings.plan.most_frequent(costs.shapes)[:SHAPES]:
        shape = arguments(findings.plan.shapes[number].arguments, NAME)
        name = f"{shape} · {share(findings.plan.share(number))}"
        for label in labels:
            ratio = costs.times(label, number).as_ratio(costs.noise)
            rows.append((name, label, ratio, in_runs(races[number], label)))
    return [row for row in rows if row[2].bounded]


def _draw_ratio(ax, place, mark, ratio, runs, words):
    colour = COLOURS["XLA"]
    ax.plot([ratio.low, ratio.high], [place, place], color=colour, linewidth=3)
    ax.plot(ratio.value, place, mark, color=colour)
    hollow = {"color": colour, "markerfacecolor": "none", "markersize": 4}
    if len(runs) > 1:
        ax.plot(runs, [place + 0.28] * len(runs), "o", **hollow)
    beside(ax, (ratio.high, place), words)


def _ratios_across(ax):
    """Times faster across, on a log scale, with room for the words on the right."""
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    low, high = min(low, 0.9), max(high, 1.1)
    high *= (high / low) ** 0.35
    ax.set_xlim(low, high)
    if low < TICKS[0] or TICKS[-1] < high:
        ax.xaxis.set_major_locator(LogLocator())
    else:
        ticks = FINE if high < NARROW * low else TICKS
        ax.set_xticks([tick for tick in ticks if low <= tick <= high])
    ax.xaxis.set_minor_locator(NullLocator())
    times_axis(ax.xaxis)


def draw_plan(findings: Findings, races: Mapping) -> Picture | None:
    """Seconds of the whole plan in each mode, first calls included, over the number of calls."""
    costs = Costs(findings, races)
    calls = covered_calls(findings, costs)
    if len(costs.labels) < 2 or not calls:
        return None
    ax, lines, told = new_axes(3.6), {}, []
    counts = np.unique(np.geomspace(1, 10 * calls, 60).round())
    for style, label in zip(_styles(costs.labels), costs.labels, strict=True):
        lines[label] = _draw_band(ax, counts, costs, label, style)
        told.append(f"{label} {seconds_of(costs.total(label, calls))}")
    log_durations(ax)
    ax.xaxis.set_major_locator(LogLocator(numticks=POWERS))
    guide(ax, "the plan" if calls == findings.calls else "these calls", x=calls)
    for label in costs.labels:
        if label != "graph":
            told += _draw_repaid(ax, costs, label, counts[-1])
    title = "Time of all calls, first calls included"
    across = "calls" if calls == findings.calls else "calls with the shapes that were raced"
    finish(ax, title, across, "time, log scale")
    label_lines(ax, {plain(label): line for label, line in lines.items()})
    return picture(ax, f"{title}. After {counted(calls, 'call')}: {'; '.join(told)}.")


def _styles(labels):
    """A style for each label, another one where a colour comes again."""
    seen = []
    for hue in colours(labels).values():
        yield STYLES[seen.count(hue) % len(STYLES)]
        seen.append(hue)


def _draw_band(ax, counts, costs, label, style):
    """A line of all seconds over the counts, and their interval where it has an end."""
    (colour,) = colours([label]).values()
    once, each = costs.once(label), costs.per_call(label)
    high = once.high + counts * each.high
    if np.isfinite(high).all():
        low = once.low + counts * each.low
        ax.fill_between(counts, low, high, color=colour, alpha=0.2, linewidth=0)
    values = once.value + counts * each.value
    return ax.plot(counts, values, style, color=colour, label=plain(label))[0]


def _draw_repaid(ax, costs, label, end):
    """A ring where a candidate has repaid its first calls, and a line from low to high."""
    repaid = costs.repaid(label)
    if repaid is None or not 1 <= repaid.value <= end:
        return []
    height = costs.total(label, int(repaid.value)).value
    ax.plot([max(1, repaid.low), min(end, repaid.high)], [height] * 2, color=GUIDE)
    ring(ax, (repaid.value, height), "repaid")
    return [f"{label} is repaid after {calls_of(repaid)}"]


def draw_layers(findings: Findings, races: Mapping) -> Picture | None:
    """Where the time of a call goes: seconds in each layer, in each mode."""
    rows = _layers(findings)
    if not rows:
        return None
    modes = list(dict.fromkeys(one.mode for one in findings.layers))
    ax = new_axes(1.1 + 0.34 * sum(map(len, rows.values())))
    draw_bars(ax, rows)
    ax.set_yticks(range(len(rows)), [plain(end_of(name, NAME)) for name in rows])
    seconds_axis(ax.xaxis)
    title = f"Where the time of a call goes, {' and '.join(modes)}"
    told = "; ".join(f"{name}: {_told(bars)}" for name, bars in rows.items())
    return picture(finish(ax, title, "time per call"), f"{title}. {told}.")


def _layers(findings):
    """Layer to mode to seconds: the largest, the rest together, and what is in no layer."""
    seconds = {}
    for one in findings.layers:
        bars = seconds.setdefault(one.layer, {})
        bars[one.mode] = bars.get(one.mode, 0.0) + one.seconds
    nowhere = {NOWHERE: seconds.pop(NOWHERE)} if NOWHERE in seconds else {}
    ranked = sorted(seconds, key=lambda name: -max(seconds[name].values()))
    rest = ranked[LAYERS:] if len(ranked) > LAYERS + 1 else []
    rows = {name: seconds[name] for name in ranked if name not in rest}
    if rest:
        rows[f"{len(rest)} other layers"] = _sum([seconds[name] for name in rest])
    return rows | nowhere


def _sum(bars):
    modes = dict.fromkeys(mode for one in bars for mode in one)
    return {mode: sum(one.get(mode, 0.0) for one in bars) for mode in modes}


def _told(bars):
    return ", ".join(f"{mode} {format_seconds(seconds)}" for mode, seconds in bars.items())


DRAW: dict[str, Callable[[Findings, Mapping], Picture | None]] = {
    "speed": draw_speed,
    "plan": draw_plan,
    "memory": lambda findings, races: draw_memory(findings),
    "layers": draw_layers,
    "limit": lambda findings, races: draw_limit(findings),
}
"""Name of a picture to the function that draws it."""
