"""Variables are as before, whoever wrote them and however, and what cannot be is said."""

import numpy as np
import pytest

import xla_decide as xd
import xla_helpers as xh

QUICK = {"rounds": 2, "budget": 0, "block": 1e-9, "strict": False}


def step_that_writes(tf):
    """A step that writes variables in every way, and those variables by the name of the way."""
    import tf_keras

    raw = tf.raw_ops
    ways = (
        "assign",
        "add",
        "unread",
        "raw",
        "scatter",
        "cond",
        "loop",
        "inner",
        "keras2",
        "keras3",
    )
    of = {way: tf.Variable([1.0, 2.0], name=way) for way in ways}
    adam2 = tf_keras.optimizers.legacy.Adam()
    adam3 = tf.keras.optimizers.Adam()

    def add(way, x):
        raw.AssignAddVariableOp(resource=of[way].handle, value=x)

    @tf.function
    def inner(x):
        add("inner", x)

    def step(x):
        of["assign"].assign(of["assign"] + x)
        of["add"].assign_add(x)
        of["unread"].assign_add(x, read_value=False)
        add("raw", x)
        indices = tf.constant([1])
        raw.ResourceScatterAdd(resource=of["scatter"].handle, indices=indices, updates=x[:1])
        tf.cond(x[0] > 0, lambda: [add("cond", x), 1][1], lambda: 0)
        tf.while_loop(lambda i: i < 3, lambda i: [add("loop", x), i + 1][1:], [tf.constant(0)])
        inner(x)
        adam2.apply_gradients([(x, of["keras2"])])
        adam3.apply([x], [of["keras3"]])
        return 2 * x

    step(tf.ones([2]))  # makes what the optimizers keep
    of |= {variable.name: variable for variable in adam2.variables()}
    return step, of | {variable.path: variable.value for variable in adam3.variables}


LOOKS = {
    "measure": lambda modes, x: xh.measure(modes["graph"], (x,), rounds=2),
    "compare": lambda modes, x: xh.compare(modes, (x,), **QUICK),
    "check": lambda modes, x: xh.check(modes["step"], (x,)),
    "profile": lambda modes, x: xh.profile(modes["graph"], (x,)),
    "inspect_program": lambda modes, x: xh.inspect_program(modes["graph"], (x,)),
    "decide": lambda modes, x: xd.decide(modes["step"], [(x,)], budget=0.1),
}


def values(variables):
    return {way: variable.numpy() for way, variable in variables.items()}


def changed(variables, before):
    return {way for way, value in values(variables).items() if np.any(value != before[way])}


@pytest.mark.parametrize("name", LOOKS)
def test_variables_are_as_before_in_whatever_way_they_were_written(tf, jit, keep_log, name):
    step, variables = step_that_writes(tf)
    before = values(variables)
    LOOKS[name]({"step": step, "graph": tf.function(step), "XLA": jit(step)}, tf.ones([2]))
    assert changed(variables, before) == set()
    step(tf.ones([2]))
    assert len(changed(variables, before)) == len(variables) - 1  # all but a learning rate


def counter(tf, **options):
    """A variable, and a graph that adds to it without reading it."""
    count = tf.Variable(1.0, name="count")

    def step(x):
        count.assign_add(x, read_value=False)
        return x

    return count, tf.function(step, **options)


def test_a_variable_that_is_only_written_belongs_to_the_result(tf):
    count, step = counter(tf)
    found = xh.compare({"step": step, "still": lambda x: x}, (tf.constant(1.0),), **QUICK)
    assert "variables['count']" in found.failures["still"] and float(count) == 1


def test_a_variable_that_one_candidate_reads_and_another_only_writes_is_one(tf):
    count, unread = counter(tf)

    @tf.function
    def read(x):
        count.assign_add(x)
        return x

    for modes in ({"read": read, "unread": unread}, {"unread": unread, "read": read}):
        found = xh.compare(modes, (tf.constant(1.0),), **QUICK)
        assert found.failures == {} and not found.own_variables and float(count) == 1


def test_variables_that_a_graph_has_outlived_are_compared_and_put_back(tf, tmp_path):
    module = tf.Module()
    module.count, module.step = counter(tf, input_signature=[tf.TensorSpec([])])
    tf.saved_model.save(module, str(tmp_path), module.step)
    graph = tf.saved_model.load(str(tmp_path)).signatures["serving_default"]
    still = {"signature": graph, "still": lambda x: {"output_0": x}}
    found = xh.compare(still, (), {"x": tf.constant(1.0)}, **QUICK)
    assert "variables['count']" in found.failures["still"]
    count = tf.raw_ops.ReadVariableOp(resource=graph.captured_inputs[0], dtype="float32")
    assert float(count) == 1


def test_the_variables_of_a_strategy_are_put_back(tf):
    strategy = tf.distribute.MirroredStrategy(["CPU:0"])
    with strategy.scope():
        count = tf.Variable(1.0, name="count")

    def add(count):
        count.assign_add(1.0, read_value=False)

    @tf.function
    def captured():
        strategy.run(lambda: add(count))

    for step, args in ((captured, ()), (tf.function(add), (count,))):
        xh.measure(step, args, rounds=2)
        assert float(count.numpy()) == 1


# What cannot be put back


def reader_of(tf):
    """A graph that moves an iterator and writes a table."""
    numbers = iter(tf.data.Dataset.range(10**6))
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, 0)

    def step(x):
        number = next(numbers)
        table.insert(number, number)
        return x

    return step


def test_what_cannot_be_put_back_is_said_with_its_number(tf):
    step, x = reader_of(tf), tf.constant(1.0)
    words = "2 resources may have changed and cannot be put back: an iterator, a table."
    found = xh.compare({"graph": tf.function(step), "again": tf.function(step)}, (x,), **QUICK)
    assert found.unrestored == ("an iterator", "a table") and words in str(found)
    assert words in str(xh.check(step, (x,)))


def test_an_iterator_among_the_arguments_is_said(tf):
    numbers = iter(tf.data.Dataset.from_tensors(1.0).repeat())
    modes = {"eager": next, "graph": tf.function(lambda numbers: next(numbers))}
    found = xh.compare(modes, (numbers,), **QUICK)
    assert found.unrestored == ("an iterator",)


def test_nothing_is_said_of_what_is_only_read_or_put_back(tf):
    words = tf.keras.layers.StringLookup(vocabulary=["a", "b"])
    model = tf.keras.Sequential([tf.keras.layers.Dense(2), tf.keras.layers.Dropout(0.5)])
    noise, x = tf.random.Generator.from_seed(1), tf.ones([2, 3])
    model(x)

    @tf.function
    def step(x):
        return words(["a"]), model(x, training=True), noise.normal([2])

    found = xh.compare({"graph": step}, (x,), **QUICK)
    assert found.unrestored == () and "put back" not in str(found)
