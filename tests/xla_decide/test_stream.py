"""What is drawn of example calls: shapes, counted, and a sample that is fair."""

import itertools
import time

import numpy as np
import pytest

from xla_decide import stream
from xla_decide.stream import draw, words_of

pytestmark = pytest.mark.usefixtures("tf")


def alone(batch):
    return batch if isinstance(batch, tuple) else (batch,)


def drawn(batches):
    return draw(batches, alone, lambda: None)


def rows(*lengths):
    return [np.ones(length, "float32") for length in lengths]


def numbers(found):
    return [example.number for example in found.sample]


def test_shapes_are_counted_over_all_and_a_sample_is_kept_in_order():
    found = drawn(rows(*[3] * 500, 9, *[4] * 499))
    assert found.shapes == {"float32[3]": 500, "float32[4]": 499, "float32[9]": 1}
    assert found.examples == 1000 and found.is_whole and found.is_sample
    assert numbers(found) == sorted(numbers(found)) and len(found.sample) <= stream.SAMPLE + 2
    assert {example.shape for example in found.sample} == found.shapes.keys()  # the largest, too
    assert np.diff([n for n in numbers(found) if n != 500]).max() <= 32  # never a beginning alone


@pytest.mark.parametrize("order", [1, -1])
def test_the_order_of_examples_changes_no_weight(order):
    found = drawn(rows(*([3] * 12 + [4] * 4)[::order]))
    by_shape = dict.fromkeys(found.shapes, 0.0)
    for example, weight in zip(found.sample, found.weights, strict=True):
        by_shape[example.shape] += weight
    assert by_shape == pytest.approx({"float32[3]": 0.75, "float32[4]": 0.25})


@pytest.mark.parametrize(
    ("lengths", "last", "singletons"),
    [
        ([32] * 31 + [8], "float32[8]", 0),  # 1,000 rows in batches of 32
        ([32] * 10 + [0], "float32[0]", 0),  # which is empty
        ([8] + [32] * 31, "", 1),  # not the last
        ([32] * 31 + [40], "", 1),  # not smaller
        ([32, 8] * 9, "", 0),  # not the only one
        ([5], "", 1),
        (list(range(20, 50)) * 3, "", 0),  # 90 texts, 30 lengths three times each
    ],
)
def test_a_last_smaller_batch_comes_again_with_each_pass(lengths, last, singletons):
    found = drawn(rows(*lengths))
    assert (found.last, found.singletons) == (last, singletons)


@pytest.mark.parametrize("beginning", [1, 4, 9, 16])
def test_each_beginning_of_the_spread_order_is_fair(beginning):
    found = drawn(rows(*[3] * 32, *[4] * 32))
    first = [example.shape for example in found.spread()[: 2 * beginning]]
    assert abs(first.count("float32[3]") - first.count("float32[4]")) <= 2
    assert sorted(example.number for example in found.spread()) == numbers(found)


def test_an_endless_stream_ends_by_number_and_a_slow_one_by_time(monkeypatch):
    endless = drawn(itertools.repeat(np.ones(3, "float32")))
    assert endless.examples == stream.EXAMPLES and not endless.is_whole and not endless.last

    def slow():
        while True:
            time.sleep(0.05)
            yield np.ones(3, "float32")

    monkeypatch.setattr(stream, "DRAW_SECONDS", 0.3)
    assert 2 <= drawn(slow()).examples <= 8


@pytest.mark.parametrize("megabytes", [1, 10])
def test_the_sample_holds_as_much_memory_as_it_may(monkeypatch, megabytes):
    monkeypatch.setattr(stream, "SAMPLE_BYTES", megabytes << 20)
    found = drawn(np.ones((256, 1024), "float32") for _ in range(40))
    held = sum(stream.bytes_of(example.args) for example in found.sample)
    assert megabytes / 2 <= held / 2**20 <= megabytes  # and not much less


class PyDataset:
    """As Keras has it: items by number, and no end."""

    def __len__(self):
        return 3

    def __getitem__(self, number):
        return np.ones(3, "float32")


def test_datasets_of_tensorflow_and_of_keras(tf):
    assert drawn(PyDataset()).examples == 3
    assert drawn(tf.data.Dataset.range(7)).shapes == {"int64[]": 7}


@pytest.mark.parametrize("batches", ["text", {"x": 1}, np.ones([3, 2]), []])
def test_what_is_no_list_of_examples(batches):
    with pytest.raises((TypeError, ValueError), match="example call"):
        drawn(batches)


def test_arguments_in_words_hold_no_address(tf):
    class Loss:
        pass

    said = words_of((Loss(), tf.tanh, np.ones(2, "float32"), 3, "mean", None, True))
    assert said == "Loss, tanh, float32[2], int, 'mean', None, True"
    assert words_of(()) == "no argument"
