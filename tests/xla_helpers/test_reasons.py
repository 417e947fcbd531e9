"""Why calls trace and compile: of real functions, beside what they really caused."""

import numpy as np
import pytest

from xla_helpers.reasons import SENTENCES, SHOWN, Leaf, Reason, leaves_by_name, reasons
from xla_helpers.targets import name_of

FIRST = (1, 1, Reason("first call"))
NOTHING = (0, 0)


def shape(before, after, name="x"):
    return Reason("shape", name, before, after)


def value(name, before, after):
    return Reason("value", name, before, f"{after}, a Python value")


# Shapes


def add_one(x):
    return x + 1


def shapes(*sizes):
    return [(np.zeros([size], np.float32),) for size in sizes]


def test_a_new_shape_traces_and_compiles(new_log, jit):
    assert new_log().of(jit(add_one), *shapes(2, 3, 2, 4)) == [
        FIRST,
        (1, 1, shape("(2,)", "(3,)")),
        NOTHING,
        (1, 1, shape("(2,)", "(4,)")),
    ]


def test_reduce_retracing_traces_twice_and_compiles_each_shape(new_log, jit):
    assert new_log().of(jit(add_one, reduce_retracing=True), *shapes(2, 3, 4, 5)) == [
        FIRST,
        (1, 1, shape("(2,)", "(3,)")),
        (0, 1, shape("(3,)", "(4,)")),
        (0, 1, shape("(4,)", "(5,)")),
    ]


def test_input_signature_traces_once_and_compiles_each_shape(new_log, jit, tf):
    signature = [tf.TensorSpec([None])]
    assert new_log().of(jit(add_one, input_signature=signature), *shapes(2, 3, 2)) == [
        FIRST,
        (0, 1, shape("(2,)", "(3,)")),
        NOTHING,
    ]


def test_without_jit_nothing_compiles(new_log, tf):
    assert new_log().of(tf.function(add_one), *shapes(2, 3)) == [
        (1, 0, Reason("first call")),
        (1, 0, shape("(2,)", "(3,)")),
    ]


# Other arguments


def power(x, exponent, mode="fast"):
    return x**exponent


def test_python_values(new_log, jit, tf):
    x = tf.ones([2])
    assert new_log().of(jit(power), (x, 2), (x, 3), (x, 2), (x, tf.constant(2.0))) == [
        FIRST,
        (1, 1, value("exponent", "2", "3")),
        NOTHING,
        (1, 1, Reason("kind", "exponent", "2, a Python value", "a tensor of shape ()")),
    ]


def test_keyword_arguments_and_defaults(new_log, jit, tf):
    x, log, function = tf.ones([2]), new_log(), jit(power)
    log.call(function, x, 2)
    log.call(function, x, exponent=2, mode="exact")
    log.call(function, x, 2, mode="fast")
    assert log.causes == [FIRST, (1, 1, value("mode", "'fast'", "'exact'")), NOTHING]


def test_options_taken_by_double_star(new_log, jit, tf):
    def generate(x, **options):
        return x * options["num_beams"]

    x, log, function = tf.ones([2]), new_log(), jit(generate)
    log.call(function, x, num_beams=1)
    log.call(function, x, num_beams=2)
    log.call(function, x, num_beams=2, top=3)
    assert log.causes == [
        FIRST,
        (1, 1, value("num_beams", "1", "2")),
        (1, 1, Reason("given", "top", "", "3, a Python value")),
    ]


def test_dtypes(new_log, jit, tf):
    calls = [(tf.ones([2], dtype),) for dtype in ("float32", "int32", "float32")]
    dtype = Reason("dtype", "x", "float32", "int32")
    assert new_log().of(jit(add_one), *calls) == [FIRST, (1, 1, dtype), NOTHING]


def test_two_changes_are_two_reasons(new_log, jit, tf):
    calls = [(tf.ones([2]), 2), (tf.ones([3], "int32"), 3)]
    assert new_log().of(jit(power), *calls)[1] == (
        *(1, 1),
        Reason("dtype", "x", "float32", "int32"),
        shape("(2,)", "(3,)"),
        value("exponent", "2", "3"),
    )


def test_the_most_similar_earlier_call_is_the_one_compared_with(new_log, jit, tf):
    calls = [(tf.ones([2]), 2), (tf.ones([3]), 3), (tf.ones([3]), 2)]
    assert new_log().of(jit(power), *calls)[2] == (1, 1, value("exponent", "3", "2"))


