"""Plots and diagrams: what is drawn, and that labels can be read, by asking the figure itself."""

import itertools
from types import SimpleNamespace

import matplotlib.pyplot as plt
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_rgba

from xla_helpers import (
    Comparison,
    Measurement,
    Program,
    Result,
    Sweep,
    picture,
    plot_calls,
    plot_comparison,
    plot_graph,
    plot_program,
    plot_ratios,
    plot_results,
    plot_sweep,
)
from xla_helpers.compilations import Call
from xla_helpers.plotting import COLOURS, colours, label_lines
from xla_helpers.programs import Array, Kernel


@pytest.fixture(autouse=True)
def close_figures():
    yield
    plt.close("all")


def comparison(scale=1.0, **medians):
    """Samples of 1 %, 2 % … around each median."""
    measurements = {
        label: Measurement(
            label, 1.0, tuple(scale * m * (1 + d / 100) for d in (-2, -1, 0, 1, 2)), 10
        )
        for label, m in medians.items()
    }
    return Comparison(measurements, dict.fromkeys(medians, 0.0))


CLOSE = {"eager": 0.0030, "graph": 0.0029, "XLA": 0.0021}
FAR = {"eager": 0.0300, "graph": 0.0290, "XLA": 0.0004}


def one_sweep(**medians):
    medians = medians or CLOSE
    return Sweep("rows", {n: comparison(n / 256, **medians) for n in (256, 1024, 4096)})


def one_program(kernels=3):
    x, y = (Array(name, "f32", (1024, 1024), 4 << 20) for name in "xy")
    scalar = Array("s", "f32", (), 4)
    long = tuple("broadcast multiply add select compare subtract".split())
    return Program(
        "XLA",
        (
            Kernel("multiply_add_fusion", ("multiply", "add"), (x, y), (x,)),
            *[Kernel(f"fusion.{i}", long, (x,), (y,)) for i in range(kernels - 2)],
            Kernel("wrapped_reduce", ("reduce",), (x,), (scalar,)),
        ),
    )


def one_log():
    parts = {"trace_seconds": 0.02, "compile_seconds": 0.03, "run_seconds": 0.001}
    nothing = {"trace_seconds": 0.0, "compile_seconds": 0.0, "run_seconds": 0.001}
    why = "shape of `input_ids`: (1, 8) → (1, 16)"
    return SimpleNamespace(
        calls=[
            Call(1, "f", 1, 1, **parts, reasons=("first call",)),
            Call(2, "f", 0, 0, **nothing, reasons=()),
            Call(3, "f", 1, 1, **parts, reasons=(why, "`num_beams`: 1 → 2, a Python value")),
        ]
    )


def one_graph(layers=6):
    """A chain of wide operations with a constant each, a long edge and two clusters."""
    nodes = {"x": ("_Arg", None)}
    edges = []
    for i in range(layers):
        nodes |= {
            f"c{i}": ("Const", None),
            f"op{i}": ("StatelessRandomNormalV2", f"cluster_{i % 2}"),
        }
        edges += [(f"op{i - 1}" if i else "x", f"op{i}"), (f"c{i}", f"op{i}")]
    return nodes, [*edges, ("x", f"op{layers - 1}")]


FIGURES = {
    "comparison": lambda: plot_comparison(comparison(**CLOSE)),
    "comparison, far apart": lambda: plot_comparison(comparison(**FAR)),
    "comparison, one": lambda: plot_comparison(comparison(XLA=0.001)),
    "comparison, predicted": lambda: plot_comparison(
        comparison(**CLOSE), predicted={"XLA": 0.0022}, limits={"copy": 0.001}
    ),
    "sweep": lambda: plot_sweep(one_sweep()),
    "sweep, limit": lambda: plot_sweep(one_sweep(), limits={"copy": {256: 0.001, 4096: 0.016}}),
    "ratios": lambda: plot_ratios(one_sweep(), "XLA"),
    "ratios, predicted": lambda: plot_ratios(
        one_sweep(), "XLA", "graph", predicted={256: 1.4, 4096: 1.42}
    ),
    "program": lambda: plot_program(one_program()),
    "program, long": lambda: plot_program(one_program(kernels=8)),
    "calls": lambda: plot_calls(one_log()),
    "graph": lambda: plot_graph(*one_graph()),
    "graph, empty": lambda: plot_graph({}, []),
}


@pytest.fixture(params=FIGURES)
def draw(request):
    return FIGURES[request.param]


def overlaps(ax):
    """Pairs of texts of which one covers the other by more than a pixel."""
    ax.figure.canvas.draw()
    ticks = [*ax.get_xticklabels(), *ax.get_yticklabels()] if ax.axison else []
    shown = [text for text in [*ax.texts, ax._left_title, *ticks] if text.get_text()]
    boxes = [(text.get_text(), text.get_window_extent().padded(-0.5)) for text in shown]
    return [(a, b) for (a, x), (b, y) in itertools.combinations(boxes, 2) if x.overlaps(y)]


