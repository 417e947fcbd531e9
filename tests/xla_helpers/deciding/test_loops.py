"""How often loops turn: what follows from constants, and what does not."""

import pytest

from xla_helpers.deciding.loops import computations_of, turns_of
from xla_helpers.programs import compiler_ir


@pytest.fixture(scope="module")
def turns(tf):
    """How often the only loop outside of others turns, in a function of one array."""
    from tensorflow.compiler.xla.service import hlo_pb2

    def find(fn, x):
        serialized = compiler_ir(tf.function(fn, jit_compile=True), (x,), "hlo_serialized")
        module = hlo_pb2.HloModuleProto.FromString(serialized)
        computations = computations_of(module)
        entry = computations[module.entry_computation_id]
        [loop] = [i for i in entry.instructions.values() if i.opcode == "while"]
        return turns_of(loop, entry, computations)

    return find


@pytest.mark.parametrize("count", [0, 1, 7, 3000])
def test_a_loop_over_a_range_turns_as_often_as_the_range_is_long(tf, turns, count):
    def repeat(x):
        for _ in tf.range(count):
            x = tf.tanh(x)
        return x

    assert turns(repeat, tf.ones([4])) == count


def test_a_loop_over_rows_turns_once_for_each_row(tf, turns):
    assert turns(lambda x: tf.map_fn(tf.tanh, x), tf.ones([5, 4])) == 5


def test_a_counter_that_goes_down_in_steps_is_followed(tf, turns):
    def halve(x):
        left = tf.constant(10)
        while left > 0:
            x, left = tf.tanh(x), left - 3
        return x

    assert turns(halve, tf.ones([4])) == 4


def test_what_depends_on_the_arguments_is_not_known(tf, turns):
    def grow(x):
        while tf.reduce_sum(x) < 100:
            x = x + 1
        return x

    assert turns(grow, tf.ones([4])) is None


def test_a_loop_of_more_turns_than_are_followed_is_not_known(tf, turns, monkeypatch):
    monkeypatch.setattr("xla_helpers.deciding.loops.MOST", 5)

    def repeat(x):
        for _ in tf.range(6):
            x = tf.tanh(x)
        return x

    assert turns(repeat, tf.ones([4])) is None
