"""Plots of measurements and graphs, in the style `xla.mplstyle`, and pictures with a description.

A reader's settings of matplotlib stay as they are: the style holds inside these functions alone,
and in a notebook that says ``plt.style.use("xla_helpers.xla")``.
"""

import itertools
import textwrap
from collections.abc import Mapping
from io import BytesIO

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.ticker import EngFormatter, LogLocator, MaxNLocator, NullFormatter

from .modes import MODES, mode_of
from .ratios import Ratio
from .tables import format_si, printable, truncate

in_style = plt.style.context("xla_helpers.xla")

GREY, PALE = "#737373", "0.6"  # of reference lines; of arrows and what is in no cluster
SMALL = 9  # points: numbers beside what they belong to


@in_style
def picture(ax, alt: str):
    """Turn a figure into a picture with a description for readers who cannot see it.

    Make it the last line of a cell. The figure is closed, so that it is shown once.

    Args:
        ax: Its axes, or the array of several panels.
        alt: One sentence that says what the figure shows.

    Returns:
        An `IPython.display.Image`, which a notebook displays.

    Raises:
        ValueError: When `alt` is empty.
    """
    from IPython.display import Image

    if not (isinstance(alt, str) and alt.strip()):
        raise ValueError("`alt` is empty: say in one sentence what the figure shows")
    figure, buffer = np.ravel(ax)[0].figure, BytesIO()
    figure.savefig(buffer, format="png")
    plt.close(figure)
    return Image(buffer.getvalue(), format="png", alt=alt, retina=True)  # two pixels for each


def label_lines(ax) -> None:
    """Write the label of each line at its right end, apart from its neighbours.

    Args:
        ax: The axes, with scales, limits and titles as they will be.
    """
    ax.figure.draw_without_rendering()  # only now it is settled where things stand
    named = [line for line in ax.lines if not line.get_label().startswith("_")]
    labelled = [line for line in named if len(line.get_xydata())]  # a legend's line has no points
    ends = {x: x.get_xydata()[-1] for x in labelled if ax.viewLim.contains(*x.get_xydata()[-1])}
    points = 72 / ax.figure.dpi
    heights = {line: ax.transData.transform(end)[1] * points for line, end in ends.items()}
    for line, height in _apart(heights, 13).items():
        style = {"color": line.get_color(), "weight": "bold", "fontsize": None}
        _beside(ax, ends[line], line.get_label(), height - heights[line], **style)


def _reference_line(ax, x, name=""):
    """A dashed grey line at `x`, with its name, if it has one."""
    ax.axvline(x, color=GREY, linestyle="--", linewidth=1, zorder=0)
    if name:
        style = {"color": GREY, "fontsize": None, "xycoords": ("data", "axes fraction")}
        _beside(ax, (x, 1), name, -10, **style)


def _label_ticks(axis, formatter) -> None:
    """As many ticks as there is room for, on a log scale too."""
    axis.set_major_locator(MaxNLocator(max(2, axis.get_tick_space() // 2), steps=(1, 2, 5, 10)))
    low, high = axis.get_view_interval()
    if axis.get_scale() == "log" and high > 6 * low:
        many, some = high < 60 * low, high < 300 * low
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if many else (1, 3) if some else (1,)))
    axis.set_major_formatter(formatter)
    axis.set_minor_formatter(NullFormatter())


def _colours_of(labels) -> list[str]:
    """The colour of the mode that each label begins with, or one that belongs to no mode."""
    cycle = plt.rcParams["axes.prop_cycle"].by_key()["color"]
    modes, others = dict(zip(MODES, cycle, strict=False)), itertools.cycle(cycle[len(MODES) :])
    return [modes.get(mode_of(str(label)) or "") or next(others) for label in labels]


def _plain(text, width=64, most=64) -> str:
    """A text as a picture takes it: short, and nothing in it is a command."""
    return textwrap.fill(truncate(printable(str(text)), most), width).replace("$", r"\$")


def _beside(ax, place, words, up=0, **style) -> None:
    """Write a few words to the right of a place."""
    usual = {"va": "center", "fontsize": SMALL, "annotation_clip": False}
    usual["bbox"] = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 0.5}
    ax.annotate(_plain(words), place, (6, up), textcoords="offset points", **usual | style)


