"""Verdicts about models of the kinds that fooled earlier ones, from public bug reports."""

import collections
import tempfile

import numpy as np
import pytest

import xla_decide as xd
import xla_helpers as xh
from xla_decide import calling
from xla_helpers.modes import functions_run_eagerly

BRIEF = {"budget": 0.2}
pytestmark = pytest.mark.usefixtures("tf")


def rows(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


# What compiles is counted


def by_python_numbers(tf):
    return (lambda load: tf.reduce_sum(load * tf.range(9.0))), [(n / 7,) for n in range(12)]


def by_a_size_in_a_tensor(tf):
    return (lambda n: tf.reduce_sum(tf.range(n))), [(np.int32(n),) for n in range(3, 15)]


def by_a_shape_in_a_tensor(tf):
    sizes = [(1, 24), (2, 12), (3, 8), (4, 6), (6, 4), (8, 3), (12, 2), (24, 1)]
    return tf.reshape, [(rows(24), np.int32(size)) for size in sizes]


def by_the_entries_of_a_sparse_tensor(tf):
    dense = [np.float32(np.arange(24) < count) for count in range(3, 15)]
    return (lambda x: tf.sparse.to_dense(x) * 2.0), [(tf.sparse.from_dense(x),) for x in dense]


@pytest.mark.parametrize(
    ("make", "sets", "traces"),
    [
        (by_python_numbers, "value of `load` (pass tensors)", 12),
        (by_a_size_in_a_tensor, "content of `n`", 1),
        (by_a_shape_in_a_tensor, "content of `shape`", 1),
        (by_the_entries_of_a_sparse_tensor, "`x['values']`", 1),
    ],
)
def test_a_program_for_each_call_is_counted(tf, keep_log, make, sets, traces):
    found = xd.decide(*make(tf), budget=8).findings[0]
    calls = found.costs["XLA"].examples
    assert len(found.shapes) == 1
    assert (found.costs["XLA"].new, found.costs["XLA"].singletons) == (calls, calls)
    assert found.costs["graph"].new == traces and sets in found.sets


def test_contents_that_compile_nothing_count_for_nothing(tf, keep_log):
    table = tf.constant(rows(9, 2))
    found = xd.decide(lambda ids: tf.gather(table, ids), [np.int32([n]) for n in range(9)], **BRIEF)
    assert [cost.new for cost in found.findings[0].costs.values()] == [1, 1]
    assert not found.findings[0].costs["XLA"].singletons


@pytest.mark.parametrize(("repeated", "alone"), [(1, 0), (4, 1)])
def test_few_shapes_are_a_list_and_many_examples_a_sample(
    tf, keep_log, monkeypatch, repeated, alone
):
    monkeypatch.setattr(calling, "CALLING", 100)
    batches = [rows(3)] * 3 * repeated + [rows(4)]
    cost = xd.decide(tf.tanh, batches, **BRIEF).findings[0].costs["XLA"]
    assert (cost.new, cost.singletons) == (2, alone)


# A baseline that is none, modes that spoil each other, errors that swallow each other


def test_a_graph_that_runs_xla_gives_no_verdict(tf):
    @tf.function(jit_compile=True)
    def hot(x):
        return tf.tanh(x)

    def whole(x):
        return tf.reduce_sum(hot(x))

    class Layer(tf.Module):
        @tf.function(jit_compile=True)
        def step(self, x):
            return x * 2.0

    layer = Layer()
    for fn, name in ((whole, "hot"), (lambda x: layer.step(x) + 1.0, "step")):
        decision = xd.decide(fn, [rows(3)], **BRIEF)
        assert decision.label == "" and not decision.gains and name in decision.inconclusive


def test_a_grouped_convolution_of_keras_is_the_reader_s_graph(tf):
    """Keras gives it to XLA by itself."""
    grouped = tf.keras.Sequential(
        [tf.keras.Input([8, 8, 4]), tf.keras.layers.Conv2D(4, 3, groups=2)]
    )
    decision = xd.decide(grouped, [np.ones([1, 8, 8, 4], "float32")], **BRIEF)
    assert "XLA" in decision.gains and not decision.inconclusive
    assert any("conv2d-with-groups" in note for note in decision.notes)


def test_an_inner_function_is_traced_for_xla_first(tf):
    @tf.function
    def inner(x):
        for _ in tf.range(5):
            x = tf.sin(x)
        return x

    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = inner(x)
        return tape.gradient(y, x)

    assert xh.check(slope, (rows(3),)).agrees


def test_the_first_error_is_told(tf):
    errors = iter(["the first", "the second", "the third"])

    def spoiled(x):
        raise RuntimeError(next(errors))

    with pytest.raises(ValueError, match="the first"):
        xd.decide(spoiled, [rows(3)])


# Reasons


def test_a_refused_operation_is_the_one_that_xla_names(tf):
    def places(scores, flags):
        total = tf.cumsum(scores)
        return total * tf.cast(tf.cumsum(flags), tf.float32)  # here

    check = xh.check(places, (rows(3), np.int8([1, 0, 1])))
    [place] = check.unsupported
    line = places.__code__.co_firstlineno + 2
    assert place.operation == "Cumsum of int8" and f"line {line} " in place.line
    assert "int32" in place.fix and xh.check(places, (rows(3), np.int32([1, 0, 1]))).agrees
    product = xh.check(lambda x: tf.math.cumprod(x + 1) * tf.math.cumprod(x), (np.int16([1, 2]),))
    assert {one.operation for one in product.unsupported} == {"Cumprod of int16"}


def test_another_reason_of_xla_is_told_whole(tf):
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda y: tf.reduce_sum(y) < 9, lambda y: (y * y,), (x,))
        return tape.gradient(y, x)

    decision = xd.decide(slope, [np.float32([2, 2])], **BRIEF)
    assert decision.label == "graph"
    assert "XLA compilation requires a fixed tensor list size" in decision.verdict
    assert "by setting maximum_iteration" in decision.verdict


