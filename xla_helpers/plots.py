"""Every plot, in the style `xla.mplstyle`, and pictures with a description.

A reader's settings of matplotlib stay as they are: the style holds inside these functions alone,
and in a notebook that says ``plt.style.use("xla_helpers.xla")``.
"""

import itertools
import math
import textwrap
from io import BytesIO

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb
from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator, NullFormatter

from .modes import MODES, mode_of
from .tables import cut, format_seconds, in_one_line

in_style = plt.style.context("xla_helpers.xla")

GUIDE = "#737373"  # grey is for limits and guides alone
PALE = "0.6"  # of arrows, and of what is in no cluster
SMALL = 9  # points: numbers beside what they belong to
SWEEPS = 20  # times that the layout goes over the layers
LONGEST = 64  # characters of a text in a picture
BETWEEN_LABELS = 13  # points
ABOVE_LEGEND = 26  # points between the axes and a title with a legend below it


class Picture:
    """A figure with a description: what `picture` returns and a notebook displays."""

    def __init__(self, png: bytes, alt: str):
        self.png, self.alt = png, alt

    def __repr__(self):
        return f"Picture: {self.alt}"

    def _repr_mimebundle_(self, include=None, exclude=None):
        return {"image/png": self.png, "text/plain": repr(self)}, {"image/png": {"alt": self.alt}}


@in_style
def picture(ax, alt: str) -> Picture:
    """The figure of `ax` with `alt`, its description for readers who cannot see it.

    ax: axes, or the array of several panels. Make it the last line of a cell. The figure is
    closed, so that it is shown once. Introduced in notebook 01.

    Raises: ValueError when `alt` is empty.
    """
    if not (isinstance(alt, str) and alt.strip()):
        raise ValueError("`alt` is empty: say in one sentence what the figure shows")
    figure = np.ravel(ax)[0].figure
    buffer = BytesIO()
    figure.savefig(buffer, format="png")
    plt.close(figure)
    return Picture(buffer.getvalue(), alt)


# For cells that plot on their own


def guide(ax, name: str, x: float | None = None, y: float | None = None) -> None:
    """A dashed grey line with its name: a limit, a plan, or where things are equal.

    ax: the axes. x, y: the place across where it stands, or the height at which it lies.
    Introduced in notebook 02.
    """
    dashed = {"color": GUIDE, "linestyle": "--", "linewidth": 1, "zorder": 0}
    words = {"color": GUIDE, "va": "baseline", "fontsize": None}
    if x is not None:
        ax.axvline(x, **dashed)
        _beside(ax, (x, 1), name, -10, xycoords=("data", "axes fraction"), **words)
    else:
        ax.axhline(y, **dashed)
        _beside(ax, (0, y), name, 5, xycoords=("axes fraction", "data"), **words)


def label_lines(ax) -> None:
    """Write the label of each line at its right end, apart from its neighbours.

    ax: the axes, with scales, limits and titles as they will be. Introduced in notebook 04.
    """
    ax.figure.draw_without_rendering()  # only now it is settled where things stand
    labelled = [line for line in ax.lines if not line.get_label().startswith("_")]
    ends = {x: x.get_xydata()[-1] for x in labelled if ax.viewLim.contains(*x.get_xydata()[-1])}
    points = 72 / ax.figure.dpi
    heights = {line: ax.transData.transform(end)[1] * points for line, end in ends.items()}
    for line, height in _apart(heights, BETWEEN_LABELS).items():
        style = {"color": line.get_color(), "weight": "bold", "fontsize": None}
        _beside(ax, ends[line], line.get_label(), height - heights[line], **style)


def seconds_axis(axis) -> None:
    """Label an axis that holds seconds, such as ``ax.xaxis``, with units that fit.

    axis: one with the scale and the limits that it will have. Introduced in notebook 02.
    """
    _label_ticks(axis, EngFormatter("s"))


