"""The drawing kit that all pictures share: one colour for each mode, axes, labels, descriptions.

A picture is made in three steps: axes from `new_axes`, something drawn with `draw_lines`,
`draw_bars`, `draw_dots` or a `plot_...` function, and `finish` or `picture` at the end. Nothing
here shows a figure or writes a file, and no setting of matplotlib is changed.
`ax` is always the axes to draw in.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from io import BytesIO

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import (
    FixedFormatter,
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    NullFormatter,
    NullLocator,
)

from .modes import mode_of
from .tables import cut, format_seconds, in_one_line

COLOURS = {"eager": "#7B98AE", "graph": "#274C9B", "XLA": "#D4480A"}
"""One colour for each mode: eager recedes, graph stands beside it, XLA is seen first."""

OTHERS = ("#2B7A66", "#A14D8A", "#6B2A2A", "#3F3A4F", "#8F7840")
"""For what is no mode. All keep their distance for colour-blind readers."""

GUIDE = "#737373"
"""Grey is for limits and guides alone."""

DURATIONS = {"1 ms": 1e-3, "10 ms": 0.01, "0.1 s": 0.1, "1 s": 1, "10 s": 10, "1 min": 60}
DURATIONS |= {"10 min": 600, "1 h": 3600, "10 h": 36e3, "4 days": 4 * 86400, "40 days": 40 * 86400}
"""Ticks of an axis that reaches from milliseconds to days, in seconds."""

WIDTH = 7.2  # inches: a figure as wide as a notebook's text
BAR = 0.36  # height of a bar that shares its row with another
LABEL_DISTANCE = 13  # points between the labels of two lines that end close together
ABOVE_COLOURS = 26  # points between the axes and a title with names of colours below it
NAMES = "names of colours"  # marks a legend that stands below the title
SMALL = 9  # points: numbers beside what they belong to
LONGEST = 120  # characters of a text in a picture


def plain(text) -> str:
    """A text as a picture takes it: short, and nothing in it is a command.

    Dollars would begin a formula, and lines stay lines. What is plain already stays as it is.
    """
    lines = cut("\n".join(map(in_one_line, str(text).split("\n"))), LONGEST)
    return re.sub(r"(?<!\\)\$", r"\\$", lines)


def colours(labels: Iterable[str]) -> dict[str, str]:
    """A colour for each of `labels`: of the mode that it begins with, or one that is no mode's."""
    found, others = {}, 0
    for label in labels:
        mode = mode_of(str(label))
        found[label] = COLOURS[mode] if mode else OTHERS[others % len(OTHERS)]
        others += mode is None
    return found


def new_axes(height: float = 3.2, panels: int = 1, down: bool = False) -> Axes | np.ndarray:
    """Axes as wide as all pictures.

    height: inches. panels: side by side with the same scales, or, when `down`, one below the
    other with the same scale across and rows of their own.

    Returns: an `Axes`, or an array of them when there are several panels.
    """
    rows, columns = (panels, 1) if down else (1, panels)
    several = {"sharex": True, "sharey": not down, "layout": "constrained"} if panels > 1 else {}
    return plt.subplots(rows, columns, figsize=(WIDTH, height), **several)[1]


def draw_lines(ax: Axes, lines: Mapping[str, Sequence | tuple[Sequence, Sequence]], **style):
    """A line for each label, in its colour; `finish` writes the labels at the ends, given these.

    lines: label to heights, or to a pair of places and heights. style: as for `Axes.plot`.

    Returns: label to `Line2D`.
    """
    drawn = {}
    for label, colour in colours(lines).items():
        points = lines[label] if isinstance(lines[label], tuple) else (lines[label],)
        drawn[label] = ax.plot(*points, **{"color": colour, "label": plain(label)} | style)[0]
    return drawn


def draw_bars(ax: Axes, rows: Mapping[str, Mapping[str, float]], format=format_seconds) -> None:
    """Bars across: a row for each key, and in it a bar for each label, with its number.

    rows: name of a row to label to length. format: makes the number's text. The labels stand
    beside the bars of the first row.
    """
    for place, bars in enumerate(rows.values()):
        middle = (len(bars) - 1) / 2
        for number, (label, colour) in enumerate(colours(bars).items()):
            y = place + (number - middle) * BAR * 1.1
            ax.barh(y, bars[label], height=BAR, color=colour, label=plain(label))
            words = format(bars[label]) + (f"  {label}" if place == 0 and len(bars) > 1 else "")
            beside(ax, (bars[label], y), words, colour)
    _name_rows(ax, rows)