def test_what_many_integers_hold_is_compared_and_not_shown(new_log, jit, tf):
    def count(x):
        return tf.math.bincount(x)

    (*_, (_, _, reason)) = new_log().of(jit(count), (tf.range(9),), (tf.range(9) * 2,))
    assert (reason.kind, reason.argument) == ("content", "x")
    assert reason.before.startswith("9 numbers (") and reason.before != reason.after


def test_tensors_of_another_make_have_no_content_that_is_compared(tf):
    ragged, sparse = tf.ragged.constant([[1], [2, 3]]), tf.sparse.from_dense([[1, 0]])
    large = np.zeros(100_001, np.int32)
    leaves = leaves_by_name(lambda x, y, z: x, (ragged, sparse, large), {})
    assert [leaf.value for leaf in leaves.values()] == [None] * 3


@pytest.mark.parametrize("integer", ["tensor", np.int32, lambda n: np.array(n, np.int32)])
def test_a_tensor_that_sets_a_shape(new_log, jit, tf, integer):
    integer = tf.constant if integer == "tensor" else integer

    def count(n):
        return tf.range(n)

    assert new_log().of(jit(count), (integer(3),), (integer(4),), (integer(3),)) == [
        FIRST,
        (0, 1, Reason("content", "n", "3", "4")),
        NOTHING,
    ]


def test_a_tensor_that_sets_no_shape_may_hold_anything(new_log, jit, tf):
    calls = (tf.constant(3),), (tf.constant(4),)
    assert new_log().of(jit(add_one), *calls) == [FIRST, NOTHING]


def test_nested_arguments(new_log, jit, tf):
    def total(batch):
        return batch["ids"][0] + batch["ids"][1] + batch["scale"]

    x, y = tf.ones([2]), tf.ones([1])
    calls = [
        ({"ids": [x, x], "scale": 1},),
        ({"ids": [x, y], "scale": 1},),
        ({"ids": [x, x], "scale": 2},),
        ({"ids": [x, x], "scale": 1, "mask": None},),
        ({"ids": [x, x, x], "scale": 1},),
    ]
    assert new_log().of(jit(total), *calls) == [
        FIRST,
        (1, 1, shape("(2,)", "(1,)", "batch['ids'][1]")),
        (1, 1, value("batch['scale']", "1", "2")),
        (1, 1, Reason("given", "batch['mask']", "", "None, a Python value")),
        (1, 1, Reason("given", "batch['ids'][2]", "", "a tensor of shape (2,)")),
    ]


def test_a_part_that_is_gone(new_log, jit, tf):
    x = tf.ones([2])
    calls = [({"x": x, "extra": 1},), ({"x": x},)]
    gone = Reason("not given", "d['extra']", "1, a Python value")
    assert new_log().of(jit(lambda d: d["x"] + 1), *calls)[1] == (1, 1, gone)


def test_a_variable_in_place_of_a_tensor(new_log, jit, tf):
    x = tf.ones([2])
    kinds = Reason("kind", "x", "a tensor of shape (2,)", "a variable of shape (2,)")
    assert new_log().of(jit(add_one), (x,), (tf.Variable(x),)) == [FIRST, (1, 1, kinds)]


def test_a_long_python_value_is_cut_in_the_reason_but_not_in_the_comparison(new_log, jit, tf):
    long = "x" * 200
    f = jit(lambda x, name: x + len(name))
    *_, reason = new_log().of(f, (tf.ones([2]), long + "a"), (tf.ones([2]), long + "b"))[1]
    assert (reason.kind, reason.argument) == ("value", "name")
    assert reason.before == f"'{'x' * (SHOWN - 2)}…"
    assert reason.after == f"{reason.before}, a Python value"


# Functions


def test_a_new_function_object_in_a_loop(new_log, jit, tf):
    log = new_log()
    for _ in range(3):
        log.call(jit(add_one), tf.ones([2]))
    new = (1, 1, Reason("new function"))
    assert log.causes == [FIRST, new, new]
    assert (log.traces, log.compilations) == (3, 3)


