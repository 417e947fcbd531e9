"""Diagrams of programs, calls and graphs. Takes data, returns `Axes`; never shows or saves."""

import textwrap
from collections.abc import Iterable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

from .figures import (
    OTHERS,
    SMALL,
    colours,
    finish,
    name_colours,
    new_axes,
    plain,
    seconds_axis,
)
from .layout import lay_out
from .tables import format_bytes

SAME, DIFFERS, ERROR = OTHERS[:3]  # of outcomes in a picture of checks

PALE = "0.6"  # grey of arrows and of what is in no cluster
NODE_HEIGHT = 15  # points that the box of a node is high


def plot_program(program, *, ax: Axes | None = None, title: str = "") -> Axes:
    """A `Program` as rows of kernels: bytes read to the left, bytes written to the right.

    ax, title: made when not given. Introduced in notebook 01.
    """
    kernels = program.kernels
    names = [plain(textwrap.fill(" + ".join(kernel.operations), 24)) for kernel in kernels]
    most_lines = max((name.count("\n") + 1 for name in names), default=1)
    ax = ax or new_axes(1.0 + max(0.55, 0.22 * most_lines) * len(kernels))
    read, written = OTHERS[:2]
    widest = max([1, *(count or 0 for k in kernels for count in (k.bytes_read, k.bytes_written))])
    gap = 0.75 * widest  # room for the kernel's name between the two bars
    for row, kernel in enumerate(kernels):
        for side, count, colour in (
            (-1, kernel.bytes_read, read),
            (1, kernel.bytes_written, written),
        ):
            width = count or 0  # None: unknown
            ax.barh(row, side * width, left=side * gap, height=0.55, color=colour)
            ax.annotate(
                "unknown" if count is None else format_bytes(count),
                (side * (gap + width), row),
                xytext=(side * 4, 0),
                textcoords="offset points",
                ha="right" if side < 0 else "left",
                va="center",
                fontsize=SMALL,
            )
        ax.text(0, row, names[row], ha="center", va="center", fontsize=SMALL)
    ax.text(-gap, -0.75, "reads", color=read, ha="right", weight="bold")
    ax.text(gap, -0.75, "writes", color=written, ha="left", weight="bold")
    ax.set_xlim(-(gap + 1.35 * widest), gap + 1.35 * widest)
    ax.set_ylim(len(kernels) - 0.4, -1.1)
    ax.set_title(plain(title or _kernels_and_bytes(program)), loc="left")
    ax.axis("off")
    return ax


def _kernels_and_bytes(program):
    moved = "not all bytes known" if program.bytes is None else format_bytes(program.bytes)
    count = len(program.kernels)
    return f"{program.mode}: {count} kernel{'' if count == 1 else 's'}, {moved}"


def plot_checks(checks: dict, *, ax: Axes | None = None, title: str = "") -> Axes:
    """A row for each `Check`, a column for each mode, with the outcome in short.

    checks: label to `Check`. A mark says how a mode's outcome stands to eager's. The colour of
    "differs" belongs to results alone: an error is loud, another result is not. ax, title: made
    when not given. Introduced in notebook 08.

    Raises: ValueError when there is no check.
    """
    if not checks:
        raise ValueError("`checks` holds no check: there is nothing to draw")
    ax = ax or new_axes(0.9 + 0.36 * len(checks))
    modes = list(next(iter(checks.values())).outcomes)
    for row, check in enumerate(checks.values()):
        for column, mode in enumerate(modes):
            outcome = check[mode]
            mark, colour, words = "=", SAME, textwrap.shorten(outcome.short, 22, placeholder=" …")
            if outcome.error is not None:
                mark, colour, words = "!", ERROR, "error"
            elif not outcome.agrees:
                mark, colour = "≠", DIFFERS
            ax.barh(row, 0.96, left=column, height=0.86, align="center", color=colour, alpha=0.18)
            ax.text(column + 0.05, row, mark, color=colour, weight="bold", va="center")
            ax.text(column + 0.14, row, plain(words), fontsize=SMALL, va="center")
    ax.set_yticks(range(len(checks)), list(map(plain, checks)))
    middles = [column + 0.48 for column in range(len(modes))]
    ax.set_xticks(middles, list(map(plain, modes)), weight="bold")
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    ax.set_xlim(0, len(modes))
    ax.set_ylim(len(checks) - 0.5, -0.5)
    ax.set_xlabel("=  as in eager mode      ≠  another result      !  an error")
    ax.set_title(plain(title or "Outcomes in each mode"), loc="left", pad=10)
    return ax


