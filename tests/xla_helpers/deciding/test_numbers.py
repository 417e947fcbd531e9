"""The same random numbers for a graph and XLA, in a process of its own."""

import xla_helpers as xh


def draws():
    """Operation to how the graph and XLA compare, twice, and to mean and deviation."""
    import numpy as np

    import xla_helpers as xh

    xh.prepare_tensorflow()
    import keras
    import tensorflow as tf

    from xla_helpers.deciding.numbers import stand_in

    counter = stand_in()
    generator = tf.random.Generator.from_seed(1)
    seeds = keras.random.SeedGenerator(1)
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
    }

    def twice():
        first, again = ({name: draw() for name, draw in named.items()} for _ in range(2))
        for _ in tf.range(2):  # whose rounds shall draw others
            again["uniform"] = tf.random.uniform(shape)
        return first, again

    def results(jit):
        counter.assign(0)
        generator.reset_from_seed(1)
        seeds.state.assign([1, 2])
        found = tf.function(twice, jit_compile=jit)()
        return tf.nest.map_structure(lambda x: x.numpy().astype("float64"), found)

    graph, xla = results(None), results(True)
    found = {}
    for name in named:
        same = all(np.array_equal(a[name], b[name]) for a, b in zip(graph, xla, strict=True))
        first, again = (half[name] for half in graph)
        spread = float(again.mean()), float(again.std())
        found[name] = same, np.array_equal(first, again), *spread
    return found


def test_each_draw_is_the_same_to_the_last_bit_and_another_one_each_time():
    found = xh.run_in_process(draws).value
    assert all(same for same, *_ in found.values()), found
    repeats = {name for name, (_, again, *_) in found.items() if again}
    assert repeats == {"of a seed", "whole of a seed"}  # as their seeds do
    assert all(abs(found[x][2]) < 0.1 < abs(found[x][3] - 0.9) + 0.2 for x in ("normal", "keras"))
    assert abs(found["uniform"][2] - 0.5) < 0.05 and 0.2 < found["uniform"][3] < 0.4
    assert 5 < found["whole"][2] < 6 and 0.8 < found["dropout"][2] < 1.2
