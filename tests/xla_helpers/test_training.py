"""Training steps: what they return is equal, and so must be how they change each variable."""

import numpy as np
import pytest

import xla_decide as xd
import xla_helpers as xh

BRIEF = {"rounds": 1, "budget": 0, "block": 1e-9, "strict": False}
FAULTS = {"never": 0.0, "half": 0.5, "twice": 2.0, "uphill": -1.0}  # times the right change
LAST_PLACE = 2.0**-23  # of a float32 of one


def rows(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype("float32")


def descent(tf, rate):
    """By hand, of one matrix."""
    weights = tf.Variable(rows(3, 2), name="weights")

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ weights - y) ** 2)
        weights.assign_sub(rate * tape.gradient(loss, weights))
        return loss

    return step, (rows(8, 3), rows(8, 2, seed=1)), [weights]


def by_keras(tf, optimizer, network, *shape):
    network(rows(*shape))  # which builds it
    variables = network.trainable_variables
    optimizer.build(variables)

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((network(x, training=True) - y) ** 2)
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    return step, (rows(*shape), rows(*shape, seed=1)), network


def adam(tf, rate):
    layers = [tf.keras.layers.Dense(8, "tanh"), tf.keras.layers.Dense(3)]
    network = tf.keras.Sequential([tf.keras.Input([3]), *layers])
    step, args, network = by_keras(tf, tf.keras.optimizers.Adam(rate), network, 16, 3)
    return step, args, [network.layers[0].kernel.value]


def attention(tf, rate):
    """The bias of its keys has a gradient of rounding alone, of which Adam makes a change."""
    given = tf.keras.Input([6, 16])
    outputs = tf.keras.layers.MultiHeadAttention(2, 8)(given, given)
    network = tf.keras.Model(given, tf.keras.layers.Dense(16)(outputs))
    step, args, network = by_keras(tf, tf.keras.optimizers.Adam(rate), network, 4, 6, 16)
    return step, args, [network.layers[-1].kernel.value]


