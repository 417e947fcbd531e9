"""Parts in processes of their own, which here are small programs without TensorFlow, and here."""

import json
import os
from pathlib import Path

import cattrs
import numpy as np
import pytest

from xla_helpers.deciding import runners
from xla_helpers.deciding.batches import read_calls
from xla_helpers.deciding.findings import FORMAT, Findings, Plan, Shape
from xla_helpers.deciding.plan import Order
from xla_helpers.deciding.runners import Processes, here

ORDER = Order("work", labels=("graph", "XLA"), shapes=(1, 0), seconds=5.0)
PLAN = Plan("f", (Shape(("float32[3]",), 2),))

EMPTY = json.dumps({"format": FORMAT, **cattrs.unstructure(Findings())})
START = f"""
import json, os, sys, time
task = json.load(open(sys.argv[1]))
def found(**findings):
    json.dump(json.loads({EMPTY!r}) | findings, open(task["found"], "w"))
def failed(said):
    end = dict(part="work", how="failed", said=said, seconds=0.0, peak=None, limit=0.0)
    found(ends=[end])
"""


@pytest.fixture
def run(tmp_path, monkeypatch):
    """Runs a program in place of the child. Returns: what was found."""
    runner = Processes("my_model:make", None, {"step": True}, tmp_path, 3 * 10**8)

    def run(program, limit=60.0, plan=None):
        monkeypatch.setattr(runners, "CODE", START + program)
        return runner.run(ORDER, limit, plan)

    return run


@pytest.fixture
def cores_go_elsewhere(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)


def test_what_a_process_is_told(run, tmp_path):
    said = run("found(left_out=[json.dumps(task)])", plan=PLAN).left_out[0]
    task = json.loads(said)
    assert task["reference"] == "my_model:make"
    assert task["order"]["labels"] == ["graph", "XLA"]
    assert task["order"]["seconds"] == 5.0
    assert task["plan"]["shapes"][0]["arguments"] == ["float32[3]"]
    assert {Path(task[name]).parent for name in ("calls", "found")} == {tmp_path}


def test_modules_are_found_as_they_are_here(run, tmp_path, monkeypatch):
    folder = tmp_path / "own"
    folder.mkdir()
    (folder / "script.py").write_text("WHO = 'mine'")  # a name that the child's file could take
    monkeypatch.syspath_prepend(str(folder))
    assert run("import script; found(name=script.WHO)").name == "mine"


def test_temporary_files_go_in_the_end(run, tmp_path):
    program = "import tempfile; found(name=tempfile.gettempdir())"
    assert run(program).name == str(tmp_path)


def test_a_part_that_finishes(run):
    found = run("found(calls=7); time.sleep(0.3)")
    assert found.calls == 7
    [end] = found.ends
    assert (end.part, end.how, end.said, end.limit) == ("work", "finished", "", 60.0)
    assert end.seconds > 0.3 and end.peak > 0


def test_a_part_that_says_that_it_failed(run):
    [end] = run("failed('no such layer')").ends
    assert (end.how, end.said) == ("failed", "no such layer")
    assert end.seconds > 0


@pytest.mark.parametrize(
    "program", ["sys.exit('{}')", "failed('{}')", "print('{}', flush=True); os.abort()"]
)
def test_what_a_process_says_does_not_steer_a_terminal(run, cores_go_elsewhere, program):
    [end] = run(program.format(r"\x1b]0;owned\x07\x1b[2Jlast")).ends
    assert end.said.endswith(" ]0;owned  [2Jlast") and end.said.isprintable()


@pytest.mark.parametrize(
    ("program", "how", "said"),
    [
        ("time.sleep(300)", "time", ""),
        ("held = b'x' * 500_000_000; time.sleep(300)", "memory", "it held more than 300 MB"),
        ("os.abort()", "killed", "killed by SIGABRT"),
        ("print('last words', flush=True); os.abort()", "killed", "killed by SIGABRT: last words"),
        ("sys.exit(3)", "failed", "exit code 3"),
        ("raise LookupError('x')", "failed", "exit code 1: LookupError: x"),
        ("print('x' * 60_000_000)", "failed", "it printed too much to keep"),
    ],
)
def test_a_process_that_ends_badly_leaves_what_it_found(
    run, cores_go_elsewhere, program, how, said
):
    found = run(f"found(calls=7); {program}", limit=4.0)
    assert found.calls == 7
    assert [(end.how, end.said) for end in found.ends] == [(how, said)]


def test_what_an_earlier_part_found_is_not_taken_for_its_own(run):
    assert run("found(calls=7)").calls == 7
    assert run("").calls == 0


# What is given beside a reference


def test_example_calls_travel_with_the_reference(tf, tmp_path):
    batches = [np.ones([2, 3], "float32"), np.ones([4, 3], "float32")]
    Processes("my_model:make", batches, {"worst": [np.zeros([0, 3])]}, tmp_path, 3 * 10**8)
    calls, options = read_calls(tmp_path / "calls.npz")
    assert [example.args[0].shape for example in calls.examples] == [(2, 3), (4, 3)]
    assert options["worst"][0].shape == (0, 3)


def test_what_cannot_travel_is_refused(tmp_path):
    with pytest.raises(TypeError, match="`pad` cannot be given to a fresh process: let the func"):
        Processes("my_model:make", None, {"pad": lambda x: x}, tmp_path, 3 * 10**8)


# In this process


def test_a_live_object_is_called_here(tf, tmp_path):
    pids = []

    def f(x):
        pids.append(os.getpid())
        return x * 2

    runner = here(f, [tf.ones([3])], {"calls": 50, "floor": 1.2})
    found = runner.run(Order("first calls, graph", "graph", seconds=60.0), 60.0)
    assert set(pids) == {os.getpid()}
    assert (found.calls, found.floor, found.plan.shapes[0].examples) == (50, 1.2, 1)
    assert [call.error for call in found.first_of("graph").calls] == [""]
    assert [(end.part, end.how) for end in found.ends] == [("first calls, graph", "finished")]


def test_what_fails_here_ends_its_part(tf):
    def f(x):
        raise LookupError("no such row")

    found = here(f, [tf.ones([3])], {}).run(Order("first calls, graph", "graph"), 60.0)
    [end] = found.ends
    assert (end.how, end.said) == ("failed", "it cannot be called: LookupError: no such row")


def test_what_makes_no_sense_is_refused(tf):
    with pytest.raises(ValueError, match="there are no example calls"):
        here(lambda x: x, None, {})