def test_axes_come_back_and_settings_stay(draw):
    before = dict(plt.rcParams)
    ax = draw()
    assert isinstance(ax, Axes)
    assert ax.get_title(loc="left")
    assert dict(plt.rcParams) == before


def test_nothing_is_shown(draw, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *args, **kwargs: pytest.fail("shown"))
    draw()


def test_labels_do_not_overlap(draw):
    assert overlaps(draw()) == []


@pytest.mark.parametrize(
    ("plot", "data"),
    [
        (plot_comparison, comparison(**CLOSE)),
        (plot_sweep, one_sweep()),
        (plot_program, one_program()),
        (plot_calls, one_log()),
        (lambda sweep, **options: plot_ratios(sweep, "XLA", **options), one_sweep()),
        (lambda graph, **options: plot_graph(*graph, **options), one_graph()),
    ],
    ids=["comparison", "sweep", "program", "calls", "ratios", "graph"],
)
def test_axes_and_title_may_be_given(plot, data):
    ax = plt.figure().add_subplot()
    assert plot(data, ax=ax, title="Mine") is ax
    assert ax.get_title(loc="left") == "Mine"
    assert len(plt.get_fignums()) == 1


# What each figure says


def words(ax):
    return [text.get_text().strip() for text in ax.texts]


def test_comparison_shows_every_sample_and_its_median():
    c = comparison(**CLOSE)
    ax = plot_comparison(c)
    assert [label.get_text() for label in ax.get_yticklabels()] == list(CLOSE)
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    assert [tuple(line.get_xdata()) for line in dots] == [
        m.samples for m in c.measurements.values()
    ]
    assert words(ax) == ["3 ms", "2.9 ms", "2.1 ms"]


@pytest.mark.parametrize(("medians", "scale"), [(CLOSE, "linear"), (FAR, "log")])
def test_comparison_takes_a_log_scale_when_it_must_and_says_so(medians, scale):
    ax = plot_comparison(comparison(**medians))
    assert ax.get_xscale() == scale
    assert ("log scale" in ax.get_xlabel()) is (scale == "log")
    if scale == "linear":
        assert ax.get_xlim()[0] == 0  # lengths can be compared


@pytest.mark.parametrize("medians", [CLOSE, FAR, {"XLA": 0.001}])
def test_comparison_cuts_no_sample_off(medians):
    c = comparison(**medians)
    left, right = plot_comparison(c).get_xlim()
    samples = [sample for m in c.measurements.values() for sample in m.samples]
    assert left < min(samples)
    assert 1.02 * max(samples) < right


@pytest.mark.parametrize("farthest", [1.3, 4, 30, 400, 20_000, 1e6])
def test_log_axis_has_as_many_ticks_as_fit(farthest):
    measured = comparison(near=0.001, far=0.001 * farthest)
    ax = plot_results(Result("x", "what", "day", {}, measured, None))
    low, high = ax.get_xlim()
    assert 3 <= sum(low <= tick <= high for tick in ax.get_xticks()) <= 9


def test_sweep_has_several_ticks_to_read_from():
    ax = plot_sweep(one_sweep())
    low, high = ax.get_ylim()
    assert sum(low <= tick <= high for tick in ax.get_yticks()) >= 3


def test_sweep_draws_the_medians_and_names_the_lines():
    ax = plot_sweep(one_sweep(), limits={"copy": {256: 0.001, 4096: 0.016}})
    assert sorted(words(ax)) == sorted([*CLOSE, "copy"])
    eager = next(line for line in ax.lines if line.get_ydata()[0] == pytest.approx(0.0030))
    assert list(eager.get_xdata()) == [256, 1024, 4096]
    assert list(eager.get_ydata()) == pytest.approx([0.0030, 0.0120, 0.0480])
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("rows", "time per call")


def test_ratios_are_those_of_the_sweep():
    sweep = one_sweep()
    ax = plot_ratios(sweep, "XLA", predicted={256: 1.4, 4096: 1.42})
    assert {"measured", "predicted", "equal"} <= set(words(ax))
    assert "XLA" in ax.get_title(loc="left")
    measured = ax.containers[0].lines[0]
    assert list(measured.get_ydata()) == pytest.approx([CLOSE["eager"] / CLOSE["XLA"]] * 3)


def test_ratios_show_where_neither_is_faster():
    low, high = plot_ratios(one_sweep(), "XLA").get_ylim()
    assert low < 1 < high


