"""The drawing kit: what it draws, and that labels can be read, by asking the figure itself."""

import itertools
import warnings
from dataclasses import replace

import matplotlib.pyplot as plt
import pytest
from matplotlib.axes import Axes
from matplotlib.colors import to_hex

import xla_helpers
from xla_helpers import figures
from xla_helpers.compilations import Reason
from xla_helpers.diagrams import plot_calls, plot_checks, plot_graph, plot_program
from xla_helpers.figures import COLOURS, GUIDE, LONGEST, new_axes, picture, plain
from xla_helpers.plots import (
    plot_comparison,
    plot_overview,
    plot_ratios,
    plot_results,
)

# Every picture

FIGURES = {
    "comparison": lambda made: plot_comparison(made.comparison(**made.close)),
    "comparison, far apart": lambda made: plot_comparison(made.comparison(**made.far)),
    "comparison, one": lambda made: plot_comparison(made.comparison(XLA=0.001)),
    "comparison, predicted": lambda made: plot_comparison(
        made.comparison(**made.close), predicted={"XLA": 0.0022}, limits={"copy": 0.001}
    ),
    "ratios": lambda made: plot_ratios(made.sweep(), "XLA"),
    "ratios, predicted": lambda made: plot_ratios(
        made.sweep(), "XLA", "graph", predicted={256: 1.4, 4096: 1.42}
    ),
    "results": lambda made: plot_results(made.result(**made.far), [made.result(**made.close)]),
    "overview": lambda made: plot_overview(
        [made.result(what="a long line of words " * 5, graph=r, XLA=1.0) for r in (0.3, 1, 2, 9)]
    ),
    "program": lambda made: plot_program(made.program()),
    "program, long": lambda made: plot_program(made.program(kernels=8)),
    "calls": lambda made: plot_calls(made.log()),
    "checks": lambda made: plot_checks(made.checks()),
    "graph": lambda made: plot_graph(*made.graph()),
    "graph, empty": lambda made: plot_graph({}, []),
}


@pytest.fixture(params=FIGURES)
def plot(request, examples):
    return lambda: FIGURES[request.param](examples)


def overlaps(ax):
    """Pairs of texts of which one covers the other by more than a pixel."""
    ax.figure.canvas.draw()
    ticks = [*ax.get_xticklabels(), *ax.get_yticklabels()] if ax.axison else []
    shown = [text for text in [*ax.texts, ax._left_title, *ticks] if text.get_text()]
    boxes = [(text.get_text(), text.get_window_extent().padded(-0.5)) for text in shown]
    return [(a, b) for (a, x), (b, y) in itertools.combinations(boxes, 2) if x.overlaps(y)]


def test_axes_come_back_and_settings_stay(plot, monkeypatch):
    monkeypatch.setattr(plt, "show", lambda *args, **kwargs: pytest.fail("shown"))
    before = dict(plt.rcParams)
    ax = plot()
    assert isinstance(ax, Axes)
    assert ax.get_title(loc="left")
    assert dict(plt.rcParams) == before


def test_labels_do_not_overlap(plot):
    assert overlaps(plot()) == []


GIVEN = {
    "comparison": lambda made, **own: plot_comparison(made.comparison(**made.close), **own),
    "ratios": lambda made, **own: plot_ratios(made.sweep(), "XLA", **own),
    "results": lambda made, **own: plot_results(made.result(**made.close), **own),
    "overview": lambda made, **own: plot_overview([made.result(**made.close)], **own),
    "program": lambda made, **own: plot_program(made.program(), **own),
    "calls": lambda made, **own: plot_calls(made.log(), **own),
    "checks": lambda made, **own: plot_checks(made.checks(), **own),
    "graph": lambda made, **own: plot_graph(*made.graph(), **own),
}


@pytest.mark.parametrize("plot", GIVEN.values(), ids=GIVEN)
def test_axes_and_title_may_be_given(examples, plot):
    ax = plt.figure().add_subplot()
    assert plot(examples, ax=ax, title="Mine") is ax
    assert ax.get_title(loc="left") == "Mine"
    assert len(plt.get_fignums()) == 1


def test_every_plot_is_here():
    plots = {name.replace("plot_", "") for name in xla_helpers.__all__ if "plot_" in name}
    assert {name.replace(" ", "_") for name in GIVEN} == plots
    assert {name.split(",")[0].replace(" ", "_") for name in FIGURES} == plots


# The parts of the kit


def words(ax):
    return [text.get_text().strip() for text in ax.texts]


