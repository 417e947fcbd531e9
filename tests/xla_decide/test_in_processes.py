"""Processes that decide about a model in a file, and how their ends are told."""

import re
import sys
import textwrap
from dataclasses import replace
from types import SimpleNamespace

import msgspec
import pytest

import xla_decide as xd
import xla_helpers as xh
from xla_decide import ask_child, child, protocol
from xla_decide.costs import Cost, ProcessResult

HEAD = """
import os
import time
import numpy as np
import tensorflow as tf
from xla_decide import child, study
"""
ROWS = '[np.ones(3, "float32")]'


def file_of(folder, text):
    path = folder / "mine.py"
    path.write_text(HEAD + textwrap.dedent(text))
    return f"{path}:make"


def decide(folder, text, **options):
    return xd.decide_file(file_of(folder, text), **{"runs": 1, "budget": 0.2} | options)


# Real ends, one of each kind


def test_a_crash_in_the_race_refuses_nobody(tmp_path):
    text = f"""
    def make():
        study.race_passes = lambda *args, **options: os.abort()
        return tf.tanh, {ROWS}
    """
    found = decide(tmp_path, text)
    assert found.label == "" and not found.objections
    assert "the race ended process 1 of 1: SIGABRT" in found.verdict


def test_an_example_that_never_comes_is_not_the_fault_of_xla(tmp_path):
    text = """
    def batches():
        yield np.ones(3, "float32")
        time.sleep(60)

    def make():
        child.CALL_SECONDS = 2
        return tf.tanh, batches()
    """
    with pytest.raises(ValueError, match="ended at the next example: it took longer than"):
        decide(tmp_path, text)


def test_a_crash_under_xla_refuses_it_and_says_which(tmp_path, capsys, monkeypatch):
    monkeypatch.setattr(ask_child, "PROGRESS_SECONDS", 1.0)
    text = """
    import os
    from xla_helpers.calls import Call
    Call.refuse_text = lambda self: os.abort()  # as a call of XLA may, on any release
    make = lambda: (tf.tanh, [tf.ones([3])])
    """
    decision = decide(tmp_path, text, runs=6)
    assert decision.label == "graph" and len(decision.findings) == 1
    assert "ended process 1 of 6: SIGABRT" in decision.verdict
    assert "process 1 of 6: 1 s, the start" in capsys.readouterr().out


@pytest.mark.parametrize("longest", [1.0, 0.0])
def test_clusters_in_the_graph_are_no_baseline(tmp_path, monkeypatch, longest):
    """Those of a call that takes too long to be recorded are known by the log."""
    monkeypatch.setenv("TF_XLA_FLAGS", "--tf_xla_auto_jit=2 --tf_xla_cpu_global_jit")
    text = f"""
    from xla_decide import calling
    calling.RECORDED_SECONDS = {longest}
    def f(x):
        return tf.reduce_sum(tf.tanh(x) * tf.sin(x) + x * x)

    def make():
        return f, [np.ones([64, 64], "float32")]
    """
    decision = decide(tmp_path, text)
    assert decision.label == "" and "TF_XLA_FLAGS" in decision.inconclusive


# The same random numbers, in the process of a user who does as users do


def test_a_training_step_with_dropout_is_compared_with_the_same_numbers(tmp_path, capsys):
    text = """
    os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"
    import argparse, keras
    argparse.ArgumentParser().parse_args()
    tf.config.run_functions_eagerly(True)

    def make():
        layers = [keras.layers.Dense(8), keras.layers.Dropout(0.5), keras.layers.Dense(2)]
        model = keras.Sequential([keras.Input([4]), *layers])
        model.compile("sgd", "mse")
        pair = np.ones([8, 4], "float32"), np.ones([8, 2], "float32")
        return model, [pair], {"step": True}
    """
    decision = decide(tmp_path, text)
    assert "the same random numbers for both" in capsys.readouterr().out
    assert "XLA" in decision.gains and not decision.not_compared
    assert any("both draw the same ones" in note for note in decision.notes)
    assert any("run_functions_eagerly" in note for note in decision.notes)


