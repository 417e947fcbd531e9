"""What was timed, in words."""

import pytest

from tests.xla_helpers.deciding.cases import CASES, QUICK, padded, usual
from tests.xla_helpers.deciding.examples import findings, races
from xla_helpers.deciding.findings import FirstCall, FirstCalls
from xla_helpers.deciding.markdown import Markdown
from xla_helpers.deciding.speeds import first_calls as first_calls_section
from xla_helpers.deciding.speeds import speed as speed_section


def speed(known, found):
    return speed_section(known, found, Markdown("![a](speed.png)"))


def first(known, found):
    return first_calls_section(known, found, Markdown("![a](plan.png)"))


def test_the_plan_comes_first_and_then_each_shape():
    text = speed(*usual())
    assert "**XLA**, over the whole plan, first calls left out: 1.71x faster than the" in text
    assert "|  |  | XLA | 50 µs | 2.00x faster [" in text and "| in 3 runs 2.00x faster |" in text
    assert text.index("**XLA**") < text.index("![a](speed.png)") < text.index("| shape |")


def test_a_part_of_the_plan_is_not_called_the_plan():
    text = speed(findings(), races({"graph": 1e-4, "XLA": 5e-5}))
    assert "over the 90 % of the plan's calls whose shapes were raced" in text


def test_the_graph_against_itself_is_the_measure():
    text = speed(findings(), races({"graph": 1e-4, "XLA": 9e-5, "noise": 1.3}))
    assert "the graph was raced against itself: up to 1.30x apart" in text
    assert "not clearly different from the graph" in text and "1.11x faster" not in text


def test_eager_mode_is_a_footnote():
    text = speed(*usual())
    assert "Eager mode, a footnote: 1 ms per call for float32[16, 10]; the graph, 100 µs." in text
    assert "| eager |" not in text


@pytest.mark.parametrize(("runs", "words"), [(1, "There was one run"), (3, "all runs, 3")])
def test_how_many_runs_there_were(runs, words):
    assert words in speed(findings(), races({"graph": 1e-4, "XLA": 5e-5}, runs=runs))


def test_shapes_with_a_single_run_are_counted():
    pair = {"graph": 1e-4, "XLA": 5e-5}
    mixed = {0: races(pair, runs=2)[0], 1: races(pair, pair, runs=1)[1]}
    assert "There was one run of 1 shape, in one process" in speed(findings(), mixed)


def test_padding_counts_in_the_time_of_what_pads():
    assert "counts padding, and cutting the result" in speed(*CASES["padded"]())
    assert "padding" not in speed(*usual())


def test_a_graph_alone_has_no_rival():
    text = speed(findings(), races({"graph": 1e-4}))
    assert "Nothing else was timed at every shape" in text and "faster" not in text


def test_a_row_that_did_not_run_in_its_mode_is_said_to():
    assert "Mind: the row XLA is not XLA: no compiled program ran." in speed(
        *CASES["mislabelled"]()
    )
    assert "Mind" not in speed(*usual())


def test_what_was_timed_at_some_shapes_alone_says_nothing_of_the_plan():
    text = speed(findings(), races(QUICK, {"graph": 3e-4}))
    assert "over the whole plan" not in text and "Nothing else was timed at every shape" in text
    assert "|  |  | XLA | 50 µs | 2.00x faster [2.00, 2.00] | the last run |" in text


def test_without_races_it_says_why():
    assert speed(CASES["interrupted"]()[0], {}).startswith("Not measured. Not finished:")


def test_each_program_has_its_seconds_and_their_sum():
    text = first(*usual())
    assert "| XLA | float32[16, 10] | 250 ms | 20 ms | 200 ms | 1 | 1 |  |" in text
    assert "| XLA | all 2 | 500 ms | 40 ms | 400 ms | 2 | 2 |  |" in text


def test_the_graph_is_charged_as_it_really_traced():
    once = (FirstCall(0, 0.05, 1, 0, 0.02), FirstCall(1, 0.001))
    text = first(findings(first=(FirstCalls("graph", 0, once),)), {})
    assert "The graph is charged for what it really made: 1 trace for 2 shapes." in text


def test_a_first_call_that_failed_is_timed_and_not_charged():
    calls = (FirstCall(0, 30.0, 1, 0, 0.02, error="ValueError: no"), FirstCall(1, 0.3, 1, 1, 0.02))
    text = first(findings(first=(FirstCalls("XLA", 0, calls),)), {})
    assert "XLA is charged for what it really made: 1 trace and 1 program for 1 shape." in text
    assert "| XLA | all 2 | 30.3 s |" in text


def test_compilations_that_were_not_seen_are_not_zero():
    calls = (FirstCall(0, 0.05, 1, 0, 0.02), FirstCall(1, 0.05, 1, 0, 0.02))
    text = first(findings(first=tuple(FirstCalls(x, 0, calls) for x in ("graph", "XLA"))), {})
    assert "XLA is charged for what it really made: 2 traces and no program that was seen" in text
    assert "| XLA | float32[16, 10] | 50 ms | 20 ms | not seen | 1 | not seen |  |" in text
    assert "| XLA | all 2 | 100 ms | 40 ms | not seen | 2 | not seen |  |" in text
    assert "| graph | all 2 | 100 ms | 40 ms | 0 s | 2 | 0 |  |" in text


def test_a_ratio_is_said_to_be_the_median_of_runs():
    assert "of several runs, the median of theirs. Its interval" in speed(*usual())


def test_more_shapes_than_rows_are_in_the_sum():
    text = first(*CASES["many_shapes"]())
    assert "| XLA | all 30 | 9 s | 3 s | 6 s | 30 | 30 |  |" in text
    assert "And 20 shapes; the sums hold all of them." in text


def test_padded_programs_have_their_own_shapes():
    assert "| XLA, padded | int32[8, 16] | 300 ms |" in first(*padded())


def test_the_plan_is_repaid_or_not_and_says_how_sure_that_is():
    known, found = usual()
    assert "XLA has repaid what it costs once after 8,000 calls [" in first(known, found)
    assert "perhaps not within the plan" in first(known, found)
    few = first(findings(calls=100), found)
    assert "not within the plan." in few and "perhaps" not in few
    part = first(findings(), races({"graph": 1e-4, "XLA": 5e-5}))
    assert "not within the calls whose shapes were raced." in part and "within the plan" not in part


def test_what_is_not_faster_is_never_repaid():
    slower = races({"graph": 1e-4, "XLA": 2e-4}, {"graph": 1e-4, "XLA": 2e-4})
    text = first(findings(), slower)
    assert "XLA is not known to be faster per call, so nothing is known to repay it." in text


def test_what_costs_nothing_has_nothing_to_repay():
    assert "XLA, padded costs less than the graph once, too" in first(*padded())


def test_without_races_repayment_is_not_known():
    text = first(findings(ends=()), {})
    assert 'When they are repaid is not known. The part "race 1" did not run.' in text


def test_eager_mode_and_errors_are_charged_with_nothing():
    failing = FirstCalls("XLA", 0, (FirstCall(0, 0.1, error="ValueError: no"),))
    eager = FirstCalls("eager", 0, (FirstCall(0, 0.1),))
    text = first(findings(first=(eager, failing)), {})
    assert "charged" not in text and "| ValueError: no |" in text


def test_totals_are_of_the_calls_whose_speed_is_known():
    text = first(findings(), races({"graph": 1e-4, "XLA": 5e-5}))
    assert "Seconds of 9,000 calls of 10,000, those whose shapes were raced" in text
    assert "Seconds of the whole plan, 10,000 calls" in first(*usual())
