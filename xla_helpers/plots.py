"""Plots of measurements. Takes data, returns `Axes`; never shows or saves."""

import textwrap

import numpy as np
from matplotlib.axes import Axes

from .figures import (
    COLOURS,
    GUIDE,
    NAMES,
    OTHERS,
    SMALL,
    beside,
    colours,
    finish,
    guide,
    log_seconds,
    log_sizes,
    new_axes,
    plain,
    seconds_axis,
    times_axis,
)
from .tables import format_seconds

TICKS = (0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500)  # times faster
SAME = 0.2  # height of the row of other machines' medians below a label's own


def plot_comparison(
    comparison,
    *,
    predicted: dict | None = None,
    limits: dict | None = None,
    ax: Axes | None = None,
    title: str = "",
) -> Axes:
    """Every sample of a `Comparison` as a dot, its median as a bar, in the colour of its mode.

    predicted: label to seconds, drawn as a diamond in the label's row. limits: name to seconds,
    drawn as dashed lines through all rows. ax, title: made when not given.
    Introduced in notebook 01.

    Raises: ValueError when nothing was measured.
    """
    labels = list(comparison.measurements)
    if not labels:
        raise ValueError("`comparison` holds no measurement: there is nothing to draw")
    ax = ax or new_axes(0.9 + 0.55 * len(labels))
    for row, (label, colour) in enumerate(colours(labels).items()):
        _draw_samples(ax, row, comparison[label], colour)
        if label in (predicted or {}):
            ax.plot(predicted[label], row + 0.3, "D", color=colour, markerfacecolor="none")
    for name, seconds in (limits or {}).items():
        guide(ax, name, x=seconds)
    ax.set_yticks(range(len(labels)), list(map(plain, labels)))
    ax.set_ylim(len(labels) - 0.4, -0.85)
    medians = [m.median for m in comparison.measurements.values()]
    log = max(medians) > 10 * min(medians)
    if log:
        log_seconds(ax)
    else:
        ax.update_datalim([(0, 0)])  # so that the margin on the right is a share of all
        ax.autoscale_view(scaley=False)
        ax.set_xlim(left=0)
        seconds_axis(ax.xaxis)
    diamonds = ", diamond: predicted" if predicted else ""
    across = f"time per call{', log scale' if log else ''} (dot: sample, bar: median{diamonds})"
    return finish(ax, title or "Time per call", across)


def _draw_samples(ax, row, measurement, colour):
    samples, median = measurement.samples, measurement.median
    ax.plot(samples, [row] * len(samples), "o", color=colour, alpha=0.35, markeredgewidth=0)
    ax.plot([median], [row], "|", color=colour, markersize=22, markeredgewidth=2.5)
    ax.annotate(
        format_seconds(median),
        (median, row),
        xytext=(0, 12),
        textcoords="offset points",
        ha="center",
        fontsize=SMALL,
    )


def plot_ratios(
    sweep,
    label: str,
    baseline: str | None = None,
    *,
    predicted: dict | None = None,
    ax: Axes | None = None,
    title: str = "",
) -> Axes:
    """How many times faster `label` is than `baseline` at each size of a `Sweep`, with intervals.

    predicted: size to the ratio that was expected, drawn as a dashed line. ax, title: made when
    not given. Introduced in notebook 01.
    """
    ax = ax or new_axes(3.2)
    sizes = list(sweep.comparisons)
    baseline = baseline or sweep.labels[0]
    ratios = [sweep[size].ratio(label, baseline) for size in sizes]
    middle = np.array([r.value for r in ratios])
    ends = np.array([(r.low, r.high) if r.bounded else (np.nan, np.nan) for r in ratios])
    errors = np.abs(ends.T - middle)
    guide(ax, "equal", y=1)
    (colour,) = colours([label]).values()
    bars = ax.errorbar(sizes, middle, errors, fmt="o-", color=colour, capsize=3, markersize=4)
    lines = {"measured": bars.lines[0]}
    lines |= _draw_guides(ax, {"predicted": predicted} if predicted else {})
    log_sizes(ax, sizes)
    times_axis(ax.yaxis)
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, 0.45), max(high, 2.2))
    title = title or f"How many times faster {label} is than {baseline}"
    return finish(ax, title, sweep.name, "times faster, log scale", lines)


def _draw_guides(ax, limits):
    return {
        name: ax.plot(list(at.keys()), list(at.values()), "--", color=GUIDE)[0]
        for name, at in limits.items()
    }