def test_a_step_on_words_that_rounding_moves_is_the_same(tf):
    """Words have no last bits, so those of the weights are moved."""
    words, scores = tf.keras.Input([6], dtype="int32"), tf.keras.layers.Dense(20)
    embedded = tf.keras.layers.Embedding(20, 16)(words)
    attended = tf.keras.layers.MultiHeadAttention(2, 8)(embedded, embedded)
    network = tf.keras.Model(words, scores(attended))
    variables, optimizer = network.trainable_variables, tf.keras.optimizers.Adam(1e-3)
    optimizer.build(variables)
    loss_of = tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True)

    def step(x):
        with tf.GradientTape() as tape:
            loss = loss_of(x, network(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    given = np.random.default_rng(0).integers(0, 20, [4, 6]).astype("int32")
    check = xh.check(step, (given,))
    assert not check.differing and not check.inconclusive


def averages(tf, rate):
    """Of a batch normalization; the rate is by how much they move."""
    norm = tf.keras.layers.BatchNormalization(momentum=1 - rate)
    network = tf.keras.Sequential([tf.keras.Input([5]), norm])
    step, args, _ = by_keras(tf, tf.keras.optimizers.SGD(0.1), network, 16, 5)
    return step, args, [norm.moving_mean.value, norm.moving_variance.value]


def planted(tf, step, variables, factor):
    """The step, of which some variables change by another amount."""

    def wrong(*args):
        before = [tf.identity(variable) for variable in variables]
        loss = step(*args)
        for variable, value in zip(variables, before, strict=True):
            variable.assign(value + factor * (variable - value))
        return loss

    return wrong


@pytest.fixture(autouse=True)
def seeded(tf):
    tf.keras.utils.set_random_seed(1)


@pytest.mark.parametrize(
    ("make", "rate"),
    [
        *((descent, rate) for rate in (1e-2, 1e-3, 1e-4, 1e-5, 2e-6)),
        *((adam, rate) for rate in (1e-3, 1e-5)),
        (attention, 1e-5),
        *((averages, rate) for rate in (1e-1, 1e-5)),
    ],
)
def test_a_step_that_changes_too_little_or_too_much_is_found(tf, make, rate):
    step, args, variables = make(tf, rate)
    wrong = {x: tf.function(planted(tf, step, variables, FAULTS[x])) for x in FAULTS}
    right = {"graph": tf.function(step), "XLA": tf.function(step, jit_compile=True)}
    found = xh.compare(right | wrong, args, **BRIEF)
    assert list(found.measurements) == ["graph", "XLA"] and not found.sensitive
    assert found.failures.keys() == FAULTS.keys()
    assert all("of its largest change" in why for why in found.failures.values())


@pytest.mark.parametrize("fault", FAULTS)
def test_a_mode_that_changes_too_little_or_too_much_is_found(tf, fault):
    step, args, variables = descent(tf, 1e-5)
    wrong = planted(tf, step, variables, FAULTS[fault])

    def by_mode(*args):
        return step(*args) if tf.executing_eagerly() else wrong(*args)

    check = xh.check(by_mode, args)
    assert list(check.differing) == ["graph", "XLA"] and "weights" in check.summary
    assert xh.check(step, args).agrees


def test_a_candidate_that_changes_too_little_or_too_much_is_no_choice(tf):
    step, args, variables = adam(tf, 1e-5)
    wrong = {f"XLA, {x}": planted(tf, step, variables, FAULTS[x]) for x in FAULTS}
    candidates = {x: tf.function(fn, jit_compile=True) for x, fn in wrong.items()}
    decision = xd.decide(step, [args], candidates=candidates, budget=0.2)
    assert not decision.objections["XLA"] and not decision.not_compared
    assert all("differs from the graph" in decision.objections[x] for x in wrong)


def one_step(tf, change):
    """A weight of one that changes by so many last places."""
    weight = tf.Variable(tf.ones([4]), name="weight")

    def step():
        return weight.assign_add(tf.fill([4], change * LAST_PLACE)).shape[0]

    return step, weight


def test_ten_last_places_are_compared(tf):
    step, weight = one_step(tf, 10)
    wrong = {x: tf.function(planted(tf, step, [weight], FAULTS[x])) for x in FAULTS}
    found = xh.compare({"graph": tf.function(step)} | wrong, **BRIEF)
    assert found.failures.keys() == FAULTS.keys()


@pytest.mark.parametrize("fault", FAULTS)
def test_fewer_are_within_rounding_and_never_the_same(tf, fault):
    step, weight = one_step(tf, 4)
    wrong = tf.function(planted(tf, step, [weight], FAULTS[fault]))
    found = xh.compare({"graph": tf.function(step), fault: wrong}, **BRIEF)
    assert [array.place for array in found.sensitive] == ["variables['weight']"]
    assert "the change is within rounding" in str(found)
    check = xh.check(step)
    assert "not compared in part" in check.summary and not check.agrees


def test_a_mask_hides_no_result_that_is_off(tf):
    def values(x):
        actions = tf.stack([tf.reduce_mean(x) * (1.0 if tf.executing_eagerly() else 1.46), 0.0])
        return tf.where([True, False], actions, -1e9)

    check = xh.check(values, (np.full(64, 1.3, "float32"),))
    assert list(check.differing) == ["graph", "XLA"] and "0.46 relative" in check.summary


def test_small_units_hide_no_result_that_is_off(tf):
    def measured(x):
        amperes = 1e-6 * x if tf.executing_eagerly() else 1.004e-6 * x
        return {"seconds": x, "amperes": amperes}

    check = xh.check(measured, (np.float32([1.3, 1.1]),))
    assert list(check.differing) == ["graph", "XLA"] and "amperes" in check.summary


def test_a_small_result_that_rounding_makes_is_equal(tf):
    """The sum of the deviations from a mean, which is zero but for rounding."""

    def deviations(x):
        x = x if tf.executing_eagerly() else tf.reverse(x, [0])
        return {"mean": tf.reduce_mean(x), "rest": tf.reduce_sum(x - tf.reduce_mean(x))}

    check = xh.check(deviations, (rows(1000),))
    assert check.agrees


def test_numbers_that_xla_alone_gives_otherwise_each_time_are_an_objection(tf):
    """They are in the Python of this one; in TensorFlow 2.21 complex eigenvalues do so."""
    memory = tf.Variable(0.0, name="memory")
    draws = iter(np.random.default_rng(0).normal(size=100))

    def numbers(x):
        return x + memory

    class Erratic:
        def __init__(self, fn):
            self._fn = tf.function(fn, jit_compile=True)

        def __getattr__(self, name):
            return getattr(self._fn, name)

        def __call__(self, x):
            return self._fn(x) + float(next(draws))

    candidates = {"graph": tf.function(numbers), "XLA": Erratic(numbers)}
    found = xh.compare(candidates, (np.float32([1.5]),), **BRIEF)
    assert "other numbers at each call" in found.failures["XLA"] and not found.inconclusive


def test_python_that_counts_is_not_called_different(tf):
    class Counter:
        step = 0

        def __call__(self, x):
            self.step += 1
            return x / self.step

    check = xh.check(Counter(), (np.float32([1.5, 2.5]),))
    assert "its Python counts" in check.inconclusive and not check.differing