def draw_stacks(ax: Axes, rows: Mapping[str, Mapping[str, float]], format=format_seconds) -> None:
    """Bars across, each in parts: a row for each key, the whole length at its end.

    rows: name of a row to part to length. format: makes the text of the whole length.
    """
    hues = colours(dict.fromkeys(part for parts in rows.values() for part in parts))
    for place, parts in enumerate(rows.values()):
        start = 0.0
        for part, length in parts.items():
            ax.barh(place, length, left=start, height=2 * BAR, color=hues[part], label=plain(part))
            start += length
        beside(ax, (start, place), format(start))
    _name_rows(ax, rows)
    name_colours(ax, hues)


def draw_dots(
    ax: Axes, rows: Mapping[str, tuple[float, float, float] | None], format=format_seconds
) -> None:
    """A row for each label: a dot, and a line from low to high through it.

    rows: label to middle, low and high, or to None for a row that stays empty. format: makes the
    text of the middle, above the dot.
    """
    for place, (label, colour) in enumerate(colours(rows).items()):
        if rows[label] is None:
            continue
        middle, low, high = rows[label]
        ax.plot([low, high], [place, place], "|-", color=colour, linewidth=2, label=plain(label))
        ax.plot(middle, place, "o", color=colour)
        ax.annotate(
            format(middle), (middle, place - 0.25), ha="center", va="bottom", fontsize=SMALL
        )
    _name_rows(ax, rows)


def _name_rows(ax, rows):
    ax.set_yticks(range(len(rows)), list(map(plain, rows)))
    ax.set_ylim(len(rows) - 0.4, -0.75)
    ax.margins(x=0.2)  # room for the numbers


def beside(
    ax: Axes, place: tuple[float, float], words: str, colour: str = "black", up: float = 0
) -> None:
    """A few words to the right of a place.

    place, words: where, and what. colour: of the words. up: points above the place, where a line
    goes on there.
    """
    ax.annotate(
        plain(words),
        place,
        xytext=(4, up),
        textcoords="offset points",
        va="center",
        fontsize=SMALL,
        color=colour,
        bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5},
    )


def name_colours(ax: Axes, hues: Mapping[str, str]) -> None:
    """Each name in its colour, in one line above the axes, where no line could carry it.

    hues: name to colour.
    """
    marks = [
        Line2D([], [], color=hue, marker="s", linestyle="", label=plain(name))
        for name, hue in hues.items()
    ]
    place = {"loc": "lower left", "bbox_to_anchor": (-0.02, 0.99), "ncols": len(marks)}
    ax.legend(handles=marks, frameon=False, handletextpad=0.2, **place).set_gid(NAMES)


def guide(ax: Axes, name: str, x: float | None = None, y: float | None = None) -> None:
    """A dashed grey line with its name: a limit, a plan, or where things are equal.

    x, y: the place across where it stands, the height at which it lies, or one of the two.
    """
    if x is not None:
        ax.axvline(x, color=GUIDE, linestyle="--", linewidth=1, zorder=0)
        ax.annotate(
            f" {plain(name)}",
            (x, 1),
            xycoords=("data", "axes fraction"),
            xytext=(0, -2),
            textcoords="offset points",
            va="top",
            color=GUIDE,
        )
    if y is not None:
        ax.axhline(y, color=GUIDE, linestyle="--", linewidth=1, zorder=0)
        ax.annotate(
            plain(name),
            (0, y),
            xycoords=("axes fraction", "data"),
            xytext=(4, 3),
            textcoords="offset points",
            color=GUIDE,
        )


def ring(ax: Axes, place: tuple[float, float], words: str = "") -> None:
    """A grey ring around a place, with a few words below it: where one line crosses another."""
    ax.plot(*place, "o", color=GUIDE, markersize=10, fillstyle="none")
    ax.annotate(plain(words), place, (8, -14), textcoords="offset points", color=GUIDE)


def strip(ax: Axes, places: Sequence[float], labels: Sequence[str]) -> None:
    """Along the bottom, the colour of the label that belongs to each place across.

    places, labels: pairs, in two lists.
    """
    hues = colours(dict.fromkeys(labels))
    bottom = ax.get_xaxis_transform()
    heights = [0.018] * len(places)  # a share of the axes
    ax.scatter(places, heights, c=[hues[label] for label in labels], marker="s", transform=bottom)


def seconds_axis(axis) -> None:
    """Label an axis that holds seconds, such as ``ax.xaxis``, with units that fit."""
    axis.set_major_formatter(FuncFormatter(lambda seconds, _: format_seconds(seconds)))
    axis.set_minor_formatter(NullFormatter())


