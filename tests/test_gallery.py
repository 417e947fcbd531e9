"""What a reader is told of models that no notebook knows. The gallery says what is true of each."""

import re
from functools import cache

import numpy as np
import pytest

import xla_helpers as xh
from tests.gallery import BROUGHT, GALLERY, Model, by_name

BRIEF = {"rounds": 2, "block": 1e-9, "budget": 0}
STATEFUL = [model for model in GALLERY if model.truth == "same" and model.changes]
COMPARED = [m for m in GALLERY if m.python and (m.changes or m.truth != "same")]
DECIDED = [
    "a_saved_model_loaded",
    "a_shift_beyond_the_last_bit",
    "a_step_of_descent_by_hand",
    "text_at_the_start",
]


# How results are read: no other lines know what their parts are called


def said(check):
    """ "same", "different", "refused" or "not compared"; the words must say it, too."""
    one = "refused" if check.unsupported else "different" if check.differing else "not compared"
    one = "same" if check.agrees else one
    words = str(check).splitlines()[0]
    assert ("The same" in words) == (one == "same"), words
    assert ("does not support" in words) == (one == "refused"), words
    assert one == "different" or not re.search("(graph|XLA) (differs (by|in)|gives)", words), words
    return one


def rows(check):
    """Mode to the mode that ran, for all that came to its end, and "" for the rest."""
    return {mode: "" if o.error else o.evidence.mode for mode, o in check.outcomes.items()}


def refused(check):
    return {(refusal.operation, refusal.layer) for refusal in check.unsupported}


def drawn(check):
    return {(draw.operation, draw.layer) for draw in check.draws}


def changed(check):
    """The names of all variables that some mode changed, in one text."""
    return " ".join(name for outcome in check.outcomes.values() for name in outcome.state)


def timed(comparison):
    """Label to the mode that ran, of all that was timed."""
    return {label: comparison.evidence[label].mode for label in comparison.measurements}


def not_compared(comparison):
    return "were not compared" in str(comparison)


def decide(fn, args, seconds, **options):
    """The label of what to use, and all that is said, also that there is nothing to decide."""
    try:
        decision = xh.decide(fn, [args], budget=seconds, **options)
    except ValueError as error:
        return "", str(error)
    return decision.label, str(decision)


# What a check says of each


def build(tf, model):
    """The call of a model, and the variables that it has before it is called, with their values."""
    variables = []

    def keep(make, **facts):
        variables.append(make(**facts))
        return variables[-1]

    with tf.variable_creator_scope(keep):
        call = model.build(tf)
    return call, [(variable, value_of(variable)) for variable in variables]


def value_of(variable):
    """None for what was deleted, with the model whose folder was given."""
    return np.array(variable.numpy()) if variable.is_initialized() else None


def moved(variables):
    return [v.name for v, value in variables if not np.array_equal(value_of(v), value)]


class Seen:
    """A check of one of the gallery, and a second one where there is state."""

    def __init__(self, model, tf):
        self.model = model
        (fn, args, kwargs), variables = build(tf, model)
        self.check = xh.check(fn, *args, **kwargs)
        self.moved = moved(variables)
        self.again = xh.check(fn, *args, **kwargs) if model in STATEFUL else self.check


@cache
def look(model, tf):
    return Seen(model, tf)


@pytest.fixture
def seen(request, tf):
    return look(request.param, tf)


@pytest.fixture(scope="module", autouse=True)
def forget():
    yield
    look.cache_clear()


def over(models, name="seen"):
    """A test for each of `models`, each of which is checked once for all tests."""
    ids = [model.name for model in models]
    return pytest.mark.parametrize(name, models, indirect=name == "seen", ids=ids)


@over(GALLERY)
def test_a_check_says_what_is_true(seen):
    assert said(seen.check) == seen.model.truth
    assert said(seen.again) == seen.model.truth


@over(GALLERY)
def test_each_row_of_a_check_ran_what_it_is_called(seen):
    ran = rows(seen.check)
    assert list(ran) == seen.model.modes
    assert bool(ran["XLA"]) == (seen.model.truth != "refused")
    if seen.model.name != "a_wrapper_of_a_compiled_function":  # whose graph holds programs of XLA
        assert all(mode in (label, "") for label, mode in ran.items())