def _label_ticks(axis, formatter):
    """As many ticks as there is room for, on a log scale too."""
    room = max(2, axis.get_tick_space() // 2)
    axis.set_major_locator(MaxNLocator(room, steps=(1, 2, 5, 10)))
    if axis.get_scale() == "log":
        low, high = axis.get_view_interval()
        decades = math.log10(high / low)
        steps = (1, 2, 5) if 2 * decades < room else (1,)
        if decades > 0.8:
            axis.set_major_locator(LogLocator(subs=steps, numticks=room + 2))
    axis.set_major_formatter(formatter)
    axis.set_minor_formatter(NullFormatter())


# What the plots below share


def _new_axes(height):
    width = plt.rcParams["figure.figsize"][0]
    return plt.subplots(figsize=(width, height))[1]


def _palette():
    """The colours of the modes, and those of what is no mode."""
    cycle = plt.rcParams["axes.prop_cycle"].by_key()["color"]
    return dict(zip(MODES, cycle, strict=False)), cycle[len(MODES) :]


def _by_label(labels):
    """The colour of the mode that each label begins with, or one that is no mode's."""
    modes, others = _palette()
    unused = itertools.cycle(others)
    named = {label: mode_of(str(label)) for label in labels}
    return {label: modes[mode] if mode else next(unused) for label, mode in named.items()}


def _plain(text, width=LONGEST):
    """A text as a picture takes it: short, and nothing in it is a command."""
    return textwrap.fill(cut(in_one_line(str(text)), LONGEST), width).replace("$", r"\$")


def _beside(ax, place, words, up=0, **style):
    """A few words to the right of a place."""
    usual = {"va": "center", "fontsize": SMALL, "annotation_clip": False}
    usual["bbox"] = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5}
    ax.annotate(_plain(words), place, (6, up), textcoords="offset points", **usual | style)


def _name_rows(ax, names, above=0.85):
    ax.set_yticks(range(len(names)), [_plain(name, 36) for name in names])
    ax.set_ylim(len(names) - 0.4, -above)


def _apart(places, distance):
    """Places at least `distance` apart: of two that are too close, both give way."""
    moved = dict(sorted(places.items(), key=lambda pair: pair[1]))
    for _ in range(10 * len(moved)):
        for low, high in itertools.pairwise(moved):
            lack = max(0.0, distance - (moved[high] - moved[low]))
            moved[low] -= lack / 2
            moved[high] += lack / 2
    return moved


# Measurements


@in_style
def plot_comparison(comparison, predicted, limits, ax, title):
    """What `Comparison.plot` promises."""
    if not comparison.measurements:
        raise ValueError("the comparison holds no measurement: there is nothing to draw")
    ax = ax or _new_axes(0.9 + 0.55 * len(comparison.measurements))
    for row, (label, colour) in enumerate(_by_label(comparison.measurements).items()):
        samples, median = comparison[label].samples, comparison[label].median
        ax.plot(samples, [row] * len(samples), "o", color=colour, alpha=0.35, markeredgewidth=0)
        ax.plot(median, row, "|", color=colour, markersize=22, markeredgewidth=2.5)
        where = {"textcoords": "offset points", "ha": "center", "fontsize": SMALL}
        ax.annotate(format_seconds(median), (median, row), (0, 12), **where)
        if label in predicted:
            ax.plot(predicted[label], row + 0.3, "D", color=colour, fillstyle="none")
    for name, seconds in limits.items():
        guide(ax, name, x=seconds)
    _name_rows(ax, comparison.measurements)
    medians = [m.median for m in comparison.measurements.values()]
    log = max(medians) > 10 * min(medians)
    if log:
        ax.set_xscale("log")
    else:
        ax.set_xlim(0, 1.05 * ax.dataLim.x1)
    seconds_axis(ax.xaxis)
    diamonds = ", diamond: predicted" if predicted else ""
    scale = ", log scale" if log else ""
    ax.set_xlabel(f"time per call{scale} (dot: sample, bar: median{diamonds})")
    ax.set_title(_plain(title or "Time per call"))
    return ax