def test_a_model_with_text_is_refused_and_ends_no_process(tmp_path):
    """Where XLA has compiled anything before, the call of a compiled function with text does."""
    text = """
    import keras
    tf.function(lambda x: x + 1.0, jit_compile=True)(1.0)
    def make():
        words = keras.layers.TextVectorization(max_tokens=50)
        words.adapt(["a b c", "d e f"])
        layers = keras.Input([1], dtype="string"), words, keras.layers.Embedding(50, 4)
        model = keras.Sequential(layers)
        return model, [np.array([["a b c"]] * rows, dtype=object) for rows in (2, 3, 4)]
    """
    decision = decide(tmp_path, text)
    assert decision.label == "graph" and "SIG" not in decision.objections["XLA"]
    assert "text or a table as an argument" in decision.objections["XLA"]


LATE = """
import tensorflow as tf
@tf.autograph.experimental.do_not_convert
def late(n):
    if n == 2:
        raise OSError("no more")
    return tf.constant(n)
make = lambda: (late, [1, 2])
"""


@pytest.mark.parametrize(
    ("text", "runs", "message"),
    [
        ("make = lambda: (abs, [1.0])", 3, "1, or at least 6"),
        ("make = lambda: (abs, [1.0], {'worst': []})", 1, "unknown option worst"),
        ("def make():\n    return 1 / 0", 1, r"ZeroDivisionError.*\(mine.py, line 2, in make\)"),
        ("def mak(): pass", 1, "no `make` in mine.py; it has mak"),
        ("make = lambda: abs", 1, "are the example calls missing"),
        ("make = lambda: ('saved', [1.0])", 1, "a path, saved, .* ask xla-decide for the path"),
        ("make = lambda: (abs, [1], {}, 2)", 1, "not 4 things"),
        ("import sys; sys.exit(2)", 1, "SystemExit: 2.*command-line arguments"),
        ("import no_such_package", 1, "imports no_such_package, which is not in this environment$"),
        ("import keras.utils.np_utils", 1, "mine.py: No module named 'keras.utils.np_utils'$"),
        ("import skimage.io", 1, "is not in this environment; the package is scikit-image$"),
        ("make = lambda: ((lambda x: x.missing), [1.0])", 1, "the graph fails"),
        (LATE, 1, r"the graph fails with int: OSError: no more \(mine.py, line 6, in late\)"),
        ("make = lambda: (__import__('os')._exit(3), [])", 1, "at the start"),
        ("make = lambda: (__import__('os')._exit(0), [])", 1, "at the start: .*exit code 0"),
        ("make = lambda: ((lambda x: exit(0)), [1.0])", 1, "the model ends the process itself"),
    ],
)
def test_what_makes_no_sense_is_one_line(tmp_path, text, runs, message):
    (tmp_path / "mine.py").write_text(text)  # two of them come as far as TensorFlow
    with pytest.raises(ValueError, match=message) as caught:
        xd.decide_file(f"{tmp_path}/mine.py:make", runs=runs)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("stderr", "is_late"),
    [
        ("Timeout (0:01:00)!\nThread 0x1 (most recent call first):\n", True),
        ("Timeout (0:00:00.500000)!\n", True),
        ("10/10 ━━━━ 0s 3ms/stepTimeout (0:01:00)!\n", True),  # behind a bar of Keras
        ("Timeout (0:01:00) of the queue\n", False),
        ("it took longer than a minute", False),
    ],
)
def test_a_call_that_faulthandler_ended_is_told_by_its_line(stderr, is_late):
    assert bool(ask_child.LATE.search(stderr)) == is_late


def test_a_file_with_the_name_of_a_package_is_told(tmp_path):
    (tmp_path / "six.py").write_text("import six.moves")
    with pytest.raises(ValueError, match=r"six.py has the name of a package"):
        xd.decide_file(f"{tmp_path}/six.py:make", runs=1)


