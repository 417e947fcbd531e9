"""What first calls cost: traces, compilations, and state that is put back."""

import numpy as np
import pytest

from xla_helpers.deciding import calls
from xla_helpers.deciding.calls import BY_VALUE, first_calls
from xla_helpers.deciding.findings import Findings, merged
from xla_helpers.deciding.plan import Order, case_of

LENGTHS = (3, 5, 9)


def arrays(*lengths):
    return [np.ones(length, "float32") for length in lengths]


def made(case, label, seconds=60.0, shapes=None):
    """What is reported: the last first calls, and all other findings together."""
    last, found = [], Findings()

    def report(more):
        nonlocal found
        last.extend(more.first)
        found = merged(found, more)

    shapes = tuple(range(len(case.examples))) if shapes is None else shapes
    first_calls(case, Order("first calls", label, shapes=shapes, seconds=seconds), report)
    assert [len(one.calls) for one in last] == list(range(1, len(last) + 1))
    return last[-1], found


def counts(first):
    return [(call.shape, call.traces, call.compilations) for call in first.calls]


def test_every_shape_traces_and_compiles(tf, keep_log):
    keep_log()
    case = case_of(lambda x: 2 * x, arrays(*LENGTHS))
    graph, found = made(case, "graph", shapes=(1, 0, 2))
    assert counts(graph) == [(1, 1, 0), (0, 1, 0), (2, 1, 0)] and found.left_out == ()
    xla, _ = made(case, "XLA")
    assert counts(xla) == [(0, 1, 1), (1, 1, 1), (2, 1, 1)] and xla.label == "XLA"
    for call in (*graph.calls, *xla.calls):
        assert call.seconds >= call.trace_seconds > 0 and not call.error
        assert call.memory >= graph.memory / 2 > 1e6
    assert all(0 < call.compile_seconds < call.seconds for call in xla.calls)
    assert found.plan == case.plan


def test_a_signature_traces_once_and_compiles_each_time(tf, keep_log):
    keep_log()
    spec = [tf.TensorSpec([None])]
    case = case_of(lambda x: 2 * x, arrays(*LENGTHS), {"signature": spec})
    assert counts(made(case, "graph")[0]) == [(0, 1, 0), (1, 0, 0), (2, 0, 0)]
    assert counts(made(case, "XLA")[0]) == [(0, 1, 1), (1, 0, 1), (2, 0, 1)]


def test_padding_makes_fewer_programs(tf, keep_log):
    keep_log()
    case = case_of(lambda x: 2 * x, arrays(*LENGTHS), {"pad": [8, 16]})
    first, _ = made(case, "XLA, padded")
    assert counts(first) == [(0, 1, 1), (1, 1, 1)] and first.label == "XLA, padded"


def test_values_that_set_a_size_are_seen(tf, keep_log):
    keep_log()
    lengths = [np.int32(3), np.int32(4)]
    by_value = case_of(lambda n: tf.reduce_sum(tf.ones([n])), lengths)
    assert made(by_value, "XLA")[1].left_out == (BY_VALUE,)
    assert made(by_value, "graph")[1].left_out == ()
    assert made(case_of(lambda n: 2 * n, lengths), "XLA")[1].left_out == ()


def test_an_error_is_that_of_one_call(tf, keep_log):
    keep_log()
    case = case_of(lambda x: tf.ensure_shape(x, [3]), arrays(5, 3))
    first, _ = made(case, "XLA")
    assert first.calls[0].error.startswith("ValueError: ") and first.calls[0].traces == 0
    assert counts(first)[1] == (1, 1, 1) and not first.calls[1].error
    assert first.calls[0].seconds > 0


def test_a_call_that_fails_takes_its_time_all_the_same(tf):
    case = case_of(lambda x: tf.numpy_function(np.negative, [x], tf.float32), arrays(3))
    (call,) = made(case, "XLA")[0].calls
    assert call.error and call.traces == 1
    assert call.seconds > call.trace_seconds > 0


def test_what_would_end_the_process_is_an_error(tf):
    case = case_of(lambda x: tf.strings.split(x), [np.array(["a b"])])
    first, _ = made(case, "XLA")
    assert first.calls[0].error.endswith("it would abort at StringSplitV2")
    assert not made(case, "graph")[0].calls[0].error


def test_variables_have_their_values_again(tf):
    total = tf.Variable(0.0)
    case = case_of(lambda x: total.assign_add(tf.reduce_sum(x)), arrays(3, 4))
    for label in case.labels:
        made(case, label)
        assert float(total) == 0


def test_variables_that_the_first_call_makes_are_told(tf):
    case = case_of(tf.keras.Sequential([tf.keras.layers.Dense(2)]), [np.ones([4, 3], "float32")])
    assert case.plan.subject == "Sequential, 1 layer"
    assert made(case, "graph")[1].plan.subject == "Sequential, 1 layer, 8 numbers in variables"


def test_what_does_not_fit_is_named(tf):
    case = case_of(lambda x: 2 * x, arrays(*LENGTHS))
    first, found = made(case, "graph", seconds=0)
    assert counts(first)[0][0] == 0 and len(first.calls) == 1
    assert found.left_out == ("First calls of graph with 2 shapes: the time was up.",)


def test_compilations_that_nobody_counts_are_named(tf, monkeypatch):
    monkeypatch.setattr(calls, "compilations_are_logged", lambda: False)
    case = case_of(lambda x: 2 * x, arrays(3))
    first, found = made(case, "XLA")
    assert first.calls[0].compilations == 0
    assert found.left_out[0].startswith("Compilations were not counted: ")
    assert made(case, "graph")[1].left_out == ()


@pytest.mark.parametrize("label", ["graph", "XLA"])
def test_fresh_copies(tf, label):
    made_by = []

    def maker():
        made_by.append(tf.Variable(1.0))
        return lambda x, own=made_by[-1]: own.assign_add(tf.reduce_sum(x))

    case = case_of(maker, arrays(3), {"fresh": True})
    assert not made(case, label)[0].calls[0].error
    assert [float(one) for one in made_by] == [1] * len(made_by)
