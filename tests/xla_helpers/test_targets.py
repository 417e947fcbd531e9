"""One way to name a call: what `resolve` makes of each kind of thing that can be called."""

import functools

import numpy as np
import pytest

from xla_helpers.targets import as_tensors, holds_no_python, name_of, plain_callable, resolve


def double(x):
    return 2 * x


@pytest.fixture(scope="module")
def folder(tf, tmp_path_factory):
    """A SavedModel that can be called, with two signatures."""
    path = tmp_path_factory.mktemp("saved")
    module = tf.Module()
    spec = tf.TensorSpec([2], name="x")
    module.__call__ = tf.function(lambda x: x + 1, input_signature=[spec])

    def twice(x):
        return {"y": 2 * x}

    module.double = tf.function(twice, input_signature=[spec])
    signatures = {"serving_default": module.double, "other": module.double}
    tf.saved_model.save(module, str(path), signatures=signatures)
    return path


@pytest.fixture(scope="module")
def signatures_alone(tf, tmp_path_factory):
    """Saves a SavedModel that cannot be called, with signatures of these names."""

    def save(*names):
        path = tmp_path_factory.mktemp("signatures")
        module = tf.Module()
        module.double = tf.function(lambda x: {"y": 2 * x}, input_signature=[tf.TensorSpec([2])])
        signatures = dict.fromkeys(names, module.double)
        tf.saved_model.save(module, str(path), signatures=signatures)
        return path

    return save


# What is called


@pytest.mark.parametrize("fn", [len, double, dict, functools.partial(double, 1), str.upper])
def test_what_can_be_called_is_itself(fn):
    assert resolve(fn) is fn


def test_tf_functions_models_and_graphs_are_themselves(tf):
    function = tf.function(double)
    for fn in (function, function.get_concrete_function(1.0), tf.keras.Sequential()):
        assert resolve(fn) is fn


def test_a_folder_is_the_function_that_was_saved_in_it(tf, folder):
    for place in (folder, str(folder)):
        assert resolve(place)(tf.ones([2])).numpy().tolist() == [2, 2]


def test_a_loaded_model_that_is_no_function_is_its_signature(tf, signatures_alone):
    """Which holds its model: the model is not to be lost when nobody else does."""
    for names in (["serving_default", "other"], ["only"]):
        place = signatures_alone(*names)
        for fn in (place, tf.saved_model.load(str(place))):
            assert resolve(fn)(x=tf.ones([2]))["y"].numpy().tolist() == [2, 2]


def test_of_several_signatures_none_is_guessed(signatures_alone):
    with pytest.raises(TypeError, match="`fn` has the signatures a, b: pass one of them"):
        resolve(signatures_alone("a", "b"))


@pytest.mark.parametrize("fn", [None, 3, [len]])
def test_what_cannot_be_called_is_refused(fn):
    kind = type(fn).__name__
    with pytest.raises(TypeError, match=f"`fn` is {kind}, which cannot be called: pass the func"):
        resolve(fn)


def test_a_folder_that_holds_nothing_is_refused(tf, tmp_path):
    with pytest.raises(ValueError, match="is no folder of a SavedModel"):
        resolve(tmp_path)
    with pytest.raises(ValueError, match="'f' is no folder of a SavedModel"):
        resolve("f")


# Its name


def test_names(tf, folder):
    class Scores:
        def __call__(self):
            return 1

        def step(self):
            return 2

    function, signature = tf.function(double), tf.saved_model.load(str(folder)).signatures["other"]
    named = {
        "double": [double, function, function.get_concrete_function(1.0)],
        "step": [Scores().step],
        "Scores": [Scores()],
        "Sequential": [tf.keras.Sequential()],
        "partial": [functools.partial(double, 1)],
        "the function": [lambda: 1, tf.function(lambda: 1)],
        "the function of a SavedModel": [resolve(folder), tf.saved_model.load(str(folder))],
    }
    for name, functions in named.items():
        assert [name_of(fn) for fn in functions] == [name] * len(functions)
    assert name_of(signature) == "twice"


# Whether there is Python in it


def test_what_is_a_graph_and_nothing_else_holds_no_python(tf, folder):
    loaded = tf.saved_model.load(str(folder))
    function = tf.function(double)
    for graph in (
        function.get_concrete_function(1.0),
        loaded.signatures["other"],
        loaded.double,
        resolve(loaded),
        resolve(folder),
    ):
        assert holds_no_python(graph)
    for python in (double, function, tf.keras.Sequential(), len):
        assert not holds_no_python(python)


# As a tf.function would have it


def test_the_python_inside_is_what_is_wrapped(tf):
    assert plain_callable(tf.function(double, jit_compile=True)) is double
    assert plain_callable(double) is double


def test_a_signature_takes_positions_as_well(tf, folder):
    call = plain_callable(tf.saved_model.load(str(folder)).signatures["serving_default"])
    for result in (call(tf.ones([2])), call(x=tf.ones([2])), tf.function(call)(tf.ones([2]))):
        assert result["y"].numpy().tolist() == [2, 2]


def test_arrays_become_tensors_and_all_else_stays(tf):
    given = {"a": [np.float32([1.0])], "b": (np.int32(2), 3, "text", None, tf.constant(1))}
    made = as_tensors(given)
    assert [tf.is_tensor(part) for part in (made["a"][0], *made["b"])] == [
        *(True, True, False, False, False, True)
    ]
    assert made["a"][0].dtype == tf.float32 and made["b"][0].dtype == tf.int32
    assert isinstance(made["b"], tuple) and made["b"][1:4] == (3, "text", None)
