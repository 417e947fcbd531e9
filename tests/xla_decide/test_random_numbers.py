"""The same random numbers for a graph and XLA, in a process of its own."""

import pytest

import xla_helpers as xh


def draws():
    """Which draws are the same in both, which repeat themselves, and their means and deviations."""
    import numpy as np

    import xla_helpers as xh

    xh.prepare_tensorflow()
    import keras
    import tensorflow as tf

    from xla_decide.random_numbers import stand_in

    again_too = ["uniform", "of a seed", "generator", "keras"]
    counter = stand_in()
    generator, seeds = tf.random.Generator.from_seed(1), keras.random.SeedGenerator(1)
    shape = [4000]
    named = {
        "uniform": lambda: tf.random.uniform(shape),
        "normal": lambda: tf.random.normal(shape),
        "half": lambda: tf.random.uniform(shape, dtype=tf.float16),
        "whole": lambda: tf.random.uniform(shape, 3, 9, tf.int32),
        "truncated": lambda: tf.random.truncated_normal(shape),
        "of a seed": lambda: tf.random.stateless_normal(shape, [1, 2]),
        "whole of a seed": lambda: tf.random.stateless_uniform(shape, [1, 2], 3, 9, tf.int32),
        "generator": lambda: generator.normal(shape),
        "keras": lambda: keras.random.normal(shape, seed=seeds),
        "dropout": lambda: tf.nn.dropout(tf.ones(shape), 0.5),
        "vectorized": lambda: tf.vectorized_map(
            lambda row: tf.nn.dropout(row, 0.5) + tf.nn.dropout(row, 0.5), tf.ones([2, 4000])
        ),
    }

    def twice():
        first, again = ({x: named[x]() for x in names} for names in (named, again_too))
        for _ in tf.range(2):  # whose rounds shall draw others
            again["uniform"] = tf.random.uniform(shape)
        return first, again

    def results(jit):
        if counter.variable is not None:
            counter.variable.assign(0)
        generator.reset_from_seed(1)
        seeds.state.assign([1, 2])
        found = tf.function(twice, jit_compile=jit)()
        return tf.nest.map_structure(lambda x: x.numpy().astype("float64"), found)

    graph, xla = results(None), results(True)
    same = {x: np.array_equal(graph[0][x], xla[0][x]) for x in named}
    same |= {f"{x}, again": np.array_equal(graph[1][x], xla[1][x]) for x in again_too}
    repeats = [x for x in again_too if np.array_equal(graph[0][x], graph[1][x])]
    return same, repeats, {x: (float(y.mean()), float(y.std())) for x, y in graph[0].items()}


def test_each_draw_is_the_same_to_the_last_bit_and_another_one_each_time():
    same, repeats, moments = xh.run_in_process(draws).value
    assert all(same.values()), same
    assert repeats == ["of a seed"]  # as its seed does
    for name in ("normal", "of a seed", "generator", "keras"):
        assert moments[name] == [pytest.approx(0, abs=0.1), pytest.approx(1, abs=0.1)], name
    assert moments["uniform"] == [pytest.approx(1 / 2, abs=0.05), pytest.approx(12**-0.5, abs=0.05)]
    assert 5 < moments["whole"][0] < 6 and 0.8 < moments["dropout"][0] < 1.2
