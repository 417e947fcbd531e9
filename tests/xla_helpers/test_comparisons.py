"""What was measured, as data and as tables. Every number here is made by hand."""

import math
from dataclasses import replace

import numpy as np
import pytest

from xla_helpers.agreement import Difference
from xla_helpers.comparisons import (
    Comparison,
    ComparisonError,
    Failure,
    Sweep,
    SweepError,
)
from xla_helpers.evidence import Evidence
from xla_helpers.timing import Measurement

TOO_LARGE = Failure("ArithmeticError: too large")


def rows(table):
    return [line.split() for line in str(table).splitlines()[3:]]


# Ratios


def test_ratios_are_taken_round_by_round(examples):
    c = examples.comparison(a=(2.0, 4.0, 8.0), b=(4.0, 1.0, 2.0))
    assert c.ratio("b").value == 4.0  # of 0.5, 4 and 4; the medians would give 2
    assert c.ratio("a", "b").value == 0.25


def test_drift_does_not_blur_a_ratio(examples):
    drift = np.arange(1.0, 16.0)
    ratio = examples.comparison(a=tuple(2 * drift), b=tuple(drift)).ratio("b")
    assert (ratio.low, ratio.value, ratio.high) == (2, 2, 2)


@pytest.mark.parametrize(
    ("first", "later", "cost", "calls"),
    [
        (8.0, 1.0, None, 6.0),  # the first call took 6 s more, each later one saves 1 s
        (8.0, 1.0, 3.0, 3.0),
        (1.0, 1.0, None, 0.0),
        (8.0, 2.0, None, math.inf),
        (8.0, 4.0, None, math.inf),
    ],
)
def test_calls_to_repay(first, later, cost, calls):
    graph = Measurement("graph", 2.0, (2.0,) * 7, 1)
    xla = Measurement("XLA", first, (later,) * 7, 1)
    c = Comparison({"graph": graph, "XLA": xla}, {})
    assert c.calls_to_repay("XLA", cost=cost) == calls
    assert c.calls_to_repay("XLA", "graph", cost) == calls


# The control


def raced(control, **samples):
    """A comparison of samples; `control` are those of the first label, raced against itself."""
    measurements = {label: Measurement(label, 1.0, s, 1) for label, s in samples.items()}
    first = next(iter(samples))
    same = dict.fromkeys(samples, Difference())
    return Comparison(measurements, same, control=Measurement(first, 1.0, control, 1))


def test_noise_is_the_ratio_of_the_control_to_itself_round_by_round():
    assert raced((2.0, 2.0, 4.0), graph=(4.0, 3.0, 8.0)).noise == 2.0


def test_a_ratio_within_the_noise_is_not_clear():
    near, far = (1.9,) * 7, (1.0,) * 7
    noisy = raced((1.8,) * 7, graph=(2.0,) * 7, near=near, far=far)
    assert not noisy.ratio("near").clear and noisy.ratio("far").clear
    assert noisy.ratio("near").value == pytest.approx(2 / 1.9)
    assert noisy.calls_to_repay("near") == math.inf
    assert "no clear difference" in str(noisy)
    quiet = raced((2.0,) * 7, graph=(2.0,) * 7, near=near)
    assert quiet.ratio("near").clear


def test_the_title_says_how_far_the_control_was_from_itself():
    title = str(raced((4.0,) * 3, graph=(2.0,) * 3, XLA=(1.0,) * 3)).splitlines()[0]
    assert title.endswith("0.0001. In this run, graph raced against itself: 2.00x apart.")
    title = str(raced((4.0,) * 3, **{"graph, b": (2.0,) * 3})).splitlines()[0]
    assert title.endswith('In this run, "graph, b" raced against itself: 2.00x apart.')


def test_the_title_says_that_neighbouring_rounds_may_depend_on_each_other(examples):
    ones = (1.0,) * 20
    alike = examples.comparison(a=ones, b=tuple(sorted([1.0, 2.0] * 10)))
    assert str(alike).splitlines()[0].endswith("other, so intervals are wider.")
    assert "depend" not in str(examples.comparison(a=ones, b=(1.0, 2.0) * 10))
    few = examples.comparison(a=ones[:7], b=tuple(range(1, 8)))
    assert few.ratio("b").dependence > 0 and "depend" not in str(few)  # it cannot be wider