@pytest.mark.parametrize(
    ("imports", "folder", "is_package"),
    [
        ("from src.layers import double", "src", False),
        ("from .src.layers import double", "models/src", True),
        ("from layers import double", "models", False),
        ("from layers import double", "models", True),
    ],
)
def test_a_file_imports_what_its_project_does(tmp_path, imports, folder, is_package):
    """From the folder above, from its own package, from the folder that it lies in."""
    for name in ("models", folder):
        (tmp_path / name).mkdir(parents=True, exist_ok=True)
    if is_package:
        (tmp_path / "models/__init__.py").touch()
    (tmp_path / folder / "layers.py").write_text("def double(x):\n    return 2.0 * x\n")
    text = f"{HEAD}\n{imports}\n\ndef make():\n    return double, {ROWS}\n"
    (tmp_path / "models/net.py").write_text(text)
    found = xd.decide_file(f"{tmp_path}/models/net.py:make", runs=1, budget=0.2)
    assert "XLA" in found.gains


def test_a_file_that_is_none_and_a_function_that_is_none(tmp_path):
    (tmp_path / "mine.py").touch()
    with pytest.raises(ValueError, match="no file"):
        xd.decide_file("missing.py:make")
    with pytest.raises(ValueError, match="no function"):
        xd.decide_file(f"{tmp_path}/mine.py")


def test_what_leaves_tensorflow_2_is_told(monkeypatch):
    """In this process, with stand-ins: a start of TensorFlow takes five seconds."""
    refuse = child._refuse_other_worlds
    monkeypatch.setitem(sys.modules, "tensorflow", SimpleNamespace(executing_eagerly=bool))
    with pytest.raises(ValueError, match=r"mine\.py switches TensorFlow 2 off"):
        refuse("a/mine.py")
    for name in ("jax", "torch"):
        keras = SimpleNamespace(config=SimpleNamespace(backend=lambda name=name: name))
        monkeypatch.setitem(sys.modules, "keras", keras)
        with pytest.raises(ValueError, match=f"Keras on {name}"):
            refuse("a/mine.py")


# Made-up processes


FOUND = ProcessResult(
    "here",
    {"float32[3]": 1.0},
    {x: Cost(t, t, t, 0.0, 1, 1, 0) for x, t in {"graph": 2e-3, "XLA": 1e-3}.items()},
    {"XLA": ""},
)
PLAN = {"calls": 9, "min_speedup": 1.05, "repeats": None}


@pytest.fixture
def made(tmp_path, monkeypatch):
    """Decide about processes of which each says its lines, and ends so."""
    (tmp_path / "mine.py").touch()

    def decide(*lines, runs=1, signal=None, timed_out=False, stderr=None):
        told, asked = iter(lines), []

        def process(code, args, timeout):
            asked.append(args[-1])
            mine = [{"machine": "here", "plan": PLAN}, *next(told)]
            args[-2].write_bytes(b"".join(msgspec.json.encode(x) + b"\n" for x in mine))
            if signal or timed_out or stderr is not None:
                raise xh.ProcessError(
                    "It ended.", "", stderr or "", signal=signal, timed_out=timed_out
                )

        monkeypatch.setattr(ask_child, "run_in_process", process)
        decide.asked = asked
        return xd.decide_file(f"{tmp_path}/mine.py:make", runs=runs)

    return decide


def ended_at(*names):
    return [{"stage": name} for name in names]


def finds(found):
    return [{"stage": "the end", "finding": found}]


ENDS = [
    ({"signal": "SIGSEGV"}, "SIGSEGV"),
    ({"timed_out": True}, "longer than 900 s in all"),
    ({"stderr": "Timeout (0:03:00)!"}, "longer than 180 s"),
    ({"stderr": ""}, "It ended"),
    ({}, "exit code 0"),
    ({"stderr": "Timeout (s) was set to 30", "signal": "SIGABRT"}, "SIGABRT"),
    ({"stderr": "Timeout (s) was set to 30"}, "It ended"),
]


@pytest.mark.parametrize(("how", "said"), ENDS)
def test_the_race_is_no_candidate(made, how, said):
    found = made(ended_at("graph", "XLA", protocol.RACING), **how)
    assert found.label == "" and not found.objections and not found.gains
    assert "the race" in found.verdict and re.search(said, found.verdict)


