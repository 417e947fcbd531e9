"""The break-even dial of the site: its presets, and the picture for browsers without JavaScript."""

import statistics

import matplotlib.pyplot as plt
import numpy as np
from races import OTHERS, STYLE, as_svg, in_order

PICTURED = ["shipped-writer", "gradient-step", "many-steps"]
PICTURED += ["five-modes-efficientnetv2-s"]


def presets(results):
    """Each race of a machine: seconds of compiling and of calls, of its processes and in median."""
    found = []
    for race in (race for race in in_order([results]) if race.group != OTHERS):
        (result,) = race.results
        processes = [_process(result, run.comparison) for run in result.runs]
        middle = {x: statistics.median(one[x] for one in processes) for x in processes[0]}
        found.append({"name": race.short, "race": race.name, **middle, "processes": processes})
    return found


def _process(result, comparison):
    xla, graph = comparison[result.label], comparison[result.rival]
    compiling = max(xla.first - xla.median, 1e-3)  # as low as the slider goes
    return {"compile": compiling, "graph": graph.median, "xla": xla.median}


def drawn(results):
    """SVG: how many times faster all calls are, over their number, a line for each race."""
    calls = np.logspace(0, 7, 100)
    with plt.rc_context(STYLE):
        fig, ax = plt.subplots(figsize=(8.6, 3.8), layout="constrained")
        for one in presets(results):
            if one["race"] in PICTURED:
                gains = calls * one["graph"] / (one["compile"] + calls * one["xla"])
                (line,) = ax.loglog(calls, gains)
                place = {"xytext": (6, 0), "textcoords": "offset points", "va": "center"}
                ax.annotate(one["name"], (calls[-1], gains[-1]), color=line.get_color(), **place)
        ax.axhline(1, color="0.4", linestyle="--", linewidth=1)
        ax.set_ylim(1 / 20, 10)
        ax.set_yticks([1 / 10, 1 / 2, 1, 2, 5], ["10x slower", "2x", "same", "2x", "5x faster"])
        ax.set_yticks([], minor=True)
        ax.set_xticks([1, 100, 10_000, 1_000_000], ["1", "100", "10,000", "1,000,000"])
        ax.set_xticks([], minor=True)
        ax.set_xlim(1, calls[-1])
        ax.set_xlabel("calls, on a logarithmic scale")
        ax.grid(color="0.9")
        ax.spines[["top", "right"]].set_visible(False)
        ax.set_title("Above the dashed line the compilation has paid", loc="left", weight="bold")
        return as_svg(fig)
