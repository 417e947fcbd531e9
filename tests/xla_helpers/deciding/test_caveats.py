"""What is said of the measurement itself, and what is to be minded."""

from dataclasses import replace

import pytest

from tests.xla_helpers.deciding.examples import RAN, SMALL, checked, findings, races, run
from tests.xla_helpers.deciding.made_up import in_turn, of_one_shape, several
from xla_helpers.deciding.caveats import measured_on, not_tested
from xla_helpers.deciding.costs import Costs
from xla_helpers.deciding.findings import End, Findings, Inside, Padded, Plan, Row, Shape
from xla_helpers.evidence import Evidence
from xla_helpers.operations import Refusal

PAIR = {"graph": 1e-4, "XLA": 5e-5}
ERROR = Row("graph", "InvalidArgumentError: 9", "gives an error", False, True)
OTHER = Row("XLA", "[0.3, 0.7]", "differs by 0.2", False, False, 0.2, 0.04, "result")


def on(known, raced):
    return measured_on(known, raced, Costs(known, raced))


def minded(known, label="XLA", raced=None):
    raced = in_turn(2.0, 2.0, 2.0) if raced is None else raced
    return not_tested(known, raced, Costs(known, raced), label)


def with_rows(*rows, **changes):
    """A check in which these modes did otherwise."""
    named = {row.mode: row for row in rows}
    known = checked(**changes)
    return replace(known, rows=tuple(named.get(row.mode, row) for row in known.rows))


# What it was measured on


def test_the_second_line_names_machine_day_processes_load_and_noise():
    assert on(of_one_shape(), in_turn(2.0, 2.0, 2.0, noise=1.02)) == (
        "Measured on Some Processor · 2 cores · no GPU · Python 3.11.7 · TensorFlow 2.21.0, "
        "2026-11-22, in 3 processes; other work kept 0.1 cores busy before and 0.2 after; "
        "raced against itself, the graph was up to 1.02x apart."
    )


def test_processes_are_counted():
    assert ", in 1 process;" in on(of_one_shape(), in_turn(2.0))
    pair = races(PAIR, PAIR)
    assert ", in 1 to 3 processes;" in on(findings(), {0: pair[0], 1: in_turn(2.0)[0]})
    here = on(of_one_shape(isolated=False), in_turn(2.0))
    assert ", in one process, from which others may differ;" in here


@pytest.mark.parametrize("load", [(), (0.1,), (None, 0.1), (0.1, None)])
def test_a_load_that_is_not_known_is_not_made_up(load):
    said = on(of_one_shape(load=load), in_turn(2.0))
    assert "how busy it was with other work is not known" in said and "0.1 cores" not in said


def test_without_a_control_nothing_is_said_of_noise():
    unmeasured = {0: several(replace(run(**PAIR), control=None))}
    assert "itself" not in on(of_one_shape(), unmeasured)


def test_what_was_raced_against_itself_has_its_name():
    own = run(**PAIR)
    other = replace(own, control=replace(own.control, label="XLA"))
    assert "raced against itself, XLA was" in on(of_one_shape(), {0: several(other)})


def test_without_a_race_nothing_was_measured():
    assert on(findings(), {}).startswith("Asked on Some Processor")
    assert "and nothing was raced against the graph" in on(findings(), {})
    said = "Asked on an unknown machine, and nothing was raced against the graph;"
    assert on(Findings(), {}).startswith(said)


# What was not tested


def test_when_nothing_was_left_out_that_is_said():
    assert minded(of_one_shape()) == "Nothing that was asked for was left out."
    begun = minded(of_one_shape(unfinished=True))
    assert begun == "Not tested: all that was still to come when this was written."


def test_what_was_left_out_is_listed_once_with_parts_that_did_not_finish():
    ends = (
        End("first calls, graph", "finished"),
        End("results", "killed", "signal 9."),
        End("work", "left out", "there was no time"),
        End("race 3", "left out"),
    )
    known = of_one_shape(left_out=("No hostile inputs.", "No hostile inputs."), ends=ends)
    assert minded(known) == (
        "Not tested: No hostile inputs; results died (signal 9); "
        "these parts were left out: work, race 3."
    )


def test_shapes_that_were_not_raced_are_counted():
    assert minded(findings(), raced=races(PAIR)) == "Not tested: the speed with 1 of 2 shapes."


# What to mind


def test_checks_that_vanish_are_counted_and_some_are_named():
    one = minded(of_one_shape(checks=(checked(vanished=("Assert/a",)),)))
    assert one.endswith("Mind: XLA leaves out 1 check (Assert/a).")
    shapes = (checked(vanished=tuple("abcd")), checked(number=1, vanished=tuple("abcd")))
    assert "XLA leaves out 4 checks (a, b, c, …)" in minded(
        findings(checks=shapes), raced=races(PAIR, PAIR)
    )


