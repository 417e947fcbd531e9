"""Example calls, counted by shape, and as a file."""

from collections import namedtuple

import numpy as np
import pytest

from xla_helpers.deciding import batches
from xla_helpers.deciding.batches import (
    Calls,
    Example,
    calls_of,
    key_of,
    read_calls,
    words_of,
    worst_of,
    write_calls,
)
from xla_helpers.processes import run_in_process

SMALL, LARGE = np.ones([2, 3], "float32"), np.ones([2, 5], "float32")


def written(tmp_path, calls=None, **options):
    """What comes back of a file."""
    write_calls(tmp_path / "calls.npz", calls, options)
    return read_calls(tmp_path / "calls.npz")


# Counted


def counts_in_a_fresh_process():
    """Where TensorFlow is not there yet when the first array is looked at."""
    import numpy as np

    from xla_helpers.deciding.batches import calls_of

    return calls_of([np.ones([4, 8]), np.ones([4, 8]), np.ones([2, 8])]).counts


def test_arrays_of_one_shape_are_one_shape_from_the_first_on():
    assert run_in_process(counts_in_a_fresh_process).value == [2, 1]


def test_the_first_call_of_each_shape_is_kept_and_counted(tf):
    given = [SMALL, 2 * LARGE, 3 * SMALL, 4 * SMALL]
    calls = calls_of(iter(given))
    assert calls.counts == (3, 1) and calls.left_out == ()
    assert [float(one.args[0][0, 0]) for one in calls.examples] == [1, 2]
    assert float(calls.others[0].args[0][0, 0]) == 4 and calls.others[1] is None
    assert all(tf.is_tensor(one.args[0]) for one in calls.examples)


def test_a_tuple_is_the_arguments_and_anything_else_is_one(tf):
    pair = namedtuple("Pair", "x y")(SMALL, LARGE)
    given = [(SMALL, LARGE), [SMALL, LARGE], {"x": SMALL}, pair]
    assert [len(one.args) for one in calls_of(given).examples] == [2, 1, 1, 1]


def test_a_pipeline_of_data(tf):
    data = tf.data.Dataset.from_tensor_slices((np.ones([5, 3]), np.ones(5))).batch(2)
    calls = calls_of(data, {"training": True})
    assert calls.counts == (2, 1)
    assert words_of(calls.examples[0]) == ("float64[2, 3]", "float64[2]", "training: True")


def test_what_python_holds_counts_by_its_value(tf):
    assert calls_of([(SMALL, 1), (SMALL, 2), (SMALL, 1)]).counts == (2, 1)
    assert calls_of([(SMALL, "a"), (SMALL, "b")]).counts == (1, 1)
    assert key_of(Example((1,))) != key_of(Example((1.0,))) != key_of(Example((True,)))


def test_other_parts_are_another_shape(tf):
    nested = [{"a": SMALL}, {"b": SMALL}, [SMALL], SMALL, SMALL.astype("int32")]
    assert calls_of(nested).counts == (1,) * 5
    rows = [tf.ragged.constant([[1.0], []]), tf.ragged.constant([[1.0], [2.0]])]
    assert calls_of(rows).counts == (1, 1)  # XLA would compile for each


def test_no_more_are_read_than_can_be_looked_at(tf, monkeypatch):
    monkeypatch.setattr(batches, "MOST", 3)
    assert calls_of([SMALL] * 3).left_out == ()
    more = calls_of(SMALL for _ in iter(int, 1))  # without end
    assert more.counts == (3,)
    assert more.left_out == ("Of the example calls, only the first 3 were read.",)
    assert len(worst_of([SMALL] * 9)) == 3


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (None, "there are no example calls: give `batches`, or let the maker"),
        ([], "`batches` holds no example call"),
        (SMALL, "`batches` is one ndarray: put it in a list"),
        ({"x": SMALL}, "`batches` is one dict: put it in a list"),
        ("text", "`batches` is one str"),
        (3, "`batches` is int: give a list"),
    ],
)
def test_what_is_no_list_of_calls(tf, given, said):
    with pytest.raises((TypeError, ValueError), match=said):
        calls_of(given)


# As a file


def test_calls_come_back_as_they_were(tf, tmp_path):
    nest = {"ids": np.int64([[1, 2]]), "flags": [True, None, 2.5, "word"], "pair": (SMALL, 1)}
    calls = calls_of([(nest, tf.constant(["the cat", "é"])), SMALL, SMALL], {"mask": LARGE > 0})
    again, options = written(tmp_path, calls)
    assert again.counts == calls.counts == (1, 2) and again.others[0] is None
    assert [key_of(one) for one in again.examples] == [key_of(one) for one in calls.examples]
    assert again.examples[0].args[0]["pair"][0].numpy().tolist() == SMALL.tolist()
    assert again.examples[0].args[1].numpy().tolist() == [b"the cat", "é".encode()]
    assert again.others[1].kwargs["mask"].numpy().all() and options == {}


def test_options_come_back_too(tf, tmp_path):
    spec = [tf.TensorSpec([None, 3], tf.float32, "x")]
    calls, options = written(tmp_path, signature=spec, pad=[8, 16], worst=[(SMALL,)], step=True)
    assert calls is None and options["signature"] == spec
    assert options["pad"] == [8, 16] and options["step"] is True
    assert options["worst"][0][0].tolist() == SMALL.tolist()


def test_what_does_not_fit_in_a_file_says_what_to_do(tf, tmp_path):
    for thing in (len, object(), tf.ragged.constant([[1], []]), {1: SMALL}, np.array([object()])):
        with pytest.raises(TypeError, match="cannot be given to a fresh process: let the function"):
            written(tmp_path, pad=thing)
    assert not list(tmp_path.glob("*.pkl"))


def test_another_file_holds_no_calls(tmp_path):
    np.savez(tmp_path / "other.npz", a=SMALL)
    with pytest.raises(ValueError, match="holds no example calls"):
        read_calls(tmp_path / "other.npz")
    assert Calls((), ()).others == ()


def test_keyword_arguments_of_a_maker_are_added_to_calls_that_were_given(tf):
    given = calls_of([SMALL, SMALL, LARGE], {"scale": 2.0})
    both = calls_of(given, {"scale": 1.0, "training": True})
    assert [one.kwargs for one in both.examples] == [{"scale": 2.0, "training": True}] * 2
    assert both.others[0].kwargs["training"] is True and both.others[1] is None
    assert both.counts == given.counts
