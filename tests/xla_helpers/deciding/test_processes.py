"""Processes that decide about a model in a file, and how their ends are told."""

import json
import textwrap

import pytest

import xla_helpers as xh
from xla_helpers.deciding import processes

HEAD = """
import os
import time
import numpy as np
import tensorflow as tf
from xla_helpers.deciding import processes, study
"""


def file_of(folder, text):
    path = folder / "mine.py"
    path.write_text(HEAD + textwrap.dedent(text))
    return f"{path}:make"


# Real ends, one of each kind


def test_a_crash_in_the_race_refuses_nobody(tmp_path):
    text = """
    def make():
        study.race = lambda *args, **options: os.abort()
        return tf.tanh, [np.ones(3, "float32")]
    """
    found = xh.decide_file(file_of(tmp_path, text), runs=1, budget=0.2)
    assert found.label == "" and not found.objections
    assert "the race ended process 1 of 1: SIGABRT" in found.verdict


def test_an_example_that_never_comes_is_not_the_fault_of_xla(tmp_path):
    text = """
    def batches():
        yield np.ones(3, "float32")
        time.sleep(60)

    def make():
        processes.CALL_SECONDS = 3
        return tf.tanh, batches()
    """
    with pytest.raises(ValueError, match="ended at the next example: it took too long"):
        xh.decide_file(file_of(tmp_path, text), runs=1, budget=0.2)


def test_a_candidate_that_ends_the_process_is_refused_and_xla_is_not_blamed(tmp_path):
    text = """
    def make():
        candidates = {"mine": lambda x: os.abort()}
        return tf.tanh, [np.ones(3, "float32")], {"candidates": candidates}
    """
    found = xh.decide_file(file_of(tmp_path, text), runs=1, budget=0.2)
    assert "ended process 1 of 1: SIGABRT" in found.objections["mine"]
    assert found.objections["XLA"].startswith("was not tried to the end, because mine ended")


def test_a_crash_in_a_call_refuses_xla_and_says_which(tmp_path):
    model = file_of(tmp_path, "make = lambda: (tf.strings.split, [tf.constant(['a b'])])")
    decision = xh.decide_file(model)
    assert decision.label == "graph" and len(decision.findings) == 1
    assert "ended process 1 of 6: SIGABRT" in decision.verdict


def test_a_crash_in_an_invalid_input_is_a_note(tmp_path, capsys):
    text = """
    def make():
        bad = [tf.constant(["a b"])]
        return f, [np.ones(3, "float32")], {"invalid_inputs": bad}

    def f(x):
        return tf.strings.length(tf.strings.split(x)) if x.dtype == tf.string else x * 2
    """
    decision = xh.decide_file(file_of(tmp_path, text), runs=1, budget=0.2)
    assert "XLA" in decision.gains and "process 1 of 1" in capsys.readouterr().out
    assert any("invalid input 1" in note and "SIGABRT" in note for note in decision.notes)


def test_clusters_in_the_graph_are_no_baseline(tmp_path, monkeypatch):
    monkeypatch.setenv("TF_XLA_FLAGS", "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit")
    text = """
    def f(x):
        return tf.reduce_sum(tf.tanh(x) * tf.sin(x) + x * x)

    def make():
        return f, [np.ones([64, 64], "float32")]
    """
    decision = xh.decide_file(file_of(tmp_path, text), runs=1, budget=0.2)
    assert decision.label == "" and "TF_XLA_FLAGS" in decision.inconclusive


def test_processes_that_find_different_shapes_are_no_decision(tmp_path):
    text = """
    from pathlib import Path

    def make():
        mark = Path(__file__).with_name("second")
        length = 4 if mark.exists() else 3
        mark.touch()
        return tf.tanh, [np.ones(length, "float32")]
    """
    with pytest.raises(ValueError, match=r"float32\[3\]; float32\[4\]"):
        xh.decide_file(file_of(tmp_path, text), budget=0.05)


@pytest.mark.parametrize(
    ("text", "runs", "message"),
    [
        ("make = lambda: (abs, [1.0])", 3, "1, or at least 6"),
        ("make = lambda: (abs, [1.0], {'worst': []})", 1, "worst"),
        ("make = lambda: 1 / 0", 1, "ZeroDivisionError"),
        ("other = 1", 1, "make"),
        ("make = lambda: ((lambda x: x.missing), [1.0])", 1, "the graph fails"),
        ("make = lambda: (__import__('os')._exit(3), [])", 1, "at the start"),
    ],
)
def test_what_makes_no_sense_is_one_line(tmp_path, text, runs, message):
    (tmp_path / "mine.py").write_text(text)  # only one of them comes as far as TensorFlow
    with pytest.raises(ValueError, match=message) as caught:
        xh.decide_file(f"{tmp_path}/mine.py:make", runs=runs)
    assert "\n" not in str(caught.value)
    with pytest.raises(ValueError, match="no file"):
        xh.decide_file("missing.py:make")


# Made-up ends


@pytest.fixture
def decide(tmp_path, monkeypatch):
    """Decide about a process that says these stages and ends so."""
    (tmp_path / "mine.py").touch()

    def decide(*stages, signal=None, timed_out=False):
        def child(code, args, timeout):
            lines = [{"machine": "here", "plan": {"calls": 9, "min_speedup": 1.05}}]
            lines += [{"stage": stage} for stage in stages]
            args[-1].write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
            raise xh.ProcessError("It ended.", "", "", signal=signal, timed_out=timed_out)

        monkeypatch.setattr(processes, "run_in_process", child)
        return xh.decide_file(f"{tmp_path}/mine.py:make", runs=1)

    return decide


ENDS = [
    ({"signal": "SIGSEGV"}, "SIGSEGV"),
    ({"timed_out": True}, "it took too long"),
    ({}, "It ended"),
]


@pytest.mark.parametrize(("how", "said"), ENDS)
def test_the_race_is_no_candidate(decide, how, said):
    found = decide("graph", "XLA", processes.RACING, **how)
    assert found.label == "" and not found.objections and not found.gains
    assert "the race ended process 1 of 1: " in found.verdict and said in found.verdict


@pytest.mark.parametrize("stage", ["graph", "eager", processes.DRAWING])
@pytest.mark.parametrize(("how", "said"), ENDS)
def test_where_nothing_is_left_to_choose_it_is_an_error(decide, stage, how, said):
    with pytest.raises(ValueError, match=f"ended at {stage}.*{said}"):
        decide("XLA", stage, **how)


@pytest.mark.parametrize(("how", "said"), ENDS)
def test_xla_is_refused_where_it_ended_the_process(decide, how, said):
    found = decide("graph", "XLA", **how)
    assert found.label == "graph" and found.objections.keys() == {"XLA"}
    assert said in found.objections["XLA"]