@pytest.mark.parametrize("stage", ["graph", protocol.DRAWING])
@pytest.mark.parametrize(("how", "said"), ENDS)
def test_where_nothing_is_left_to_choose_it_is_an_error(made, stage, how, said):
    with pytest.raises(ValueError, match=rf"ended at .*({said})"):
        made(ended_at("XLA", stage), **how)


@pytest.mark.parametrize(("how", "said"), ENDS)
def test_xla_is_refused_where_it_ended_the_process(made, how, said):
    found = made(ended_at("graph", "XLA"), **how)
    assert found.label == "graph" and found.objections.keys() == {"XLA"}
    assert re.search(said, found.objections["XLA"])


@pytest.mark.parametrize("stage", ["eager", "the reason", "invalid input 1"])
@pytest.mark.parametrize(("how", "said"), ENDS)
def test_what_comes_last_takes_nothing_away(made, stage, how, said):
    found = made([{"stage": stage, "finding": FOUND}], **how)
    assert found.label == "XLA" and any(re.search(said, note) for note in found.notes)


def test_a_candidate_that_ends_the_process_is_refused_and_xla_is_not_blamed(made):
    found = made(ended_at("graph", "XLA", "mine"), signal="SIGABRT")
    assert "ended process 1 of 1: SIGABRT" in found.objections["mine"]
    assert found.objections["XLA"].startswith("was not tried to the end, because mine ended")


def test_processes_that_find_different_shapes_are_no_decision(made):
    others = [replace(FOUND, shapes={f"float32[{n}]": 1.0}) for n in (3, 4)]
    with pytest.raises(ValueError, match=r"float32\[3\]; float32\[4\]"):
        made(*map(finds, others), runs=6)
    slow = [replace(found, is_whole=False) for found in others]  # drawn in time: no two are alike
    assert made(*map(finds, slow * 3), runs=6).label == "XLA"


def test_what_one_process_of_six_finds_is_told_with_its_number(made):
    odd = replace(FOUND, objections={"XLA": "differs from the graph"})
    found = made(*[finds(FOUND)] * 5, finds(odd), runs=6)
    assert found.objections["XLA"] == "differs from the graph (in 1 of 6 processes)"


RANDOM = replace(FOUND, not_compared={"XLA": "random numbers are drawn (RandomUniform)"})


@pytest.mark.parametrize(
    ("same_numbers", "label", "processes_asked"),
    [
        ({"differs": "", "not compared": ""}, "XLA", 7),
        ({"differs": "differs from the graph", "not compared": ""}, "graph", 2),
        ({"differs": "", "not compared": "gamma is drawn"}, "XLA, results not compared", 7),
    ],
)
def test_results_are_compared_once_in_a_process_of_its_own(
    made, same_numbers, label, processes_asked
):
    lines = [finds(RANDOM), [{"same_numbers": same_numbers}], *[finds(RANDOM)] * 5]
    assert made(*lines, runs=6).label == label
    assert len(made.asked) == processes_asked
    assert made.asked[:2] == [protocol.FIRST, protocol.SAME_NUMBERS]
    assert set(made.asked[2:]) <= {protocol.STUDY}


def test_what_that_comparison_refuses_is_refused_in_all_processes(made):
    """Though there is another candidate, and the race goes on."""
    both = replace(RANDOM, objections={"XLA": "", "mine": ""})
    same_numbers = {"differs": "differs from the graph", "not compared": ""}
    found = made(finds(both), [{"same_numbers": same_numbers}], *[finds(both)] * 5, runs=6)
    assert found.objections == {"XLA": "differs from the graph", "mine": ""}


def test_a_comparison_that_fails_leaves_results_not_compared(made):
    found = made(finds(RANDOM), [{"error": "no such file"}])
    assert found.label == "XLA, results not compared"
    assert "no such file" in found.not_compared["XLA"]


def test_a_label_may_hold_what_some_take_for_the_end_of_a_line(made):
    odd = "XLA,\u2028padded"
    found = made(finds(replace(FOUND, objections={"XLA": "", odd: "is odd"})))
    assert found.objections[odd] == "is odd"