def _name_rows(ax, names, above=0.85, width=36, most=64, **style) -> None:
    """Name the rows of a plot, from top to bottom."""
    ax.set_yticks(range(len(names)), [_plain(name, width, most) for name in names], **style)
    ax.set_ylim(len(names) - 0.4, -above)


def _apart(places, distance) -> dict:
    """Places at least `distance` apart: of those that are too close, all give way, least in all.

    Without the distances, they must not fall: neighbours that do are pooled at their mean (isotonic
    regression: Barlow and others, Statistical Inference under Order Restrictions, 1972).
    """
    ordered = sorted(places, key=lambda name: places[name])
    pools: list[list[float]] = []  # of names that stand side by side
    for number, name in enumerate(ordered):
        pools.append([places[name] - number * distance])
        while len(pools) > 1 and np.mean(pools[-2]) > np.mean(pools[-1]):
            last = pools.pop()
            pools[-1] += last
    starts = [float(np.mean(pool)) for pool in pools for _ in pool]
    return {name: starts[number] + number * distance for number, name in enumerate(ordered)}


@in_style
def plot_comparison(comparison, predicted, limits, ax, title):
    """The axes of `Comparison.plot`."""
    measured = comparison.measurements
    if not measured:
        raise ValueError("the comparison holds no measurement: there is nothing to draw")
    ax = ax or plt.subplots(figsize=(7.2, 0.9 + 0.55 * len(measured)))[1]
    for row, (m, colour) in enumerate(zip(measured.values(), _colours_of(measured), strict=True)):
        ax.plot(m.samples, [row] * len(m.samples), "o", color=colour, alpha=0.35, mew=0)
        ax.plot(m.median, row, "|", color=colour, markersize=22, mew=2.5)
        where = {"textcoords": "offset points", "ha": "center", "fontsize": SMALL}
        ax.annotate(format_si(m.median, "s"), (m.median, row), (0, 12), **where)
        if m.label in predicted:
            ax.plot(predicted[m.label], row + 0.3, "D", color=colour, fillstyle="none")
    for name, seconds in limits.items():
        _reference_line(ax, seconds, name)
    _name_rows(ax, measured)
    medians = [m.median for m in measured.values()]
    log = max(medians) > 10 * min(medians)
    if log:
        ax.set(xscale="log")
    else:
        ax.set(xlim=(0, 1.05 * ax.dataLim.x1))
    _label_ticks(ax.xaxis, EngFormatter("s"))
    words = f"dot: sample, bar: median{', diamond: predicted' if predicted else ''}"
    ax.set_xlabel(f"time per call{', log scale' if log else ''} ({words})")
    ax.set_title(_plain(title or "Time per call"))
    return ax


@in_style
def plot_ratios(
    ratios: Mapping[str, Ratio], *, marks: Mapping[str, Mapping] | None = None, rival="the graph",
    ax=None, title=""
):  # fmt: skip
    """Draw how many times faster something is, a row for each ratio, with its interval.

    Args:
        ratios: The name of each row to its `Ratio`, from top to bottom.
        marks: What else is shown in these rows, such as what was predicted or what other machines
            found: its name to a dict of the rows' names to a number, or to several.
        rival: What all are compared with.
        ax: Matplotlib axes, made when not given.
        title: The title.

    Returns:
        The axes, for `picture`.

    Raises:
        ValueError: When there is no ratio.
    """
    if not ratios:
        raise ValueError("`ratios` is empty: there is nothing to draw")
    height = 1.3 + 0.36 * len(ratios) + 0.2 * len(marks or {})
    ax = ax or plt.subplots(figsize=(7.2, height))[1]
    places = {name: row for row, name in enumerate(ratios)}
    for ratio, row in zip(ratios.values(), places.values(), strict=True):
        if ratio.has_interval:
            ax.plot([ratio.low, ratio.high], [row, row], color="C2", linewidth=3)  # XLA's colour
        ax.plot(ratio.value, row, "o", color="C2")
    _mark_rows(ax, marks or {}, places)
    _name_rows(ax, ratios, above=0.6, width=48, most=84, fontsize=SMALL)
    _write_beside_rows(ax, [ratio.short for ratio in ratios.values()])
    _reference_line(ax, 1)
    ax.set_xscale("log")
    low, high = ax.get_xlim()
    ax.set_xlim(min(low, 0.5), max(high, 2))
    ax.figure.draw_without_rendering()  # only now it is settled how much room the names leave
    _label_ticks(ax.xaxis, "{x:g}x")
    ax.set_xlabel(f"times faster than {_plain(rival)}, log scale (line: interval)")
    ax.set_title(_plain(title or f"How many times faster than {rival}"))
    if marks:
        ax.figure.legend(loc="outside lower left", fontsize=SMALL)
    return ax


