"""What each plot says, that its labels can be read, and that its colours can be told apart."""

import itertools
import math

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_rgb

import xla_helpers as xh

with plt.style.context("xla_helpers.xla"):
    CYCLE = plt.rcParams["axes.prop_cycle"].by_key()["color"]
MODES = dict(zip(("eager", "graph", "XLA"), CYCLE, strict=False))
NEAR = {"eager": 0.00300, "graph": 0.00301, "XLA": 0.00299}
MARKS = {"predicted": {"256": 1.4}, "elsewhere": {"1024": [1.2, 2.4], "no row": 9}}
FAR = {"eager": 0.3, "graph": 0.003, "XLA": 0.0029}
PLOTS = {
    "near": lambda made, **own: made.comparison(**NEAR).plot(limits={"copy": 0.001}, **own),
    "far": lambda made, **own: made.comparison(**FAR).plot(**own),
    "farthest": lambda made, **own: made.comparison(eager=1000.0, XLA=1e-6).plot(**own),
    "ratios": lambda made, **own: xh.plot_ratios(made.ratios(), marks=MARKS, **own),
    "far ratios": lambda made, **own: xh.plot_ratios(
        {f"{r} of many words " * 9: xh.Ratio(r, 0.9 * r, 1.1 * r) for r in (0.01, 1, 100)}, **own
    ),
    "graph": lambda made, **own: xh.plot_graph(*made.graph(), **own),
}


@pytest.fixture(params=PLOTS)
def plot(request, examples):
    return lambda **own: PLOTS[request.param](examples, **own)


def words(ax):
    return [text.get_text().strip() for text in ax.texts if text.get_text()]


def dots(ax, marker="o"):
    return [line for line in ax.lines if line.get_marker() == marker and len(line.get_xdata())]


def overlaps(ax):
    """Pairs of texts of which one covers the other by more than a pixel."""
    ax.figure.canvas.draw()
    ticks = [*ax.get_xticklabels(), *ax.get_yticklabels()] if ax.axison else []
    shown = [text for text in [*ax.texts, ax._left_title, *ticks] if text.get_text()]
    boxes = [(text.get_text(), text.get_window_extent().padded(-0.5)) for text in shown]
    return [(a, b) for (a, x), (b, y) in itertools.combinations(boxes, 2) if x.overlaps(y)]


def test_a_plot_has_the_usual_width_and_texts_that_do_not_overlap(plot):
    ax = plot()
    assert overlaps(ax) == []
    assert 600 < xh.picture(ax, "a plot").width < 1100


def test_axes_and_title_may_be_given_and_settings_stay(plot):
    ax, before = plt.figure().add_subplot(), dict(plt.rcParams)
    assert plot(ax=ax, title="Mine") is ax and ax.get_title(loc="left") == "Mine"
    assert len(plt.get_fignums()) == 1 and dict(plt.rcParams) == before


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("text", ["$$", "$\\nosuch{$ a_b^c %s {} \x1b[2J\0\ud800\n" + "x" * 3000])
def test_no_text_breaks_a_picture(examples, text):
    seconds = {text: 0.003, "graph": 0.004, "XLA": 0.002}
    for ax in (
        examples.comparison(**seconds).plot(limits={text: 0.001}, title=text),
        xh.plot_ratios({text: xh.Ratio(1.2, 1.1, 1.3)}, marks={text: {text: 2}}, rival=text),
        xh.plot_graph({text: (text, text), "y": ("Add", None)}, [(text, "y")], outside=text),
    ):
        assert xh.picture(ax, "whatever").width < 2000


def test_a_picture_has_its_description_and_closes_its_figure_alone():
    other, (ax, _) = plt.figure(), plt.subplots(1, 2)[1]
    shown = xh.picture([ax], "XLA is fastest.")
    assert shown.data.startswith(b"\x89PNG") and shown.alt == "XLA is fastest."
    assert int.from_bytes(shown.data[16:20]) // 2 == shown.width  # sharp where it is enlarged
    assert plt.get_fignums() == [other.number]
    with pytest.raises(ValueError, match="`alt`"):
        xh.picture(plt.subplots()[1], "  ")


