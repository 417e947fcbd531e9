"""Kernels that run, and the bytes that they move."""

import pytest

from xla_helpers.deciding.moved import Moved, moved_by_graph, moved_by_xla
from xla_helpers.programs import Array, Kernel, Program, inspect_program, optimised_module

LARGE, SMALL = Array("x", "float32", (1000, 8), 32_000), Array("y", "float32", (4, 8), 128)
INDICES = Array("i", "int32", (4,), 16)
VARIABLE = Array("v", "resource", (), 0)
NOT_KNOWN = Array("z", "float32", (None, 8), None)


def moved(*kernels):
    return moved_by_graph(Program("graph", kernels))


def kernel(kind, reads, writes, runs=1):
    return Kernel(kind.lower(), (kind,), reads, writes, runs)


def test_a_kernel_moves_what_it_reads_and_writes_as_often_as_it_runs():
    assert moved(kernel("Tanh", (SMALL,), (SMALL,), runs=3)) == Moved(3, 3 * 256)
    assert moved() == Moved(0, 0)


def test_rows_that_are_taken_are_read_and_no_others():
    assert moved(kernel("GatherV2", (LARGE, INDICES), (SMALL,))) == Moved(1, 128 + 16 + 128)
    assert moved(kernel("ResourceGather", (VARIABLE, INDICES), (SMALL,))) == Moved(1, 272)
    assert moved(kernel("StridedSlice", (SMALL,), (LARGE,))) == Moved(1, 128 + 32_000)


def test_a_variable_that_is_added_to_is_read_and_written():
    assert moved(kernel("AssignAddVariableOp", (VARIABLE, SMALL), ())) == Moved(1, 3 * 128)
    assert moved(kernel("AssignVariableOp", (VARIABLE, SMALL), ())) == Moved(1, 0)


@pytest.mark.parametrize(
    "one",
    [
        kernel("ResourceApplyAdam", (VARIABLE, SMALL), ()),
        kernel("Tanh", (NOT_KNOWN,), (SMALL,)),
        kernel("TensorListStack", (Array("l", "variant", (), 0),), (SMALL,)),
    ],
)
def test_bytes_that_cannot_be_seen_are_not_known_and_the_kernels_are(one):
    assert moved(one, kernel("Tanh", (SMALL,), (SMALL,))) == Moved(2, None)


def test_kernels_of_which_it_was_not_seen_how_often_they_ran_are_not_known():
    assert moved(kernel("Tanh", (SMALL,), (SMALL,), runs=None)) == Moved(None, None)


# Programs of XLA


@pytest.fixture(scope="module")
def by_xla(tf):
    def find(fn, *args):
        return moved_by_xla(optimised_module(tf.function(fn, jit_compile=True), *args))

    return find


def test_without_parts_of_arrays_it_is_what_the_kernels_read_and_write(tf, by_xla):
    def line(x, y, z):
        return tf.reduce_sum(tf.tanh(x + y * z) @ x)

    x = tf.ones([64, 64])
    program = inspect_program(tf.function(line, jit_compile=True), x, x, x)
    assert by_xla(line, x, x, x) == Moved(len(program.kernels), program.bytes)


def test_of_a_large_table_xla_reads_the_rows_that_are_asked_for(tf, by_xla):
    table, rows = tf.ones([50_000, 64]), tf.constant([3, 1, 4])
    found = by_xla(lambda table, rows: tf.tanh(tf.gather(table, rows)), table, rows)
    assert 2 * 3 * 64 * 4 <= found.bytes < 10 * 3 * 64 * 4


def test_of_a_slice_xla_reads_what_it_takes(tf, by_xla):
    found = by_xla(lambda x: tf.tanh(x[5:7]), tf.ones([50_000, 64]))
    assert found == Moved(1, 2 * 2 * 64 * 4)


def test_what_is_put_into_an_array_is_written_and_not_the_rest(tf, by_xla):
    """The argument may not change, so XLA copies it, and then puts the row in its place."""
    from tensorflow.compiler.tf2xla.python import xla

    def put(x, row):
        return xla.dynamic_update_slice(x, row, [7, 0])

    whole, part = 1000 * 64 * 4, 64 * 4
    found = by_xla(put, tf.ones([1000, 64]), tf.ones([1, 64]))
    assert 2 * (whole + part) <= found.bytes < 2 * (whole + part) + 64  # and where to put it


def test_an_array_that_a_kernel_makes_is_written_whole_with_what_is_put_into_it(tf, by_xla):
    from tensorflow.compiler.tf2xla.python import xla

    def put(x, row):
        return xla.dynamic_update_slice(tf.tanh(x), row, [7, 0])

    assert by_xla(put, tf.ones([1000, 64]), tf.ones([1, 64])).bytes >= 2 * 1000 * 64 * 4


def test_a_loop_or_a_condition_hides_how_often_its_kernels_run(tf, by_xla):
    def repeat(x):
        for _ in tf.range(3):
            x = tf.tanh(x)
        return x

    def either(x):
        return tf.cond(x[0] > 0, lambda: tf.tanh(x), lambda: x)

    assert by_xla(repeat, tf.ones([4])) == Moved(None, None) == by_xla(either, tf.ones([4]))
