"""The sums behind a verdict, on findings that were made up."""

import math
import random
from dataclasses import replace

import pytest
from scipy.stats import binomtest

import xla_decide as xd
from xla_decide import words
from xla_decide.costs import Cost, ProcessResult


def cost(call, per_new=0.0, examples=20, new=1, alone=0):
    """Of a candidate whose races were of no width."""
    return Cost(call, call, call, per_new, examples, new, alone)


def finding(costs, why=None, **otherwise):
    objections = {label: "" for label in costs if label != "graph"} | (why or {})
    return ProcessResult("here", {"float32[3]": 1.0}, costs, objections, **otherwise)


def decision(*findings, calls=10_000, repeats=None):
    return xd.Decision(findings, calls, 1.05, repeats)


GRAPH, XLA = cost(2e-3), cost(1e-3, per_new=1.0)
FASTER = finding({"graph": GRAPH, "XLA": XLA})


def test_a_gain_counts_first_calls():
    one = decision(FASTER, calls=1_000)
    assert one.gains["XLA"].value == pytest.approx((1_000 * 2e-3) / (1.0 + 1_000 * 1e-3))
    assert one.total("XLA", 1_000) == pytest.approx(2.0)
    assert one.break_even_calls("XLA") == pytest.approx(1_000)


def test_the_same_model_gets_opposite_verdicts():
    assert [decision(FASTER, calls=calls).label for calls in (1, 100_000)] == ["graph", "XLA"]
    slower = decision(finding({"graph": cost(1e-3), "XLA": cost(2e-3, 1.0)}), calls=10**7)
    assert slower.label == "graph" and slower.break_even_calls("XLA") == math.inf


ALONE = Cost(1e-3, 1e-3, 1e-3, 0.1, examples=20, new=10, singletons=10)


@pytest.mark.parametrize(
    ("repeats", "label", "seconds"),
    [(True, "XLA", 1000 + 1), (False, "graph", 1000 + 0.1 * 500_000), (None, "", 1000 + 1)],
)
def test_two_sums_part_where_examples_stood_alone(repeats, label, seconds):
    """Half of the examples compiled a program of their own: so will half of all calls, or none."""
    found = decision(finding({"graph": GRAPH, "XLA": ALONE}), calls=1_000_000, repeats=repeats)
    assert found.label == label and found.total("XLA", 1_000_000) == pytest.approx(seconds)
    assert any("50% of further calls" in note for note in found.notes) == (repeats is not True)
    if repeats is None:
        both = "2.00x faster than the graph [2.00, 2.00] if the examples come again and again"
        assert both in found.verdict and "if new ones keep coming" in found.verdict


def test_the_chance_of_a_new_program_has_the_interval_of_wilson():
    """Five of twenty examples stood alone, and a program takes a second."""
    mine = Cost(0.0, 0.0, 0.0, 1.0, examples=20, new=5, singletons=5)
    exact = binomtest(5, 20).proportion_ci(0.95, method="wilson")
    ends = [mine.per_call(end) for end in ("fast", "call", "slow")]
    assert ends == pytest.approx([exact.low, 5 / 20, exact.high], rel=1e-4)


def test_two_sums_that_agree_are_a_verdict():
    few = replace(ALONE, per_new=1e-4)
    assert decision(finding({"graph": GRAPH, "XLA": few}), calls=1_000_000).label == "XLA"


def test_where_no_example_stands_alone_they_come_again():
    mine = replace(ALONE, singletons=0)
    found = decision(finding({"graph": GRAPH, "XLA": mine}), calls=1_000_000)
    assert found.label == "XLA" and not found.has_new_shapes
    assert "10 traces or programs for 20 example calls" in found.verdict


def test_results_that_were_not_compared_are_part_of_the_label():
    random_numbers = {"not_compared": {"XLA": "random numbers are drawn"}}
    found = decision(finding({"graph": GRAPH, "XLA": XLA}, **random_numbers), calls=10**6)
    assert (found.choice, found.label) == ("XLA", "XLA, results not compared")
    assert "results were not compared: random numbers are drawn" in found.verdict
    slower = finding({"graph": XLA, "XLA": GRAPH}, **random_numbers)
    assert decision(slower, calls=10**6).label == "graph"


def test_what_nobody_should_choose_is_raced_all_the_same():
    found = decision(finding({"graph": GRAPH, "XLA": cost(1e-3)}, {"XLA": "differs"}))
    assert found.label == "graph" and not found.gains and found.gain("XLA").value == 2
    assert "2.00x faster" in str(found) and "XLA differs" in found.verdict


@pytest.mark.parametrize(
    ("mine", "row"),
    [(cost(4e-3), "slower-when-compiled"), (cost(1e-3, per_new=99.0, new=9), "it-compiles-again")],
)
def test_the_row_of_the_manual_is_that_of_the_reason(mine, row):
    found = decision(replace(finding({"graph": GRAPH, "XLA": mine}), why="Because."))
    rows = [note for note in found.notes if "messages.md" in note]
    assert found.label == "graph" and len(rows) == 1 and row in rows[0]
    assert found.notes[0] == "Because."