def test_functions_of_other_names_do_not_mix(new_log, jit, tf):
    log = new_log()
    log.call(jit(add_one), tf.ones([2]))
    log.call(jit(power), tf.ones([2]), 2)
    assert [call.function for call in log.calls] == ["add_one", "power"]
    assert log.causes == [FIRST] * 2


def test_nothing_changed_but_python_state():
    leaves = leaves_by_name(add_one, (np.ones(2),), {})
    assert reasons(add_one, leaves, [(add_one, leaves)]) == (Reason("Python state"),)


def why(fn, *earlier):
    """The reason for a call without arguments after those of earlier functions."""
    return reasons(fn, {}, [(other, {}) for other in earlier])


class Model:
    """Whose methods have the names of all models' methods."""

    def predict(self):
        return 1


def test_functions_of_one_name_are_not_one_function():
    one, other = lambda: 1, lambda: 2
    assert why(one, other) == (Reason("first call"),)
    assert why(Model().predict, Model().predict) == (Reason("first call"),)


def test_a_method_is_the_same_function_each_time():
    model = Model()
    assert why(model.predict, model.predict) == (Reason("Python state"),)


def test_a_function_that_is_defined_or_wrapped_anew_is_new(tf):
    def make():
        return lambda: 1

    one = make()
    for function, earlier in ((make(), one), (tf.function(one), one), (tf.function(one),) * 2):
        expected = "Python state" if function is earlier else "new function"
        assert why(function, earlier) == (Reason(expected),)


def test_a_method(new_log, tf):
    class Scale(tf.Module):
        def __init__(self):
            self.factor = tf.Variable(2.0)

        @tf.function(jit_compile=True)
        def apply(self, x):
            return x * self.factor

    calls = [(tf.ones([size]),) for size in (2, 3, 3)]
    changed = (1, 1, shape("(2,)", "(3,)"))
    assert new_log().of(Scale().apply, *calls) == [FIRST, changed, NOTHING]


@pytest.fixture(scope="module")
def model(tf):
    import keras

    return keras.Sequential([keras.layers.Input([4]), keras.layers.Dense(3)])


@pytest.mark.parametrize(("part", "name"), [("call", "call"), (None, "Sequential")])
def test_a_keras_model_and_its_method(new_log, jit, tf, model, part, name):
    function = jit(getattr(model, part) if part else model)
    assert name_of(function) == name
    log = new_log()
    for batch in (1, 2, 2):
        log.call(function, tf.ones([batch, 4]))
    log.call(function, tf.ones([2, 4]), training=True)
    assert log.causes == [
        FIRST,
        (1, 1, shape("(1, 4)", "(2, 4)", "inputs")),
        NOTHING,
        (1, 1, value("training", "None", "True")),
    ]
    assert {call.function for call in log.calls} == {name}


def test_a_function_without_a_signature_names_its_arguments_by_place():
    assert leaves_by_name(min, (3,), {"key": None}) == {
        "0": Leaf("Python value", value="3"),
        "key": Leaf("Python value", value="None"),
    }


# In words


@pytest.mark.parametrize(
    ("reason", "text"),
    [
        (Reason("first call"), "first call"),
        (
            Reason("new function"),
            "a new function object: it shares nothing with the earlier one",
        ),
        (
            Reason("Python state"),
            "no shape, dtype or Python value changed: look for Python state that the function "
            "reads, or a tensor whose content XLA has to know",
        ),
        (shape("(2,)", "(3,)"), "shape of `x`: (2,) → (3,)"),
        (Reason("dtype", "x", "float32", "int32"), "dtype of `x`: float32 → int32"),
        (value("mode", "'fast'", "'{exact}'"), "`mode`: 'fast' → '{exact}', a Python value"),
        (Reason("kind", "x", "a tensor", "a variable"), "`x`: a tensor → a variable"),
        (
            Reason("content", "n", "3", "4"),
            "content of `n`: 3 → 4, which XLA may have to know",
        ),
        (Reason("given", "top", "", "3"), "`top`: not given → 3"),
        (Reason("not given", "top", "3"), "`top`: 3 → not given"),
    ],
)
def test_a_reason_in_words(reason, text):
    assert str(reason) == text
    assert reason.plain == text.replace("`", "")


def test_every_kind_has_a_sentence():
    assert set(SENTENCES) == {
        *("first call", "new function", "Python state", "dtype", "shape"),
        *("value", "kind", "content", "given", "not given"),
    }
