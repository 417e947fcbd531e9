"""Plots of measurements, and what all figures share. Takes data, returns `Axes`; never shows."""

import math
from io import BytesIO

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import EngFormatter, FuncFormatter, LogLocator, MaxNLocator, NullFormatter

from .tables import format_seconds

WIDTH = 7.2  # inches: a figure as wide as a notebook's text
GREY = "0.45"
LABEL_DISTANCE = 13  # points between the labels of two lines that end close together
COLOURS = ["#006BA4", "#FF800E", "#595959", "#C85200", "#5F9ED1", "#898989"]
"""From matplotlib's style tableau-colorblind10, without its palest greys."""


def colours(count: int) -> list[str]:
    """The first `count` colours of a palette that colour-blind readers can tell apart."""
    return [COLOURS[i % len(COLOURS)] for i in range(count)]


def plot_comparison(
    comparison,
    predicted: dict | None = None,
    limits: dict | None = None,
    ax: Axes | None = None,
    title: str = "",
) -> Axes:
    """Every sample of a `Comparison` as a dot, its median as a bar.

    predicted: label to seconds, drawn as a diamond in the label's row. limits: name to seconds,
    drawn as dashed lines through all rows. Introduced in notebook 01.
    """
    labels = list(comparison.measurements)
    if not labels:
        raise ValueError("`comparison` holds no measurement: there is nothing to draw")
    ax = ax or new_axes(0.9 + 0.55 * len(labels))
    for row, (label, colour) in enumerate(zip(labels, colours(len(labels)), strict=True)):
        _draw_samples(ax, row, comparison[label], colour)
        if label in (predicted or {}):
            ax.plot(predicted[label], row + 0.3, "D", color=colour, markerfacecolor="none")
    for name, seconds in (limits or {}).items():
        ax.axvline(seconds, color=GREY, linestyle="--", zorder=0)
        ax.text(seconds, -0.62, f" {name}", color=GREY, va="center")
    ax.set_yticks(range(len(labels)), labels)
    ax.set_ylim(len(labels) - 0.4, -0.85)
    medians = [m.median for m in comparison.measurements.values()]
    log = max(medians) > 10 * min(medians)
    if log:
        _log_seconds(ax)
    else:
        ax.update_datalim([(0, 0)])  # so that the margin on the right is a share of all
        ax.autoscale_view(scaley=False)
        ax.set_xlim(left=0)
        seconds_axis(ax.xaxis)
    diamonds = ", diamond: predicted" if predicted else ""
    ax.set_xlabel(
        f"time per call{', log scale' if log else ''} (dot: sample, bar: median{diamonds})"
    )
    ax.set_title(title or "Time per call", loc="left")
    tidy(ax)
    return ax


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
        fontsize=9,
    )


def plot_sweep(sweep, limits: dict | None = None, ax: Axes | None = None, title: str = "") -> Axes:
    """Median time per call over size, one line a label, the spread as a band.

    limits: name to ``{size: seconds}``, drawn as dashed lines. Introduced in notebook 01.
    """
    ax = ax or new_axes(3.6)
    sizes, lines = list(sweep.comparisons), {}
    for label, colour in zip(sweep.labels, colours(len(sweep.labels)), strict=True):
        samples = [sweep[size][label].samples for size in sizes]
        low, middle, high = np.percentile(samples, [25, 50, 75], axis=1)
        lines[label] = ax.plot(sizes, middle, "o-", color=colour, markersize=4)[0]
        ax.fill_between(sizes, low, high, color=colour, alpha=0.2, linewidth=0)
    for name, seconds in (limits or {}).items():
        lines[name] = ax.plot(list(seconds), list(seconds.values()), "--", color=GREY)[0]
    _log_axes(ax, sizes, sweep.name)
    seconds_axis(ax.yaxis)
    ax.set_ylabel("time per call")
    ax.set_title(title or f"Time per call over {sweep.name}", loc="left")
    label_lines(ax, lines)
    tidy(ax)
    return ax


def plot_ratios(
    sweep,
    label: str,
    baseline: str | None = None,
    predicted: dict | None = None,
    ax: Axes | None = None,
    title: str = "",
) -> Axes:
    """How many times faster `label` is than `baseline` at each size, with intervals.

    predicted: size to the ratio that was expected, drawn as a dashed line. Introduced in
    notebook 01.
    """
    ax = ax or new_axes(3.2)
    sizes = list(sweep.comparisons)
    baseline = baseline or sweep.labels[0]
    ratios = [sweep[size].ratio(label, baseline) for size in sizes]
    middle = np.array([r.value for r in ratios])
    errors = np.abs([[r.low for r in ratios], [r.high for r in ratios]] - middle)
    measured_colour, predicted_colour = colours(2)
    ax.axhline(1, color=GREY, linewidth=1)
    equal = ("axes fraction", "data")
    ax.annotate(
        "equal", (0, 1), xycoords=equal, xytext=(4, 4), textcoords="offset points", color=GREY
    )
    bars = ax.errorbar(
        sizes, middle, errors, fmt="o-", color=measured_colour, capsize=3, markersize=4
    )
    lines = {"measured": bars.lines[0]}
    if predicted:
        x, y = list(predicted), list(predicted.values())
        lines["predicted"] = ax.plot(x, y, "--", color=predicted_colour)[0]
    _log_axes(ax, sizes, sweep.name)
    ax.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}x"))
    ax.yaxis.set_minor_formatter(NullFormatter())
    low, high = ax.get_ylim()
    ax.set_ylim(min(low, 0.45), max(high, 2.2))
    ax.set_ylabel("times faster, log scale")
    ax.set_title(title or f"How many times faster {label} is than {baseline}", loc="left")
    label_lines(ax, lines)
    tidy(ax)
    return ax


