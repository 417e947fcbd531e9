"""Training steps of Keras: the model, and its calls as batches."""

import numpy as np
import pytest

from xla_helpers.deciding.batches import Example
from xla_helpers.deciding.findings import Plan
from xla_helpers.deciding.fitting import maker_of_steps, model_of, training
from xla_helpers.deciding.plan import Case

PAIR = Example(("x", "y"))


class Model:
    """What `training` needs of one."""

    def train_step(self, batch):
        return batch


def as_steps(*examples, **options):
    return training(Case(abs, examples, Plan("", ()), **options), Model())


def batches(examples):
    return [example and example.args for example in examples]


# Calls


def test_inputs_and_targets_are_one_batch():
    case = as_steps(PAIR, Example(("x", "y", "weights")))
    assert batches(case.examples) == [(("x", "y"),), (("x", "y", "weights"),)]


def test_inputs_alone_stay_what_they_are():
    assert batches(as_steps(Example(("x",))).examples) == [("x",)]


def test_several_inputs_alone_are_a_batch_of_one():
    assert batches(as_steps(Example((["a", "b"],))).examples) == [((["a", "b"],),)]


def test_all_calls_of_a_case_become_batches():
    case = as_steps(PAIR, PAIR, padded=(PAIR,), worst=(PAIR,), others=(None, PAIR))
    assert batches(case.padded) == batches(case.worst) == [(("x", "y"),)]
    assert batches(case.others) == [None, (("x", "y"),)]


def test_keyword_arguments_stay():
    [example] = as_steps(Example(("x", "y"), {"rate": 2})).examples
    assert example.kwargs == {"rate": 2}


def test_padding_sees_arguments_and_gives_a_batch():
    seen = []

    def pad(example):
        seen.append(example.args)
        return Example(tuple(f"{one}, longer" for one in example.args))

    case = as_steps(PAIR, pad=pad)
    assert case.pad(case.examples[0]).args == (("x, longer", "y, longer"),)
    assert case.pad(Example(("x",))).args == ("x, longer",)
    assert seen == [("x", "y"), ("x",)] and as_steps(PAIR).pad is None


@pytest.mark.parametrize(
    ("given", "expected"),
    [(["x", "y"], [("x", "y")]), ([("x", "y")], [("x", "y")]), (["x"], ["x"]), (None, None)],
)
def test_a_signature_of_arguments_is_that_of_a_batch(given, expected):
    assert as_steps(PAIR, signature=given).signature == expected


def test_what_is_called_is_the_step_of_the_model_or_what_makes_one():
    model, case = Model(), Case(abs, (PAIR,), Plan("", ()))
    assert training(case, model).fn == model.train_step
    assert training(case, model).model is model
    assert training(Case(abs, (PAIR,), Plan("", ()), fresh=True), model).fn is abs


# Models


@pytest.fixture
def batch():
    numbers = np.random.default_rng(0).normal(size=[4, 4]).astype("float32")
    return Example((numbers[:, :3], numbers[:, 3:]))


def network(tf, compiled=True):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    if compiled:
        model.compile("adam", "mse")
    return model


def test_a_function_is_a_step_written_by_hand(batch):
    assert model_of(lambda x, y: x, batch) is None


def test_a_model_that_is_not_compiled(tf, batch):
    with pytest.raises(ValueError, match="`step` needs a compiled model: call its `compile`"):
        model_of(network(tf, compiled=False), batch)


def test_the_first_step_makes_no_variables(tf, batch):
    model = model_of(network(tf), batch)
    made = [*model.weights, *model.optimizer.variables]
    assert len(made) > 4
    model.train_step(batch.args)
    assert len([*model.weights, *model.optimizer.variables]) == len(made)


def test_a_model_of_keras_2(tf, batch):
    import tf_keras

    model = tf_keras.Sequential([tf_keras.layers.Dense(1)])
    model.compile("adam", "mse")
    assert model_of(model, batch) is model and model.built and len(model.optimizer.variables) > 1
    assert "loss" in tf.function(model.train_step)(batch.args)


def test_a_maker_of_steps_makes_a_new_model_each_time(tf, batch):
    make = maker_of_steps(lambda: network(tf), batch)
    first, second = make(), make()
    first(batch.args)
    assert [int(one.__self__.optimizer.iterations) for one in (first, second)] == [1, 0]