def test_without_a_control_that_was_measured_there_is_no_noise(examples):
    c = examples.comparison(eager=2.0, XLA=1.0)
    assert c.noise == 1.0 and "itself" not in str(c)
    gone = Comparison({}, {}, control=Measurement("graph", 1.0, (1.0,), 1))
    assert gone.noise == 1.0


# Failures


NUMBERS = Difference(0.5, "result[1]", absolute=2.0)
SHAPE = Difference(math.inf, "result", "shape", (3,), (2,))
NAN = Difference(math.inf, "result", "NaN", 1, 0)


@pytest.mark.parametrize(
    ("failure", "text"),
    [
        (TOO_LARGE, "ArithmeticError: too large"),
        (
            Failure("", NUMBERS, "eager", 0.25),
            "its result[1] differs from that of 'eager' by 0.5 (relative), 2 (absolute), "
            "more than `tolerance` = 0.25",
        ),
        (Failure("", SHAPE, "eager"), "its result has shape (3,), that of 'eager' has (2,)"),
        (
            Failure("", NAN, "eager"),
            "its result holds 1 NaN, that of 'eager' holds 0; "
            "NaN equals nothing: give arguments that avoid it",
        ),
    ],
)
def test_a_failure_in_words(failure, text):
    assert str(failure) == text


@pytest.fixture
def half(examples):
    """A comparison of which one candidate failed."""
    measurements = examples.comparison(eager=2.0, XLA=1.0).measurements
    return Comparison(measurements, {}, {"graph": TOO_LARGE})


def test_what_failed_was_not_measured(half):
    assert half["eager"].median == 2.0
    with pytest.raises(KeyError, match="'graph' was not measured: ArithmeticError: too large"):
        half["graph"]
    with pytest.raises(KeyError, match="'graph' was not measured"):
        half.ratio("XLA", "graph")


def test_an_error_says_the_reasons_and_then_what_was_measured(half):
    reason = "- graph: ArithmeticError: too large\n\n"
    error = ComparisonError(half)
    assert str(error) == reason + str(half) and error.comparison is half
    swept = Sweep("rows", {2: half})
    error = SweepError(swept)
    assert str(error) == reason.replace("graph", "graph at rows 2") + str(swept)
    assert error.sweep is swept


def test_nothing_measured_has_no_baseline_and_a_table_all_the_same():
    c = Comparison({}, {}, {"eager": TOO_LARGE})
    assert str(c).startswith("No candidate gave a result.\n")
    assert rows(c) == [["eager", "ArithmeticError:", "too", "large"]]
    with pytest.raises(KeyError, match="nothing was measured, so there is no baseline"):
        assert c.baseline


# Tables


def test_table():
    steady = Measurement("eager", 4.0, (2.0,) * 4, 1)
    restless = Measurement("XLA", 1.0, (0.5, 1.5, 0.5, 1.5), 1)
    same = {"eager": Difference(), "XLA": Difference(3e-7)}
    c = Comparison({"eager": steady, "XLA": restless}, same)
    title, head, *_ = str(c).splitlines()
    assert title == "Largest relative difference of results 3e-07, allowed 0.0001."
    assert "first call" in head and "against eager" in head
    eager, xla = rows(c)
    assert eager == ["eager", "4", "s", "2", "s", "0", "s"]
    assert xla[-1] == "noisy"


def test_a_result_alone_is_not_called_compared(examples):
    alone = examples.comparison(graph=2.0)
    title = "Results were not compared: only one candidate gave one.\n"
    assert str(alone).startswith(title)
    assert title in str(ComparisonError(replace(alone, failures={"XLA": TOO_LARGE})))


