"""What each plot says, that its labels can be read, and that its colours can be told apart."""

import itertools
import math
import warnings
from dataclasses import replace
from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb

import xla_helpers as xh
from xla_helpers.comparisons import Comparison

with plt.style.context("xla_helpers.xla"):
    CYCLE = plt.rcParams["axes.prop_cycle"].by_key()["color"]
MODES = dict(zip(("eager", "graph", "XLA"), CYCLE, strict=False))
NEAR = {"eager": 0.00300, "graph": 0.00301, "XLA": 0.00299}
FAR = {"eager": 0.3, "graph": 0.003, "XLA": 0.0029}
PUBLISHED = xh.read_published("five-modes-efficientnetv2-s")


PLOTS = {
    "near": lambda made, **own: made.comparison(**NEAR).plot(limits={"copy": 0.001}, **own),
    "far": lambda made, **own: made.comparison(**FAR).plot(**own),
    "one": lambda made, **own: made.comparison(XLA=0.001).plot(**own),
    "ratios": lambda made, **own: xh.plot_ratios(
        made.races(), "XLA", "eager", predicted={256: 1.4}, **own
    ),
    "results": lambda made, **own: xh.plot_results(
        made.result(**FAR),
        [made.result(**NEAR)],
        PUBLISHED,
        **own,
    ),
    "overview": lambda made, **own: xh.plot_overview(
        [made.result(what="many words " * 9, graph=r, XLA=1.0) for r in (0.01, 1, 100)], **own
    ),
    "calls": lambda made, **own: xh.CompilationLog.plot(made.log(), **own),
    "checks": lambda made, **own: xh.plot_checks(made.checks(), **own),
    "graph": lambda made, **own: xh.plot_graph(*made.graph(), **own),
}


@pytest.fixture(params=PLOTS)
def plot(request, examples):
    return lambda **own: PLOTS[request.param](examples, **own)


def words(ax):
    return [text.get_text().strip() for text in ax.texts if text.get_text()]


