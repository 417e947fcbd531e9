"""Variables of TensorFlow, found, compared and put back; and marks of what Python changes."""

import gc
import random
from gc import get_freeze_count

import numpy as np
import pytest

from xla_helpers import state
from xla_helpers.processes import run_in_process
from xla_helpers.state import (
    NUMPY_STREAM,
    PYTHON_STREAM,
    Variables,
    fixed_streams,
    names_of,
    python_state,
    variables_kept,
)

CHANGES = {
    "assign": lambda tf, v: v.assign(2 * v),
    "assign_add": lambda tf, v: v.assign_add([1.0, 1.0]),
    "one entry": lambda tf, v: v[0].assign(9.0),
    "scatter": lambda tf, v: v.scatter_add(tf.IndexedSlices(tf.ones([1]), tf.constant([0]))),
    "graph": lambda tf, v: tf.function(lambda: v.assign_add([1.0, 1.0]))(),
    "XLA": lambda tf, v: tf.function(lambda: v.assign_add([1.0, 1.0]), jit_compile=True)(),
    "optimizer": lambda tf, v: tf.raw_ops.ResourceApplyGradientDescent(
        var=v.handle, alpha=1.0, delta=tf.ones([2])
    ),
}
"""Ways to change a variable, among them those that write into its memory."""


def same(found, *expected):
    """Whether these are the same objects: variables are not compared with `==`."""
    return sorted(map(id, found)) == sorted(map(id, expected))


# Changed and put back


@pytest.mark.parametrize("change", CHANGES)
def test_every_way_to_change_a_variable_is_seen_and_undone(tf, change):
    variable, other = tf.Variable([1.0, 2.0]), tf.Variable([1.0, 2.0])
    variables = Variables()
    for _ in range(2):  # put back, it can be changed and put back again
        CHANGES[change](tf, variable)
        assert same(variables.changed(), variable)
        assert variables.saved(variable).tolist() == [1, 2]
        variables.put_back()
        assert variable.numpy().tolist() == other.numpy().tolist() == [1, 2]
        assert variables.changed() == []


def test_a_variable_that_was_put_back_has_memory_of_its_own(tf):
    """Otherwise its next change would copy all of it, and be measured with that."""
    with tf.device("CPU"):
        variable = tf.Variable(tf.ones([1000]))
    variables = Variables()
    variable.assign(tf.zeros([1000]))
    variables.put_back()
    place = memory_of(variable)
    variable.assign_add(tf.ones([1000]))
    assert memory_of(variable) == place


def memory_of(variable):
    return np.asarray(memoryview(variable.read_value())).__array_interface__["data"]


@pytest.mark.parametrize("value", [[np.nan, 1.0], ["a", "b"], [True, False], [1j, 2j]])
def test_variables_of_every_kind(tf, value):
    variable = tf.Variable(value)
    variables = Variables()
    assert variables.changed() == []
    variable.assign(tf.reverse(variable, [0]))
    assert same(variables.changed(), variable)
    variables.put_back()
    assert variables.changed() == []
    assert str(variable.numpy()) == str(tf.constant(value).numpy())


def test_an_assigned_value_that_is_equal_is_no_change(tf):
    variable = tf.Variable([1.0, 2.0])
    variables = Variables()
    variable.assign([1.0, 2.0])
    assert variables.changed() == []


def test_only_some_may_be_put_back(tf):
    one, other = tf.Variable(1.0), tf.Variable(1.0)
    variables = Variables()
    for variable in (one, other):
        variable.assign_add(1.0)
    variables.put_back([one])
    assert (one.numpy(), other.numpy()) == (1, 2)


def test_variables_of_another_graph_are_left_alone(tf):
    """Such as those that saving a model leaves behind."""
    with tf.Graph().as_default():
        variable = tf.Variable(1.0)
    assert not any(variable is changed for changed in Variables().changed())


def test_without_tensorflow_there_is_nothing_to_keep():
    def plain():
        import sys

        from xla_helpers.state import Variables, variables_kept

        with variables_kept(), Variables().adopting() as made:
            pass
        return made, Variables().changed(), "tensorflow" in sys.modules

    assert run_in_process(plain).value == [[], [], False]


# Made meanwhile


def test_a_variable_that_is_made_meanwhile_is_saved_as_it_was_made(tf):
    variables = Variables()
    with variables.adopting() as made:
        variable = tf.Variable(1.0)
        variable.assign(5.0)
    assert same(made, variable)
    assert same(variables.changed(), variable)
    variables.put_back()
    assert variable.numpy() == 1


