"""Comparisons as files, read again or refused."""

import json
import math
import os
import socket
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import date

import pytest

import xla_helpers as xh
from xla_helpers import results
from xla_helpers.differences import Difference
from xla_helpers.evidence import Evidence

WHAT = "a sum of three numbers"
MACHINE = {"processor": "A processor", "cores": "2 cores", "TensorFlow": "TensorFlow 2.99"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where results go, on a machine that is always the same."""
    monkeypatch.setenv("XLA_RESULTS", str(tmp_path / "results"))
    monkeypatch.setattr(results, "machine_facts", lambda: MACHINE)
    return tmp_path / "results"


def test_what_is_recorded_is_read_again(folder, examples):
    written = replace(
        examples.comparison(graph=2.0, XLA=1.0),
        differences={"graph": Difference(), "XLA": Difference(1e-7)},
        tolerance=1e-5,
        evidence={"graph": Evidence(graphs=1, programs=0), "XLA": Evidence(programs=2)},
        own_variables=True,
    )
    written = replace(written, control=written["graph"])
    path = xh.record("fused-sum", written, WHAT)
    (result,), skipped = xh.read_results()
    assert (path, skipped) == (folder / "a-processor-2-cores/fused-sum.json", {})
    assert (result.about, result.machine) == (("fused-sum", WHAT, "XLA", "graph", 1), MACHINE)
    assert (result.title, result.hardware) == (
        " · ".join(MACHINE.values()),
        "A processor · 2 cores",
    )
    assert (result.runs[0].day, result.runs[0].load) == (date.today().isoformat(), None)
    assert result.comparison == written and result.libraries["keras"]


def test_a_file_holds_nothing_personal(tf, tmp_path, monkeypatch, examples):
    for name in ("HOME", "USER", "LOGNAME"):
        monkeypatch.setenv(name, str(tmp_path / "somebody"))
    monkeypatch.setattr(socket, "gethostname", lambda: "somebody")
    written = replace(
        examples.comparison(graph=2.0, XLA=1.0),
        failures={"eager": "somebody"},
        differences={"graph": Difference(1e-7, "result['somebody']", "somebody")},
        evidence={"graph": Evidence(random_ops=("somebody",))},
        inconclusive="somebody",
    )
    text = xh.record("fused-sum", written, WHAT, folder=tmp_path).read_text()
    assert "somebody" not in text and str(tmp_path) not in text
    read = xh.read_results(tmp_path)[0][0].comparison
    assert read.inconclusive and read.differences == written.differences


def test_what_compare_found_equals_what_was_recorded(folder):
    found = xh.compare({"graph": sum, "XLA": sum}, ([1.0, 2.0],), rounds=6, budget=0, block=1e-4)
    xh.record("a-sum", found, WHAT)
    assert xh.read_results()[0][0].comparison == found


def test_recording_again_replaces_a_name_and_no_other(folder, examples):
    for name, seconds in (("a", 1.0), ("b", 2.0), ("a", 3.0)):
        xh.record(name, examples.comparison(graph=seconds, XLA=1.0), WHAT)
    read, _ = xh.read_results()
    assert [(r.name, r.comparison["graph"].median) for r in read] == [("a", 3.0), ("b", 2.0)]


def test_a_raised_version_has_a_file_of_its_own(folder, examples):
    """And what was written before there were versions is of the first."""
    for version in (1, 2):
        seconds = 1.0 + version
        xh.record("a", examples.comparison(graph=seconds, XLA=1.0), WHAT, version=version)
    one, two = (folder / f"a-processor-2-cores/{name}.json" for name in ("a", "a@2"))
    assert {one, two} == {*folder.rglob("*.*")}
    before = json.loads(one.read_text())
    assert before.pop("version") == 1
    one.write_text(json.dumps(before | {"source": "a hash, as earlier files have it"}))
    read, skipped = xh.read_results()
    found = {result.version: result.comparison["graph"].median for result in read}
    assert (found, skipped) == ({1: 2.0, 2: 3.0}, {})
    assert len({result.about for result in read}) == 2


@pytest.mark.parametrize("version", [0, -1, 1000, True, 1.5, "2", None])
def test_a_version_that_is_no_number_from_1_is_refused(folder, examples, version):
    with pytest.raises(ValueError):
        xh.record("a", examples.comparison(graph=2.0, XLA=1.0), WHAT, version=version)
    assert not folder.exists()


@pytest.mark.parametrize(
    "name", ["日本", "東京", "", "-a", "../a", "a/b", "a@2", "A", "a\n", "a" * 101]
)
def test_a_name_that_is_no_file_name_everywhere_is_refused(folder, examples, name):
    with pytest.raises(ValueError):
        xh.record(name, examples.comparison(graph=2.0, XLA=1.0), WHAT)
    assert not folder.exists()


@pytest.mark.parametrize("seconds", [{}, {"graph": 0.0, "XLA": 1}, {"graph": math.nan, "XLA": 1}])
def test_what_no_file_may_hold_replaces_nothing(folder, examples, seconds):
    before = xh.record("fused-sum", examples.comparison(graph=2.0, XLA=1.0), WHAT).read_bytes()
    with pytest.raises(ValueError):
        xh.record("fused-sum", examples.comparison(**seconds), WHAT)
    assert [path.read_bytes() for path in folder.rglob("*.*")] == [before]


@pytest.mark.parametrize(
    ("options", "missing"),
    [
        ({"rival": "grpah"}, "grpah was not measured: there is graph, XLA"),
        ({"label": "xla"}, "xla was not measured"),
        ({"rival": "eager"}, "eager was not measured"),
        ({"label": "Xla", "rival": "Graph"}, "Graph, Xla was not measured"),
    ],
)
def test_a_row_that_was_not_measured_is_not_recorded(folder, examples, options, missing):
    with pytest.raises(ValueError, match=missing):
        xh.record("fused-sum", examples.comparison(graph=2.0, XLA=1.0), WHAT, **options)
    assert not folder.exists()


def test_a_row_of_other_results_is_left_out_of_the_file(folder, examples):
    found = examples.comparison(graph=2.0, XLA=1.0, OpenVINO=0.5)
    found = replace(
        found,
        differences=found.differences | {"OpenVINO": Difference(0.002)},
        evidence={"OpenVINO": Evidence()},
    )
    results, skipped = xh.read_results(xh.record("a", found, WHAT))
    assert list(results[0].comparison.measurements) == ["graph", "XLA"] and not skipped
    assert results[0].comparison.evidence.keys() <= {"graph", "XLA"}
    with pytest.raises(ValueError, match="OpenVINO has other results"):
        xh.record("a", found, WHAT, label="OpenVINO")


GPUS = ", ".join(["NVIDIA H100 80GB HBM3"] * 8)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ({"accelerators": GPUS, "oneDNN": "oneDNN"}, {"accelerators": GPUS, "oneDNN": "no oneDNN"}),
        ({"processor": "P" * 130, "cores": "2"}, {"processor": "P" * 130, "cores": "64"}),
        ({"processor": "プロセッサ"}, {"processor": "東京"}),
    ],
)
def test_two_machines_have_two_folders(examples, one, other):
    made = [replace(examples.result(graph=2.0, XLA=1.0), machine=x) for x in (one, other)]
    folders = {results.path_of(result, "here").parent.name for result in made}
    assert len(folders) == 2 and all(len(name) <= 140 and name.isascii() for name in folders)


def test_the_folder_of_a_machine_with_a_short_name_is_that_name(examples):
    result = replace(examples.result(graph=2.0, XLA=1.0), machine=MACHINE)
    assert results.path_of(result, "here").parent.name == "a-processor-2-cores"


@pytest.mark.parametrize("names", [["a"], ["a", "b"], ["a", "a", "b", "b"]])
def test_several_may_write_at_once(folder, examples, names):
    """As two notebooks of a class do whose home folder is one."""
    found = examples.comparison(graph=2.0, XLA=1.0)
    xh.record("a", found, WHAT)

    def write(name):
        for _ in range(20):
            xh.record(name, found, WHAT)

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(write, names * 4))
    assert {path.name for path in folder.rglob("*.*")} == {"a.json", *(f"{x}.json" for x in names)}
    assert xh.read_results(folder)[1] == {}


def test_runs_join_earlier_ones_while_all_else_is_the_same(examples):
    """Six at most, the oldest first; and of one run the ratio is its own."""
    one, two = (examples.result(graph=seconds, XLA=1.0) for seconds in (2.0, 4.0))
    both = two.with_runs(one)
    assert both.runs == (*one.runs, *two.runs)
    for other in ({"version": 2}, {"machine": MACHINE}, {"libraries": {"keras": "9"}}):
        assert two.with_runs(replace(one, **other)) == two
    for _ in range(5):
        both = two.with_runs(both)
    assert both.runs == two.runs * 6


def test_a_ratio_is_of_one_process_or_from_the_lowest_to_the_highest_of_six(examples):
    found = [examples.comparison(graph=1.0 + n, XLA=1.0) for n in range(6)]
    one, six = examples.result(found[1]), examples.result(*found)
    assert one.ratio == found[1].ratio("XLA", "graph")
    assert (six.ratio.low, six.ratio.value, six.ratio.high) == pytest.approx((1.0, 3.5, 6.0))
    assert not examples.result(*found[:5]).ratio.has_interval
    assert examples.result(eager=4.0, XLA=1.0).ratio is None
    rival = replace(examples.result(graph=4.0, mine=1.0), label="mine")
    assert rival.ratio.value == pytest.approx(4.0)


def test_a_row_that_ran_something_else_is_not_as_labelled(examples):
    ran = {"graph": Evidence(graphs=1, programs=0), "XLA": Evidence(programs=1)}
    good = replace(examples.comparison(graph=2.0, XLA=1.0, eager=1.0), evidence=ran)
    assert examples.result(good).as_labelled  # whatever eager ran
    hybrid = replace(good, evidence=ran | {"graph": Evidence(graphs=1, programs=9)})
    assert not examples.result(good, hybrid).as_labelled


def row(**changes):
    return {"label": "eager", "first": 1.0, "samples": [1.0, 1.0], "calls": 1} | changes


def run(*rows, **changes):
    named = {str(i): one for i, one in enumerate(rows)}
    return {"measurements": named, "differences": {}, "tolerance": 1e-4} | changes


def content(*runs, **changes):
    recorded = [{"day": "2026-01-31", "comparison": one} for one in runs]
    shared = {"name": "n", "what": WHAT, "machine": MACHINE, "runs": recorded}
    return json.dumps(shared | changes)


BAD = {
    "cut": content(run(row()))[:200],
    "deep": "[" * 10_000,
    "large": content(run(row())) + " " * 2_000_000,
    "name": content(run(row()), name="A"),
    "lines": content(run(row()), what="a\x1b[2J"),
    "no run": content(),
    "no row": content(run()),
    "no sample": content(run(row(samples=[]))),
    "no time": content(run(row(samples=[1.0, 0]))),
    "first call": content(run(row(first=-1))),
    "unlike rows": content(run(row(), row(samples=[1.0]))),
    "unlike control": content(run(row(), control=row(samples=[1.0]))),
    "unlike results": content(run(row(), differences={"0": {"size": 1.0}})),
}


def test_what_is_no_result_is_skipped_with_the_reason(folder):
    folder.mkdir()
    for name, text in (BAD | {"good": content(run(row()))}).items():
        (folder / f"{name}.json").write_text(text)
    read, skipped = xh.read_results(folder)
    assert len(read) == 1 and skipped.keys() == {str(folder / f"{name}.json") for name in BAD}
    assert all(why.isprintable() and 0 < len(why) <= 200 for why in skipped.values())


def test_places_are_files_and_folders_and_their_folders(folder, examples, tmp_path):
    found = examples.comparison(graph=2.0, XLA=1.0)
    one = xh.record("one", found, WHAT, folder=tmp_path / "class/01")
    xh.record("two", found, WHAT, folder=tmp_path / "class/02")
    (tmp_path / "class/notes.txt").write_text("no result")
    os.mkfifo(tmp_path / "class/pipe.json")  # which would wait for ever
    (tmp_path / "class/gone.json").symlink_to("nowhere")
    read, skipped = xh.read_results(tmp_path / "class", str(one), tmp_path / "missing")
    assert [result.name for result in read] == ["one", "two", "one"]
    assert [path.rpartition("/")[2] for path in skipped] == ["gone.json", "pipe.json", "missing"]
    reasons = [*skipped.values()]
    assert reasons[0] == reasons[2] == "there is no such file or folder" != reasons[1]
