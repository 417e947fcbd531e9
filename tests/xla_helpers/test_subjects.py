"""What a comparison is about: the same in every mode and with other weights, and nothing else."""

import functools
import re
from unittest.mock import Mock

import numpy as np
import pytest

from xla_helpers.subjects import Subject, fingerprint, subject_of

X = np.ones((3, 4), np.float32)


@pytest.fixture
def dense(tf):
    """Makes a Keras model of one layer, and a function that calls it."""

    def make(width, build=True):
        model = tf.keras.Sequential([tf.keras.layers.Dense(width), tf.keras.layers.Dropout(0.1)])
        if build:
            model(X)
        return model, lambda x: model(x, training=False)

    return make


def total(x):
    return x.sum()


def test_what_it_says_is_readable(tf, dense):
    _, call = dense(3)
    found = subject_of({"eager": call}, [X])
    assert (found.arguments, found.variables) == (("float32[3, 4]",), 4 * 3 + 3)
    assert re.fullmatch("[0-9a-f]{8}", found.fingerprint)


def test_it_is_the_same_in_every_mode(tf, dense):
    _, call = dense(3)
    compiled = tf.function(call, jit_compile=True)
    alone = subject_of({"eager": call}, [X])
    assert alone == subject_of({"XLA": compiled}, [X])
    assert alone == subject_of({"eager": call, "graph": tf.function(call), "XLA": compiled}, [X])


def test_other_weights_and_copies_are_the_same(tf, dense):
    one, other = dense(3)[1], dense(3)[1]
    assert subject_of([one], [X]) == subject_of([other], [X]) == subject_of([one, other], [X])


def test_an_array_is_the_same_as_a_tensor(tf):
    assert subject_of([total], [X]) == subject_of([total], [tf.constant(X)])


def test_another_model_is_another(tf, dense):
    one, other = (subject_of([dense(width)[1]], [X]) for width in (3, 5))
    assert one.model != other.model and one.fingerprint != other.fingerprint


@pytest.mark.parametrize("other", [np.ones((5, 4), np.float32), np.ones((3, 4), np.float64)])
def test_other_arguments_are_another_subject_of_the_same_model(tf, dense, other):
    _, call = dense(3)
    one, two = subject_of([call], [X]), subject_of([call], [other])
    assert one.model == two.model and one.fingerprint != two.fingerprint


def test_another_way_to_call_is_another_subject_of_the_same_model(tf, dense):
    model, call = dense(3)
    one, two = subject_of([call], [X]), subject_of([lambda x: model(x, training=True)], [X])
    assert one.model == two.model and one.fingerprint != two.fingerprint


def test_a_saved_model_is_the_model_that_was_saved(tf, tmp_path):
    class Scale(tf.Module):
        def __init__(self):
            self.weight = tf.Variable([1.0, 2.0])

        @tf.function(input_signature=[tf.TensorSpec([2])])
        def __call__(self, x):
            return self.weight * x

    module = Scale()
    tf.saved_model.save(module, tmp_path, signatures=module.__call__)
    loaded = tf.saved_model.load(tmp_path)
    forms = [
        *(module, module.__call__, module.__call__.get_concrete_function()),
        *(loaded, loaded.__call__, loaded.signatures["serving_default"]),
    ]
    assert {subject_of([form]).model for form in forms} == {subject_of([module]).model}
    assert {subject_of([form]).variables for form in forms} == {2}


def test_a_model_may_be_an_argument(tf, dense):
    model, call = dense(3)
    assert subject_of([lambda m, x: m(x)], [model, X]).model == subject_of([call], [X]).model


@pytest.mark.parametrize("odd", [Mock(), list, object(), type("Odd", (), {})])
def test_an_odd_object_has_a_subject_too(odd):
    found = subject_of([odd, lambda x: odd], [X, odd])
    assert (found.variables, found.arguments[0]) == (0, "float32[3, 4]")


def test_a_model_without_weights_yet_does_no_harm(tf, dense):
    assert subject_of([dense(3, build=False)[1]], [X]).variables == 0


def test_an_optimizer_belongs_to_what_it_trains(tf, dense):
    model, call = dense(3)
    optimizer = tf.keras.optimizers.SGD(momentum=0.9)
    optimizer.build(model.trainable_variables)

    def step(x):
        return model(x), optimizer

    assert subject_of([step], [X]).variables > 2 * subject_of([call], [X]).variables


# Functions without variables


def test_without_variables_the_source_decides(tf):
    def product(x):
        return x * x

    def sum_of(x):
        """Docstrings, names and decorators do not count."""
        return x + x

    @tf.function(jit_compile=True)
    def sum_again(x):
        return x + x  # nor do comments

    assert subject_of([sum_of], [X]) == subject_of([sum_again], [X])
    assert subject_of([sum_of], [X]).model != subject_of([product], [X]).model


def test_the_source_of_what_it_calls_counts():
    def calling(inner):
        return lambda x: inner(x)

    one = calling(lambda x: x + 1)
    two = calling(lambda x: x + 2)
    assert subject_of([one], [X]).model != subject_of([two], [X]).model


def test_the_place_in_the_file_does_not_count():
    one, two = {}, {}
    exec(compile("f = lambda x: x + 1", "one.py", "exec"), one)
    exec(compile("\n\nf = lambda x: x + 1", "two.py", "exec"), two)
    assert subject_of([one["f"]], [X]) == subject_of([two["f"]], [X])  # neither can be read
    assert subject_of([lambda x: x], [X]) == subject_of([lambda x: x], [X])


def test_the_arrays_that_it_reads_are_its_weights():
    def product_with(weights):
        return lambda x: x @ weights

    small, equal, large = (product_with(np.ones((4, n))) for n in (2, 2, 3))
    assert subject_of([small], [X]) == subject_of([equal], [X])
    assert subject_of([small], [X]).model != subject_of([large], [X]).model


@pytest.mark.parametrize("one", [np.sum, sum, functools.partial(np.sum, axis=0)])
def test_a_function_of_a_library_is_known_by_its_name(one):
    assert subject_of([one], [X]).model != subject_of([np.mean], [X]).model


# Arguments


@pytest.mark.parametrize(
    ("args", "kwargs", "texts"),
    [
        ((), {}, ()),
        ((X, X), {}, ("2 x float32[3, 4]",)),
        (([X, (2, X)],), {}, ("float32[3, 4]", "int", "float32[3, 4]")),
        (({"b": X, "a": {"c": True}},), {}, ("a.c: True", "b: float32[3, 4]")),
        ((3, None), {"training": True}, ("3", "None", "training: True")),
        ((list(range(1000)),), {}, ("1000 x int",)),
        ((np.array(["a", "longer"]),), {}, ("string[2]",)),
        (("a private text",), {}, ("str[14]",)),
        ((object(),), {}, ("object",)),
    ],
)
def test_arguments_are_told_by_shape_dtype_and_name(args, kwargs, texts):
    assert subject_of([total], args, kwargs).arguments == texts


def test_special_tensors_are_told(tf):
    ragged, sparse = tf.ragged.constant([[1, 2], [3]]), tf.sparse.from_dense(X)
    texts = ("ragged int32[2, None]", "sparse float32[3, 4]", "float32[unknown shape]")
    assert subject_of([total], [ragged, sparse, tf.TensorSpec(None)]).arguments == texts


def test_a_fingerprint_stays_what_it_was():
    assert fingerprint(["float32[3, 4]"]) == "c300185a"
    assert Subject("model", "code", ("float32[1]",), 1).fingerprint == "ca5e2fa3"