def test_what_xla_did_not_compile_leaves_out_no_check():
    bad = with_rows(replace(ERROR, mode="XLA"), vanished=("a",))
    assert "leaves out" not in minded(of_one_shape(checks=(bad,)))
    good = checked(number=1, vanished=("b",))
    said = minded(findings(checks=(bad, good)), raced=races(PAIR, PAIR))
    assert "XLA leaves out 1 check (b)" in said
    part = of_one_shape(checks=(bad,), inside=Inside("encoder", "Dense", 0.5))
    assert "stand in the compiled layer, of a" in minded(part, "XLA in encoder")


def test_in_a_part_only_its_own_checks_vanish():
    inside = Inside("encoder", "Dense", 0.5)
    known = of_one_shape(checks=(checked(vanished=("a",)),), inside=inside)
    said = minded(known, "XLA in encoder")
    assert "XLA leaves out those checks that stand in the compiled layer, of a" in said


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ((ERROR,), "for hostile input 2 XLA gives a result where the graph gives an error"),
        (
            (replace(ERROR, mode="XLA"),),
            "for hostile input 2 XLA gives an error where the graph gives a result",
        ),
        ((OTHER,), "for hostile input 2 XLA gives another result"),
        ((), ""),
        ((ERROR, replace(ERROR, mode="XLA")), ""),
    ],
)
def test_hostile_inputs_are_told_where_xla_and_the_graph_part(rows, said):
    known = of_one_shape(checks=(checked(), with_rows(*rows, of="worst", number=1)))
    assert minded(known).endswith(f"Mind: {said}." if said else "left out.")


def test_hostile_inputs_of_what_xla_refuses_are_no_news():
    refusal = (Refusal("StringSplit", "", "", ""),)
    bad = with_rows(replace(ERROR, mode="XLA"), of="worst", refused=refusal)
    assert "hostile" not in minded(of_one_shape(checks=(checked(), bad)))


def test_results_that_cannot_be_decided_are_never_called_other_ones():
    drawn = with_rows(OTHER, decidable=False, draws=("RandomUniform in dropout",))
    said = minded(of_one_shape(checks=(drawn,)))
    assert said.endswith(
        "Mind: whether XLA's results agree is not decidable, "
        "since it draws random numbers (RandomUniform in dropout)."
    )
    moved = minded(of_one_shape(checks=(with_rows(OTHER, decidable=False),)))
    assert moved.endswith("whether XLA's results agree is not decidable.")


def test_results_that_were_not_checked_are_counted():
    said = minded(findings(checks=(checked(),)), raced=races(PAIR, PAIR))
    assert said.endswith("Mind: results were not checked with 1 of 2 shapes.")
    plan = Plan("a model", (Shape(SMALL, 1, 0),), (Padded(SMALL, 0.1),))
    said = minded(of_one_shape(plan=plan), "XLA, padded")
    assert "results were not checked with 1 of 1 shape" in said


def test_where_there_was_nothing_to_compare_that_is_said():
    said = minded(of_one_shape(checks=(checked(compared=False),)))
    assert "it returns nothing and changes no variable" in said


def test_a_layer_because_of_which_keras_leaves_xla_out_is_named():
    layer = Refusal("Hashing", "hash", "", "")
    said = minded(of_one_shape(checks=(checked(switched_off=(layer,)),)))
    assert "Keras' own `fit` and `predict` leave XLA out, because of Hashing in hash" in said


def test_what_was_reckoned_is_not_called_measured():
    first = findings().first
    cut = tuple(replace(one, calls=one.calls[:1]) for one in first)
    said = minded(findings(first=cut), raced=races(PAIR))
    assert "the first calls of 1 program were not seen, and are reckoned like the others" in said
    few = minded(findings(calls=5), raced=races(PAIR, PAIR))
    assert (
        "some shapes come less than once in so many calls, and the first call of each is counted in"
    ) in few
    few = minded(findings(calls=5), "graph", races(PAIR, PAIR))
    assert "some shapes come less than once in so many calls" in few
    assert "so many calls" not in minded(findings(calls=1), raced={})


def test_what_could_not_be_seen_is_said():
    unseen = {x: Evidence() for x in RAN}
    said = minded(of_one_shape(), raced={0: several(run(evidence=unseen, **PAIR))})
    assert said.endswith("Mind: whether XLA ran in every process could not be seen.")


def test_with_the_graph_what_xla_would_do_is_not_to_be_minded():
    known = of_one_shape(checks=(checked(vanished=("a",)),))
    assert "Mind" not in minded(known, "graph")
    differs = with_rows(replace(OTHER, mode="graph"))
    said = minded(of_one_shape(checks=(differs,)), "graph")
    assert said.endswith("Mind: the graph gives other results than eager mode.")
    drawn = replace(differs, decidable=False)
    assert "Mind" not in minded(of_one_shape(checks=(drawn,)), "graph")