@in_style
def plot_ratios(
    races: dict,
    label: str,
    baseline: str,
    *,
    name: str = "size",
    predicted: dict | None = None,
    ax=None,
    title: str = "",
):
    """How many times faster `label` is than `baseline` in each of several races, with intervals.

    races: size to `Comparison`. name: of the sizes, for the axis. predicted: size to the ratio that
    was expected, drawn as a dashed line. ax, title: made when not given. Introduced in notebook 01.

    Returns: the axes, for `picture`.
    """
    ax = ax or _new_axes(3.2)
    places = list(races)
    ratios = [race.ratio(label, baseline) for race in races.values()]
    middle = np.array([ratio.value for ratio in ratios])
    ends = np.array([(r.low, r.high) if r.bounded else (np.nan, np.nan) for r in ratios])
    (colour,) = _by_label([label]).values()
    ax.plot(places, middle, "o-", color=colour, markersize=4, label="measured")
    ax.errorbar(places, middle, abs(ends.T - middle), fmt="none", color=colour, capsize=3)
    ax.update_datalim([(places[0], 0.4), (places[0], 2.5)])
    guide(ax, "equal", y=1)
    ax.set(xscale="log", yscale="log")
    ax.set_xticks(places, [f"{size:g}" for size in places])
    ax.set_xticks([], minor=True)
    _label_ticks(ax.yaxis, "{x:g}x")
    ax.set_title(_plain(title or f"How many times faster {label} is than {baseline}"))
    ax.set(xlabel=_plain(name), ylabel="times faster, log scale")
    if predicted:
        ax.plot(predicted.keys(), predicted.values(), "--", color=GUIDE, label="predicted")
        label_lines(ax)
    return ax


@in_style
def plot_results(own, others=(), published=(), *, ax=None, title: str = ""):
    """The medians of a `Result`, those of the same comparison elsewhere, and published figures.

    own: drawn with its samples, in the colours of its modes. others: `Result`s, drawn as rings.
    published: `Published`, drawn as diamonds. ax, title: made when not given. Introduced in
    notebook 12.
    """
    labels = _by_label(own.comparison.measurements)
    ax = plot_comparison(own.comparison, {}, {}, ax or _new_axes(1.4 + 0.6 * len(labels)), "")
    for row, (label, colour) in enumerate(labels.items()):
        found = [r.comparison.measurements.get(label) for r in others]
        medians = [m.median for m in found if m]
        ax.plot(medians, [row + 0.2] * len(medians), "o", color=colour, fillstyle="none")
    ax.plot([], [], "|", color="black", markersize=12, markeredgewidth=2.5, label="this machine")
    if others:
        ax.plot([], [], "o", color="black", fillstyle="none", label="other machines")
    for figures, colour in zip(published, _palette()[1], strict=False):
        means = {label: mean for label, (mean, _) in figures.seconds.items()}
        places = [(means[x], row + 0.32) for row, x in enumerate(labels) if x in means]
        style = {"color": colour, "fillstyle": "none", "label": _plain(figures.hardware)}
        ax.plot(*np.reshape(places, (-1, 2)).T, "D", **style)
    ax.autoscale(axis="x")
    ax.set_xscale("log")
    seconds_axis(ax.xaxis)
    diamonds = ", diamond: published" if published else ""
    ax.set_xlabel(f"time per call, log scale (dot: sample, bar: median{diamonds})")
    _legend_above(ax, title or own.name)
    return ax


def _legend_above(ax, title):
    ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 0.99), ncols=4)
    ax.set_title(_plain(title), pad=ABOVE_LEGEND)


