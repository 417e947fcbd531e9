"""What a candidate gains over more and more calls, drawn for the page about a decision."""

import io
import math
import statistics
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from .decision import Decision

TEXT, LINE = "#010203", "#040506"  # stand for the page's own colours, of text and of dots
STYLE: dict[Any, Any] = {
    "svg.fonttype": "none",
    "svg.hashsalt": "xla-decide",
    "font.family": "sans-serif",
    "text.color": TEXT,
    "axes.edgecolor": TEXT,
    "axes.labelcolor": TEXT,
    "xtick.color": TEXT,
    "ytick.color": TEXT,
}
MOST_CALLS = 7  # in powers of ten
POINTS = 50
TICKS = 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100


def curve_of(decision: Decision, label: str) -> str:
    """The gain of a candidate over the number of calls, with the plan and the break-even.

    Args:
        decision: What was decided.
        label: A candidate that was raced.

    Returns:
        SVG, in the colours of the page that holds it.
    """
    import matplotlib as mpl
    from matplotlib.figure import Figure

    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(7.4, 2.8), layout="constrained")
        _draw(figure.subplots(), decision, label)
        file = io.StringIO()
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    text = file.getvalue()
    return text[text.index("<svg") :].replace(TEXT, "currentColor").replace(LINE, "var(--dot)")


def _draw(ax, decision, label):
    most = max(MOST_CALLS, math.ceil(math.log10(decision.calls)))
    calls = [round(10 ** (most * point / POINTS)) for point in range(POINTS + 1)]
    low, high = 1.0, decision.min_speedup
    for one, style, words in _sums(decision):
        gains = [statistics.median(replace(one, calls=n).gains_of(label)) for n in calls]
        ax.plot(calls, gains, style, color=LINE, label=words)
        low, high = min(low, *gains), max(high, *gains)
    if decision.has_two_sums:
        ax.legend(frameon=False, fontsize=9)
    ax.set(xscale="log", yscale="log", xlabel="calls", xlim=(1, 10**most))
    low, high = low / 1.15, high * 1.15
    ticks = [tick for tick in TICKS if low <= tick <= high]
    ax.set_yticks(ticks, [f"{tick:g}x" for tick in ticks])
    ax.set_yticks([], minor=True)
    ax.set_ylim(low, high)
    line = {"color": TEXT, "linewidth": 1}
    ax.axhline(1, **line)
    ax.axhline(decision.min_speedup, linestyle="--", **line)
    ax.axvline(decision.calls, linestyle=":", **line)
    ax.spines[["top", "right"]].set_visible(False)


def _sums(decision) -> Iterator[tuple[Decision, str, str]]:
    """The decision, or, where nobody said whether the examples repeat, both of them."""
    if not decision.has_two_sums:
        yield decision, "-", ""
        return
    yield replace(decision, repeats=True), "-", "the examples again and again"
    yield replace(decision, repeats=False), "-.", "new ones keep coming"
