"""The fresh process, called in this one: what it is told, what it leaves."""

import json
from dataclasses import replace
from pathlib import Path

import cattrs
import pytest

from xla_helpers.deciding import child
from xla_helpers.deciding.batches import write_calls
from xla_helpers.deciding.child import CALLS, FLOOR, Report, Task, main
from xla_helpers.deciding.findings import Findings, FirstCall, FirstCalls, Shape, read
from xla_helpers.deciding.plan import Order

MODEL = """
import numpy as np

def make():
    return (lambda x: x * 2), [np.ones(3, "float32"), np.ones(5, "float32"), np.ones(5, "float32")]

def with_options():
    return (*make(), {"calls": 50, "floor": 1.0, "tolerance": 0.0})

def fails():
    def f(x):
        raise LookupError("no such row")
    return f, make()[1]

def leaves():
    raise SystemExit(0)

def fails_as_a_graph():
    return (lambda x: x if float(x[0]) else x), make()[1]
"""


@pytest.fixture
def do(tf, tmp_path, monkeypatch):
    """Does a part for a maker in a file. Returns: what was found."""
    (tmp_path / "the_model.py").write_text(MODEL)

    def do(maker="make", part="first calls, graph", batches=None, plan=None, **options):
        write_calls(tmp_path / "calls.npz", batches, options)
        order = Order(part, part.removeprefix("first calls, "), seconds=60.0)
        found = tmp_path / "found.json"
        task = Task(
            f"{tmp_path}/the_model.py:{maker}", f"{tmp_path}/calls.npz", order, str(found), plan
        )
        told = tmp_path / "task.json"
        told.write_text(json.dumps(cattrs.unstructure(task)))
        main(str(told))
        return read(found)

    return do


def test_first_calls_of_a_reference(do):
    found = do()
    assert [shape.examples for shape in found.plan.shapes] == [1, 2]
    assert [call.shape for call in found.first_of("graph").calls] == [1, 0]  # the frequent first
    assert (found.calls, found.floor) == (CALLS, FLOOR)
    assert found.machine["TensorFlow"].startswith("TensorFlow ")
    assert not found.ends


def test_what_a_maker_says_counts_less_than_what_is_given(do):
    found = do("with_options")
    assert (found.calls, found.floor, found.tolerance) == (50, 1.0, 0.0)
    assert do("with_options", floor=2.0).floor == 2.0


@pytest.mark.parametrize(
    ("maker", "said"),
    [
        ("mak", "has no 'mak': it has make, with_options, fails, leaves, fails_as_a_graph; did"),
        ("leaves", "the_model.py:leaves failed: SystemExit: 0"),
        ("fails", "it cannot be called: LookupError: no such row"),
    ],
)
def test_what_cannot_be_made_or_called(do, maker, said):
    [end] = do(maker).ends
    assert (end.part, end.how) == ("first calls, graph", "failed")
    assert said in end.said


def test_what_fails_as_a_graph_alone_goes_on(do):
    found = do("fails_as_a_graph")
    assert not found.ends
    assert all(call.error for call in found.first_of("graph").calls)


@pytest.mark.parametrize("option", [{"calls": 0}, {"floor": -1.0}, {"tolerance": -1.0}])
def test_options_that_make_no_sense(do, option):
    [(name, value)] = option.items()
    [end] = do(**option).ends
    assert f"`{name}` is {value!r}" in end.said


def test_another_plan_than_before_is_refused(do):
    plan = do().plan
    assert not do("make", plan=plan).ends
    other = replace(plan, shapes=(Shape(("float32[7]",), 3),))
    [end] = do("make", plan=other).ends
    assert "gave other example calls than the first time" in end.said


def test_an_error_in_a_part_is_its_end(do, monkeypatch):
    def part(case, order, report):
        report(Findings(left_out=("Something.",)))
        raise LookupError("no such layer")

    monkeypatch.setitem(child.PARTS, "work", part)
    found = do(part="work")
    assert [(end.how, end.said) for end in found.ends] == [("failed", "LookupError: no such layer")]
    assert found.left_out == ("Something.",)


def test_eager_mode_is_called_once_before_results(do, monkeypatch):
    orders = []
    monkeypatch.setitem(child.PARTS, "results", lambda case, order, report: orders.append(order))
    found = do(part="results")
    assert [call.shape for call in found.first_of("eager").calls] == [1]
    assert orders[0].shapes == (1, 0)


# Reports


def test_the_last_first_calls_of_a_label_count():
    kept = []
    report = Report(kept.append)
    one, two = FirstCall(0, 0.1), FirstCall(1, 0.2)
    report(Findings(first=(FirstCalls("graph", 5, (one,)),)))
    report(Findings(first=(FirstCalls("XLA", 5, (one,)),), left_out=("A.",)))
    report(Findings(first=(FirstCalls("graph", 5, (one, two)),), left_out=("B.",)))
    assert [one.label for one in report.findings.first] == ["XLA", "graph"]
    assert report.findings.first_of("graph").calls == (one, two)
    assert report.findings.left_out == ("A.", "B.")
    assert kept[-1] == report.findings and len(kept) == 3


def test_each_report_is_kept_at_once(do, monkeypatch, tmp_path):
    seen = []

    def part(case, order, report):
        report(Findings(left_out=("Something.",)))
        seen.append(read(Path(tmp_path, "found.json")).left_out)

    monkeypatch.setitem(child.PARTS, "work", part)
    do(part="work")
    assert seen == [("Something.",)]


def test_seconds_run_from_the_start_of_the_process():
    assert child._left(0.5) == 1.0  # this process is older
    assert child._left(1e9) < 1e9
