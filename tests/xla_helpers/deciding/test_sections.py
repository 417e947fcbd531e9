"""What happened: the verdict, what ran, what was refused, and how to do it again."""

from dataclasses import replace

import pytest

from tests.xla_helpers.deciding.cases import CASES, REFUSAL, padded, refused, usual
from tests.xla_helpers.deciding.examples import checked, findings, races
from xla_helpers.deciding.findings import End, FirstCall, FirstCalls, Raced
from xla_helpers.deciding.sections import refused as refused_section
from xla_helpers.deciding.sections import reproduce, verdict, what_ran
from xla_helpers.deciding.verdict import Choice, judge
from xla_helpers.deciding.wording import STARTED


def test_the_verdict_is_three_lines_and_the_reasons():
    choice = Choice("graph", ("graph: one.", "Two.", "Three."), ("XLA is slower.",))
    text = verdict(findings(), choice)
    assert text.splitlines() == [
        *("> **graph: one.**", ">", "> Two.", ">", "> Three.", ""),
        "- XLA is slower.",
    ]


def test_the_verdict_is_that_of_the_judge():
    known, found = usual()
    assert judge(known, found).lines[0] in verdict(known, judge(known, found))


def test_rows_say_what_they_ran():
    text = what_ran(*usual())
    assert "| XLA | 1 XLA program | 3 | 9 | 10 |  | 1, 2 |" in text
    assert "| eager | 5 operations | 3 | 9 | 10 |  | 1 |" in text
    assert "10,000 calls, in the proportions of 10 example calls" in text


def test_a_row_that_is_not_what_it_is_called_says_so():
    text = what_ran(*CASES["mislabelled"]())
    assert "not XLA: no compiled program ran" in text


def test_what_could_not_be_seen_is_not_left_blank():
    known, found = usual()
    blind = {i: replace(r, comparison=replace(r.comparison, evidence={})) for i, r in found.items()}
    assert "could not be seen" in what_ran(known, blind)


def test_why_a_candidate_was_not_timed():
    raced = tuple(Raced(i, "x", {"XLA": "its result differs"}) for i in range(2))
    text = what_ran(findings(raced=raced), races({"graph": 1e-4}, {"graph": 1e-4}))
    assert "- XLA was taken out of a race of shapes 1, 2: its result differs" in text


def test_shapes_stand_with_what_padding_makes_of_them():
    text = what_ran(*padded())
    assert "| 1 | int32[8, 5] | 3 | 20 % | int32[8, 8] |" in text
    assert "Padding: to the next multiple of 8." in text


def test_more_shapes_than_rows_are_counted():
    text = what_ran(*CASES["many_shapes"]())
    assert "| 10 | int32[8, 10] | 31 |" in text and "| 11 |" not in text
    assert "And 20 shapes, with 53.6 % of the calls." in text


@pytest.mark.parametrize("kind", ["usual", "together"])
def test_whether_parts_had_processes_of_their_own(kind):
    text = what_ran(*CASES[kind]())
    assert ("All parts that ran did so in one process" in text) is (kind == "together")


def test_what_was_not_tested_is_listed():
    known = findings(left_out=("Hostile inputs: none.",))
    assert "Not tested:\n\n- Hostile inputs: none." in what_ran(known, {})


def test_without_a_plan_nothing_ran():
    known = findings(plan=None, ends=(End("first calls, graph", "killed", "signal 6"),))
    assert 'Nothing ran: The part "first calls, graph" died: signal 6.' in what_ran(known, {})


def test_what_is_refused_has_its_place_and_its_mend():
    text = refused_section(refused()[0])
    assert f"| StringLower | words | {REFUSAL.line} | {REFUSAL.mend} |" in text
    assert text.startswith("XLA refuses 1 of 1 shape, because of this:")
    assert "can be decided, is encoder (Functional), with 80 % of the time of a call" in text
    assert "a call of the graph with the most frequent shape" in text


def test_with_a_gpu_the_share_of_a_part_is_said_to_be_the_processors():
    known = refused()[0]
    text = refused_section(replace(known, machine={"accelerators": "NVIDIA H100"}))
    assert text == f"{refused_section(known)} {STARTED}"


