"""What is decided about: plans, candidates, and arguments that make no sense."""

import numpy as np
import pytest

from tests.gallery import by_name
from xla_helpers.deciding.findings import Padded, Shape
from xla_helpers.deciding.plan import case_of, described


def numbers(*shape):
    return np.random.default_rng(0).normal(size=shape).astype("float32")


def from_gallery(tf, name, **options):
    fn, args, kwargs = by_name(name).build(tf)
    return case_of(fn, [tuple(args)], {"kwargs": kwargs, **options})


def results(case, number=0):
    """Label to the first array of what comes back."""
    example = case.examples[number]
    called = {label: case.candidate(label) for label in case.labels}
    return {
        label: np.asarray(fn(*example.args, **example.kwargs)).tolist()
        for label, fn in called.items()
    }


# The plan


def test_shapes_in_the_order_in_which_they_came(tf):
    case = case_of(lambda x: 2 * x, [numbers(2), numbers(3), numbers(2)], {"pad": [4]})
    assert case.plan.shapes == (Shape(("float32[2]",), 2, 0), Shape(("float32[3]",), 1, 0))
    assert case.plan.padded == (Padded(("float32[4]",), pytest.approx(1 - 7 / 12)),)
    assert case.plan.pad == "with zeros to 4" and case.plan.share(0) == pytest.approx(2 / 3)
    assert case.plan.subject == "the function" and not case.plan.step
    assert case_of(len, [[1]], {"pad": 3}).left_out[0].startswith("Nothing to pad: ")


def test_a_model_in_words(tf):
    case = from_gallery(tf, "words_of_varying_length")
    assert case.plan.subject == "Sequential, 3 layers"  # which has no variables yet
    case.candidate("graph")(*case.examples[0].args)
    assert described(case).subject == "Sequential, 3 layers, 534 numbers in variables"


def test_hostile_calls_have_the_same_keyword_arguments(tf):
    case = from_gallery(tf, "a_mask_by_keyword", worst=[numbers(0, 4), numbers(9, 4)])
    assert [list(one.kwargs) for one in case.worst] == [["mask", "training"]] * 2


# Candidates


def test_candidates_are_new_and_what_they_are_called(tf):
    case = case_of(lambda x: x + 1, [np.float32([1, 2]), np.float32([1])], {"pad": 4})
    assert case.labels == ("eager", "graph", "XLA", "XLA, padded")
    assert set(map(tuple, results(case).values())) == {(2.0, 3.0)}
    assert case.candidate("graph") is not case.candidate("graph")
    assert case.candidate("XLA")._jit_compile and not case.candidate("graph")._jit_compile
    assert not hasattr(case.candidate("eager"), "get_concrete_function")
    with pytest.raises(ValueError, match="no 'jax' here: there is eager, graph, XLA, XLA, padded"):
        case.candidate("jax")


def test_what_is_compiled_already_is_unwrapped(tf):
    compiled = tf.function(lambda x: tf.constant(tf.executing_eagerly()), jit_compile=True)
    case = case_of(compiled, [numbers(3)])
    assert results(case) == {"eager": True, "graph": False, "XLA": False}


def test_what_holds_no_python_has_no_eager_mode(tf):
    for name in ("a_saved_model_by_its_folder", "a_saved_model_by_its_signature"):
        case = from_gallery(tf, name)
        assert case.labels == ("graph", "XLA")
        example = case.examples[0]
        for label in case.labels:
            assert case.candidate(label)(*example.args, **example.kwargs)
        with pytest.raises(ValueError, match="no 'eager' here"):
            case.candidate("eager")


def test_a_signature_is_that_of_graph_and_xla(tf):
    spec = [tf.TensorSpec([None, 3])]
    dense = tf.keras.layers.Dense(2)
    for fn in (lambda x: 2 * x, tf.keras.Sequential([tf.keras.Input([3]), dense])):
        case = case_of(fn, [numbers(2, 3), numbers(4, 3)], {"signature": spec})
        for label in ("graph", "XLA"):
            candidate = case.candidate(label)
            for example in case.examples:
                candidate(*example.args)
            assert candidate.experimental_get_tracing_count() == 1


def test_a_maker_of_fresh_copies(tf):
    made = []

    def maker():
        made.append(tf.Variable(1.0))
        return lambda x, own=made[-1]: own.assign_add(x)

    case = case_of(maker, [np.float32(1)], {"fresh": True})
    assert results(case) == {"eager": 2, "graph": 2, "XLA": 2}
    assert [float(one) for one in made[-3:]] == [2, 2, 2]


# Training steps