def plot_calls(log, *, ax: Axes | None = None, title: str = "") -> Axes:
    """The calls of a `CompilationLog` as a staircase: a row each, begun where the last one ended.

    log: a call that traced or compiled is a wide step, with its reasons beside it; one that found
    its program ready is a narrow one. ax, title: made when not given. Introduced in notebook 04.

    Raises: ValueError when there is no call.
    """
    calls = log.calls
    if not calls:
        raise ValueError("`log` holds no call: there is nothing to draw")
    ax = ax or new_axes(1.1 + 0.3 * len(calls))
    parts = {"tracing": "trace_seconds", "compiling": "compile_seconds", "running": "run_seconds"}
    seconds = np.array([[getattr(call, part) for part in parts.values()] for call in calls])
    ends = seconds.cumsum().reshape(seconds.shape)
    starts = ends - seconds
    for column, colour in enumerate(colours(parts).values()):
        ax.barh(
            range(len(calls)),
            seconds[:, column],
            left=starts[:, column],
            color=colour,
            height=0.75,
        )
    ax.set_xlim(0, 1.25 * ends[-1, -1])
    for row, call in enumerate(calls):
        _write_reasons(ax, row, call, starts[row, 0], ends[row, -1])
    ax.set_yticks(range(len(calls)), [f"{call.number}" for call in calls])
    ax.invert_yaxis()
    seconds_axis(ax.xaxis)
    name_colours(ax, colours(parts))
    title = title or "When each call ran, and what it waited for"
    return finish(ax, title, "time since the first call began", "call")


def _write_reasons(ax, row, call, start, end):
    """To the right of the step; to the left where only that side has room."""
    reasons = "; ".join(reason.plain for reason in call.reasons)
    label = ax.annotate(
        plain(textwrap.shorten(reasons, 72, placeholder=" …")),
        (end, row),
        xytext=(5, 0),
        textcoords="offset points",
        va="center",
        fontsize=SMALL,
    )
    needed = label.get_window_extent().width + 10 * ax.figure.dpi / 72
    left, right = ax.transData.transform([(start, row), (end, row)])[:, 0]
    if right + needed > ax.bbox.x1 and left - needed > ax.bbox.x0:
        label.set(ha="right", position=(-5, 0))
        label.xy = (start, row)


def plot_graph(
    nodes: dict,
    edges: Iterable,
    *,
    outside: str = "in no cluster",
    ax: Axes | None = None,
    title: str = "",
) -> Axes:
    """A TensorFlow graph from top to bottom: each operation in the colour of its cluster.

    nodes: name to ``(operation, cluster)``; the cluster is None for an operation in none, which
    is drawn in grey. edges: pairs of names, from and to. outside: what grey means. ax, title: made
    when not given. Introduced in notebook 05.

    Raises: ValueError when an edge names no node, or the graph goes round in a circle.
    """
    clusters = sorted({cluster for _, cluster in nodes.values() if cluster}, key=_by_number)
    edge_of = colours(clusters)
    places, paths = lay_out({name: len(operation) for name, (operation, _) in nodes.items()}, edges)
    depth = max((y for _, y in places.values()), default=0) + 1
    ax = ax or new_axes(0.6 + 0.36 * depth)
    half = NODE_HEIGHT / 2 / (ax.get_window_extent().height * 72 / ax.figure.dpi / depth)
    for path in paths:
        _draw_edge(ax, path, half)
    for name, (operation, cluster) in nodes.items():
        edge = edge_of.get(cluster, PALE)
        box = {"boxstyle": "round,pad=0.3", "facecolor": _pale(edge), "edgecolor": edge}
        box["linewidth"] = 1.8 if cluster else 0.8
        ax.text(*places[name], plain(operation), ha="center", va="center", fontsize=8.5, bbox=box)
    for name in [*clusters, None]:
        edge = edge_of.get(name, PALE)
        ax.plot([], [], "s", color=edge, markerfacecolor=_pale(edge), label=plain(name or outside))
    ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 0.99), ncols=4, frameon=False)
    across = [x for x, _ in places.values()] or [0]
    ax.set_xlim(min(across) - 8, max(across) + 8)
    ax.set_ylim(depth - 0.5, -0.5)
    ax.set_title(plain(title or f"Clusters: {len(clusters)}"), loc="left", pad=26)
    ax.axis("off")
    return ax


def _draw_edge(ax, path, half):
    """From the lower rim of the first box, through the places between, to the rim of the last."""
    (x, y), *between, (end_x, end_y) = path
    points = [(x, y + half), *between, (end_x, end_y - half)]
    ax.plot(*zip(*points[:-1], strict=True), color=PALE, linewidth=1, zorder=1)
    arrow = {"arrowstyle": "-|>", "color": PALE, "linewidth": 1, "shrinkA": 0, "shrinkB": 0}
    ax.annotate("", points[-1], points[-2], arrowprops=arrow, zorder=1)


def _by_number(cluster):
    """cluster_2 before cluster_10."""
    return len(cluster), cluster


def _pale(colour):
    return tuple(1 - 0.25 * (1 - part) for part in to_rgb(colour))
