"""What is said of results: only what was compared, and what could not be."""

import functools
import json

import cattrs
import numpy as np
import pytest

from tests.gallery import by_name
from xla_helpers.agreement import Difference
from xla_helpers.checking import Check, Outcome
from xla_helpers.deciding.agreements import (
    ALIGNED,
    NO_GRADIENTS,
    NO_WORST,
    NO_XLA,
    _of_padding,
    results,
)
from xla_helpers.deciding.findings import Checked, Findings, merged
from xla_helpers.deciding.plan import Order, case_of
from xla_helpers.deciding.standing import differs

ALL = ("graph", "XLA")


def numbers(*shape):
    return np.random.default_rng(0).normal(size=shape).astype("float32")


def found(what, batches, labels=ALL, seconds=60.0, **options):
    """All that is reported; it must fit in a file and come back."""
    case, known = case_of(what, batches, options), Findings()

    def report(more):
        nonlocal known
        known = merged(known, more)

    shapes = tuple(range(len(case.examples)))
    results(case, Order("results", labels=labels, shapes=shapes, seconds=seconds), report)
    as_text = json.dumps(cattrs.unstructure(known), allow_nan=False)
    assert cattrs.structure(json.loads(as_text), Findings) == known
    return known


def in_gallery(tf, name, **options):
    fn, args, kwargs = by_name(name).build(tf)
    return found(fn, [tuple(args)], kwargs=kwargs, **options)


def only(known, of="plan") -> Checked:
    [one] = known.checks_of(of)
    return one


# One call


def test_the_same_names_what_was_compared(tf):
    known = in_gallery(tf, "two_inputs_by_name")
    check = only(known)
    assert check.agrees and check.decidable and check.compared and not differs(check, "XLA")
    assert check.names == ("result['score']", "result['both']")
    assert check.arguments == ("left: float32[2, 5]", "right: float32[2, 3]")
    assert [row.mode for row in check.rows] == ["eager", "graph", "XLA"]
    assert check["eager"].against == "" and check["eager"].relative is None
    assert check["XLA"].against.startswith("the same") and check["XLA"].relative < 1e-4
    assert known.left_out == (NO_WORST,)


def test_variables_are_named_apart_from_a_loss(tf):
    check = only(in_gallery(tf, "a_step_of_descent_by_hand", step=True))
    assert check.names == ("result", "weights", "bias")
    assert only(in_gallery(tf, "nothing_but_a_side_effect")).names == ("total",)


def test_what_is_practically_zero_was_not_compared(tf):
    def tiny(x):
        return {"large": x, "tiny": x * (1e-9 if tf.executing_eagerly() else 2e-9)}

    check = only(found(tiny, [np.ones(3, "float32")]))
    assert check.agrees and check.names == ("result['large']",)


def test_another_result_says_where(tf):
    def other(x):
        return {"a": x, "b": x if tf.executing_eagerly() else x + 1}

    check = only(found(other, [np.ones(3, "float32")]))
    assert not (check.agrees or check["XLA"].agrees) and check["XLA"].place == "result['b']"
    assert check["XLA"].relative == check["XLA"].absolute == 1
    assert "differs in result['b'] by 1 (relative; 1 absolute)" in check["XLA"].against
    loose = only(found(other, [np.ones(3, "float32")], tolerance=2.0))
    assert loose.agrees


def test_differences_that_are_no_numbers(tf):
    def collect(x):
        array = tf.TensorArray(tf.float32, size=0, dynamic_size=True)
        for i in tf.range(5):
            array = array.write(i, x)
        return array.stack()

    check = only(found(collect, [np.float32(1)]))
    assert differs(check, "XLA") and "shape" in check["XLA"].against
    assert check["XLA"].relative is None and check["XLA"].place == "result"


def test_draws_are_made_equal_before_the_rest_is_compared(tf):
    check = only(in_gallery(tf, "dropout_in_training"))
    assert check.agrees and check.decidable and check["XLA"].relative < 1e-4
    assert check.draws == ("StatelessRandomUniformV2 in drop",)
    assert check.summary.startswith("Not decidable for XLA: it draws random numbers")
    assert f"{ALIGNED} The same result and the same values in variable" in check.summary
    assert only(in_gallery(tf, "noise_from_a_seed")).agrees