@pytest.mark.parametrize("difference", [SHAPE, NAN])
def test_where_a_result_is_another_the_title_is_about_those_that_agree(examples, difference):
    failures = {"other": Failure("", difference, "eager")}
    alone = replace(examples.comparison(eager=2.0), failures=failures)
    assert str(alone).startswith("No other result agrees with that of 'eager'.\n")
    sizes = {"eager": 0.0, "XLA": 3e-7, "far": 0.5}
    differences = {label: Difference(size) for label, size in sizes.items()}
    two = examples.comparison(eager=2.0, XLA=1.0)
    title = str(replace(two, differences=differences, failures=failures)).splitlines()[0]
    assert title == "Largest relative difference of the results that agree 3e-07, allowed 0.0001."


def test_a_table_of_single_calls_says_that_results_were_not_compared(examples):
    c = Comparison(examples.comparison(a=(2.0,), b=(1.0,)).measurements, {})
    assert str(c).startswith("Results were not compared.\n")
    assert "2x faster, seen once" in str(c)


def test_a_table_shows_what_ran(examples):
    seen = {
        "eager": Evidence(eager=1200, programs=0),
        "graph": Evidence(graphs=1, programs=0),
        "XLA": Evidence(graphs=1, programs=2),
        "unseen": Evidence(graphs=1, programs=None),
    }
    c = Comparison(examples.comparison(eager=3.0, XLA=1.0).measurements, {}, evidence=seen)
    assert [row[:2] for row in c._rows()] == [
        ["eager", "1,200 operations"],
        ["XLA", "1 graph, 2 XLA programs"],
    ]
    failed = Comparison({}, {}, dict.fromkeys(seen, TOO_LARGE), evidence=seen)
    ran = [row[1] for row in failed._rows()]
    assert ran == ["1,200 operations", "1 graph", "1 graph, 2 XLA programs", ""]


RAN = {
    "eager": Evidence(eager=3, programs=0),
    "graph": Evidence(graphs=1, programs=0),
    "XLA": Evidence(programs=1),
}


def labelled(examples, **ran):
    measurements = examples.comparison(**dict.fromkeys(ran, 1.0)).measurements
    return Comparison(measurements, {}, evidence=ran)


def test_rows_that_ran_in_the_mode_of_their_label_have_no_note(examples):
    c = labelled(examples, **RAN, anything=RAN["graph"])
    assert c.as_labelled
    assert [row[-1] for row in c._rows()] == [""] * 4


@pytest.mark.parametrize(
    ("label", "ran", "note"),
    [
        ("XLA, padded", RAN["graph"], "not XLA: no compiled program ran"),
        ("graph", RAN["eager"], "not graph: it ran eagerly"),
        ("eager", RAN["XLA"], "not eager: XLA ran"),
    ],
)
def test_a_row_that_ran_in_another_mode_says_so(examples, label, ran, note):
    c = labelled(examples, **{"baseline": RAN["eager"], label: ran})
    assert not c.as_labelled
    assert list(c._rows())[1][-1] == note
    assert not Sweep("rows", {1: labelled(examples, **RAN), 2: c}).as_labelled


def test_what_nobody_saw_is_not_called_as_labelled(examples):
    assert not examples.comparison(eager=2.0, XLA=1.0).as_labelled
    assert not labelled(examples, XLA=Evidence(graphs=1, programs=None)).as_labelled
    assert examples.comparison(one=2.0, other=1.0).as_labelled  # no label claims anything
    assert Sweep("rows", {1: labelled(examples, **RAN)}).as_labelled


def test_results_that_could_not_be_compared_are_not_called_equal(examples):
    why = "Results were not compared: random numbers are drawn (RandomUniform)."
    c = Comparison(examples.comparison(a=2.0).measurements, {}, undecided=why)
    assert str(c).startswith(f"{why}\n")


def test_table_in_html_says_the_same(examples, half):
    assert "2.00x faster [2.00, 2.00]" in examples.comparison(eager=2.0, XLA=1.0)._repr_html_()
    for shown in (str(half), half._repr_html_()):
        assert "2.00x faster [2.00, 2.00]" in shown and "too large" in shown


def ratios(table):
    """The columns of ratios: head to cells."""
    heads = table._columns()
    return {
        head: [row[i] for row in table._rows()]
        for i, head in enumerate(heads)
        if head.startswith("against")
    }


FASTER = ["4.00x faster [4.00, 4.00]", "2.00x faster [2.00, 2.00]"]
SLOWER = ["2.00x slower [2.00, 2.00]", "4.00x slower [4.00, 4.00]"]


