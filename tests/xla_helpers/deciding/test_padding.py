"""Arguments made larger, and results cut back."""

import numpy as np
import pytest

from xla_helpers.deciding.batches import calls_of
from xla_helpers.deciding.padding import cropped, padded_call, padding_of


def ids(*shape):
    return np.ones(shape, "int32")


def padding(pad, *batches, **kwargs):
    calls = calls_of(batches, kwargs)
    return padding_of(pad, calls.examples, calls.counts)


# How


def test_to_the_next_multiple(tf):
    found = padding(4, ids(2, 3), ids(2, 4), ids(2, 5))
    assert [one.arguments for one in found.shapes] == [("int32[2, 4]",), ("int32[2, 8]",)]
    assert found.numbers == (0, 0, 1) and found.words == "with zeros to the next multiple of 4"
    assert found.examples[0].args[0].numpy().tolist() == [[1, 1, 1, 0]] * 2


def test_to_the_next_of_several_sizes(tf):
    found = padding([16, 4], ids(2, 3), ids(2, 4), ids(2, 5))
    assert [one.arguments for one in found.shapes] == [("int32[2, 4]",), ("int32[2, 16]",)]
    assert found.words == "with zeros to 4 or 16"
    assert padding([8], ids(3), ids(4)).words == "with zeros to 8"


def test_every_type_is_padded_with_its_zero(tf):
    batches = [
        (np.ones(n, bool), np.ones(n, "complex64"), np.array(["a"] * n), np.ones(n, "uint8"))
        for n in (2, 3)
    ]
    last = [part.numpy()[-1] for part in padding([4], *batches).examples[0].args]
    assert last == [False, 0, b"", 0]


def test_only_axes_that_differ_and_all_of_them(tf):
    calls = [{"x": ids(n, 3, 5), "scale": ids(7)} for n in (5, 6)]
    assert padding(4, *calls).shapes[0].arguments == ("scale: int32[7]", "x: int32[8, 3, 5]")
    assert padding(4, ids(1, 5), ids(2, 6)).shapes[0].arguments == ("int32[4, 8]",)


def test_keyword_arguments_and_python_stay(tf):
    found = padding(4, (ids(3), 1), (ids(2), 1), mask=ids(3))
    assert found.shapes[0].arguments == ("int32[4]", "1", "mask: int32[3]")


def test_by_a_function(tf):
    def to_eight(x, y):
        return tf.pad(x, [[0, 8 - len(x)]]), y

    found = padding(to_eight, (ids(3), 1), (ids(5), 1))
    assert found.words == "by the function `to_eight`" and found.numbers == (0, 0)
    assert padding(lambda x: np.zeros(8), ids(3)).shapes[0].arguments == ("float64[8]",)
    assert padding(lambda x: x, ids(3)).words == "by a function"


def test_nothing_to_pad(tf):
    found = padding(8, ids(3), ids(3).astype("int64"))
    assert found.pad is None and found.examples == found.shapes == found.numbers == ()
    said = "Nothing to pad: no size of an argument differs among the example calls."
    assert found.left_out == (said,)
    assert padding(None, ids(3), ids(4)).left_out == ()
    assert padding(8, ids(3)).left_out == ("Nothing to pad: all example calls have one shape.",)


@pytest.mark.parametrize(
    ("pad", "batches", "said"),
    [
        ([4], [ids(3), ids(5)], "has a size of 5, above the largest size in `pad`, 4"),
        ([], [ids(3), ids(5)], "`pad` is empty"),
        (0, [ids(3), ids(5)], "`pad` is 0: give a number above zero"),
        ([4, 2.5], [ids(3), ids(5)], "`pad` is 2.5: give a whole number"),
        (4, [ids(3), (ids(3), 1)], "different arguments: give `pad` as a function"),
        (4, [ids(3), ids(3, 3)], "different numbers of axes in the example calls: give `pad`"),
    ],
)
def test_what_cannot_be_padded(tf, pad, batches, said):
    with pytest.raises(ValueError, match=said):
        padding(pad, *batches)


def test_ragged_rows_need_a_function(tf):
    rows = [tf.ragged.constant([[1.0], []]), tf.ragged.constant([[1.0, 2.0], [2.0]])]
    with pytest.raises(ValueError, match="ragged or sparse, which zeros cannot pad: give `pad`"):
        padding(4, *rows)
    shape = padding(lambda rows: rows.to_tensor(shape=[2, 4]), *rows).shapes[0]
    assert shape.arguments == ("float32[2, 4]",) and 0 < shape.waste < 1


# Waste


def test_waste_is_weighted_by_how_often_a_shape_comes(tf):
    [shape] = padding([8], ids(2), ids(8), ids(8), ids(8)).shapes
    assert shape.waste == pytest.approx(6 / 32)


def test_waste_is_that_of_what_is_padded(tf):
    table = np.ones([1000, 1000], "float32")
    [shape] = padding([4], (ids(2), table), (ids(3), table)).shapes
    assert shape.waste == pytest.approx(3 / 8)


def test_nothing_is_wasted_where_sizes_fit(tf):
    assert [one.waste for one in padding(4, ids(4), ids(8)).shapes] == [0, 0]


# Results


def called(tf, fn, *args):
    """What comes back of XLA on arguments padded to 8."""
    pad = padding([8], *(ids(n) for n in (3, 5))).pad
    return padded_call(tf.function(fn, jit_compile=True), tf.function(fn), pad)(*args)


def test_results_are_cut_to_their_own_shape(tf):
    three = tf.constant([1, 2, 3])
    result = called(tf, lambda x: {"each": 2 * x, "sum": tf.reduce_sum(x), "pair": x[:2]}, three)
    assert result["each"].numpy().tolist() == [2, 4, 6]
    assert int(result["sum"]) == 6 and result["pair"].numpy().tolist() == [1, 2]


def test_one_program_for_both_shapes(tf, new_log):
    log, doubled = new_log(), []
    pad = padding([8], ids(3), ids(5)).pad
    fn = lambda x: 2 * x  # noqa: E731
    call = padded_call(tf.function(fn, jit_compile=True), tf.function(fn), pad)
    for length in (3, 5, 3):
        doubled.append(log.call(call, tf.range(length)).numpy().tolist())
    assert doubled == [[0, 2, 4], [0, 2, 4, 6, 8], [0, 2, 4]] and log.compilations == 1


def test_what_is_no_larger_version_of_a_result_stays(tf):
    array, shape = tf.ones([3, 4]), tf.TensorShape
    assert cropped(array, [shape([2, 4])]).shape == [2, 4]
    for other in (shape([4, 2]), shape([3]), shape(None), shape([None, 2]), None):
        assert cropped(array, [other]) is array
    assert cropped((array, None), [shape([2, 4]), None])[0].shape == [2, 4]
    assert cropped((array, array), [shape([2, 4])])[0] is array


def test_what_would_end_the_process_is_refused(tf):
    with pytest.raises(NotImplementedError, match="would abort at StringSplit"):
        called(tf, lambda x: tf.strings.split(tf.strings.as_string(x)), tf.constant([1]))
