"""One colour for each mode: the palette measured, and the figures themselves asked."""

import itertools
import math

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.collections import Collection
from matplotlib.colors import to_hex, to_rgba
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.text import Text

from xla_helpers import figures
from xla_helpers.claims import Published
from xla_helpers.diagrams import plot_calls, plot_checks, plot_graph, plot_program
from xla_helpers.figures import COLOURS, GUIDE, OTHERS, colours, new_axes
from xla_helpers.modes import mode_of
from xla_helpers.plots import (
    plot_comparison,
    plot_overview,
    plot_ratios,
    plot_results,
)
from xla_helpers.tables import format_seconds

# The palette. Distances are Euclidean in CIE Lab; colour blindness as simulated by Machado,
# Oliveira and Fernandes (2009), at full severity.

TO_XYZ = np.array(
    [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
)  # from linear sRGB
D65 = np.array([0.9505, 1.0, 1.089])
SIMULATED = {
    "none": np.eye(3),
    "protanopia": [
        [0.152286, 1.052583, -0.204868],
        [0.114503, 0.786281, 0.099216],
        [-0.003882, -0.048116, 1.051998],
    ],
    "deuteranopia": [
        [0.367322, 0.860646, -0.227968],
        [0.280085, 0.672501, 0.047413],
        [-0.011820, 0.042940, 0.968881],
    ],
    "tritanopia": [
        [1.255528, -0.076749, -0.178779],
        [-0.078411, 0.930809, 0.147602],
        [0.004733, 0.691367, 0.303900],
    ],
}


def linear(colour):
    rgb = np.array(to_rgba(colour)[:3])
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(colour, seen="none"):
    xyz = TO_XYZ @ np.clip(SIMULATED[seen] @ linear(colour), 0, 1) / D65
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return np.array([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def chroma(colour):
    return math.hypot(*lab(colour)[1:])


@pytest.mark.parametrize("seen", SIMULATED)
@pytest.mark.parametrize(
    ("palette", "distance"),
    [(tuple(COLOURS.values()), 20), ((*COLOURS.values(), *OTHERS), 10)],
    ids=["modes", "all"],
)
def test_colours_can_be_told_apart(palette, distance, seen):
    for one, other in itertools.combinations(palette, 2):
        assert math.dist(lab(one, seen), lab(other, seen)) >= distance, (one, other)


def test_modes_can_be_told_apart_in_print():
    lightness = sorted(lab(colour)[0] for colour in COLOURS.values())
    assert min(np.diff(lightness)) >= 9


@pytest.mark.parametrize("colour", [*COLOURS.values(), *OTHERS, GUIDE])
def test_colours_can_be_read_on_white(colour):
    assert 1.05 / (TO_XYZ[1] @ linear(colour) + 0.05) >= 3


def test_xla_is_seen_first_and_eager_recedes():
    assert sorted(COLOURS, key=lambda mode: chroma(COLOURS[mode])) == ["eager", "graph", "XLA"]
    assert chroma(GUIDE) < 1 < 10 < min(map(chroma, COLOURS.values()))


def test_colours_go_by_mode_and_not_by_position():
    labels = ["call 1", "XLA, padded", "eager", "call 2", "plain", "graph"]
    assert colours(labels) == {
        "call 1": OTHERS[0],
        "XLA, padded": COLOURS["XLA"],
        "eager": COLOURS["eager"],
        "call 2": OTHERS[1],
        "plain": COLOURS["graph"],
        "graph": COLOURS["graph"],
    }
    assert len({*colours(map(str, range(20))).values()}) == len(OTHERS)


# Colours in figures: each drawing with labels of its own. Values are far from each other, so that
# what is drawn can be told by its numbers.

SECONDS = {"XLA": 11.0, "call": 13.0, "eager": 17.0, "graph": 19.0, "XLA, mended": 23.0}
LIMIT = 5.0


def rows(labels):
    return {label: SECONDS[label] for label in labels}


def results(made, labels):
    own = made.result(**rows(labels))
    published = Published("x", "source", "a GPU", {labels[0]: (3.0, 0.1)}, ())
    return plot_results(own, [own], [published])


def lines(ax, labels):
    drawn = figures.draw_lines(ax, {label: [1.0, SECONDS[label]] for label in labels})
    return figures.finish(ax, "Title", lines=drawn)


def dots(ax, labels):
    shown = {label: (s, 0.99 * s, 1.01 * s) for label, s in rows(labels).items()}
    figures.draw_dots(ax, shown)


DRAWINGS = {
    "plot_comparison": lambda made, labels: plot_comparison(
        made.comparison(**rows(labels)), predicted=rows(labels), limits={"copy": LIMIT}
    ),
    "plot_results": results,
    "draw_lines": lambda made, labels: lines(new_axes(), labels),
    "draw_bars": lambda made, labels: figures.draw_bars(new_axes(), {"one": rows(labels)}),
    "draw_stacks": lambda made, labels: figures.draw_stacks(new_axes(), {"one": rows(labels)}),
    "draw_dots": lambda made, labels: dots(new_axes(), labels),
}
ORDERS = [
    ["XLA"],
    ["eager", "graph", "XLA"],
    ["XLA", "call", "graph", "eager"],
    ["graph", "XLA, mended", "eager", "XLA"],
]


def colours_of(artist):
    """The colours that can be seen of an artist, as in the palette."""
    found = {
        Line2D: lambda: [
            artist.get_color(),
            artist.get_markerfacecolor(),
            artist.get_markeredgecolor(),
        ],
        Patch: lambda: [artist.get_facecolor(), artist.get_edgecolor()],
        Collection: lambda: [*artist.get_facecolors(), *artist.get_edgecolors()],
        Text: lambda: [artist.get_color()],
    }
    kind = next((kind for kind in found if isinstance(artist, kind)), None)
    shown = [to_rgba(colour) for colour in found[kind]()] if kind else []
    return {to_hex(rgba).upper() for rgba in shown if rgba[3] > 0}


def numbers(artist):
    if isinstance(artist, Line2D):
        return np.concatenate([np.ravel(data) for data in artist.get_data(orig=False)])
    if isinstance(artist, Collection):
        return np.concatenate([path.vertices.ravel() for path in artist.get_paths()] or [[]])
    return [artist.get_width()] if hasattr(artist, "get_width") else []


def labels_of(artist, labels):
    """The labels that an artist belongs to: by its words, or by its numbers."""
    if isinstance(artist, Text):
        words = artist.get_text()
        return [x for x in labels if words.endswith(x) or format_seconds(SECONDS[x]) in words]
    if artist.get_label() in labels:
        return [artist.get_label()]
    return [x for x in labels if any(abs(n / SECONDS[x] - 1) < 0.025 for n in numbers(artist))]


def drawn_in(figure):
    """Everything in a figure that has a colour."""
    kinds = (Line2D, Patch, Collection, Text)
    return [a for a in figure.findobj() if isinstance(a, kinds) and a.get_visible()]


def data_of(ax):
    return [*ax.lines, *ax.patches, *ax.collections]


@pytest.fixture
def draw(examples):
    def draw(drawing, labels):
        DRAWINGS[drawing](examples, labels)
        (ax,) = plt.gcf().axes
        return ax

    return draw


@pytest.mark.parametrize("labels", ORDERS, ids=" ".join)
@pytest.mark.parametrize("drawing", DRAWINGS)
def test_what_belongs_to_a_label_has_the_colour_of_its_mode(draw, drawing, labels):
    ax = draw(drawing, labels)
    shown = [artist for artist in data_of(ax) if labels_of(artist, labels)]
    for artist in shown:
        (label,) = labels_of(artist, labels)
        assert colours_of(artist) == {colours(labels)[label]}
    assert {label for artist in shown for label in labels_of(artist, labels)} == set(labels)


@pytest.mark.parametrize("labels", ORDERS, ids=" ".join)
@pytest.mark.parametrize("drawing", DRAWINGS)
def test_nothing_else_has_the_colour_of_a_mode(draw, drawing, labels):
    modes = set(COLOURS.values())
    for artist in drawn_in(draw(drawing, labels).figure):
        meant = {COLOURS.get(mode_of(label)) for label in labels_of(artist, labels)}
        assert colours_of(artist) & modes <= meant, artist


def is_guide(artist):
    return isinstance(artist, Line2D) and artist.get_linestyle() == "--"


def ratios(made, label):
    sweep = made.sweep(eager=1.0, **{label: 0.5})
    return plot_ratios(sweep, label, predicted=dict.fromkeys(sweep.comparisons, 2.5))


def overview(made, label):
    return plot_overview([made.result(graph=r, **{label: 1.0}) for r in (0.5, 2.0)])


@pytest.mark.parametrize(
    ("plot", "label"),
    [(ratios, "XLA"), (ratios, "graph"), (ratios, "call"), (overview, "XLA")],
)
def test_ratios_have_the_colour_of_their_label(examples, plot, label):
    ax = plot(examples, label)
    data = [artist for artist in data_of(ax) if not is_guide(artist)]
    assert set.union(*map(colours_of, data)) == {colours([label])[label]}
    seen = set.union(*map(colours_of, drawn_in(ax.figure)))
    assert seen & {*COLOURS.values(), *OTHERS} == {colours([label])[label]}


GUIDED = {
    "plot_comparison": (
        {"copy"},
        lambda made, **limits: plot_comparison(made.comparison(XLA=2.0), **limits),
        {"limits": {"copy": LIMIT}},
    ),
    "plot_ratios": (
        {"equal", "predicted"},
        lambda made, **limits: plot_ratios(made.sweep(), "XLA", **limits),
        {"predicted": {256: 1.4, 4096: 1.42}},
    ),
    "plot_overview": (
        {"as fast as the graph"},
        lambda made: plot_overview([made.result(graph=2.0, XLA=1.0)]),
        {},
    ),
    "plot_results": (set(), lambda made: results(made, ["eager", "XLA"]), {}),
}


@pytest.mark.parametrize("drawing", GUIDED)
def test_grey_is_on_guides_and_limits_alone(examples, drawing):
    names, plot, limits = GUIDED[drawing]
    figure = plot(examples, **limits).figure
    grey = [artist for artist in drawn_in(figure) if GUIDE in colours_of(artist)]
    assert {artist.get_text().strip() for artist in grey if isinstance(artist, Text)} == names
    assert all(is_guide(artist) for artist in grey if not isinstance(artist, Text))
    dashed = [artist for artist in figure.axes[0].lines if is_guide(artist)]
    assert len(dashed) == len(names)
    assert all(colours_of(artist) == {GUIDE} for artist in dashed)


@pytest.mark.parametrize(
    "plot",
    [
        lambda made: plot_program(made.program()),
        lambda made: plot_calls(made.log()),
        lambda made: plot_checks(made.checks()),
        lambda made: plot_graph(*made.graph()),
    ],
    ids=["program", "calls", "checks", "graph"],
)
def test_what_is_no_mode_has_neither_the_colour_of_one_nor_of_a_guide(examples, plot):
    seen = set.union(*map(colours_of, drawn_in(plot(examples).figure)))
    assert not seen & {*COLOURS.values(), GUIDE}