def test_another_result_beside_draws(tf):
    def other(x):
        drawn = tf.random.stateless_uniform(x.shape, [1, 2])
        return drawn + x if tf.executing_eagerly() else drawn + 2 * x

    check = only(found(other, [np.ones(3, "float32")]))
    assert check.decidable and not (check.agrees or check["XLA"].agrees)
    assert check["XLA"].absolute == pytest.approx(1)


def test_last_digits_of_draws_are_no_other_result(tf):
    def noisy(x):
        return x + tf.random.stateless_normal(x.shape, [1, 2])

    check = only(found(noisy, [np.ones(10_000, "float32")], tolerance=0))
    assert check.agrees or not check.decidable


@pytest.mark.parametrize(
    "name", ["noise_from_a_stream", "noise_from_numpy", "a_pipeline_that_goes_on"]
)
def test_draws_that_cannot_be_made_equal_are_not_decidable(tf, name):
    check = only(in_gallery(tf, name))
    assert not check.agrees and not check.decidable and not differs(check, "XLA")
    assert ALIGNED not in check.summary and check.not_put_back


def test_draws_that_were_traced_before_are_not_decidable(tf):
    inner = tf.function(lambda x: x + tf.random.stateless_uniform(x.shape, [1, 2]))
    inner(tf.constant(numbers(3)))
    check = only(found(lambda x: 2 * inner(x), [numbers(3)]))
    assert not check.decidable and not check.agrees and ALIGNED not in check.summary


def test_refusals_come_with_their_place(tf):
    check = only(in_gallery(tf, "words_at_the_end"))
    assert check["XLA"].error and not check["graph"].error and not differs(check, "XLA")
    assert ("LookupTableFindV2", "words") in [(one.operation, one.layer) for one in check.refused]
    assert check.names == ("result",)  # of eager mode and the graph


def test_checks_that_vanish(tf):
    def positive(x):
        tf.debugging.assert_positive(x, name="above_zero")
        return x

    check = only(found(positive, [np.ones(3, "float32")]))
    assert not check.agrees and check.vanished and "above_zero" in check.vanished[0]


def test_nothing_was_compared(tf):
    check = only(found(lambda x: None, [numbers(3)]))
    assert not check.compared and not check.agrees and check.names == ()


def test_what_cannot_be_compared_is_left_out(tf):
    known = found(lambda x: object(), [numbers(3)])
    assert known.checks == ()
    assert known.left_out[1].startswith("The results of float32[3] could not be compared: TypeErr")


def test_arguments_named_like_options_of_check(tf):
    def scaled(x, tolerance, fresh=1, fn=0.0):
        return x * tolerance * fresh * fn

    options = {"kwargs": {"tolerance": 2.0, "fresh": 3.0, "fn": 1.0}}
    assert only(found(scaled, [np.ones(2, "float32")], **options)).agrees
    maker = functools.partial(lambda: scaled)
    check = only(found(maker, [np.ones(2, "float32")], **options | {"fresh": True}))
    assert check.agrees and check["XLA"].short == "[6., 6.]"


def test_without_xla_nothing_is_compiled(tf):
    known = found(lambda x: 2 * x, [numbers(3)], labels=("graph",))
    assert known.checks == () and known.left_out == (NO_WORST, NO_XLA)


# Hostile inputs


def test_hostile_inputs(tf):
    table = tf.constant([1.0, 2.0])
    known = found(
        lambda ids: tf.gather(table, ids),
        [np.int32([0, 1])],
        worst=[np.int32([7]), np.zeros(0, "int32")],
    )
    assert only(known).agrees and known.left_out == ()
    outside, empty = known.checks_of("worst")
    assert outside["graph"].error and not outside["XLA"].error and not outside.agrees
    assert outside.summary == "XLA gives a result instead of an error." and outside.names == ()
    assert empty.agrees and empty.arguments == ("int32[0]",) and empty.number == 1


# Gradients