def plot_results(own, others=(), published=(), *, ax: Axes | None = None, title: str = "") -> Axes:
    """The medians of a `Result`, those of the same comparison elsewhere, and published figures.

    own: drawn with its samples, in the colours of its modes. others: `Result`s, drawn as rings.
    published: `Published`, drawn as diamonds, with their standard deviation where they have one.
    ax, title: made when not given. Introduced in notebook 12.
    """
    labels = list(own.comparison.measurements)
    ax = ax or new_axes(1.4 + 0.6 * len(labels))
    for row, (label, colour) in enumerate(colours(labels).items()):
        _draw_samples(ax, row, own.comparison[label], colour)
        elsewhere = [r.comparison.measurements.get(label) for r in others]
        medians = [m.median for m in elsewhere if m]
        places = [row + SAME] * len(medians)
        ax.plot(medians, places, "o", color=colour, markerfacecolor="none", markersize=5)
    for figures, colour in zip(published, OTHERS, strict=False):
        _draw_published(ax, labels, figures, colour)
    ax.plot([], [], "|", color="black", markersize=12, markeredgewidth=2.5, label="this machine")
    if others:
        ax.plot([], [], "o", color="black", markerfacecolor="none", label="other machines")
    ax.set_yticks(range(len(labels)), list(map(plain, labels)))
    ax.set_ylim(len(labels) - 0.4, -0.7)
    log_seconds(ax)
    place = {"loc": "lower left", "bbox_to_anchor": (0, 1), "ncols": 4, "frameon": False}
    ax.legend(borderpad=0, **place).set_gid(NAMES)
    diamonds = ", diamond: published" if published else ""
    across = f"time per call, log scale (dot: sample, bar: median{diamonds})"
    return finish(ax, title or own.name, across)


def _draw_published(ax, labels, figures, colour):
    shown = {labels.index(x): pair for x, pair in figures.seconds.items() if x in labels}
    means, deviations = np.reshape(list(shown.values()), (-1, 2)).T
    spread = np.where(deviations > 0, deviations, np.nan)
    places = np.array(list(shown)) + 0.32
    ax.plot(means, places, "D", color=colour, markerfacecolor="none", label=plain(figures.hardware))
    ax.errorbar(means, places, xerr=spread, fmt="none", color=colour, capsize=3)


def plot_overview(results, *, ax: Axes | None = None, title: str = "") -> Axes:
    """How many times faster XLA is than the graph, for each `Result` that has both, sorted.

    results: drawn by their first XLA row and first graph row, one line each, named by what was
    measured, with a ring for each run before the last. ax, title: made when not given.
    Introduced in notebook 12, shown in the README and by the report.

    Raises: ValueError when no result has a graph and an XLA row, and an interval.
    """
    rows = overview(results)
    if not rows:
        raise ValueError("`results` holds no comparison of XLA with a graph that has an interval")
    ax = ax or new_axes(1.3 + 0.42 * len(rows))
    for row, (result, ratio) in enumerate(rows):
        ax.plot([ratio.low, ratio.high], [row, row], color=COLOURS["XLA"], linewidth=3)
        ax.plot(ratio.value, row, "o", color=COLOURS["XLA"])
        _draw_earlier(ax, row, result.xla_between_runs)
        beside(ax, (ratio.high, row), ratio.short)
    guide(ax, "as fast as the graph", x=1)
    names = [plain(textwrap.shorten(result.what, 48, placeholder=" …")) for result, _ in rows]
    ax.set_yticks(range(len(rows)), names)
    ax.set_ylim(len(rows) - 0.4, -1.2)
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    ax.set_xlim(min(low, 0.4), 2.2 * max(high, 2))
    ax.set_xticks([tick for tick in TICKS if low < tick < high or tick in (0.5, 1, 2)])
    times_axis(ax.xaxis)
    title = title or "How many times faster XLA is than the graph"
    rings = ", ring: earlier run" if any(result.xla_between_runs for result, _ in rows) else ""
    across = f"times faster than the graph, log scale (line: 95 % interval{rings})"
    return finish(ax, title, across)


def _draw_earlier(ax, row, between):
    """A ring for each run before the last, where there were several."""
    earlier = between.ratios[:-1] if between else ()
    for ratio in earlier:
        ring = {"color": COLOURS["XLA"], "markerfacecolor": "none", "markersize": 4}
        ax.plot(ratio, row + 1.3 * SAME, "o", **ring)


def overview(results) -> list:
    """Pairs of result and ratio of XLA to the graph, the slowest first."""
    pairs = [(result, result.xla_against_graph) for result in results]
    known = [(result, ratio) for result, ratio in pairs if ratio and ratio.bounded]
    return sorted(known, key=lambda pair: pair[1].value)