@in_style
def plot_overview(results, *, ax=None, title: str = ""):
    """How many times faster XLA is than the graph, for each `Result` that has both, sorted.

    results: drawn by their first XLA row and first graph row, one line each, named by what was
    measured, with a ring for each run before the last. ax, title: made when not given.
    Introduced in notebook 12, shown in the README and by the report.

    Raises: ValueError when no result has a graph and an XLA row, and an interval.
    """
    pairs = [(result, result.xla_against_graph) for result in results]
    rows = [(result, ratio) for result, ratio in pairs if ratio and ratio.bounded]
    if not rows:
        raise ValueError("`results` holds no comparison of XLA with a graph that has an interval")
    rows.sort(key=lambda pair: pair[1].value)
    ax = ax or _new_axes(1.3 + 0.42 * len(rows))
    colour = _palette()[0]["XLA"]
    for row, (result, ratio) in enumerate(rows):
        ax.plot([ratio.low, ratio.high], [row, row], color=colour, linewidth=3)
        ax.plot(ratio.value, row, "o", color=colour)
        _beside(ax, (ratio.high, row), ratio.short)
        earlier = [run.value for run in result.xla_in_runs[:-1]]
        places = [row + 0.26] * len(earlier)
        ax.plot(earlier, places, "o", color=colour, fillstyle="none", markersize=4)
    guide(ax, "as fast as the graph", x=1)
    _name_rows(ax, [result.what for result, _ in rows], above=1.2)
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    ax.set_xlim(min(low, 0.4), 2.2 * max(high, 2))
    ax.figure.draw_without_rendering()  # only now it is settled how much room the names leave
    _label_ticks(ax.xaxis, "{x:g}x")
    rings = ", ring: earlier run" if any(result.xla_in_runs[1:] for result, _ in rows) else ""
    ax.set_xlabel(f"times faster than the graph, log scale (line: 95 % interval{rings})")
    ax.set_title(_plain(title or "How many times faster XLA is than the graph"))
    return ax


# Checks, calls and graphs


@in_style
def plot_checks(checks: dict, *, ax=None, title: str = ""):
    """A row for each `Check`, a column for each mode, with the outcome in short.

    checks: label to `Check`. A mark says how a mode's outcome stands to eager's. The colour of
    "differs" belongs to results alone: an error is loud, another result is not. ax, title: made
    when not given. Introduced in notebook 08.

    Raises: ValueError when there is no check.
    """
    if not checks:
        raise ValueError("`checks` holds no check: there is nothing to draw")
    ax = ax or _new_axes(0.9 + 0.36 * len(checks))
    modes = list(next(iter(checks.values())).outcomes)
    for row, check in enumerate(checks.values()):
        for column, mode in enumerate(modes):
            mark, colour, words = _short(check[mode])
            ax.barh(row, 0.96, left=column, height=0.86, color=colour, alpha=0.18)
            ax.text(column + 0.05, row, mark, color=colour, weight="bold", va="center")
            ax.text(column + 0.14, row, _plain(words), fontsize=SMALL, va="center")
    _name_rows(ax, checks, above=0.5)
    ax.set_xticks(np.arange(len(modes)) + 0.48, list(map(_plain, modes)), weight="bold")
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.grid(False)
    ax.set_xlim(0, len(modes))
    ax.set_xlabel("=  as in eager mode      ≠  another result      !  an error")
    ax.set_title(_plain(title or "Outcomes in each mode"), pad=10)
    return ax


def _short(outcome):
    same, differs, error = _palette()[1][:3]
    if outcome.error is not None:
        return "!", error, "error"
    words = cut(outcome.short, 22)
    return ("=", same, words) if outcome.agrees else ("≠", differs, words)


@in_style
def plot_calls(log, ax, title):
    """What `CompilationLog.plot` promises."""
    if not log.calls:
        raise ValueError("the log holds no call: there is nothing to draw")
    ax = ax or _new_axes(1.1 + 0.36 * len(log.calls))
    seconds = [(c.trace_seconds, c.compile_seconds, c.run_seconds) for c in log.calls]
    ends = np.cumsum(seconds).reshape(-1, 3)
    parts = zip(("tracing", "compiling", "running"), _palette()[1], strict=False)
    for column, (part, colour) in enumerate(parts):
        lengths = np.array(seconds)[:, column]
        starts = ends[:, column] - lengths
        ax.barh(range(len(lengths)), lengths, 0.75, starts, color=colour, label=part)
    for row, call in enumerate(log.calls):
        reasons = _plain("; ".join(map(str, call.reasons)).replace("`", ""), 36)
        place, beside, ha = (ends[row, -1], row), 6, "left"
        if place[0] > ends[-1, -1] / 2:  # the other side has more room
            place, beside, ha = (ends[row, 0] - seconds[row][0], row), -6, "right"
        where = {"textcoords": "offset points", "ha": ha, "va": "center", "fontsize": SMALL}
        ax.annotate(reasons, place, (beside, 0), **where)
    _name_rows(ax, [call.number for call in log.calls])
    seconds_axis(ax.xaxis)
    ax.set(xlabel="time since the first call began", ylabel="call")
    _legend_above(ax, title or "When each call ran, and what it waited for")
    return ax