# Random numbers, and models that are not built


def test_weights_of_a_first_call_are_no_random_numbers(tf):
    model = tf.keras.Sequential([tf.keras.layers.Dense(4), tf.keras.layers.Dropout(0.5)])
    with pytest.raises(ValueError, match="Sequential is not built yet"):
        xh.check(model, (rows(2, 3),))
    model(rows(2, 3))
    check = xh.check(model, (rows(2, 3),))
    assert check.agrees and not check.random_ops


@pytest.mark.parametrize("step", [False, True])
def test_a_model_without_weights_is_built_first_and_keeps_what_it_had(tf, keep_log, step):
    class Counting(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.calls = self.add_weight(shape=(), initializer="zeros", trainable=False)
            self.scores = tf.keras.layers.Dense(2)

        def call(self, x):
            self.calls.assign_add(1.0)
            return self.scores(x)

    model = Counting()
    model.compile("sgd", "mse")
    batch = (rows(4, 3), rows(4, 2)) if step else rows(4, 3)
    decision = xd.decide(model, [batch], step=step, **BRIEF)
    assert "XLA" in decision.gains and model.built and float(model.calls) == 0
    assert any(note.startswith("Counting had no weights") for note in decision.notes)


def test_a_mask_that_is_lost_in_an_inner_function_is_a_difference_of_the_graph(tf):
    class Attend(tf.keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.attention = tf.keras.layers.MultiHeadAttention(2, 4)

        @tf.function
        def call(self, x):
            return self.attention(x, x, x)

    embedding = tf.keras.layers.Embedding(20, 8, mask_zero=True)
    model = tf.keras.Sequential([embedding, Attend(), tf.keras.layers.GlobalAveragePooling1D()])
    ids = np.int32([[1, 2, 0, 0], [2, 3, 1, 0]])
    with functions_run_eagerly(True):  # the inner function is not traced yet
        model(ids)
    check = xh.check(model, (ids,))
    assert list(check.differing) == ["graph", "XLA"] and not check.random_ops
    assert xh.max_difference(check["graph"].result, check["XLA"].result).within(1e-5)


def test_a_seed_that_is_an_argument_draws_others_under_xla(tf):
    def draw(seed):
        return tf.random.stateless_uniform([2, 3], seed, alg="philox")

    check = xh.check(draw, (np.int32([1, 2]),))
    assert check["graph"].agrees and not check["XLA"].agrees
    assert "in XLA" in check.inconclusive and "StatelessRandomUniformV2" in check.inconclusive


# What people hand in


def test_pairs_of_a_dataset_are_no_inputs(tf, keep_log):
    model = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(2)])
    pairs = tf.data.Dataset.from_tensor_slices((rows(8, 3), np.arange(8))).batch(4)
    with pytest.raises(ValueError, match="inputs for inputs, _ in batches"):
        xd.decide(model, pairs)
    assert "XLA" in xd.decide(model, [inputs for inputs, _ in pairs], **BRIEF).gains


