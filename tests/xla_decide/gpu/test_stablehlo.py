"""A function in StableHLO, with its arguments, results and variables."""

import json
import re

import numpy as np
import pytest

from xla_decide.gpu.stablehlo import Array, as_compiled, stablehlo_of
from xla_helpers.calls import Call


def module_of(fn, args):
    return stablehlo_of(as_compiled(Call(fn, args)))


def test_variables_become_arguments_whose_memory_results_take_over(tf):
    weight = tf.Variable(tf.ones([3]))

    def step(x):
        weight.assign_sub(0.1 * x)
        return tf.reduce_sum(x)

    module = module_of(step, (tf.ones([3]),))
    assert module.arguments == (Array((3,), "f32"), Array((3,), "f32"))
    assert module.results == (Array((), "f32"), Array((3,), "f32"))
    assert module.donated == (1,)
    assert weight.numpy().tolist() == [1, 1, 1]  # nothing was run


def test_no_text_of_a_machine_or_of_another_compiler_s_is_left(tf):
    weight = tf.Variable(tf.ones([3]))
    text = module_of(lambda x: weight.assign(x), (tf.ones([3]),)).text
    assert "stablehlo.convert" in text
    assert "mhlo.copy" not in text and "loc(" not in text and ".py" not in text


@pytest.mark.parametrize("dtype", ["bfloat16", "bool", "int8", "uint16", "complex64"])
def test_types_keep_their_names(tf, dtype):
    (array,) = module_of(lambda x: x, (tf.zeros([2, 3], dtype),)).arguments
    names = {"bfloat16": "bf16", "bool": "i1", "int8": "i8", "uint16": "ui16"}
    assert array == Array((2, 3), names.get(dtype, "complex<f32>"))


@pytest.mark.parametrize("shape", [(3, 5), (64, 64)])
def test_bools_are_spelled_out(tf, shape):
    bools = np.random.default_rng(0).random(shape) < 0.5
    text = stablehlo_of(
        as_compiled(Call(lambda x: tf.where(bools, x, 0.0), (tf.ones(shape),)))
    ).text
    [found] = re.findall(r"dense<(\[\[.*\]\])> : tensor<\d+x\d+xi1>", text)
    assert json.loads(found) == bools.tolist()


def test_a_graph_keeps_its_options_and_a_default_its_value(tf):
    spec = [tf.TensorSpec([None], tf.float32)]
    fixed = tf.function(lambda x, by=2.0: x * by, input_signature=spec)
    assert module_of(fixed, (tf.ones([4]),)).arguments == (Array((4,), "f32"),)


def test_a_spec_stands_for_a_tensor_anywhere(tf):
    def mix(pair, scale, *, shift):
        return pair["a"] * pair["b"] * scale + shift

    spec = tf.TensorSpec([3])
    given = Call(mix, ({"a": spec, "b": tf.ones([3])}, 2.0), {"shift": spec})
    assert stablehlo_of(as_compiled(given)).arguments[:2] == (Array((3,), "f32"),) * 2


def test_marks_of_a_split_are_read(tf):
    from tensorflow.python.compiler.xla.experimental import xla_sharding

    def halves(x, y):
        return xla_sharding.split(x, 0, 2) + y

    first, second = module_of(halves, (tf.ones([4, 3]),) * 2).arguments
    assert (first.parts, second.parts) == ((2, 1), ())


@pytest.mark.parametrize(
    ("fn", "why"),
    [
        (lambda tf, x: tf.strings.as_string(x), "AsString: leave text outside, and pass numbers"),
        (lambda tf, x: tf.where(x > 0), "shapes that are known only while it runs"),
    ],
)
def test_what_xla_refuses_is_said_in_one_line(tf, fn, why):
    with pytest.raises(ValueError, match=why) as caught:
        module_of(lambda x: fn(tf, x), (tf.ones([3]),))
    assert "\n" not in str(caught.value)