@pytest.mark.parametrize(
    ("rivals", "columns"),
    [
        ([], {}),
        (["eager"], {"against eager": ["", FASTER[1], FASTER[0]]}),
        (
            ["graph", "eager"],
            {
                "against graph": [SLOWER[0], "", FASTER[1]],
                "against eager": ["", FASTER[1], FASTER[0]],
            },
        ),
        (["absent", "XLA"], {"against XLA": [SLOWER[1], SLOWER[0], ""]}),
    ],
)
def test_against_has_a_column_for_each_rival_that_was_measured(examples, rivals, columns):
    c = examples.comparison(eager=4.0, graph=2.0, XLA=1.0)
    table = c.against(*rivals)
    assert ratios(table) == columns
    assert table._title() == c._title()
    assert len(table._columns()) == len(list(table._rows())[0]) == 6 + len(columns)


def test_a_comparison_is_shown_against_its_baseline(examples, half):
    for c in (examples.comparison(graph=2.0, XLA=1.0), half):
        assert str(c) == str(c.against(c.baseline))
        assert c._repr_html_() == c.against(c.baseline)._repr_html_()


def test_a_failed_rival_has_no_column(half):
    assert list(ratios(half.against("graph", "eager"))) == ["against eager"]
    assert list(half.against("eager")._rows())[-1] == ["graph", *[""] * 5, str(TOO_LARGE)]


# Sweeps


def test_table_of_a_sweep(examples):
    swept = Sweep("rows", {n: examples.comparison(n, slow=1.0, fast=0.25) for n in (1, 2, 4)})
    title, head, *_, last = str(swept).splitlines()
    assert title == "Median seconds per call over rows."
    assert head.split() == ["rows", "slow", "fast", "fast", "against", "slow"]
    assert last.split() == ["4", "4", "s", "1", "s", "4.00x", "faster", "[4.00,", "4.00]"]


def test_a_sweep_shows_what_was_measured_at_every_size(examples, half):
    swept = Sweep("rows", {1: examples.comparison(graph=2.0, XLA=1.0), 2: half}, {4: TOO_LARGE})
    assert swept.labels == ["XLA"]
    assert swept._columns() == ["rows", "XLA"]
    assert swept[2] is half
    assert swept.failures == {"rows 4": TOO_LARGE, "graph at rows 2": TOO_LARGE}


def test_a_sweep_without_a_size_has_no_labels():
    swept = Sweep("rows", {}, {1: TOO_LARGE})
    assert (swept.labels, rows(swept)) == ([], [])


@pytest.mark.parametrize(
    ("rivals", "heads"),
    [
        ([], []),
        (["graph"], ["XLA against graph"]),
        (["graph", "eager"], ["XLA against graph", "XLA against eager"]),
        (["absent", "XLA"], []),
    ],
)
def test_a_sweep_sets_its_last_label_against_each_rival(examples, rivals, heads):
    modes = {"eager": 4.0, "graph": 2.0, "XLA": 1.0}
    swept = Sweep("rows", {n: examples.comparison(n, **modes) for n in (1, 2)})
    table = swept.against(*rivals)
    assert table._columns() == ["rows", *modes, *heads]
    ratios = [repr(swept[2].ratio("XLA", rival)) for rival in rivals if rival in ("eager", "graph")]
    assert list(table._rows())[-1][4:] == ratios
    assert table._title() == swept._title()


def test_a_sweep_is_shown_against_its_first_label(examples):
    swept = examples.sweep()
    assert str(swept) == str(swept.against(swept.labels[0]))


def test_a_label_that_was_not_measured_is_said_with_those_that_were(examples):
    measured = examples.comparison(graph=2.0, XLA=1.0)
    with pytest.raises(KeyError, match="'eager' was not measured; there is graph, XLA"):
        measured.ratio("eager")
    nothing = Comparison({}, {})
    for ask in (lambda: nothing.ratio("XLA"), lambda: nothing.calls_to_repay("XLA")):
        with pytest.raises(KeyError, match="nothing was measured, so there is no baseline"):
            ask()