def test_a_sparse_tensor_is_a_result(tf):
    def least(x):
        return tf.sparse.minimum(*[tf.sparse.from_dense(y) for y in (x, tf.ones_like(x))])

    check = xh.check(least, (np.float32([[1, 2]]),))
    assert [one.operation for one in check.unsupported] == ["SparseSparseMinimum"]


@pytest.fixture(scope="module")
def loaded(tf):
    class Saved(tf.Module):
        @tf.function(input_signature=[tf.TensorSpec([None, 3])])
        def embed(self, x):
            return tf.tanh(x)

    with tempfile.TemporaryDirectory() as folder:
        module = Saved()
        tf.saved_model.save(module, folder, {"embed": module.embed})
        return tf.saved_model.load(folder)


def test_a_folder_cannot_be_called_and_what_is_advised_works(tf, loaded):
    with pytest.raises(TypeError, match=r"tf\.saved_model\.load.*method or signature"):
        xd.decide("a/folder", [rows(2, 3)])
    for fn in (loaded.embed, loaded.signatures["embed"]):
        assert "XLA" in xd.decide(fn, [(rows(2, 3),)], **BRIEF).gains
        assert "XLA" in xd.decide(fn, [()], kwargs={"x": tf.constant(rows(2, 3))}, **BRIEF).gains


def test_defaults_of_a_loaded_function_are_applied(tf, keep_log):
    class Saved(tf.Module):
        @tf.function
        def embed(self, x, training=False, mask=None):
            return tf.sin(x) if training else tf.tanh(x)

    module = Saved()
    module.embed(tf.ones([2, 3]))
    with tempfile.TemporaryDirectory() as folder:
        tf.saved_model.save(module, folder)
        again = tf.saved_model.load(folder)
    assert "XLA" in xd.decide(again.embed, [rows(2, 3)], **BRIEF).gains


def test_an_iterator_as_an_argument_is_refused_by_name(tf):
    batches = iter(tf.data.Dataset.from_tensor_slices(rows(64, 3)).batch(4).repeat())
    decision = xd.decide(lambda iterator: next(iterator) * 2.0, [(batches,)], **BRIEF)
    assert "IteratorGetNext" in decision.objections["XLA"]
    [check] = decision.checks.values()
    assert "the same" not in check.against("XLA")


# Code that eager mode cannot run, or rounds otherwise


def test_a_jacobian_that_only_a_graph_can_take_is_judged_by_the_graph(tf, keep_log):
    def slopes(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x) * x
        return tape.jacobian(y, x, experimental_use_pfor=False)

    decision = xd.decide(slopes, [rows(4)], **BRIEF)
    [check] = decision.checks.values()
    assert check["graph"].error is None and "eager" not in check.summary
    assert "XLA" in decision.gains or "XLA" in check.errors


@pytest.mark.parametrize("policy", ["mixed_bfloat16", "mixed_float16"])
def test_a_half_precision_is_judged_by_the_graph_and_a_tolerance_is_named(tf, keep_log, policy):
    layers = tf.keras.layers
    parts = [layers.Dense(64, "gelu", dtype=policy), layers.Dense(8, dtype=policy)]
    model = tf.keras.Sequential([tf.keras.Input([32]), *parts])
    decision = xd.decide(model, [rows(8, 32)], **BRIEF)
    why = decision.objections["XLA"]
    assert "XLA" in decision.findings[0].costs and (not why or "a tolerance of 0." in why)
    allowed = xd.decide(model, [rows(8, 32)], tolerance=0.05, **BRIEF)
    assert not allowed.objections["XLA"] and not allowed.not_compared


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_a_named_tuple_as_a_result_and_a_function_as_an_argument(tf, keep_log, activation):
    Pair = collections.namedtuple("Pair", "mean spread")

    def moments(act, x):
        return Pair(tf.reduce_mean(act(x)), tf.math.reduce_std(x))

    decision = xd.decide(moments, [(getattr(tf.nn, activation), rows(9))], **BRIEF)
    assert "XLA" in decision.gains and not decision.not_compared
    assert list(decision.findings[0].shapes) == [f"{activation}, float32[9]"]