def plot_results(own, others=(), published=(), ax: Axes | None = None, title: str = "") -> Axes:
    """The medians of a `Result`, those of the same comparison elsewhere, and published figures.

    own: drawn in colour, with its samples. others: `Result`s, drawn as grey dots. published:
    `Published`, drawn as diamonds, with their standard deviation where they have one.
    Introduced in notebook 12.
    """
    labels = list(own.comparison.measurements)
    ax = ax or new_axes(1.4 + 0.6 * len(labels))
    (colour,) = colours(1)
    for row, label in enumerate(labels):
        _draw_samples(ax, row, own.comparison[label], colour)
        elsewhere = [r.comparison.measurements.get(label) for r in others]
        medians = [m.median for m in elsewhere if m]
        ax.plot(medians, [row + 0.2] * len(medians), "o", color=GREY, alpha=0.6, markersize=5)
    for number, figures in enumerate(published, start=1):
        shown = {labels.index(x): pair for x, pair in figures.seconds.items() if x in labels}
        means, deviations = np.reshape(list(shown.values()), (-1, 2)).T
        spread = np.where(deviations > 0, deviations, np.nan)
        shade = colours(number + 1)[number]
        places = np.array(list(shown)) + 0.32
        ax.plot(means, places, "D", color=shade, markerfacecolor="none", label=figures.hardware)
        ax.errorbar(means, places, xerr=spread, fmt="none", color=shade, capsize=3)
    ax.plot([], [], "|", color=colour, markersize=12, markeredgewidth=2.5, label="this machine")
    if others:
        ax.plot([], [], "o", color=GREY, alpha=0.6, label="other machines")
    ax.set_yticks(range(len(labels)), labels, parse_math=False)
    ax.set_ylim(len(labels) - 0.4, -0.7)
    _log_seconds(ax)
    diamonds = ", diamond: published" if published else ""
    ax.set_xlabel(f"time per call, log scale (dot: sample, bar: median{diamonds})")
    ax.set_title(title or own.name, loc="left", pad=26)
    ax.legend(loc="lower left", bbox_to_anchor=(0, 1), ncols=4, frameon=False, borderpad=0)
    tidy(ax)
    return ax


def label_lines(ax: Axes, lines: dict) -> None:
    """Write each label at the right end of its line, apart from its neighbours.

    lines: label to `Line2D`. Call it when scales and limits are final.
    """
    points = 72 / ax.figure.dpi
    ax.autoscale_view()  # limits that nobody set are only settled when they are asked for
    ends = {label: (line.get_xdata()[-1], line.get_ydata()[-1]) for label, line in lines.items()}
    heights = {label: ax.transData.transform(end)[1] * points for label, end in ends.items()}
    floor = -math.inf
    for label in sorted(ends, key=heights.get):
        floor = max(heights[label], floor + LABEL_DISTANCE)
        ax.annotate(
            label,
            ends[label],
            xytext=(8, floor - heights[label]),
            textcoords="offset points",
            color=lines[label].get_color(),
            va="center",
            weight="bold",
            annotation_clip=False,
        )


class Picture:
    """A figure with a description: what `picture` returns and a notebook displays."""

    def __init__(self, png: bytes, alt: str):
        self.png, self.alt = png, alt

    def __repr__(self):
        return f"Picture: {self.alt}"

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"image/png": self.png, "text/plain": repr(self)}, {"image/png": {"alt": self.alt}}


def picture(ax: Axes, alt: str) -> Picture:
    """The figure of `ax` with `alt`, its description for readers who cannot see it.

    Make it the last line of a cell. The figure is closed, so that it is shown once.
    """
    if not (isinstance(alt, str) and alt.strip()):
        raise ValueError("`alt` is empty: say in one sentence what the figure shows")
    buffer = BytesIO()
    ax.figure.savefig(buffer, format="png", dpi=110, facecolor="white", bbox_inches="tight")
    plt.close(ax.figure)
    return Picture(buffer.getvalue(), alt)


def new_axes(height: float) -> Axes:
    """Axes of a figure of the width that all figures have; height in inches."""
    return plt.subplots(figsize=(WIDTH, height))[1]


def seconds_axis(axis) -> None:
    """Label an axis that holds seconds with units that fit."""
    axis.set_major_formatter(EngFormatter("s"))
    axis.set_minor_formatter(NullFormatter())


def _log_seconds(ax):
    """Seconds across on a log scale: as many ticks as its span has room for."""
    ax.set_xscale("log")
    ax.margins(x=0.08)  # the first and last label are wider than their dots
    ax.autoscale_view(scaley=False)
    low, high = ax.get_xlim()
    powers = math.log10(high / low)
    steps = (1, 2, 5) if powers < 3 else (1,)
    ax.xaxis.set_major_locator(MaxNLocator(6) if powers < 0.8 else LogLocator(subs=steps))
    seconds_axis(ax.xaxis)


def _log_axes(ax, sizes, name):
    """Log scales: a tick for each size across, ticks at 1, 2 and 5 upwards."""
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(sizes)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    ax.set_xlabel(name)


def tidy(ax: Axes) -> None:
    """Leave out the frame above and to the right, and draw a pale grid behind everything."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="both", color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)