@in_style
def plot_graph(nodes: dict, edges, *, outside: str = "in no cluster", ax=None, title: str = ""):
    """A TensorFlow graph from top to bottom: each operation in the colour of its cluster.

    nodes: name to ``(operation, cluster)``; the cluster is None for an operation in none, which
    is drawn in grey. edges: pairs of names, from and to, without a circle. outside: what grey
    means. ax, title: made when not given. Introduced in notebook 05.
    """
    clusters = sorted({x for _, x in nodes.values() if x}, key=lambda x: (len(x), x))
    rims = dict(zip(clusters, itertools.cycle(_palette()[1]), strict=False)) | {None: PALE}
    paths, places = _lay_out({name: len(op) for name, (op, _) in nodes.items()}, edges)
    depth = max((y for _, y in places.values()), default=0) + 1
    ax = ax or _new_axes(0.7 + 0.36 * depth)
    for *before, last, end in paths:
        tip = end[0], end[1] - 0.3  # the upper rim of the box
        ax.plot(*zip(*before, last, strict=True), color=PALE, linewidth=1, zorder=1)
        arrow = {"arrowstyle": "-|>", "color": PALE, "shrinkA": 0, "shrinkB": 0}
        ax.annotate("", tip, last, arrowprops=arrow, zorder=1)
    for name, (operation, cluster) in nodes.items():
        box = {"boxstyle": "round", "facecolor": _pale(rims[cluster]), "edgecolor": rims[cluster]}
        box["linewidth"] = 1.8 if cluster else 0.8
        words = _plain(cut(operation, 32))
        ax.text(*places[name], words, ha="center", va="center", fontsize=8.5, bbox=box)
    for cluster, rim in rims.items():
        label = _plain(cut(cluster or outside, 32))
        ax.plot([], [], "s", color=rim, markerfacecolor=_pale(rim), label=label)
    ax.set_ylim(depth - 0.5, -0.5)
    ax.margins(x=0.1)
    ax.axis("off")
    _legend_above(ax, title or f"Clusters: {len(clusters)}")
    return ax


def _pale(colour):
    return tuple(1 - 0.25 * (1 - part) for part in to_rgb(colour))


def _lay_out(widths, edges):
    """The places that each edge runs through, and of each node: across, and its layer.

    A long edge has a stand-in on each layer that it passes, and all seek the middle of their
    neighbours, as in Sugiyama, Tagawa and Toda (1981).
    """
    import networkx as nx

    graph = nx.DiGraph(edges)
    graph.add_nodes_from(widths)
    layer = {x: y for y, xs in enumerate(nx.topological_generations(graph)) for x in xs}
    for name in graph:  # an argument or a constant stands just above its first user
        if graph.succ[name] and not graph.pred[name]:
            layer[name] = min(layer[user] for user in graph.succ[name]) - 1
    paths = []
    for start, end in graph.edges:
        between = {(start, end, y): y for y in range(layer[start] + 1, layer[end])}
        layer |= between
        paths.append([start, *between, end])
    links = nx.Graph(pair for path in paths for pair in itertools.pairwise(path))
    links.add_nodes_from(layer)
    x = dict.fromkeys(layer, 0.0)
    for y in [*range(max(layer.values(), default=-1) + 1)] * SWEEPS:
        row = [n for n in layer if layer[n] == y]
        wanted = {n: np.mean([x[m] for m in links[n] or [n]]) for n in row}
        x |= _apart(wanted, max(widths.get(n, 1) for n in row) + 3)
    places = {n: (x[n], layer[n]) for n in layer}
    return [[places[n] for n in path] for path in paths], places