def test_where_no_part_compiles_it_says_so():
    text = refused_section(CASES["refused_without_a_part"]()[0])
    assert 'No layer was compiled alone; "What ran" says why.' in text


def test_nothing_is_refused_only_where_xla_was_called():
    assert refused_section(findings()) == "Nothing: XLA compiled it for 2 shapes."
    unknown = refused_section(findings(first=()))
    assert unknown.startswith("What XLA would refuse is not known.")


def test_shapes_that_were_not_tried_are_not_called_compiled():
    first = (FirstCalls("XLA", 0, (FirstCall(0, 0.1, compilations=1),)),)
    text = refused_section(findings(first=first))
    assert text == "Nothing: XLA compiled it for 1 of 2 shapes; the others were not tried."


def test_a_compilation_that_was_not_seen_is_not_claimed():
    calls = (FirstCall(0, 0.1), FirstCall(1, 0.1))
    text = refused_section(findings(first=(FirstCalls("XLA", 0, calls),)))
    assert text == "Nothing: no compilation was seen, and no error, for 2 shapes."


def test_what_fails_in_the_graph_too_is_no_matter_of_xla():
    calls = (FirstCall(0, 0.1), FirstCall(1, 0.1, error="ValueError: no"))
    both = tuple(FirstCalls(label, 0, calls) for label in ("graph", "XLA"))
    text = refused_section(findings(first=both))
    assert text == "XLA failed for 1 of 2 shapes: ValueError: no. So did the graph."


def test_what_xla_has_no_code_for_may_do_no_harm():
    known = replace(CASES["refused"]()[0], first=findings().first)
    text = refused_section(known)
    assert "XLA refuses" not in text and "though no first call failed because of them:" in text


def test_what_fails_for_some_shapes_is_no_refusal_of_all():
    calls = (FirstCall(0, 0.1), FirstCall(1, 0.1, error="ValueError: no"))
    text = refused_section(findings(first=(FirstCalls("XLA", 0, calls),)))
    assert "XLA failed for 1 of 2 shapes: ValueError: no." in text


def test_what_one_shape_refuses_is_not_said_of_all():
    calls = (FirstCall(0, 0.1, error="unsupported"), FirstCall(1, 0.1, compilations=1))
    refusing = checked(refused=(REFUSAL,))
    known = findings(first=(FirstCalls("XLA", 0, calls),), checks=(refusing,))
    assert refused_section(known).startswith("XLA refuses 1 of 2 shapes, because of this:")
    both = tuple(FirstCalls(label, 0, calls[:1]) for label in ("graph", "XLA"))
    text = refused_section(replace(known, first=both))
    assert "So did the graph. XLA has no code for these:" in text and "refuses" not in text


def test_what_hostile_inputs_meet_is_no_refusal_of_the_plan():
    known = findings(checks=(checked(), checked("worst", refused=(REFUSAL,))))
    assert refused_section(known) == "Nothing: XLA compiled it for 2 shapes."


def test_one_error_is_not_said_to_be_that_of_all_shapes():
    calls = tuple(FirstCall(i, 0.1, error=f"ValueError: {i}") for i in range(2))
    text = refused_section(findings(first=(FirstCalls("XLA", 0, calls),)))
    assert "XLA failed for 2 of 2 shapes, first with: ValueError: 0." in text


def test_shapes_with_a_compilation_are_counted():
    calls = (FirstCall(0, 0.1, compilations=1), FirstCall(1, 0.1))
    text = refused_section(findings(first=(FirstCalls("XLA", 0, calls),)))
    assert text == ("Nothing: no error was seen for 2 shapes, and a compilation for 1 of these 2.")


def test_the_code_and_the_command_are_given():
    text = reproduce(findings())
    assert "```sh\npython -m xla_helpers decide my_model:make --calls 10000\n```" in text
    assert '```python\nxh.decide("my_model:make", calls=10_000)\n```' in text
    assert "calls = 10,000, tolerance = 0.0001, floor = 1.05 and budget = 120" in text


def test_what_to_vary_is_what_was_not_given():
    assert "- pad: " in reproduce(findings()) and "- pad: " not in reproduce(padded()[0])
    out = (*findings().ends, End("race 3", "left out"))
    assert "- budget: " not in reproduce(findings())
    assert "- budget: " in reproduce(findings(ends=out))
