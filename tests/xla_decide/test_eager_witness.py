"""The graph is the reference, and eager mode a witness with a time of its own."""

import signal
import threading
import time
from contextlib import suppress

import numpy as np
import pytest

import xla_decide as xd
from xla_decide.eager_witness import ask_eager, is_as_close, three_results, time_limit
from xla_helpers.calls import Call
from xla_helpers.differences import Difference
from xla_helpers.first_calls import FirstCalls
from xla_helpers.outcomes import FirstCall
from xla_helpers.variables import Snapshot


def first(graph, xla, tolerance=1e-4):
    outcomes = {
        label: FirstCall(result=np.float64(value))
        for label, value in (("graph", graph), ("XLA", xla))
    }
    return FirstCalls({}, outcomes, Snapshot(), tolerance)


@pytest.mark.parametrize(
    ("graph", "xla", "eager", "as_close"),
    [
        (1.0, 1.01, 1.0, False),  # the graph equals eager mode: the tolerance alone decides
        (1.01, 1.0, 1.0, True),  # the graph is the one that differs
        (1.01, 0.99, 1.0, True),  # both are as far off
        (1.01, 0.95, 1.0, False),  # XLA is five times as far
        (1.0, np.nan, 2.0, False),
        (1.0, 1.00005, 1.5, True),
    ],
)
def test_xla_may_be_as_far_from_eager_mode_as_the_graph_is(graph, xla, eager, as_close):
    assert is_as_close(first(graph, xla), FirstCall(result=np.float64(eager))) == as_close


@pytest.mark.parametrize(
    ("graph", "xla", "eager", "said"),
    [
        (1.0, 2.0, 3.0, "three results"),  # noise that is drawn in each trace
        (1.0, 2.0, 1.0, ""),
        (2.0, 1.0, 1.0, ""),
        (1.004, 0.997, 1.0, ""),  # rounding of half precision
    ],
)
def test_three_results_are_no_comparison(graph, xla, eager, said):
    found = three_results(first(graph, xla), FirstCall(result=np.float64(eager)))
    assert said in found and bool(found) == bool(said)


def test_a_function_that_counts_its_calls_is_not_compared(tf):
    calls = []

    def count(x):
        calls.append(1)
        return x + len(calls)

    decision = xd.decide(count, [np.float32(1.0)], budget=0.2)
    assert "its Python counts" in decision.not_compared["XLA"] and not decision.objections["XLA"]


def test_a_witness_that_fails_says_nothing():
    assert not is_as_close(first(1.0, 1.01), FirstCall(error=ValueError("x")))


def test_eager_mode_has_a_time_of_its_own():
    def endless():
        while True:
            time.sleep(0.01)

    assert isinstance(ask_eager(Call(endless), Snapshot(), 0.2).error, TimeoutError)
    assert ask_eager(Call(lambda: 3), Snapshot(), 5).result == 3
    assert isinstance(ask_eager(Call(lambda: 1 / 0), Snapshot(), 5).error, ZeroDivisionError)


@pytest.mark.skipif(not hasattr(signal, "SIGALRM"), reason="a system without signals")
@pytest.mark.parametrize("wait", [0.0, 1.0])
def test_a_limit_leaves_the_alarm_to_whoever_had_it(wait):
    def mine(number, frame):
        pass

    before = signal.signal(signal.SIGALRM, mine)
    try:
        with suppress(TimeoutError), time_limit(0.05):
            time.sleep(wait)
        assert signal.getsignal(signal.SIGALRM) is mine
    finally:
        signal.signal(signal.SIGALRM, before)


def test_outside_of_the_main_thread_there_is_no_limit():
    def wait():
        with time_limit(0.05):
            time.sleep(0.2)
        ended.append(True)

    ended = []
    thread = threading.Thread(target=wait)
    thread.start()
    thread.join()
    assert ended


# In a decision


def lost_in_the_graph(tf, x):
    """Right in eager mode and wrong in the graph and in XLA, which agree."""
    return x if tf.executing_eagerly() else x + 1.0


def test_a_graph_that_differs_from_eager_mode_is_a_warning_and_no_reason(tf):
    decision = xd.decide(lambda x: lost_in_the_graph(tf, x), [np.ones(3, "float32")], budget=0.2)
    [warning] = decision.warnings
    assert "graph differs from eager mode" in warning and not decision.objections["XLA"]
    assert warning in str(decision)


def test_eager_mode_is_asked_about_the_example_that_the_graph_was_asked_about(tf):
    """Others of its shape have other results."""
    batches = [np.ones(3, "float32"), *(np.full(4, k, "float32") for k in range(40))]
    decision = xd.decide(lambda x: tf.tanh(x / 9) + x, batches, budget=0.2)
    assert not decision.warnings and not decision.objections["XLA"]


def test_code_that_only_a_graph_can_run_is_judged(tf):
    def slope(x):
        return tf.gradients(tf.reduce_sum(tf.sin(x)), x)

    decision = xd.decide(slope, [np.ones(3, "float32")], budget=0.2)
    assert "XLA" in decision.gains and any("Eager mode fails" in note for note in decision.notes)


def test_a_difference_is_told_with_the_tolerance_that_allows_it(tf):
    others = {"mine": lambda x: tf.tanh(x) * 1.003}
    decision = xd.decide(tf.tanh, [np.ones(3, "float32")], candidates=others, budget=0.2)
    assert "differs from the graph" in decision.objections["mine"]
    assert Difference(0.003).allowed_by() == "a tolerance of 0.005 would allow it"
    assert Difference(float("inf")).allowed_by() == "no tolerance allows that"


def test_a_timer_of_the_caller_rings_all_the_same():
    rung = []
    before = signal.signal(signal.SIGALRM, lambda *what: rung.append(what))
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.05)
        with suppress(TimeoutError), time_limit(60):
            time.sleep(0.01)
        deadline = time.monotonic() + 60
        while not rung and time.monotonic() < deadline:
            time.sleep(0.01)
        assert rung
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