def names_of_rows(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def test_axes_are_as_wide_as_text():
    ax = new_axes(2.0)
    assert tuple(ax.figure.get_size_inches()) == (figures.WIDTH, 2.0)


@pytest.mark.parametrize(("down", "rows"), [(False, 1), (True, 3)])
def test_panels_share_the_scale_across(down, rows):
    panels = new_axes(4.0, panels=3, down=down)
    assert panels.shape == (3,)
    assert panels[0].get_gridspec().nrows == rows
    panels[0].set_xlim(0, 7)
    assert panels[2].get_xlim() == (0, 7)


def test_lines_take_heights_or_places_and_heights():
    drawn = figures.draw_lines(new_axes(), {"XLA": [1, 2], "eager": ([5, 6], [3, 4])}, marker="o")
    assert [list(line.get_xdata()) for line in drawn.values()] == [[0, 1], [5, 6]]
    assert [list(line.get_ydata()) for line in drawn.values()] == [[1, 2], [3, 4]]
    assert {line.get_marker() for line in drawn.values()} == {"o"}


def test_bars_have_their_numbers_and_the_first_row_its_labels():
    ax = new_axes()
    figures.draw_bars(ax, {"one": {"eager": 2.0, "XLA": 1.0}, "two": {"eager": 4.0}})
    assert [bar.get_width() for bar in ax.patches] == [2.0, 1.0, 4.0]
    assert words(ax) == ["2 s  eager", "1 s  XLA", "4 s"]
    assert names_of_rows(ax) == ["one", "two"]
    assert overlaps(ax) == []


def test_stacks_show_their_parts_and_the_whole():
    ax = new_axes()
    parts = {"tracing": 1.0, "running": 2.0}
    figures.draw_stacks(ax, {"one": parts, "two": {"running": 4.0}}, format="{:g} in all".format)
    assert [(bar.get_x(), bar.get_width()) for bar in ax.patches] == [(0, 1), (1, 2), (0, 4)]
    assert words(ax) == ["3 in all", "4 in all"]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == list(parts)
    assert overlaps(ax) == []


def test_dots_have_a_line_from_low_to_high():
    ax = new_axes()
    figures.draw_dots(ax, {"eager": (2.0, 1.0, 3.0), "XLA": (1.0, 0.5, 2.5)})
    lows_and_highs = [list(line.get_xdata()) for line in ax.lines[::2]]
    assert lows_and_highs == [[1.0, 3.0], [0.5, 2.5]]
    assert words(ax) == ["2 s", "1 s"] and names_of_rows(ax) == ["eager", "XLA"]
    assert overlaps(ax) == []


def test_finish_names_the_axes_and_the_lines():
    ax = new_axes()
    drawn = figures.draw_lines(ax, {"XLA": [1, 2], "eager": [3, 4]})
    assert figures.finish(ax, "Title", "across", "up", drawn) is ax
    assert (ax.get_title(loc="left"), ax.get_xlabel(), ax.get_ylabel()) == ("Title", "across", "up")
    assert sorted(words(ax)) == ["XLA", "eager"]
    assert [side for side, spine in ax.spines.items() if spine.get_visible()] == ["left", "bottom"]


def test_labels_of_lines_that_end_together_stand_apart():
    ax = new_axes()
    ends = {f"line {i}": ax.plot([0, 1], [0, 1 + i / 1000])[0] for i in range(5)}
    figures.label_lines(ax, ends)
    assert overlaps(ax) == []
    heights = {text.get_text(): text.get_window_extent().y0 for text in ax.texts}
    assert sorted(heights, key=heights.get) == list(ends)
    for text in ax.texts:
        assert text.get_color() == ends[text.get_text()].get_color()


@pytest.mark.parametrize("farthest", [1.3, 4, 30, 400, 20_000, 1e6])
def test_a_log_axis_of_seconds_has_as_many_ticks_as_fit(farthest):
    ax = new_axes()
    ax.plot([0.001, 0.001 * farthest], [0, 1], "o")
    figures.log_seconds(ax)
    low, high = ax.get_xlim()
    assert 3 <= sum(low <= tick <= high for tick in ax.get_xticks()) <= 9
    assert overlaps(ax) == []


def test_a_log_axis_of_durations_reaches_from_milliseconds_to_days():
    ax = new_axes()
    ax.plot([1, 1e6], [1e-3, 1e5])
    figures.log_durations(ax)
    ax.figure.canvas.draw()
    low, high = ax.get_ylim()
    shown = [name for name, seconds in figures.DURATIONS.items() if low <= seconds <= high]
    assert {"1 ms", "1 s", "1 h"} <= set(shown) & set(names_of_rows(ax))
    assert overlaps(ax) == []


def test_a_ring_is_a_guide_with_its_words():
    ax = new_axes()
    figures.ring(ax, (1.0, 2.0), "here")
    assert (words(ax), ax.lines[0].get_xydata().tolist()) == (["here"], [[1.0, 2.0]])
    assert ax.lines[0].get_color() == ax.texts[0].get_color() == GUIDE


def test_a_strip_has_the_colour_of_the_label_at_each_place():
    ax = new_axes()
    figures.strip(ax, [1, 2, 3], ["graph", "XLA", "graph"])
    (marks,) = ax.collections
    hues = [to_hex(colour).upper() for colour in marks.get_facecolors()]
    assert hues == [COLOURS[mode] for mode in ("graph", "XLA", "graph")]
    assert marks.get_offsets()[:, 0].tolist() == [1, 2, 3]


def test_ratios_have_their_own_axis():
    ax = new_axes()
    ax.plot([0.5, 2], [0, 1])
    ax.set_xticks([0.5, 2])
    figures.times_axis(ax.xaxis)
    ax.figure.canvas.draw()
    assert [label.get_text() for label in ax.get_xticklabels()] == ["0.5x", "2x"]


# Pictures


def test_a_picture_has_its_description():
    shown = picture(new_axes(), "XLA is fastest.")
    data, metadata = shown._repr_mimebundle_()
    assert data["image/png"].startswith(b"\x89PNG")
    assert data["text/plain"] == repr(shown) == "Picture: XLA is fastest."
    assert metadata == {"image/png": {"alt": "XLA is fastest."}}


@pytest.mark.parametrize("panels", [1, 2])
def test_a_picture_closes_its_own_figure_only(panels):
    other = plt.figure()
    picture(new_axes(panels=panels), "XLA is fastest.")
    assert plt.get_fignums() == [other.number]


@pytest.mark.parametrize("alt", ["", "  ", None])
def test_a_picture_without_description_is_refused(alt):
    with pytest.raises(ValueError, match="`alt` is empty: say in one sentence what the figure"):
        picture(new_axes(), alt)


# Whatever a text is

HOSTILE = ["$$", "$\\nosuch{$ a_b^c %s {} \x1b[2J\0\ud800\n" + "x" * 3000]


def all_pictures(made, text):
    """Every kind of picture, with `text` wherever a name may stand."""
    seconds = {text: 0.003, "graph": 0.004, "XLA": 0.002}
    swept = replace(made.sweep(**seconds), name=text)
    result = made.result(name=text, what=text, **seconds)
    program = made.program()
    kernels = tuple(replace(kernel, operations=(text,)) for kernel in program.kernels)
    log = made.log()
    log.calls[0] = replace(log.calls[0], reasons=(Reason("shape", text, text, text),))
    check = made.check(eager={"result": text}, XLA={"error": ValueError(text), "agrees": False})
    yield plot_comparison(made.comparison(**seconds), limits={text: 0.001}, title=text)
    yield plot_ratios(swept, "XLA", text)
    yield plot_results(result, title=text)
    yield plot_overview([result])
    yield plot_program(replace(program, mode=text, kernels=kernels))
    yield plot_calls(log, title=text)
    yield plot_checks({text: check})
    yield plot_graph({text: (text, text), "y": ("Add", None)}, [(text, "y")], outside=text)
    for draw in (figures.draw_bars, figures.draw_stacks):
        ax = new_axes()
        draw(ax, {text: {text: 1.0, "b": 2.0}})
        yield figures.finish(ax, text, text, text)
    ax = new_axes()
    figures.draw_dots(ax, {text: (1.0, 0.5, 2.0)})
    figures.ring(ax, (1, 0), text)
    figures.guide(ax, text, y=0)
    yield ax


@pytest.mark.parametrize("text", HOSTILE, ids=["dollars", "everything"])
def test_no_text_breaks_a_picture(examples, text):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for ax in all_pictures(examples, text):
            png = picture(ax, "whatever").png
            assert int.from_bytes(png[16:20]) < 4000  # pixels across


def test_a_plain_text_stays_as_it_is():
    assert plain("speed, in µs") == "speed, in µs"
    assert plain("2 $ or $3") == plain(plain("2 $ or $3")) == r"2 \$ or \$3"
    assert plain("two\nlines\x1b") == "two\nlines "
    assert len(plain("$" * 999)) <= 2 * LONGEST