def rows(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def dots(ax, marker="o"):
    return [line for line in ax.lines if line.get_marker() == marker and len(line.get_xdata())]


def shown_texts(ax):
    ticks = [*ax.get_xticklabels(), *ax.get_yticklabels()] if ax.axison else []
    return [text for text in [*ax.texts, ax._left_title, *ticks] if text.get_text()]


def overlaps(ax):
    """Pairs of texts of which one covers the other by more than a pixel."""
    ax.figure.canvas.draw()
    boxes = [(text.get_text(), text.get_window_extent().padded(-0.5)) for text in shown_texts(ax)]
    return [(a, b) for (a, x), (b, y) in itertools.combinations(boxes, 2) if x.overlaps(y)]


# Every plot


def test_labels_do_not_overlap(plot):
    assert overlaps(plot()) == []


def test_axes_and_title_may_be_given_and_settings_stay(plot):
    ax, before = plt.figure().add_subplot(), dict(plt.rcParams)
    assert plot(ax=ax, title="Mine") is ax
    assert ax.get_title(loc="left") == "Mine"
    assert len(plt.get_fignums()) == 1
    assert dict(plt.rcParams) == before


TEXTS = {"dollars": "$$", "everything": "$\\nosuch{$ a_b^c %s {} \x1b[2J\0\ud800\n" + "x" * 3000}


@pytest.mark.parametrize("text", TEXTS.values(), ids=TEXTS)
def test_no_text_breaks_a_picture(examples, text):
    log = examples.log()
    seconds = {text: 0.003, "graph": 0.004, "XLA": 0.002}
    result = examples.result(name=text, what=text, **seconds)
    log.calls[0] = replace(log.calls[0], reasons=(text,))
    check = examples.check(eager={"result": text}, XLA={"result": 1, "agrees": False})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ax in (
            examples.comparison(**seconds).plot(limits={text: 0.001}, title=text),
            xh.plot_ratios(examples.races(**seconds), "XLA", text, name=text, predicted={256: 2}),
            xh.plot_results(result),
            xh.plot_overview([result]),
            xh.CompilationLog.plot(log, title=text),
            xh.plot_checks({text: check}),
            xh.plot_graph({text: (text, text), "y": ("Add", None)}, [(text, "y")], outside=text),
        ):
            png = xh.picture(ax, "whatever").png
            assert int.from_bytes(png[16:20]) < 2000  # pixels across


# Pictures, and what a cell draws on its own


def test_a_picture_has_its_description_and_closes_its_figure_alone():
    other, (ax, _) = plt.figure(), plt.subplots(1, 2)[1]
    shown = xh.picture([ax], "XLA is fastest.")
    data, metadata = shown._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG")
    assert data["text/plain"] == repr(shown) == "Picture: XLA is fastest."
    assert metadata == {"image/png": {"alt": "XLA is fastest."}}
    assert plt.get_fignums() == [other.number]
    for alt in ("", "  ", None):
        with pytest.raises(ValueError, match="`alt` is empty: say in one sentence what"):
            xh.picture(plt.subplots()[1], alt)


def test_the_style_draws_the_modes_in_their_colours_and_any_text_on_white():
    with plt.style.context("xla_helpers.xla"):
        ax = plt.subplots()[1]
        drawn = [ax.plot([1, 2], label=mode)[0].get_color() for mode in MODES]
        ax.set_title("On the left")
    assert drawn == list(MODES.values())
    assert to_rgb(ax.figure.get_facecolor()) == to_rgb(ax.get_facecolor()) == (1, 1, 1)
    assert [side for side, spine in ax.spines.items() if spine.get_visible()] == ["left", "bottom"]
    assert ax.get_title(loc="left") == "On the left"


def test_labels_of_lines_that_end_together_stand_apart_in_their_order():
    ax = plt.subplots()[1]
    for i in range(5):
        ax.plot([0, 1], [0, 1 + i / 1000], label=f"line {i}")
    ax.plot([0, 1], [0, math.nan], label="ends nowhere")
    xh.label_lines(ax)
    assert overlaps(ax) == []
    assert words(ax) == [f"line {i}" for i in range(5)]
    heights = [text.get_window_extent().y0 for text in ax.texts]
    assert heights == sorted(heights)
    assert [text.get_color() for text in ax.texts] == [line.get_color() for line in ax.lines[:5]]


@pytest.mark.parametrize("scale", ["linear", "log"])
@pytest.mark.parametrize("farthest", [1.3, 30, 1e6])
@pytest.mark.parametrize("panels", [1, 3])
def test_an_axis_of_seconds_has_as_many_ticks_as_fit(scale, farthest, panels):
    with plt.style.context("xla_helpers.xla"):
        ax = np.ravel(plt.subplots(1, panels)[1])[0]
    ax.plot([0.001, 0.001 * farthest], [0.001, 0.001 * farthest], "o")
    ax.set(xscale=scale, yscale=scale)
    for axis in (ax.xaxis, ax.yaxis):
        xh.seconds_axis(axis)
        low, high = axis.get_view_interval()
        ticks = [tick for tick in axis.get_majorticklocs() if low <= tick <= high]
        assert 2 <= len(ticks) <= 12
        shown = axis.get_major_formatter()
        assert {shown(tick).split()[-1] for tick in ticks} <= {"µs", "ms", "s", "ks"}
    assert overlaps(ax) == []


def test_a_guide_is_grey_and_has_its_name():
    ax = plt.subplots()[1]
    xh.guide(ax, "limit", x=2)
    xh.guide(ax, "equal", y=1)
    assert words(ax) == ["limit", "equal"]
    assert [line.get_xydata()[0][i] for i, line in enumerate(ax.lines)] == [2, 1]
    for artist in (*ax.lines, *ax.texts):
        assert len(set(to_rgb(artist.get_color()))) == 1


# Measurements


def test_a_comparison_shows_every_sample_its_median_and_what_was_predicted(examples):
    comparison = examples.comparison(**examples.close)
    ax = comparison.plot(predicted={"XLA": 0.0022}, limits={"copy": 0.001})
    assert rows(ax) == list(examples.close)
    samples = [tuple(line.get_xdata()) for line in dots(ax)]
    assert samples == [m.samples for m in comparison.measurements.values()]
    assert words(ax) == ["3 ms", "2.9 ms", "2.1 ms", "copy"]
    (diamond,) = dots(ax, "D")
    assert diamond.get_xdata() == [0.0022] and round(*diamond.get_ydata()) == 2
    assert diamond.get_color() == MODES["XLA"] and "diamond" in ax.get_xlabel()


@pytest.mark.parametrize(("medians", "scale"), [(NEAR, "linear"), (FAR, "log")])
def test_a_comparison_takes_a_log_scale_where_it_must_and_says_so(examples, medians, scale):
    comparison = examples.comparison(**medians)
    ax = comparison.plot()
    assert ax.get_xscale() == scale
    assert ("log scale" in ax.get_xlabel()) is (scale == "log")
    low, high = ax.get_xlim()
    samples = [sample for m in comparison.measurements.values() for sample in m.samples]
    assert (low > 0) == (scale == "log")  # bars can be compared, or the scale is named
    assert low < min(samples) and 1.01 * max(samples) < high


def test_what_belongs_to_a_label_has_the_colour_of_its_mode(examples):
    labels = ["XLA, mended", "call", "graph", "eager", "other"]
    ax = examples.comparison(**dict.fromkeys(labels, 1.0)).plot()
    colours = [line.get_color() for line in dots(ax)]
    assert colours == [MODES["XLA"], CYCLE[3], MODES["graph"], MODES["eager"], CYCLE[4]]


def test_ratios_are_those_of_the_races_with_their_intervals(examples):
    races = examples.races(eager=300.0, graph=(1.0, 2.0, 3.0) * 3, XLA=1.5)
    ax = xh.plot_ratios(races, "XLA", "graph", predicted={256: 1.4, 4096: 1.42})
    ratios = [race.ratio("XLA", "graph") for race in races.values()]
    assert words(ax) == ["equal", "measured", "predicted"]
    assert ax.get_title(loc="left") == "How many times faster XLA is than graph"
    assert [*dots(ax)[0].get_ydata()] == [ratio.value for ratio in ratios]
    assert all(ratio.low < ratio.value < ratio.high for ratio in ratios)
    (bars,) = ax.containers[0].lines[2]
    assert [tuple(y for _, y in bar) for bar in bars.get_segments()] == [
        pytest.approx((ratio.low, ratio.high)) for ratio in ratios
    ]
    low, high = xh.plot_ratios(races, "XLA", "eager").get_ylim()
    assert low < 1 < 100 < high


def test_results_stand_beside_those_of_others_and_published_ones(examples):
    own = examples.result("five-modes", eager=0.5, plain=0.1, **{"True": 0.4})
    other = examples.result("five-modes", eager=0.7, absent=1.0)
    ax = xh.plot_results(own, [own, other], PUBLISHED)
    assert rows(ax) == ["eager", "plain", "True"]
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert sorted(legend) == ["CPU machines", "Kaggle GPU", "other machines", "this machine"]
    assert [0.5, 0.7] in [[*line.get_xdata()] for line in dots(ax)]
    assert [len(line.get_xdata()) for line in dots(ax, "D")] == [2, 3]
    alone = xh.plot_results(examples.result(eager=0.5))
    assert len(alone.get_legend().get_texts()) == 1 and "published" not in alone.get_xlabel()


def test_the_overview_has_a_line_for_each_ratio_the_slowest_first(examples):
    runs = [examples.comparison(graph=seconds, XLA=1.0) for seconds in (2.0, 3.0, 8.0)]
    fast = replace(examples.result(what="fast"), runs=tuple(runs))
    left_out = [
        examples.result(graph=1.0, eager=2.0),
        examples.result(graph=(3.0,), XLA=(1.0,)),
        examples.result(eager=1.0, XLA=2.0),
    ]
    slow = examples.result(what="slow", eager=9.0, graph=(1.0, 2.0, 3.0) * 3, XLA=9.0)
    ax = xh.plot_overview([fast, *left_out, slow])
    assert rows(ax) == ["slow", "fast"]
    ratio = slow.xla_against_graph
    assert words(ax) == [ratio.short, "8.00x faster", "as fast as the graph"]
    assert [*ax.lines[0].get_xdata()] == [ratio.low, ratio.high] != [ratio.value] * 2
    (rings,) = [line for line in dots(ax) if line.get_fillstyle() == "none"]
    assert [*rings.get_xdata()] == [2.0, 3.0] and "ring: earlier run" in ax.get_xlabel()
    assert "ring" not in xh.plot_overview([slow]).get_xlabel()
    with pytest.raises(ValueError, match="`results` holds no comparison .* has an interval"):
        xh.plot_overview(left_out)


# Checks, calls and graphs


def test_each_call_starts_where_the_last_one_ended_and_says_why(examples):
    log = examples.log()
    ax = xh.CompilationLog.plot(log)
    tracing, compiling, running = ax.containers
    assert rows(ax) == [str(call.number) for call in log.calls]
    assert [bar.get_width() for bar in compiling] == [call.compile_seconds for call in log.calls]
    for last, first in itertools.pairwise(zip(tracing, running, strict=True)):
        assert first[0].get_x() == pytest.approx(last[1].get_x() + last[1].get_width())
    assert words(ax)[0] == "first call"
    assert words(ax)[1].startswith("shape of input_ids: (1, 8)")
    ax.figure.canvas.draw()
    extents = [text.get_window_extent() for text in ax.texts]
    assert all(ax.bbox.x0 < box.x0 and box.x1 < ax.bbox.x1 for box in extents)


def test_checks_have_a_mark_a_colour_and_words(examples):
    checks = examples.checks()
    ax = xh.plot_checks(checks)
    said = words(ax)
    assert said[::2] == ["!", "≠", "=", "!", "=", "="]
    assert said[1:-1:2] == ["error", "1", "2", "error", "3"] and len(said[-1]) <= 22
    hues = [to_hex(bar.get_facecolor()) for bar in ax.patches]
    assert hues[0] == hues[3] and hues[2] == hues[4] == hues[5] and len(set(hues)) == 3
    assert not set(hues) & {to_hex(colour) for colour in MODES.values()}
    assert rows(ax) == list(checks)
    assert [label.get_text() for label in ax.get_xticklabels()] == ["eager", "XLA"]


def test_a_graph_runs_from_top_to_bottom_in_the_colours_of_its_clusters(examples):
    nodes, edges = examples.graph()
    ax = xh.plot_graph(nodes, edges)
    boxes = [text for text in ax.texts if text.get_text()]
    assert words(ax) == [operation for operation, _ in nodes.values()]
    assert len(ax.texts) - len(boxes) == len(edges)  # arrows
    layer = {name: text.get_position()[1] for name, text in zip(nodes, boxes, strict=True)}
    assert all(layer[start] < layer[end] for start, end in edges)
    assert all(layer[f"c{i}"] == layer[f"op{i}"] - 1 for i in range(6))  # just above its user
    rims = {cluster: set() for _, cluster in nodes.values()}
    for (_, cluster), text in zip(nodes.values(), boxes, strict=True):
        rims[cluster].add(to_hex(text.get_bbox_patch().get_edgecolor()))
    assert all(len(hues) == 1 for hues in rims.values()) and len(set.union(*rims.values())) == 3
    ax.figure.canvas.draw()
    extents = [text.get_bbox_patch().get_window_extent() for text in boxes]
    assert not any(one.overlaps(other) for one, other in itertools.combinations(extents, 2))
    many = {str(i): ("Add", f"cluster_{i}") for i in (10, 2)}
    legend = [text.get_text() for text in xh.plot_graph(many, []).get_legend().get_texts()]
    assert legend == ["cluster_2", "cluster_10", "in no cluster"]


def test_nothing_to_draw_is_an_error_or_an_empty_picture():
    with pytest.raises(ValueError, match="the comparison holds no measurement"):
        Comparison({}, {}).plot()
    with pytest.raises(ValueError, match="the log holds no call"):
        xh.CompilationLog.plot(SimpleNamespace(calls=[]))
    with pytest.raises(ValueError, match="`checks` holds no check"):
        xh.plot_checks({})
    assert xh.plot_graph({}, []).get_title(loc="left") == "Clusters: 0"


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
    assert len(CYCLE) == 8
    for one, other in itertools.combinations(CYCLE, 2):
        least = 20 if {one, other} <= set(MODES.values()) else 10
        assert math.dist(lab(one, seen), lab(other, seen)) >= least, (one, other)
    for colour in CYCLE:
        assert 1.05 / (TO_XYZ[1] @ linear(colour) + 0.05) >= 3, colour


def test_xla_is_seen_first_and_modes_can_be_told_apart_in_print():
    light, *chroma = np.transpose([lab(colour, np.eye(3)) for colour in MODES.values()])
    assert [*np.argsort(np.hypot(*chroma))] == [0, 1, 2]
    assert min(np.diff(sorted(light))) >= 9