def test_a_variable_that_a_trace_makes_is_saved_when_the_trace_has_ended(tf):
    made = []

    @tf.function
    def count():
        if not made:
            made.append(tf.Variable(5.0))
        return made[0].assign_add(1.0)

    variables = Variables()
    with variables.adopting():
        count.get_concrete_function()
        variables.adopt_made()
        count()
    assert same(variables.changed(), made[0]) and variables.saved(made[0]) == 5


def test_a_variable_may_begin_as_another(tf):
    original = tf.Variable([1.0, 2.0])
    variables = Variables()
    original.assign([7.0, 7.0])
    with variables.adopting():
        copy = tf.Variable([0.0, 0.0])
    variables.begin_as(copy, original)
    assert copy.numpy().tolist() == [1, 2]
    copy.assign([3.0, 3.0])
    variables.put_back([copy])
    assert copy.numpy().tolist() == [1, 2]


def test_variables_are_kept_over_a_block_even_when_it_raises(tf):
    variable = tf.Variable(1.0)
    with pytest.raises(LookupError), variables_kept():
        variable.assign(2.0)
        raise LookupError
    assert variable.numpy() == 1


# Names


def test_a_variable_is_called_what_the_reader_calls_it(tf):
    weights, other = tf.Variable(1.0, name="w"), tf.Variable(1.0, name="hidden")

    def step():
        return weights

    assert names_of([weights, other], step) == ["weights", "hidden"]


def test_equal_names_get_a_number(tf):
    both = [tf.Variable(1.0, name="w") for _ in range(3)]
    assert names_of(both, len) == ["w", "w (2)", "w (3)"]
    assert names_of(both[:1], len, taken=["w"]) == ["w (2)"]


# What Python changes


def moved(fn, call):
    before = python_state(fn)
    call()
    after = python_state(fn)
    return [name for name in before if after[name] != before[name]]


def test_what_a_function_changes_of_python_is_named():
    history, totals, table, seen = [1], {"a": 0}, np.zeros(3), set()

    def use():
        return history, totals, table, seen

    assert moved(use, lambda: None) == []
    assert moved(use, lambda: history.append(1)) == ["`history`"]
    assert moved(use, lambda: totals.update(a=1)) == ["`totals`"]
    assert moved(use, lambda: totals.update(b=1)) == ["`totals`"]
    assert moved(use, lambda: table.__setitem__(0, 1)) == ["`table`"]
    assert moved(use, lambda: seen.add(1)) == ["`seen`"]


def test_a_number_that_an_object_counts_is_named_and_a_switch_is_not():
    class Step:
        calls, built = 0, False

        def __call__(self):
            return self

    step = Step()
    step.calls, step.built = 0, False
    assert moved(step, lambda: setattr(step, "calls", 1)) == ["`self.calls`"]
    assert moved(step, lambda: setattr(step, "built", True)) == []


def test_the_streams_of_numpy_and_python_are_named():
    assert moved(len, np.random.random) == [NUMPY_STREAM]
    assert moved(len, random.random) == [PYTHON_STREAM]
    assert moved(len, lambda: np.random.default_rng(0).random()) == []


def test_a_large_array_is_not_looked_at(monkeypatch):
    monkeypatch.setattr(state, "LARGEST", 10)
    table = np.zeros(3)
    assert "`table`" not in python_state(lambda: table)


def test_streams_are_the_same_in_each_block_and_then_go_on():
    def draw():
        with fixed_streams():
            return np.random.random(), random.random()

    np.random.seed(5)
    random.seed(5)
    expected = np.random.random(), random.random()
    np.random.seed(5)
    random.seed(5)
    assert draw() == draw()
    assert (np.random.random(), random.random()) == expected


def test_a_type_that_cannot_be_copied_keeps_no_other_from_being_put_back(tf):
    small = tf.Variable(tf.cast([1], tf.dtypes.experimental.int4))
    plain = tf.Variable([1.0])
    with variables_kept():
        small.assign(tf.cast([2], small.dtype))
        plain.assign([2.0])
    assert tf.cast(small, tf.int32).numpy() == [1] and plain.numpy() == [1.0]


def test_of_a_thousand_variables_all_are_found(tf):
    many = [tf.Variable(float(number)) for number in range(1000)]
    with variables_kept():
        for variable in many:
            variable.assign(-1.0)
    assert [variable.numpy() for variable in many] == list(range(1000))


def test_variables_that_the_collector_was_told_to_forget_are_put_back(tf, monkeypatch):
    monkeypatch.setattr(gc, "get_freeze_count", get_freeze_count)  # the fixture `tf` hides it
    variable = tf.Variable(1.0)
    gc.freeze()
    try:
        with variables_kept():
            variable.assign(2.0)
        assert variable.numpy() == 1.0 and gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()
