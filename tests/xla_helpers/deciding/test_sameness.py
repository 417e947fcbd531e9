"""What each mode made of the calls."""

from dataclasses import replace

import pytest

from tests.xla_helpers.deciding.cases import CASES, draws
from tests.xla_helpers.deciding.examples import checked, findings
from xla_helpers.deciding.findings import Row
from xla_helpers.deciding.sameness import same

DIFFERS = Row("XLA", "[2.0]", "differs by 0.5 (relative)", False, False, 0.5, 0.7, "result['loss']")


def other(number=0, **changes):
    rows = (*checked().rows[:2], DIFFERS)
    given = {"agrees": False, "rows": rows, "summary": "XLA differs."}
    return checked(number=number, **given | changes)


def test_what_was_compared_is_named_with_its_differences():
    text = same(findings())
    assert "Compared: result." in text
    assert "| XLA | [0.1, 0.9] | the same to 1e-7 | 1e-07 | 1e-08 | result |" in text


def test_what_differs_comes_first_and_whole():
    text = same(findings(checks=(checked(), other(1, arguments=("int32[9]",)))))
    assert text.startswith("**int32[9].** XLA differs.")
    assert "| XLA | [2.0] | differs by 0.5 (relative) | 0.5 | 0.7 | result['loss'] |" in text


def test_many_shapes_that_agree_have_a_line_each_and_are_then_counted():
    text = same(CASES["many_shapes"]()[0])
    assert text.count("The same result in all three modes.") == 11
    assert "And 19 other shapes: in 19 of 19 all modes came out the same." in text


def test_many_shapes_that_differ_are_not_called_the_same():
    text = same(findings(checks=tuple(other(i, arguments=(f"int32[{i}]",)) for i in range(9))))
    assert "And 3 other shapes: in 0 of 3 all modes came out the same." in text
    assert "all modes came out the same as well" not in text


def test_a_check_that_xla_leaves_out_parts_no_modes():
    checks = [checked(number=i, agrees=False, vanished=("Assert",)) for i in range(10)]
    four = "And 4 other shapes: in {} of 4 all modes came out the same."
    assert four.format(4) in same(findings(checks=tuple(checks)))
    drawn, nothing = replace(checks[8], decidable=False), replace(checks[9], compared=False)
    checks[-3:] = [other(7), drawn, nothing]
    assert four.format(1) in same(findings(checks=tuple(checks)))
    error = replace(checked().rows[2], error=True)
    checks[6] = replace(checks[6], rows=(*checked().rows[:2], error))
    assert four.format(0) in same(findings(checks=tuple(checks)))


@pytest.mark.parametrize(("parted", "as_well"), [(0, True), (5, True), (6, False), (9, False)])
def test_shapes_come_out_the_same_as_well_only_where_one_above_does(parted, as_well):
    checks = [other(i) for i in range(parted)] + [checked(number=i) for i in range(parted, 12)]
    text = same(findings(checks=tuple(checks)))
    usual = "With the other shapes, where all modes came out the same as well:\n\n| arguments |"
    assert (usual in text) == as_well
    alone = "With these shapes all modes came out the same:\n\n| arguments |"
    assert (alone in text) == (not as_well)


def test_a_step_of_which_only_the_result_was_compared_says_so():
    assert "No variable that the step may change is among it." in same(draws()[0])
    step = replace(findings().plan, step=True)
    both = checked(names=("result", "dense/kernel"))
    assert "No variable" not in same(findings(plan=step, checks=(both,)))


def test_nothing_compared_is_not_the_same():
    nothing = checked(compared=False, names=(), summary="It returns nothing.")
    text = same(findings(checks=(nothing,)))
    assert "Nothing was compared." in text and "The same" not in text


def test_draws_and_checks_and_what_lasts_are_named_once():
    one = checked(vanished=("Assert in dense",))
    text = same(findings(checks=(one, replace(one, number=1), *draws()[0].checks)))
    assert text.count("XLA leaves out a check: Assert in dense.") == 1
    assert "Random numbers are drawn: RandomUniform in dropout" in text
    assert "Not put back: a stream of random numbers" in text


def test_xla_leaves_out_nothing_where_it_compiled_nothing():
    failed = replace(DIFFERS, error=True)
    for rows in ((*checked().rows[:2], failed), checked().rows[:2]):
        one = checked(vanished=("Assert in dense",), rows=rows)
        assert "leaves out a check" not in same(findings(checks=(one,)))


def test_gradients_stand_by_themselves():
    one = checked("gradients", names=("dense/kernel",), summary="The same result.")
    assert "**Gradients.** The same result.\nCompared: dense/kernel." in same(
        findings(checks=(checked(), one))
    )


def test_hostile_inputs_have_a_row_each():
    failing = Row("graph", "ValueError: 9 is not in [0, 3)", "an error too", True, True)
    one = checked("worst", rows=(failing, DIFFERS), arguments=("int32[1]",), summary="XLA differs.")
    text = same(findings(checks=(checked(), one)))
    assert "| 1 | int32[1] | ValueError: 9 is not in [0, 3) | [2.0] | XLA differs. |" in text
    assert "none was checked" in same(findings())
