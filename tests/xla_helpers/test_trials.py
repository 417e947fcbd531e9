"""Calls that each start from the same state: what they returned, changed and ran."""

import numpy as np
import pytest

from xla_helpers.trials import Stage, Trial


@pytest.fixture
def counter(tf):
    """A variable, and a function that adds to it."""
    count = tf.Variable(1.0, name="count")

    def add(x):
        count.assign_add(x)
        return count

    return count, add


# One call


def test_a_trial_has_what_a_call_returned_and_changed_and_undoes_it(tf, counter):
    count, add = counter
    stage = Stage()
    for fn in (add, add, tf.function(add), tf.function(add, jit_compile=True)):
        trial = stage.run(fn, (2.0,))
        assert trial.error is None and trial.result == 3
        assert list(trial.state) == ["count"] and trial.state["count"] == 3
        assert count.numpy() == 1


def test_what_raises_is_a_trial_too(tf, counter):
    count, add = counter

    def fails(x):
        add(x)
        raise LookupError("no such row")

    trial = Stage().run(fails, (2.0,))
    assert isinstance(trial.error, LookupError) and trial.result is None
    assert trial.state["count"] == 3 and count.numpy() == 1


def test_an_interrupt_is_none_and_puts_variables_back_all_the_same(counter):
    count, add = counter

    def interrupted(x):
        add(x)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        Stage().run(interrupted, (2.0,))
    assert count.numpy() == 1


def test_what_is_no_result_is_refused_and_variables_are_put_back(counter):
    count, add = counter
    with pytest.raises(TypeError, match="only numbers, text and nests of them are compared"):
        Stage().run(lambda x: [add(x), object()], (2.0,))
    assert count.numpy() == 1


def test_keyword_arguments_arrive(tf):
    def masked(x, *, mask, training=True):
        return x * mask + training

    trial = Stage().run(tf.function(masked), (2.0,), {"mask": 3.0, "training": False})
    assert trial.error is None and trial.result == 6


def test_the_seconds_of_a_trial_are_those_of_one_call_with_its_trace(clock, tf):
    @tf.function
    def slow(x):
        clock.now += 4  # when it is traced
        return x

    stage = Stage()
    assert stage.run(slow, (1.0,), clock=clock).seconds == 4
    assert stage.run(slow, (1.0,), clock=clock).seconds == 0
    assert stage.run(clock.takes(2.0), clock=clock).seconds == 2


def test_a_variable_that_the_first_call_makes_begins_as_it_was_made(tf):
    made = []

    def lazy():
        if not made:
            made.append(tf.Variable(5.0, name="scale"))
        return made[0].assign_add(1.0)

    stage = Stage()
    fn = tf.function(lazy)
    assert [stage.run(fn).result for _ in range(2)] == [6, 6]


def test_what_a_call_moves_in_python_is_named():
    history, untouched = [], []

    def append():
        history.append(len(untouched))

    assert Stage().run(append).moved == ("`history`",)
    assert Stage().run(lambda: np.random.random()).moved == ("the stream of numpy.random",)
    assert Stage().run(lambda: 1).moved == ()


def test_what_python_moved_matters_when_the_next_call_is_another():
    seen = []

    def log(x):
        seen.append(1)
        return x

    def count(x):
        seen.append(1)
        return x + len(seen)

    for fn, depends in ((log, False), (count, True), (abs, False)):
        stage = Stage()
        assert stage.repeats(fn, stage.run(fn, (1,)), 0.0, (1,)) is not depends


def test_what_a_trial_holds_can_be_compared():
    error = Trial(error=ValueError())
    for trial in (Trial(result=0.0), Trial(state={"count": np.ones(2)}), error):
        assert trial.holds_something
    for nothing in (None, (), {"a": None}):
        assert not Trial(result=nothing, moved=("`history`",)).holds_something


# Two calls


def test_the_difference_is_that_of_results_or_of_variables(counter):
    count, add = counter

    def other_variable(x):
        count.assign(5.0)
        return 3.0

    def other_result(x):
        add(x)
        return 4.0

    stage = Stage()
    first = stage.run(add, (2.0,))
    assert stage.difference(stage.run(add, (2.0,)), first).size == 0
    for fn, place, size in (
        (other_variable, "variables['count']", 2 / 3),
        (other_result, "result", 1 / 3),
    ):
        found = stage.difference(stage.run(fn, (2.0,)), first)
        assert (found.place, found.size) == (place, pytest.approx(size))


def test_a_variable_that_only_one_of_them_changed_is_a_difference(counter):
    count, add = counter
    stage = Stage()
    forgets, adds = stage.run(lambda x: None, (2.0,)), stage.run(lambda x: add(x) and None, (2.0,))
    found = stage.difference(forgets, adds)
    assert (found.place, found.size) == ("variables['count']", pytest.approx(2 / 3))
    assert stage.difference(adds, forgets).size == 2


def test_what_is_practically_zero_is_named_wherever_it_stands(tf):
    means = tf.Variable([0.0, 1.0], name="mean"), tf.Variable([0.0], name="tiny")

    def step(x):
        means[0].assign_add([x, 1.0])
        means[1].assign([x])
        return {"loss": 1.0, "zero": x}

    stage = Stage()
    found = stage.difference(stage.run(step, (1e-10,)), stage.run(step, (2e-10,)))
    assert found.size < 1e-9
    assert found.zeros == ("result['zero']", "variables['means[1]']")


# Copies


def test_copies_begin_with_the_values_of_the_first_and_keep_its_names(tf):
    starts = iter([1.0, 2.0, 3.0])

    def make():
        weights = tf.Variable([next(starts), 1.0], name="weights")
        return lambda: weights.assign_add([1.0, 1.0])

    stage = Stage()
    trials = [stage.run(stage.build(make)) for _ in range(3)]
    assert [list(trial.state) for trial in trials] == [["weights"]] * 3
    for trial in trials[1:]:
        assert stage.difference(trial, trials[0]).size == 0


def test_an_optimizer_that_a_first_call_fills_is_the_same_in_each_copy(tf):
    def make():
        import keras

        layer = keras.layers.Dense(2)
        optimizer = keras.optimizers.Adam(0.1)

        def step(x):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(layer(x) ** 2)
            slopes = tape.gradient(loss, layer.trainable_variables)
            optimizer.apply_gradients(zip(slopes, layer.trainable_variables, strict=True))
            return loss

        return step

    x, stage = tf.ones([2, 3]), Stage()
    trials = [stage.run(tf.function(stage.build(make)), (x,)) for _ in range(2)]
    assert all(trial.error is None for trial in trials)
    assert stage.difference(trials[1], trials[0]).size < 1e-6
    assert list(trials[1].state) == list(trials[0].state)


def test_copies_with_other_variables_are_refused(tf):
    sizes = iter([2, 3])
    stage = Stage()
    stage.build(lambda: tf.Variable(tf.zeros([next(sizes)])).read_value)
    with pytest.raises(ValueError, match="the new copies have different variables"):
        stage.build(lambda: tf.Variable(tf.zeros([next(sizes)])).read_value)


def test_an_empty_trial_differs_from_nothing():
    assert Stage().difference(Trial(), Trial()).size == 0