def _write_beside_rows(ax, texts):
    """Write a text at the right end of each row."""
    right = ax.secondary_yaxis("right")
    right.set_yticks(range(len(texts)), texts, fontsize=SMALL)
    right.tick_params(length=0)
    right.spines["right"].set_visible(False)


def _mark_rows(ax, marks, places):
    """Draw what else is shown in the rows, each kind with a mark of its own."""
    style = {"linestyle": "none", "fillstyle": "none", "color": "black", "markersize": 5}
    for (label, found), marker in zip(marks.items(), itertools.cycle("Ds^v")):
        pairs = [(x, places[row]) for row in places if row in found for x in np.ravel(found[row])]
        across, rows = zip(*pairs, strict=True) if pairs else ((), ())
        ax.plot(across, rows, marker=marker, label=_plain(label, 110, 200), **style)


@in_style
def plot_graph(nodes: dict, edges, *, outside: str = "in no cluster", ax=None, title: str = ""):
    """Draw a TensorFlow graph from top to bottom, each operation in the colour of its cluster.

    Args:
        nodes: Name to ``(operation, cluster)``; the cluster is None for an operation in none, which
            is drawn in grey.
        edges: Pairs of names, from and to, without a circle.
        outside: What grey means.
        ax: Matplotlib axes, made when not given.
        title: The title.

    Returns:
        The axes, for `picture`.
    """
    edges = list(edges)
    places = _lay_out(nodes, edges)
    depth = max((y for _, y in places.values()), default=0) + 1
    ax = ax or plt.subplots(figsize=(7.2, 0.7 + 0.36 * depth))[1]
    arrow = {"arrowstyle": "-|>", "color": PALE, "shrinkA": 0, "shrinkB": 0}
    for start, end in edges:
        tip = places[end][0], places[end][1] - 0.3  # the upper rim of the box
        ax.annotate("", tip, places[start], arrowprops=arrow, zorder=1)
    clusters = sorted({x for _, x in nodes.values() if x}, key=lambda x: (len(x), x))
    colours = dict(zip([*clusters, None], [*_colours_of(clusters), PALE], strict=True))
    for name, (operation, cluster) in nodes.items():
        box = {"boxstyle": "round", "facecolor": "white", "edgecolor": colours[cluster], "lw": 1.8}
        words = {"ha": "center", "va": "center", "fontsize": SMALL, "bbox": box}
        ax.text(*places[name], _plain(truncate(operation, 32)), **words)
    for cluster, colour in colours.items():
        ax.plot([], [], "s", color=colour, fillstyle="none", label=_plain(cluster or outside)[:32])
    ax.set_ylim(depth - 0.5, -0.5)
    ax.update_datalim(list(places.values()))  # texts count for nothing
    ax.margins(x=0.1)
    ax.axis("off")
    ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 0.99), ncols=4)
    ax.set_title(_plain(title or f"Clusters: {len(clusters)}"), pad=26)
    return ax


def _lay_out(nodes, edges):
    """The place of each node: across, and its layer from the top; neighbours seek each other."""
    import networkx as nx

    graph = nx.DiGraph(edges)
    graph.add_nodes_from(nodes)
    layer = {x: y for y, xs in enumerate(nx.topological_generations(graph)) for x in xs}
    for name in graph:  # an argument or a constant stands just above its first user
        if graph.succ[name] and not graph.pred[name]:
            layer[name] = min(layer[user] for user in graph.succ[name]) - 1
    links, x = graph.to_undirected(), dict.fromkeys(graph, 0.0)
    rows = [[name for name in graph if layer[name] == y] for y in sorted({*layer.values()})]
    for row in rows * 20:
        wanted = {name: np.mean([x[other] for other in links[name] or [name]]) for name in row}
        x |= _apart(wanted, max(len(nodes[name][0]) for name in row) + 3)
    return {name: (x[name], layer[name]) for name in graph}