def network(tf, *layers):
    keras = tf.keras
    model = keras.Sequential([keras.layers.Dense(3, "tanh"), *layers, keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model


def test_gradients_by_the_path_of_their_variable(tf):
    known = found(network(tf), [(numbers(4, 2), numbers(4, 1))], step=True)
    check, step = only(known, "gradients"), only(known)
    assert check.agrees and len(check.names) == 4 and check["XLA"].relative < 1e-4
    assert all(name.endswith(("kernel']", "bias']")) for name in check.names)
    assert step.agrees and step.names[0] == "result['loss']" and len(step.names) > 12
    assert known.left_out == (NO_WORST,)


def test_gradients_of_a_step_of_ones_own(tf):
    known = in_gallery(tf, "a_step_of_descent_by_hand", step=True)
    assert known.checks_of("gradients") == () and NO_GRADIENTS in known.left_out

    class Own(tf.keras.Sequential):
        def train_step(self, data):
            return {"loss": tf.reduce_sum(self(data[0]))}

    model = Own([tf.keras.layers.Dense(1)])
    model.compile("sgd", "mse")
    known = found(model, [(numbers(4, 2), numbers(4, 1))], step=True)
    assert known.checks_of("gradients") == () and NO_GRADIENTS in known.left_out


# Padding


def test_padding_that_keeps_the_result(tf):
    keras = tf.keras
    layers = [keras.layers.Embedding(20, 4, mask_zero=True), keras.layers.SimpleRNN(3)]
    ids = [np.ones([2, n], "int32") for n in (3, 5)]
    known = found(keras.Sequential(layers), ids, pad=[8])
    first, second = known.checks_of("padding")
    assert first.agrees and second.agrees and second.number == 1
    assert [row.mode for row in first.rows] == ["graph", "XLA, padded"]
    assert first.summary == "After padding, XLA gives the same as the graph without."
    assert first.arguments == ("int32[2, 3]",) and first.names == ("result",)


def test_after_padding_what_is_practically_zero_is_not_called_the_same():
    tiny = np.float32([1e-10])
    zeros = Difference(zeros=("result",))
    outcomes = (Outcome("graph", tiny), Outcome("XLA, padded", -tiny, difference=zeros))
    said = _of_padding(Check("slopes", {one.mode: one for one in outcomes}))
    assert said.startswith("All that there is to compare is practically zero.")


def test_padding_that_changes_the_result_says_where(tf):
    def mean(x):
        return {"mean": tf.reduce_mean(x), "each": 2 * x}

    known = found(mean, [np.ones(6, "float32"), np.ones(7, "float32")], pad=[8])
    check = known.checks_of("padding")[0]
    assert all(one.agrees for one in known.checks_of("plan")) and not check.agrees
    assert check.decidable and check["XLA, padded"].place == "result['mean']"
    assert check["XLA, padded"].relative == pytest.approx(0.25)
    assert check.summary.startswith("After padding, XLA differs in result['mean'] by 0.2 ")


def test_padding_with_draws_is_not_decidable(tf):
    def noisy(x):
        return x + tf.random.stateless_normal(tf.shape(x), [1, 2])

    for check in found(noisy, [numbers(3), numbers(4)], pad=[8]).checks_of("padding"):
        assert not check.decidable and not check.agrees and check.draws
        assert check.summary.startswith("Not decidable for XLA, padded: it draws random numbers")


def test_padding_that_fails(tf):
    known = found(lambda x: tf.reshape(x, [-1, 3]), [numbers(3), numbers(6)], pad=[8])
    check = known.checks_of("padding")[0]
    assert check["XLA, padded"].error and not check["graph"].error and not check.agrees
    assert check.summary.startswith("After padding, XLA fails: ")


def test_padding_is_not_asked_where_xla_refuses(tf):
    def text(x):
        return tf.strings.as_string(x)

    known = found(text, [numbers(3), numbers(4)], pad=[8])
    assert known.checks_of("padding") == ()
    assert "Padding of float32[3]: XLA gives no result without it." in known.left_out


@pytest.mark.parametrize("fresh", [False, True])
def test_variables_after_padding(tf, fresh):
    total = tf.Variable(0.0, name="total")

    def maker():
        own = tf.Variable(0.0, name="total") if fresh else total
        return lambda x: own.assign_add(tf.reduce_sum(x))

    batches = [np.ones(3, "float32"), np.ones(4, "float32")]
    known = found(maker if fresh else maker(), batches, pad=[8], fresh=fresh)
    assert all(check.agrees for check in known.checks) and len(known.checks) == 4
    assert float(total) == 0


# Time


def test_what_does_not_fit_is_named(tf):
    batches, worst = [numbers(n) for n in (3, 4, 5)], [numbers(6), numbers(7)]
    known = found(lambda x: 2 * x, batches, seconds=0, worst=worst)
    assert [(check.of, check.number) for check in known.checks] == [
        ("plan", 0),
        ("worst", 0),
        ("worst", 1),
    ]
    assert known.left_out == (
        "2 checks of results, for which there was no time: float32[4]; float32[5].",
    )