def test_labels_of_lines_that_end_together_stand_apart_in_their_order():
    ax = plt.subplots()[1]
    for i in range(5):
        ax.plot([0, 1], [0, 1 + i / 1000], label=f"line {i}")
    ax.plot([0, 1], [0, math.nan], label="ends nowhere")
    xh.label_lines(ax)
    assert overlaps(ax) == [] and words(ax) == [f"line {i}" for i in range(5)]
    assert np.all(np.diff([text.get_window_extent().y0 for text in ax.texts]) > 0)
    assert [text.get_color() for text in ax.texts] == [line.get_color() for line in ax.lines[:5]]


@pytest.mark.parametrize("points", [[], [None], [math.nan]])
def test_a_line_without_points_has_no_label(points):
    """A legend's line has none."""
    _, ax = plt.subplots()
    ax.plot([1, 2], [1, 2], label="seen")
    ax.plot(points, points, label="in the legend alone")
    xh.label_lines(ax)
    assert words(ax) == ["seen"]


@pytest.mark.parametrize("kind", [list, iter, lambda edges: (edge for edge in edges)])
def test_arrows_are_drawn_whatever_holds_the_edges(examples, kind):
    nodes, edges = examples.graph()
    ax = xh.plot_graph(nodes, kind(edges))
    arrows = [text for text in ax.texts if getattr(text, "arrow_patch", None)]
    assert len(arrows) == len(edges)


def test_a_comparison_shows_every_sample_its_median_and_what_was_predicted(examples):
    comparison = examples.comparison(**examples.close)
    ax = comparison.plot(predicted={"XLA": 0.0022}, limits={"copy": 0.001})
    assert [row.get_text() for row in ax.get_yticklabels()] == list(examples.close)
    samples = [tuple(line.get_xdata()) for line in dots(ax)]
    assert samples == [m.samples for m in comparison.measurements.values()]
    assert words(ax) == ["3 ms", "2.9 ms", "2.1 ms", "copy"]
    (diamond,) = dots(ax, "D")
    assert diamond.get_xdata() == [0.0022] and round(*diamond.get_ydata()) == 2
    assert diamond.get_color() == MODES["XLA"] and "diamond" in ax.get_xlabel()


@pytest.mark.parametrize(("medians", "scale"), [(NEAR, "linear"), (FAR, "log")])
def test_a_comparison_takes_a_log_scale_where_it_must_and_says_so(examples, medians, scale):
    ax = examples.comparison(**medians).plot()
    (low, high), samples = ax.get_xlim(), [line.get_xdata() for line in dots(ax)]
    assert ax.get_xscale() == scale and ("log scale" in ax.get_xlabel()) == (scale == "log")
    assert (low > 0) == (scale == "log")  # lengths can be compared, or the scale is named
    assert low < np.min(samples) and 1.01 * np.max(samples) < high


def test_what_belongs_to_a_label_has_the_colour_of_its_mode(examples):
    labels = {"XLA, padded": 2, "call": 3, "graph": 1, "eager": 0, "other": 4}
    drawn = dots(examples.comparison(**dict.fromkeys(labels, 1.0)).plot())
    assert [CYCLE.index(line.get_color()) for line in drawn] == [*labels.values()]