def log_seconds(ax: Axes) -> None:
    """Seconds across on a log scale: as many ticks as its span and its panel have room for."""
    ax.set_xscale("log")
    panels = ax.get_gridspec().ncols if ax.get_gridspec() else 1
    ax.margins(x=0.08 * panels)  # the first and last label are wider than their dots
    ax.autoscale_view(scaley=False)
    low, high = ax.get_xlim()
    powers = math.log10(high / low)
    steps = (1, 2, 5) if powers * panels < 3 else (1,)
    ax.xaxis.set_major_locator(MaxNLocator(6) if powers < 0.8 else LogLocator(subs=steps))
    seconds_axis(ax.xaxis)


def log_sizes(ax: Axes, sizes: Sequence[float]) -> None:
    """Log scales both ways: a tick for each of `sizes` across, ticks at 1, 2 and 5 upwards."""
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.set_xticks(sizes)
    ax.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ax.xaxis.set_minor_formatter(NullFormatter())
    ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))


def log_durations(ax: Axes) -> None:
    """Log scales both ways: counts across, and upwards seconds that may add up to days."""
    ax.set_xscale("log")
    ax.set_yscale("log")
    ax.yaxis.set_major_locator(FixedLocator(list(DURATIONS.values())))
    ax.yaxis.set_major_formatter(FixedFormatter(list(DURATIONS)))
    ax.yaxis.set_minor_locator(NullLocator())
    ax.xaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))


def times_axis(axis) -> None:
    """Label an axis that holds ratios, such as ``ax.xaxis``, as in ``2x``."""
    axis.set_major_formatter(FuncFormatter(lambda times, _: f"{times:g}x"))
    axis.set_minor_formatter(NullFormatter())


def finish(
    ax: Axes, title: str, x: str = "", y: str = "", lines: Mapping[str, Line2D] | None = None
) -> Axes:
    """The last touches: title, names of the axes, labels at the ends of lines, a pale grid.

    title: one message. x, y: what the axes hold, with its unit. lines: what `draw_lines` returned.

    Returns: `ax`, for `picture`.
    """
    above = ax.get_legend() and ax.get_legend().get_gid() == NAMES
    ax.set_title(plain(title), loc="left", pad=ABOVE_COLOURS if above else None)
    ax.set_xlabel(plain(x))
    ax.set_ylabel(plain(y))
    ax.spines[["top", "right"]].set_visible(False)
    ax.grid(axis="both", color="0.9", linewidth=0.8)
    ax.set_axisbelow(True)
    if lines:
        label_lines(ax, lines)
    return ax


def label_lines(ax: Axes, lines: Mapping[str, Line2D]) -> None:
    """Write each label at the right end of its line, apart from its neighbours.

    lines: label to `Line2D`. Call it when scales and limits are final.
    """
    points = 72 / ax.figure.dpi
    ax.autoscale_view()  # limits that nobody set are only settled when they are asked for
    ends = {label: (line.get_xdata()[-1], line.get_ydata()[-1]) for label, line in lines.items()}
    heights = {label: ax.transData.transform(end)[1] * points for label, end in ends.items()}
    for label, height in _apart(heights, LABEL_DISTANCE).items():
        ax.annotate(
            plain(label),
            ends[label],
            xytext=(8, height - heights[label]),
            textcoords="offset points",
            color=lines[label].get_color(),
            va="center",
            weight="bold",
            annotation_clip=False,
        )


def _apart(heights, distance):
    """Heights at least `distance` apart: what is too close spreads around its middle."""
    groups = []  # lists of names from below; those of one group stand at equal distances
    for name in sorted(heights, key=heights.get):
        groups.append([name])
        while len(groups) > 1 and _bottom(groups[-1], heights, distance) < distance + _top(
            groups[-2], heights, distance
        ):
            groups[-2:] = [groups[-2] + groups[-1]]
    return {
        name: _bottom(group, heights, distance) + i * distance
        for group in groups
        for i, name in enumerate(group)
    }


def _bottom(group, heights, distance):
    middle = sum(heights[name] for name in group) / len(group)
    return middle - (len(group) - 1) / 2 * distance


def _top(group, heights, distance):
    return _bottom(group, heights, distance) + (len(group) - 1) * distance


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

    ax: axes, or the array of several panels. Make it the last line of a cell. The figure is
    closed, so that it is shown once. Introduced in notebook 01.

    Raises: ValueError when `alt` is empty.
    """
    if not (isinstance(alt, str) and alt.strip()):
        raise ValueError("`alt` is empty: say in one sentence what the figure shows")
    figure = np.ravel(ax)[0].figure
    buffer = BytesIO()
    figure.savefig(buffer, format="png", dpi=110, facecolor="white", bbox_inches="tight")
    plt.close(figure)
    return Picture(buffer.getvalue(), alt)
