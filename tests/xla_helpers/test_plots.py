"""What each plot of measurements says."""

from dataclasses import replace

import pytest

from xla_helpers.claims import read_published
from xla_helpers.comparisons import Comparison
from xla_helpers.plots import (
    overview,
    plot_comparison,
    plot_overview,
    plot_ratios,
    plot_results,
)


def words(ax):
    return [text.get_text().strip() for text in ax.texts]


def names_of_rows(ax):
    return [label.get_text() for label in ax.get_yticklabels()]


def legend(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


# plot_comparison


def test_comparison_shows_every_sample_and_its_median(examples):
    c = examples.comparison(**examples.close)
    ax = plot_comparison(c)
    assert names_of_rows(ax) == list(examples.close)
    dots = [line for line in ax.lines if line.get_marker() == "o"]
    assert [tuple(line.get_xdata()) for line in dots] == [
        m.samples for m in c.measurements.values()
    ]
    assert words(ax) == ["3 ms", "2.9 ms", "2.1 ms"]


@pytest.mark.parametrize(("medians", "scale"), [("close", "linear"), ("far", "log")])
def test_comparison_takes_a_log_scale_when_it_must_and_says_so(examples, medians, scale):
    ax = plot_comparison(examples.comparison(**getattr(examples, medians)))
    assert ax.get_xscale() == scale
    assert ("log scale" in ax.get_xlabel()) is (scale == "log")
    if scale == "linear":
        assert ax.get_xlim()[0] == 0  # lengths can be compared


@pytest.mark.parametrize("medians", ["close", "far", "one"])
def test_comparison_cuts_no_sample_off(examples, medians):
    c = examples.comparison(**getattr(examples, medians, {"XLA": 0.001}))
    left, right = plot_comparison(c).get_xlim()
    samples = [sample for m in c.measurements.values() for sample in m.samples]
    assert left < min(samples)
    assert 1.02 * max(samples) < right


def test_comparison_shows_what_was_predicted_and_limits(examples):
    c = examples.comparison(**examples.close)
    ax = plot_comparison(c, predicted={"XLA": 0.0022}, limits={"copy": 0.001})
    (diamond,) = [line for line in ax.lines if line.get_marker() == "D"]
    assert diamond.get_xdata() == [0.0022] and diamond.get_ydata() == [pytest.approx(2.3)]
    assert "diamond: predicted" in ax.get_xlabel() and "copy" in words(ax)
    assert [0.001, 0.001] in [list(line.get_xdata()) for line in ax.lines]


def test_comparison_of_nothing_is_refused():
    with pytest.raises(ValueError, match="`comparison` holds no measurement"):
        plot_comparison(Comparison({}, {}))


# plot_ratios


def test_ratios_are_those_of_the_sweep(examples):
    ax = plot_ratios(examples.sweep(), "XLA", predicted={256: 1.4, 4096: 1.42})
    assert {"measured", "predicted", "equal"} <= set(words(ax))
    assert "XLA is than eager" in ax.get_title(loc="left")
    measured = ax.containers[0].lines[0]
    ratio = examples.close["eager"] / examples.close["XLA"]
    assert list(measured.get_ydata()) == pytest.approx([ratio] * 3)


def test_ratios_take_another_baseline(examples):
    ax = plot_ratios(examples.sweep(), "XLA", "graph")
    ratio = examples.close["graph"] / examples.close["XLA"]
    assert list(ax.containers[0].lines[0].get_ydata()) == pytest.approx([ratio] * 3)
    assert "XLA is than graph" in ax.get_title(loc="left")


def test_ratios_show_where_neither_is_faster(examples):
    low, high = plot_ratios(examples.sweep(), "XLA").get_ylim()
    assert low < 1 < high


# plot_results


def test_results_stand_beside_published_ones_and_those_of_others(examples):
    own = examples.result("five-modes", eager=0.5, plain=0.1, **{"True": 0.4})
    other = examples.result("five-modes", eager=0.7, absent=1.0)
    ax = plot_results(own, [own, other], read_published("five-modes"))
    assert names_of_rows(ax) == ["eager", "plain", "True"]
    assert set(legend(ax)) == {"this machine", "other machines", "CPU machines", "Kaggle GPU"}
    assert ax.get_xscale() == "log" and ax.get_title(loc="left") == "five-modes"
    rings = [line for line in ax.lines if line.get_markerfacecolor() == "none"]
    assert [0.5, 0.7] in [list(line.get_xdata()) for line in rings]


def test_results_without_others(examples):
    ax = plot_results(examples.result(eager=0.5), title="Mine")
    assert legend(ax) == ["this machine"]
    assert ax.get_title(loc="left") == "Mine"
    assert "published" not in ax.get_xlabel()


# plot_overview


@pytest.fixture
def three(examples):
    """Results named by the ratio of XLA to the graph, and three without such a ratio."""
    return [
        examples.result("fast", "fast", graph=8.0, XLA=1.0),
        examples.result("no XLA", graph=1.0, eager=2.0),
        examples.result("slow", "slow", eager=9.0, graph=1.0, XLA=3.0),
        examples.result("once", graph=(3.0,), XLA=(1.0,)),
        examples.result("no graph", eager=1.0, XLA=2.0),
        examples.result("same", "same", graph=1.0, XLA=1.0),
    ]


def test_the_overview_begins_with_the_slowest(three):
    rows = overview(three)
    assert [result.name for result, _ in rows] == ["slow", "same", "fast"]
    assert [ratio.value for _, ratio in rows] == pytest.approx([1 / 3, 1, 8])
    assert overview(reversed(three)) == rows
    assert overview([]) == []


def test_the_overview_has_a_line_for_each_workload(three):
    ax = plot_overview(three)
    assert names_of_rows(ax) == ["slow", "same", "fast"]
    assert words(ax) == [
        *("3.00x slower", "no clear difference", "8.00x faster"),
        "as fast as the graph",
    ]
    assert [line.get_ydata()[0] for line in ax.lines if line.get_marker() == "o"] == [0, 1, 2]
    low, high = ax.get_xlim()
    assert low < 1 / 3 < 8 < high
    assert ax.get_xscale() == "log"


def test_the_overview_shows_the_interval(examples):
    noisy = examples.result(graph=(1.0, 2.0, 3.0) * 3, XLA=(1.0,) * 9)
    ratio = noisy.xla_against_graph
    assert [ratio.low, ratio.high] in [
        list(line.get_xdata()) for line in plot_overview([noisy]).lines
    ]
    assert ratio.low < ratio.high


def test_the_overview_has_a_ring_for_each_earlier_run(examples):
    runs = [examples.comparison(graph=seconds, XLA=1.0) for seconds in (2.0, 3.0, 4.0)]
    several = replace(examples.result(), comparison=runs[-1], earlier=tuple(runs[:-1]))
    ax = plot_overview([several])
    rings = [line for line in ax.lines if line.get_markerfacecolor() == "none"]
    assert [line.get_xdata()[0] for line in rings] == pytest.approx([2.0, 3.0])
    assert "ring: earlier run" in ax.get_xlabel()
    for others in ((), (examples.comparison(eager=1.0),)):
        assert "ring" not in plot_overview([replace(several, earlier=others)]).get_xlabel()


def test_an_overview_of_nothing_is_refused(three):
    with pytest.raises(ValueError, match="`results` holds no comparison .* that has an interval"):
        plot_overview([result for result in three if "no" in result.name])
