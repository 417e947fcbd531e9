"""All recorded comparisons in one picture: how many times faster XLA is than the graph."""

import matplotlib

from xla_helpers import picture, plot_overview
from xla_helpers.plots import overview as rows

matplotlib.use("Agg")


def describe(results):
    """The picture in words."""
    (lowest, low), *_, (highest, high) = rows(results) * 2
    return (
        "How many times faster XLA is than the graph, a line with an interval for each "
        f"comparison: from {low!r} ({lowest.what}) to {high!r} ({highest.what}). "
        "The table below says the same in words."
    )


def draw(results):
    """The picture, with its description."""
    return picture(plot_overview(results), alt=describe(results))
