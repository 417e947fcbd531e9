"""Bug reports: what a folder holds, its replay in another process, and what is refused."""

import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest

import xla_helpers as xh

INTEGERS = [f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64)]
FLOATS = ["bfloat16", "float16", "float32", "float64"]


def contents(folder):
    return {path.name: path.read_text(encoding="utf-8") for path in folder.iterdir()}


def write(folder, files):
    folder.mkdir()
    for name, text in files.items():
        (folder / name).write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def sent(tf, tmp_path_factory):
    """The report on a program with a variable, all kinds of numbers, and several results."""
    weights = tf.Variable([1234.5, -6789.25])

    def score(x, *kinds, scale=2.0):
        weights.assign_add(x)
        return {"constant": tf.constant([1.5, 2.5]), "kinds": kinds, "scaled": x * scale}

    path = tmp_path_factory.mktemp("sent") / "report"
    x, kinds = tf.constant([987.125, 3.0]), [tf.zeros([3], d) for d in INTEGERS + FLOATS]
    with pytest.MonkeyPatch.context() as patch:
        dumps = tmp_path_factory.mktemp("jane doe") / "dumps"
        patch.setenv("XLA_FLAGS", f"--xla_dump_to='{dumps}' --xla_cpu_enable_fast_math=false")
        fn = tf.function(score, jit_compile=True, autograph=False)
        report = xh.write_bug_report(path, fn, x, *kinds, says="it is doubled")
    return SimpleNamespace(path=path, files=contents(path), report=report, weights=weights)


def test_anybody_gets_the_same_bits_by_the_command_in_the_folder(sent):
    command = shlex.split(re.search(r"^ +python (.+)$", sent.files["README.txt"], re.MULTILINE)[1])
    done = subprocess.run([sys.executable, *command], cwd=sent.path, capture_output=True, text=True)
    said, _, _, recorded, replayed = done.stdout.splitlines()
    assert re.fullmatch(r"score\(float32\[2\], .+: it is doubled", said)
    assert recorded.replace("recorded", "replayed") == replayed
    assert xh.describe_machine() in recorded
    assert contents(sent.path) == sent.files


def test_inputs_and_results(sent):
    """Reports hold results for these inputs: they may never change."""
    constant, *kinds, scaled, variable = sent.report.recorded.results
    digest = hashlib.sha256(np.array([1.5, 2.5], np.float32).tobytes()).hexdigest()
    assert constant == f"{digest[:16]} (1.5, 2.5, 2.5)"
    numbers = [result.partition(" ")[2] for result in (scaled, *kinds, variable)]
    assert numbers[0] == "(1.27392, 0.539573, 0.539573)"
    assert (numbers[1], numbers[3]) == ("(7, 6, 5)", "(0, 5, 6)")
    assert all(re.fullmatch(r"\([0-7], [0-7], [0-7]\)", shown) for shown in numbers[1:9])
    assert all(re.search(r"^\(0\.\d+.*0\.\d+", shown) for shown in numbers[9:13])
    dtypes = [dtype for dtype, _ in sent.report.inputs]
    assert dtypes == ["float32", *INTEGERS, *FLOATS, "float32"]  # the last is the variable


def test_a_report_holds_the_program_and_no_data(tf, sent):
    texts = {"stablehlo.mlir", "hlo_before.txt"}
    assert set(sent.files) == {"README.txt", "report.json"} | texts
    assert all(name in sent.files["README.txt"] for name in set(sent.files) - {"README.txt"})
    for name in texts:
        assert "2.5" in sent.files[name] and ".py" in sent.files[name]
    assert "xla_cpu_enable_fast_math" in sent.files["report.json"]
    folders = str(Path(tf.__file__).parents[1]), str(Path(__file__).parent), "jane", "doe"
    for secret in (1234.5, -6789.25, 987.125):
        for spelling in (f"{secret}", f"{secret:e}"):
            assert not any(spelling in text for text in sent.files.values())
    assert not any(folder in text for folder in folders for text in sent.files.values())
    assert sent.weights.numpy().tolist() == [1234.5, -6789.25]


def test_another_program_is_not_the_same(sent, tmp_path):
    other = sent.files["stablehlo.mlir"].replace("2.5", "2.75")
    replay = xh.replay_bug_report(write(tmp_path / "a", sent.files | {"stablehlo.mlir": other}))
    assert not replay.same
    assert replay.recorded.results[0].endswith("(1.5, 2.5, 2.5)")
    assert replay.replayed.results[0].endswith("(1.5, 2.75, 2.75)")
    broken = write(tmp_path / "b", sent.files | {"stablehlo.mlir": "import os"})
    assert "Error" in xh.replay_bug_report(broken).replayed.error


def test_a_program_that_crashes_costs_its_own_process(sent, tmp_path):
    crash = {"stablehlo.mlir": "module attributes {a = " + 10**6 * "["}  # deeper than any stack
    replay = xh.replay_bug_report(write(tmp_path / "a", sent.files | crash))
    assert not replay.same and "killed by SIG" in str(replay)


def test_a_program_that_never_ends_is_recorded_over_an_earlier_report(tf, jit, sent, tmp_path):
    def endless(x):
        return tf.while_loop(lambda x: x >= 0, lambda x: [x * 1.0], [x])

    folder = write(tmp_path / "a", sent.files | {"mine.txt": "mine"})
    report = xh.write_bug_report(folder, jit(endless), tf.zeros([]), timeout=1)
    files = contents(folder)
    assert "ran longer than 1 s" in str(report) and "ran longer" in files["report.json"]
    assert set(files) == {*sent.files, "mine.txt"}


@pytest.mark.parametrize(
    "words, make, args",
    [
        ("PyFunc", lambda tf: lambda x: tf.numpy_function(np.sin, [x], tf.float32), [1.0]),
        ("DT_STRING", lambda tf: lambda x, text: x, [1.0, "a"]),
        ("static", lambda tf: lambda x: x, [[None]]),
        ("an array of C64", lambda tf: lambda x: tf.cast(x, tf.complex64), [[3]]),
    ],
)
def test_what_no_report_can_hold_is_refused(tf, jit, tmp_path, words, make, args):
    given = [tf.TensorSpec(arg) if isinstance(arg, list) else tf.constant(arg) for arg in args]
    with pytest.raises(ValueError, match=words):
        xh.write_bug_report(tmp_path / "a", jit(make(tf)), *given)
    assert not any(tmp_path.iterdir())


def test_what_xla_does_not_compile_is_refused(tf, tmp_path):
    for fn, kind in ((abs, TypeError), (tf.function(abs), ValueError)):
        with pytest.raises(kind, match="jit_compile=True"):
            xh.write_bug_report(tmp_path / "a", fn, 1.0)


def test_inputs_that_are_too_large_are_never_made(sent, tmp_path):
    large = json.loads(sent.files["report.json"]) | {"inputs": [["float32", [2**20, 2**20]]]}
    files = sent.files | {"report.json": json.dumps(large)}
    replay = xh.replay_bug_report(write(tmp_path / "a", files))
    assert "the inputs have more than" in replay.replayed.error and not replay.same


def test_what_is_no_report_is_refused(sent, tmp_path):
    large = write(tmp_path / "large", {"report.json": " " * 2_000_001})
    pipe = write(tmp_path / "pipe", {})
    os.mkfifo(pipe / "report.json")  # opening it would wait for somebody who writes
    for folder in (large, pipe, tmp_path / "missing", large / "report.json"):
        with pytest.raises(ValueError, match="^no bug report: "):
            xh.replay_bug_report(folder)