@over(GALLERY)
def test_what_is_refused_or_drawn_is_named_with_its_layer(seen):
    refuses, draws = seen.model.refuses, seen.model.draws
    assert set(refuses.items()) <= refused(seen.check)
    assert set(draws.items()) <= drawn(seen.check)
    assert bool(refuses) == bool(refused(seen.check))
    for operation, layer in (refuses or draws).items():
        assert operation in str(seen.check) and layer in str(seen.check)


@over(GALLERY)
def test_variables_are_compared_and_put_back(seen):
    assert seen.moved == []
    names = changed(seen.check)
    assert all(part in names for part in seen.model.changes)
    assert bool(names) == bool(seen.model.changes)


# What a comparison makes of each


@over(COMPARED, "model")
def test_a_comparison_times_nothing_that_differs(tf, model):
    (fn, args, kwargs), variables = build(tf, model)
    candidates = {"eager": fn, "graph": tf.function(fn), "XLA": tf.function(fn, jit_compile=True)}
    comparison = xh.compare(candidates, *args, strict=False, **BRIEF, **kwargs)
    ran = timed(comparison)
    assert moved(variables) == []
    if model.truth == "same":
        assert list(ran) == list(candidates)
    if model.truth == "not compared":
        assert not_compared(comparison)
    if model.truth in ("different", "refused"):
        assert not {"eager", "XLA"} <= set(ran)
    if model.name != "a_method_that_is_compiled":  # in every row
        assert all(label == mode for label, mode in ran.items())
        assert "not XLA" not in str(comparison)


def test_another_change_of_a_variable_is_another_result(tf):
    """Both return nothing, and one forgets a step."""
    total = tf.Variable(0.0, name="total")
    candidates = {"once": lambda: total.assign_add(1.0) and None, "never": lambda: None}
    comparison = xh.compare(candidates, strict=False, **BRIEF)
    assert list(timed(comparison)) == ["once"] and "total" in str(comparison)
    assert total.numpy() == 0


# What the others make of some


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("a_step_of_descent_by_hand", "eager"),
        ("a_mask_by_keyword", "eager"),
        ("a_method_that_is_compiled", "XLA"),
        ("a_saved_model_by_its_folder", "graph"),
        ("a_concrete_function", "graph"),
    ],
)
def test_a_program_is_that_of_the_mode_that_runs(tf, name, mode):
    (fn, args, kwargs), variables = build(tf, by_name(name))
    assert xh.inspect_program(fn, *args, **kwargs).mode == mode
    xh.measure(fn, *args, rounds=2, **kwargs)
    assert moved(variables) == []


# What is decided


@pytest.fixture
def assert_decided(tf, tmp_path, monkeypatch):
    """A decision says nothing false: also one that had too little time, and says so."""
    monkeypatch.chdir(tmp_path)

    def look_at(model, seconds):
        (fn, args, kwargs), variables = build(tf, model)
        label, verdict = decide(fn, args, seconds, kwargs=kwargs)
        assert moved(variables) == []
        if model.truth != "same":
            assert label != "XLA", verdict
        assert all(operation in verdict for operation in model.refuses)

    return look_at


@pytest.mark.parametrize("name", DECIDED)
def test_models_that_are_decided_about(name, assert_decided):
    assert_decided(by_name(name), seconds=4)


@pytest.mark.gallery
@over(GALLERY, "model")
def test_every_model_is_decided_about(model, assert_decided):
    assert_decided(model, seconds=10)


def test_inputs_that_should_fail_are_told_of(tf, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fn, bad, _ = by_name("an_index_that_is_not_there").build(tf)
    _, said = decide(fn, (bad[0], np.int32([1, 2])), 4, worst=[bad])
    assert "Mind: with worst input 1 XLA gives a result instead of an error." in said


@pytest.mark.gallery
@pytest.mark.parametrize("bring", BROUGHT)
def test_what_people_bring_is_raced_with_every_shape(tf, bring):
    made = Model("", bring, "same")
    (what, batches, options), variables = build(tf, made)
    decision = xh.decide(what, batches, budget=10, **options)
    assert moved(variables) == []
    assert "XLA" in decision.gains, decision
    assert set(decision.races) == set(decision.plan)
    assert len(decision.plan) == (2 if bring.__name__ == "two_inputs_of_varying_length" else 1)
    assert decision.label in ("XLA", "graph", "") and "XLA" in decision.verdict