def test_program_shows_bytes_and_operations():
    ax = plot_program(one_program())
    shown = words(ax)
    assert {"8.39 MB", "4.19 MB", "4 B", "reads", "writes", "multiply + add", "reduce"} <= set(
        shown
    )
    assert ax.get_title(loc="left").startswith("XLA: 3 kernels, ")
    widths = [abs(bar.get_width()) for bar in ax.patches]
    assert widths == [8 << 20, 4 << 20, 4 << 20, 4 << 20, 4 << 20, 4]


def test_calls_are_split_into_their_parts():
    log = one_log()
    ax = plot_calls(log)
    tracing, compiling, running = ax.containers
    assert [bar.get_width() for bar in compiling] == pytest.approx([0.03, 0.0, 0.03])
    assert running[0].get_x() + running[0].get_width() == pytest.approx(log.calls[0].seconds)
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "tracing",
        "compiling",
        "running",
    ]
    shown = [text.replace("`", "") for text in words(ax)]
    assert shown[0] == "first call"
    assert shown[2].startswith("shape of input_ids: (1, 8) → (1, 16);")


def test_each_call_starts_where_the_last_one_ended():
    tracing, _, running = plot_calls(one_log()).containers
    for last, first in zip(running, tracing[1:], strict=False):
        assert first.get_x() == pytest.approx(last.get_x() + last.get_width())


def test_graph_runs_from_top_to_bottom():
    nodes, edges = one_graph()
    ax = plot_graph(nodes, edges)
    ax.figure.canvas.draw()
    assert sorted(filter(None, words(ax))) == sorted(operation for operation, _ in nodes.values())
    places = {name: text.get_position() for name, text in zip(nodes, labels(ax), strict=True)}
    height = {name: ax.transData.transform(place)[1] for name, place in places.items()}
    assert all(height[start] > height[end] for start, end in edges)


def test_graph_colours_clusters_and_leaves_the_rest_grey():
    nodes, edges = one_graph()
    ax = plot_graph(nodes, edges)
    rims = {
        cluster: text.get_bbox_patch().get_edgecolor()
        for (_, cluster), text in zip(nodes.values(), labels(ax), strict=True)
    }
    assert rims["cluster_0"] == to_rgba(COLOURS[0])
    assert rims["cluster_1"] == to_rgba(COLOURS[1])
    assert len(set(rims[None][:3])) == 1
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert legend == ["cluster_0", "cluster_1", "in no cluster"]


def labels(ax):
    """The boxes of the nodes, in order, without the arrows."""
    return [text for text in ax.texts if text.get_text()]


@pytest.mark.parametrize(
    ("edges", "message"),
    [
        ([("a", "c")], "`edges` names 'c', which is not in `nodes`"),
        ([("a", "b"), ("b", "a")], "`edges` go round in a circle"),
    ],
)
def test_graph_refuses_edges_that_make_no_sense(edges, message):
    with pytest.raises(ValueError, match=message):
        plot_graph({"a": ("Add", None), "b": ("Add", None)}, edges)


def test_colours_differ_and_go_on():
    assert colours(3) == COLOURS[:3]
    assert len(set(COLOURS)) == len(COLOURS)
    assert len(colours(20)) == 20


def test_labels_of_lines_that_end_together_stand_apart():
    ax = plt.figure().add_subplot()
    lines = {f"line {i}": ax.plot([0, 1], [0, 1 + i / 1000])[0] for i in range(5)}
    label_lines(ax, lines)
    assert overlaps(ax) == []
    heights = {text.get_text(): text.get_window_extent().y0 for text in ax.texts}
    assert sorted(heights, key=heights.get) == list(lines)
    for text in ax.texts:
        assert text.get_color() == lines[text.get_text()].get_color()


# Pictures


def test_a_picture_has_its_description():
    shown = picture(plot_comparison(comparison(**CLOSE)), "XLA is fastest.")
    data, metadata = shown._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG")
    assert data["text/plain"] == repr(shown) == "Picture: XLA is fastest."
    assert metadata == {"image/png": {"alt": "XLA is fastest."}}


def test_a_picture_closes_its_own_figure_only():
    other = plt.figure()
    ax = plot_comparison(comparison(**CLOSE))
    picture(ax, "XLA is fastest.")
    assert plt.get_fignums() == [other.number]


@pytest.mark.parametrize("alt", ["", "  ", None])
def test_a_picture_without_description_is_refused(alt):
    with pytest.raises(ValueError, match="`alt` is empty: say in one sentence what the figure"):
        picture(plot_comparison(comparison(**CLOSE)), alt)


def test_nothing_to_draw_is_an_error_that_names_it():
    with pytest.raises(ValueError, match="`comparison` holds no measurement"):
        plot_comparison(Comparison({}, {}))
    with pytest.raises(ValueError, match="`log` holds no call"):
        plot_calls(SimpleNamespace(calls=[]))