def network(tf):
    model = tf.keras.Sequential([tf.keras.layers.Dense(1)])
    model.compile("adam", "mse")
    return model


@pytest.mark.parametrize("fresh", [False, True])
def test_a_step_of_keras(tf, fresh):
    batches = [(numbers(4, 3), numbers(4, 1)), (numbers(2, 3), numbers(2, 1))]
    what = (lambda: network(tf)) if fresh else network(tf)
    case = case_of(what, batches, {"step": True, "fresh": fresh, "pad": [4], "worst": batches[1:]})
    assert case.plan.step and case.plan.shapes[0].arguments == ("float32[4, 3]", "float32[4, 1]")
    assert case.plan.subject == "Sequential, 1 layer, 4 numbers in variables"
    assert case.plan.padded[0].waste == pytest.approx(8 / 32) and case.model.optimizer.built
    for label in case.labels:
        assert set(case.candidate(label)(*case.examples[1].args)) == {"loss"}
    assert case.worst[0].args[0][0].shape == [2, 3]


def test_a_step_of_keras_2(tf):
    import tf_keras

    model = tf_keras.Sequential([tf_keras.layers.Dense(1)])
    model.compile("adam", "mse")
    case = case_of(model, [(numbers(4, 3), numbers(4, 1))], {"step": True})
    assert case.plan.subject == "Sequential, 1 layer, 4 numbers in variables"
    for label in case.labels:
        assert "loss" in case.candidate(label)(*case.examples[0].args)


def test_a_step_with_a_signature(tf):
    batches = [(numbers(n, 3), numbers(n, 1)) for n in (4, 2)]
    spec = [tf.TensorSpec([None, 3]), tf.TensorSpec([None, 1])]
    for signature in (spec, [tuple(spec)]):
        case = case_of(network(tf), batches, {"step": True, "signature": signature})
        graph = case.candidate("graph")
        for example in case.examples:
            graph(*example.args)
        assert graph.experimental_get_tracing_count() == 1


def test_a_batch_of_inputs_alone(tf):
    model = network(tf)
    model.compute_loss = lambda x, y, y_pred, *others, **named: tf.reduce_mean(y_pred)
    case = case_of(model, [numbers(2, 3)], {"step": True})
    assert "loss" in case.candidate("graph")(*case.examples[0].args)


def test_a_step_of_ones_own(tf):
    case = from_gallery(tf, "a_step_of_descent_by_hand", step=True)
    assert case.plan.step and case.model is None
    assert len(case.examples[0].args) == 2


# What makes no sense


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"badge": 1}, "there is no option 'badge': there is kwargs, signature"),
        ({"tolerance": -1}, "`tolerance` is -1"),
        ({"worst": numbers(3)}, "`worst` is one ndarray: put it in a list"),
        ({"kwargs": [1]}, "`kwargs` is list: give a dict"),
        ({"signature": 3}, "`signature` is int: give a list"),
    ],
)
def test_options_that_make_no_sense(tf, options, said):
    with pytest.raises((TypeError, ValueError), match=said):
        case_of(lambda x: x, [numbers(3)], options)


def test_arguments_that_do_not_fit(tf):
    with pytest.raises(TypeError, match="example call 1 does not fit scale: too many positional"):

        def scale(x):
            return x

        case_of(scale, [numbers(3), (numbers(3), numbers(3))])
    with pytest.raises(TypeError, match="missing a required argument: 'y'. A tuple holds the"):
        case_of(lambda x, y: x, [[numbers(3), numbers(3)]])


def test_targets_are_no_arguments_of_a_model(tf):
    batches = [(numbers(4, 3), numbers(4, 1))]
    functional = tf.keras.Sequential([tf.keras.Input([3]), tf.keras.layers.Dense(1)])
    for model in (network(tf), functional):
        with pytest.raises(
            TypeError, match="an array to Sequential as `training`: give the inputs"
        ):
            case_of(model, batches)
    assert case_of(functional, [(numbers(4, 3), False)]).labels[0] == "eager"


def test_whatever_fails_on_the_way_is_said_in_one_line(tf):
    def out_of_range(*args):
        return [][1]

    batches = [numbers(3), numbers(4)]
    with pytest.raises(ValueError, match="it cannot be prepared: IndexError: list index out of"):
        case_of(len, batches, {"pad": out_of_range})
    with pytest.raises(ValueError, match="it cannot be prepared: IndexError: list index out of"):
        case_of(len, map(out_of_range, batches))


def test_what_cannot_be_called(tf):
    with pytest.raises(TypeError, match="`fn` is int, which cannot be called"):
        case_of(3, [numbers(3)])