def test_no_row_about_compiling_where_a_call_is_no_faster():
    """Without a compilation XLA would not pay either."""
    mine = cost(2e-3, per_new=9.0, new=3)
    found = decision(finding({"graph": GRAPH, "XLA": mine}))
    assert found.label == "graph" and not [note for note in found.notes if "messages.md" in note]


@pytest.mark.parametrize(
    ("slow", "call", "label"),
    [
        (1.10, 1.10, "XLA"),
        (1.04, 1.10, ""),  # the low end is less than what was asked for
        (1.04, 1.04, "graph"),  # its middle, too
    ],
)
def test_the_low_end_of_a_gain_must_reach_what_was_asked_for(slow, call, label):
    mine = Cost(1 / call, 1 / slow, 1 / 1.2, 0.0, 20, 1, 0)
    one = decision(finding({"graph": cost(1.0), "XLA": mine}))
    assert one.label == label and one.verdict.startswith(f"{label or 'undecided'}: ")
    assert "in this process alone" in one.verdict


def test_of_equal_winners_the_first():
    both = {"graph": GRAPH, "XLA": cost(1e-3), "XLA, padded": cost(1e-3)}
    assert decision(finding(both)).label == "XLA"
    assert decision(finding(both | {"XLA, padded": cost(0.2e-3)})).label == "XLA, padded"


def test_of_winners_that_may_gain_as_much_the_simplest():
    """Though its high end is below the other's middle: their intervals share a part."""
    close = Cost(1.0e-3, 1.2e-3, 0.95e-3, 0.0, 20, 1, 0)
    padded = Cost(0.9e-3, 1.1e-3, 0.7e-3, 0.0, 20, 1, 0)
    both = {"graph": GRAPH, "XLA": close, "XLA, padded": padded}
    assert decision(finding(both)).label == "XLA"
    clearly = Cost(0.65e-3, 0.7e-3, 0.6e-3, 0.0, 20, 1, 0)
    assert decision(finding(both | {"XLA, padded": clearly})).label == "XLA, padded"


def processes(*gains):
    return [finding({"graph": cost(gain), "XLA": cost(1.0)}) for gain in gains]


def test_the_interval_of_six_processes_is_the_lowest_and_the_highest():
    gain = decision(*processes(1.5, 1.1, 1.3, 1.2, 1.6, 1.4)).gains["XLA"]
    assert (gain.low, gain.value, gain.high) == pytest.approx((1.1, 1.35, 1.6))


def test_one_process_below_what_was_asked_for_leaves_it_open():
    assert decision(*processes(1.5, 1.02, 1.3, 1.2, 1.6, 1.4)).label == ""
    assert decision(*processes(1.5, 1.06, 1.3, 1.2, 1.6, 1.4)).label == "XLA"


@pytest.mark.parametrize("number", [12, 30, 60])
def test_more_processes_do_not_make_it_harder_to_win(number):
    """One that is slow in thirty is an outlier, of which the middle takes no notice."""
    gains = [1.01, *(1.2 + 0.001 * n for n in range(number - 1))]
    random.Random(0).shuffle(gains)
    found = decision(*processes(*gains))
    assert found.label == "XLA" and found.gains["XLA"].low >= 1.2


def test_what_each_process_notes_is_told_once():
    found = replace(FASTER, notes=("Not tested.",), warnings=("Look.",))
    one = decision(*[found] * 6)
    assert one.notes.count("Not tested.") == 1 and one.warnings == ["Look."]


def test_fewer_than_six_processes_give_no_interval():
    few = decision(*processes(9.0, 9.0, 9.0))
    assert not few.gains["XLA"].has_interval and few.label == ""


@pytest.mark.parametrize(
    "found",
    [
        finding({}, {"XLA": "ended process 1 of 6: SIGSEGV"}),
        finding({"graph": GRAPH}, {"XLA": "is refused: SIGSEGV"}),
    ],
)
def test_what_one_process_refuses_nobody_should_choose(found):
    one = decision(FASTER, found)
    assert one.label == "graph" and not one.gains and "SIGSEGV" in one.verdict
    assert one.break_even_calls("XLA") == math.inf
    with pytest.raises(KeyError, match="SIGSEGV"):
        one.total("XLA", 1)


def test_without_a_baseline_there_is_no_verdict():
    one = decision(replace(FASTER, inconclusive="the graph runs XLA, too, by hot"))
    assert one.label == "" and not one.gains and "hot" in one.verdict


def test_a_decision_says_what_new_memory_costs():
    most = round(words.MANY_PAGES * GRAPH.call)
    few, many = (replace(GRAPH, faults=number) for number in (most - 1.0, most + 1.0))
    quiet, one = (decision(finding({"graph": cost, "XLA": XLA})) for cost in (few, many))
    assert not [note for note in quiet.notes if "memory" in note]
    (note,) = [note for note in one.notes if "memory" in note]
    assert note.startswith(f"New memory: graph {most + 1} pages a call") and "XLA" not in note
