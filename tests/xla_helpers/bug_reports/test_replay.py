"""Replays. Two tests start fresh processes; in the others archived programs run in this one."""

import struct
import zipfile

import numpy as np
import pytest
from google.protobuf.text_encoding import CEscape

from xla_helpers import (
    BugReportError,
    ProcessError,
    read_bug_report,
    replay_bug_report,
    run_in_process,
    write_bug_report,
)
from xla_helpers.bug_reports import replay


def double(x):
    return 2 * x


def spellings(number):
    """A number as the files of an archive may hold it: as text, as bytes, and as escaped bytes."""
    raw = struct.pack("<f", number)
    return f"{number}".encode(), f"{number:e}".encode(), raw, CEscape(raw, False).encode()


@pytest.fixture
def ends(monkeypatch):
    """Let the process of a replay run other code instead."""

    def ends(code, **options):
        def run(*arguments, **others):
            return run_in_process(code, **options)

        monkeypatch.setattr(replay, "run_in_process", run)

    return ends


def test_a_report_is_replayed_from_the_archive_alone(tf, jit, archive, monkeypatch):
    flags = "--xla_cpu_enable_fast_math=false --xla_dump_hlo_as_text=false --xla_dump_to="
    monkeypatch.setenv("XLA_FLAGS", f"{flags}{archive.parent}/dumps")
    monkeypatch.setenv("A_SECRET", "the-secret")
    scale, calls = tf.Variable([1234.5, 6789.5]), tf.Variable(0)

    @jit
    def step(x, n, mask):
        calls.assign_add(1)
        return {"b": tf.where(mask, x * scale, x), "a": n + 1}

    arguments = [tf.constant([0.87654321, 0.5]), tf.constant(41), tf.constant([True, False])]
    report = write_bug_report(archive, step, *arguments)
    assert list(map(str, report.inputs)) == [
        *("float32[2]", "int32[]", "bool[2]"),
        *("int32[]", "float32[2]"),
    ]
    assert [spec.captured for spec in report.inputs] == [False] * 3 + [True] * 2
    assert len(report.outputs) == 3  # two results, and the new value of `calls`
    assert report.flags["XLA_FLAGS"] == f"{flags}dumps"
    assert "report.zip: step(float32[2], int32[], bool[2]" in repr(report)
    assert report.match == "same bits" and read_bug_report(archive) == report
    assert calls.numpy() == 0 and scale.numpy().tolist() == [1234.5, 6789.5]

    with zipfile.ZipFile(archive) as file:
        content = b"".join(map(file.read, file.namelist()))
    for private in (b"the-secret", b"A_SECRET", *spellings(1234.5), *spellings(6789.5)):
        assert private not in content
    assert not any(private in content for private in spellings(np.float32(0.87654321)))
    assert str(archive.parent).encode() not in content and b"site-packages" not in content

    moved = archive.rename(archive.with_name("moved.zip"))
    again = replay_bug_report(moved)
    assert again.same and again.match == "same bits"
    assert len(again.answer.results) == 3
    assert "moved.zip: same bits" in repr(again) and report.line_without_xla in repr(again)


def test_a_crash_is_an_answer(jit, archive, here, ends, change):
    write_bug_report(archive, jit(double), 1.0)
    ends("import os; os.kill(os.getpid(), 9)")
    crashed = replay_bug_report(archive)
    assert crashed.answer.error == "The process was killed by SIGKILL."
    assert crashed.match == "other error" and not crashed.same
    change(with_xla={"results": [], "error": crashed.answer.error})
    assert replay_bug_report(archive).match == "same error" and replay_bug_report(archive).same


def test_a_hang_and_a_failure_are_errors(jit, archive, here, ends):
    write_bug_report(archive, jit(double), 1.0)
    ends("import time; time.sleep(60)", timeout=0.2)
    with pytest.raises(ProcessError, match=r"longer than 0.2 s") as error:
        replay_bug_report(archive)
    assert error.value.timed_out
    ends("raise SystemExit('no TensorFlow here')")
    with pytest.raises(BugReportError, match="report.zip cannot be replayed(.|\n)*no TensorFlow"):
        replay_bug_report(archive)


def test_a_process_cannot_say_how_it_ended(jit, archive, here, ends):
    write_bug_report(archive, jit(double), 1.0)
    said = "The process was killed by SIGSEGV."
    ends(f"print({said!r}); raise SystemExit({said!r})")
    with pytest.raises(BugReportError, match="cannot be replayed: The process ended with exit"):
        replay_bug_report(archive)
    ends(f"import os; print({said!r}, flush=True); os.kill(os.getpid(), 9)")
    assert replay_bug_report(archive).answer.error == "The process was killed by SIGKILL."


def test_another_program_gives_another_result(tf, jit, archive, here, rewrite):
    write_bug_report(archive, jit(lambda x: tf.reduce_sum(x * x)), tf.ones([9]))
    rewrite("stablehlo.mlir", lambda text: text.replace("stablehlo.multiply", "stablehlo.add"))
    changed = replay_bug_report(archive)
    assert changed.match == "different" and not changed.same


def test_a_program_that_fails_gives_an_error(jit, archive, here, rewrite):
    write_bug_report(archive, jit(double), 1.0)
    rewrite("stablehlo.mlir", lambda text: "nonsense")
    failed = replay_bug_report(archive)
    assert failed.match == "other error" and "Error" in failed.answer.error


def test_a_report_that_claims_fewer_results_is_not_the_same(jit, archive, here, change):
    write_bug_report(archive, jit(double), 1.0)
    change(with_xla={"results": [], "error": None})
    assert replay_bug_report(archive).match == "different"


def test_inputs_beyond_all_bounds_are_an_answer(jit, archive, here, change):
    write_bug_report(archive, jit(double), 1.0)
    huge = {"dtype": "float32", "shape": [10**12, 10**12], "name": "x", "captured": False}
    change(inputs=[huge])
    assert "a replay makes at most" in replay_bug_report(archive).answer.error


def test_an_archive_without_its_program_needs_no_process(jit, archive, here, ends, rewrite):
    write_bug_report(archive, jit(double), 1.0)
    rewrite("stablehlo.mlir", lambda text: None)
    ends("raise SystemExit('started')")
    with pytest.raises(BugReportError, match="no bug report: it holds no stablehlo.mlir"):
        replay_bug_report(archive)


def test_the_graph_of_an_archive_is_not_run(jit, archive, here, monkeypatch):
    write_bug_report(archive, jit(double), 1.0)
    monkeypatch.setattr("xla_helpers.bug_reports.child.run_graph", pytest.fail)
    assert replay_bug_report(archive).same