def test_ratios_are_rows_with_their_intervals_and_marks(examples):
    ratios = examples.ratios(eager=(1.0, 2.0, 3.0) * 3, XLA=1.5) | {"few": xh.Ratio(9, 0, math.inf)}
    ax = xh.plot_ratios(ratios, marks=MARKS, rival="the loop")
    assert [row.get_text() for row in ax.get_yticklabels()] == list(ratios)
    lines = [line for line in ax.lines if line.get_marker() == "None" and line.get_color() == "C2"]
    ends = [[*line.get_xdata()] for line in lines]
    assert ends == [[ratio.low, ratio.high] for ratio in ratios.values() if ratio.has_interval]
    assert [line.get_xdata()[0] for line in dots(ax)] == [r.value for r in ratios.values()]
    assert [*dots(ax, "D")[0].get_xdata()] == [1.4] and [*dots(ax, "s")[0].get_xdata()] == [
        1.2,
        2.4,
    ]
    assert "the loop" in ax.get_xlabel() + ax.get_title(loc="left")
    (legend,) = ax.figure.legends
    assert [text.get_text() for text in legend.get_texts()] == list(MARKS)


def test_nothing_is_no_picture():
    with pytest.raises(ValueError, match="`ratios`"):
        xh.plot_ratios({})
    with pytest.raises(ValueError, match="nothing to draw"):
        xh.Comparison({}, {}).plot()


def test_a_graph_runs_from_top_to_bottom_in_the_colours_of_its_clusters(examples):
    nodes, edges = examples.graph()
    ax = xh.plot_graph(nodes, edges)
    boxes = [text for text in ax.texts if text.get_text()]
    assert words(ax) == [operation for operation, _ in nodes.values()]
    assert len(ax.texts) - len(boxes) == len(edges)  # arrows
    places = {name: text.get_position() for name, text in zip(nodes, boxes, strict=True)}
    assert all(ax.viewLim.contains(*place) for place in places.values())
    assert all(places[start][1] < places[end][1] for start, end in edges)
    assert all(places[f"c{i}"][1] == places[f"op{i}"][1] - 1 for i in range(6))  # above its user
    rims = [text.get_bbox_patch().get_edgecolor() for text in boxes]
    clusters = [cluster for _, cluster in nodes.values()]
    assert len({*rims}) == len({*clusters}) == len({*zip(rims, clusters, strict=True)}) == 3
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["cluster_0", "cluster_1", "in no cluster"]
    assert words(xh.plot_graph({}, [])) == []


# Colours. Distances are Euclidean in CIE Lab; colour blindness is simulated as by Machado, Oliveira
# and Fernandes (2009), at full severity.

TO_XYZ = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
SEEN = {
    "by most": np.eye(3),
    "without red": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "without green": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
}


def linear(colour):
    rgb = np.array(to_rgb(colour))
    return np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)


def lab(colour, seen):
    xyz = TO_XYZ @ np.clip(seen @ linear(colour), 0, 1) / [0.9505, 1.0, 1.089]
    x, y, z = np.where(xyz > 0.008856, np.cbrt(xyz), 7.787 * xyz + 16 / 116)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


@pytest.mark.parametrize("seen", SEEN.values(), ids=SEEN)
def test_colours_can_be_told_apart_and_read_on_white(seen):
    for one, other in itertools.combinations(CYCLE, 2):
        least = 20 if {one, other} <= set(MODES.values()) else 10
        assert math.dist(lab(one, seen), lab(other, seen)) >= least, (one, other)
    for colour in CYCLE:
        assert 1.05 / (TO_XYZ[1] @ linear(colour) + 0.05) >= 3, colour


def test_xla_is_seen_first_and_modes_can_be_told_apart_in_print():
    light, *chroma = np.transpose([lab(colour, np.eye(3)) for colour in MODES.values()])
    assert [*np.argsort(np.hypot(*chroma))] == [0, 1, 2]
    assert min(np.diff(sorted(light))) >= 9


def test_a_row_of_many_boxes_is_laid_out_in_a_moment():
    """As many as a graph has constants; each gives way no further than it must."""
    from xla_helpers.plots import _apart

    crowded = _apart(dict.fromkeys(range(300), 0.0), 2.0)
    assert list(crowded.values()) == [2.0 * i - 299.0 for i in range(300)]
    assert _apart({"a": 0.0, "b": 1.0, "c": 9.0}, 3.0) == {"a": -1.0, "b": 2.0, "c": 9.0}
