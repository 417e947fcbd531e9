"""What a reader is told of models that no notebook knows. The gallery says what is true of each."""

import numpy as np
import pytest

import xla_decide as xd
import xla_helpers as xh
from tests.gallery import BROUGHT, GALLERY, Model

BRIEF = {"rounds": 2, "block": 1e-9, "budget": 0, "strict": False}
NAMED = {model.name: model for model in GALLERY}
COMPARED = [m for m in GALLERY if m.python and (m.changes or m.truth != "same")]
DECIDED = [
    "a_saved_model_loaded",
    "a_shift_beyond_the_last_bit",
    "a_step_of_descent_by_hand",
    "text_at_the_start",
]


def over(models):
    return pytest.mark.parametrize("model", models, ids=[model.name for model in models])


def build(tf, model):
    """The call of a model, and its variables with the values that they have before the call."""
    variables = []

    def keep(make, **facts):
        variables.append(make(**facts))
        return variables[-1]

    with tf.variable_creator_scope(keep):
        call = model.build(tf)
    return call, [(variable, variable.numpy()) for variable in variables]


def changed(variables):
    return [v.name for v, value in variables if not np.array_equal(v.numpy(), value)]


# What a check says of each


def said(check):
    """ "same", "different", "refused" or "not compared"."""
    if check.unsupported:
        one = "refused"
    elif check.differing or check.dropped_checks:
        one = "different"
    else:
        one = "not compared" if check.inconclusive else "same"
    assert check.agrees == (one == "same")
    return one


def places(found):
    return {(place.operation, place.layer) for place in found}


def assert_true_of(check, model):
    assert said(check) == model.truth
    assert bool(check.unsupported) == bool(model.refuses)
    assert places(check.unsupported) >= set(model.refuses.items())
    assert set(check.random_ops) >= set(model.random_ops)
    assert check.unrestored == model.unrestored
    names = {name for outcome in check.outcomes.values() for name in outcome.variables}
    assert bool(names) == bool(model.changes)
    assert all(any(part in name for name in names) for part in model.changes)


def assert_each_row_ran_what_it_is_called(outcomes, model):
    assert list(outcomes) == ["eager", "graph", "XLA"][0 if model.python else 1 :]
    assert (outcomes["XLA"].error is None) == (model.truth != "refused")
    assert outcomes["graph"].evidence.eager == ("EagerPyFunc" in model.refuses)
    if model.name != "a_wrapper_of_a_compiled_function":  # whose graph holds programs of XLA
        ran = {mode: o.evidence.mode for mode, o in outcomes.items() if o.error is None}
        assert all(ran[mode] == mode for mode in ran)


@over(GALLERY)
def test_a_check_says_what_is_true_and_restores_variables(tf, model):
    call, variables = build(tf, model)
    check = xh.check(*call)
    assert_true_of(check, model)
    assert_each_row_ran_what_it_is_called(check.outcomes, model)
    assert changed(variables) == []
    if model.truth == "same" and model.changes:
        assert_true_of(xh.check(*call), model)


# What a comparison makes of each


@over(COMPARED)
def test_a_comparison_times_nothing_that_differs(tf, model):
    (fn, *given), variables = build(tf, model)
    candidates = {"eager": fn, "graph": tf.function(fn), "XLA": tf.function(fn, jit_compile=True)}
    comparison = xh.compare(candidates, *given, **BRIEF)
    timed = set(comparison.measurements)
    assert changed(variables) == []
    if model.truth != "refused":
        assert bool(comparison.inconclusive) == (model.truth == "not compared")
    assert (timed == set(candidates)) == (model.truth in ("same", "not compared"))
    if model.name != "a_method_that_is_compiled":  # in every row
        assert comparison.as_labelled
    if model.truth in ("different", "refused"):
        assert not {"eager", "XLA"} <= timed


def test_another_change_of_a_variable_is_another_result(tf):
    """Both return nothing, and one forgets a step."""
    total = tf.Variable(0.0, name="total")

    def once():
        total.assign_add(1.0)

    comparison = xh.compare({"once": tf.function(once), "never": lambda: None}, **BRIEF)
    assert list(comparison.measurements) == ["once"] and "total" in comparison.failures["never"]
    assert total.numpy() == 0


# What the others make of some


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("a_mask_by_keyword", "eager"),
        ("a_method_that_is_compiled", "XLA"),
        ("a_saved_model_loaded", "graph"),
        ("a_concrete_function", "graph"),
    ],
)
def test_a_program_is_that_of_the_mode_that_runs(tf, name, mode):
    call, variables = build(tf, NAMED[name])
    assert xh.inspect_program(*call).mode == mode
    xh.measure(*call, rounds=2)
    assert changed(variables) == []


# What is decided


def assert_decided(tf, model, seconds):
    """A decision says nothing false, also one that had too little time."""
    (fn, args, kwargs), variables = build(tf, model)
    try:
        decision = xd.decide(fn, [args], kwargs=kwargs, budget=seconds)
    except ValueError:  # there is nothing to decide where the graph fails
        assert "graph" in xh.check(fn, args, kwargs).errors
        return
    assert changed(variables) == []
    if model.name == "a_wrapper_of_a_compiled_function":
        assert "runs XLA" in decision.inconclusive and not decision.gains
        return
    is_odd_eagerly = bool(decision.warnings)  # the graph and XLA agree
    is_raced = (model.truth in ("same", "not compared") or is_odd_eagerly) and not model.refuses
    assert ("XLA" in decision.gains) == is_raced, decision
    assert bool(decision.not_compared) == (model.truth == "not compared"), decision
    assert all(operation in decision.verdict for operation in model.refuses)


@pytest.mark.parametrize("name", DECIDED)
def test_models_that_are_decided_about(tf, name):
    assert_decided(tf, NAMED[name], seconds=4)


@pytest.mark.gallery
@over(GALLERY)
def test_every_model_is_decided_about(tf, model):
    assert_decided(tf, model, seconds=10)


def test_inputs_that_should_fail_are_told_of(tf):
    fn, bad, _ = NAMED["an_index_that_is_not_there"].build(tf)
    good = bad[0], np.int32([1, 2])
    decision = xd.decide(fn, [good], invalid_inputs=[bad], budget=4)
    [found] = decision.invalid_inputs
    assert list(found.errors) == ["eager", "graph"] and list(found.differing) == ["XLA"]
    assert any("Invalid input 1" in note for note in decision.notes)


@pytest.mark.gallery
@pytest.mark.parametrize("bring", BROUGHT)
def test_what_people_bring_is_raced_with_every_shape(tf, bring):
    (what, batches, options), variables = build(tf, Model("", bring, "same"))
    decision = xd.decide(what, batches, budget=10, **options)
    assert changed(variables) == []
    shapes = decision.findings[0].shapes
    assert len(shapes) == (2 if bring.__name__ == "two_inputs_of_varying_length" else 1)
    if bring.__name__ == "text_from_transformers":  # its graph holds an operation of XLA's
        assert "runs XLA" in decision.inconclusive and not decision.passes
    else:
        assert "XLA" in decision.gains and set(decision.passes.shapes) == set(shapes), decision
