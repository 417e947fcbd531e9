"""What goes into a report. Archived programs run in this process."""

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
    write_bug_report,
)
from xla_helpers.bug_reports import replay
from xla_helpers.bug_reports.child import fingerprint
from xla_helpers.bug_reports.write import without_folders


def double(x):
    return 2 * x


def names(path):
    return zipfile.ZipFile(path).namelist()


def files_with(number, path):
    """The files of an archive that hold a number, as text, as bytes, or as escaped bytes."""
    raw = struct.pack("<f", number)
    spellings = f"{number}".encode(), f"{number:e}".encode(), raw, CEscape(raw, False).encode()
    with zipfile.ZipFile(path) as file:
        contents = {name: file.read(name) for name in file.namelist()}
    return {name for name, data in contents.items() if any(text in data for text in spellings)}


def check_against(report, results):
    """The recorded answer has the bits of `results`."""
    digests = [fingerprint(np.asarray(result)).sha256 for result in results]
    assert [result.sha256 for result in report.with_xla.results] == digests


def check_against_itself(fn, archive, *args):
    """The replay's answer, and the function's own on the replay's inputs, have the same bits."""
    import tensorflow as tf

    report = write_bug_report(archive, fn, *args)
    assert replay_bug_report(archive).match == "same bits"
    check_against(report, tf.nest.flatten(fn(*report.seeded_inputs())))
    return report


# What a program may be


def test_results_are_those_of_the_function(tf, jit, archive, here):
    fn = jit(lambda x, i: (tf.gather(x, i), tf.reduce_sum(x)))
    report = check_against_itself(fn, archive, tf.ones([5, 3]), tf.constant([1, 2]))
    assert [spec.shape for spec in report.inputs] == [(5, 3), (2,)]
    assert [spec.name for spec in report.inputs] == ["x", "i"]


def test_no_inputs(tf, jit, archive, here):
    report = check_against_itself(jit(lambda: tf.constant([1.5, 2.5])), archive)
    assert report.inputs == () and "no inputs" in repr(report)


def test_no_results(jit, archive, here):
    report = write_bug_report(archive, jit(lambda x: None), 1.0)
    assert report.outputs == () and "no results" in repr(report)
    assert replay_bug_report(archive).same


@pytest.mark.parametrize("name", ["bool", "int8", "uint64", "bfloat16", "float64", "complex64"])
def test_every_kind_of_number(tf, jit, archive, here, name):
    x = tf.zeros([2, 3], name)
    report = check_against_itself(jit(lambda x: tf.transpose(x)), archive, x)
    assert report.inputs[0].dtype == name
    assert report.seeded_inputs()[0].dtype == tf.as_dtype(name).as_numpy_dtype


def test_python_values_and_defaults_are_part_of_the_program(tf, jit, archive, here):
    fn = jit(lambda x, mode, k=3.0: x * k if mode == "times" else x)
    report = write_bug_report(archive, fn, tf.ones([2]), "times")
    assert len(report.inputs) == 1
    check_against(report, [report.seeded_inputs()[0] * np.float32(3)])


def test_tensors_from_outside_are_inputs_and_constants_inside_are_not(tf, jit, archive, here):
    outside = tf.constant([1234.5, 6789.5])
    report = write_bug_report(archive, jit(lambda x: x * outside), tf.ones([2]))
    assert len(report.inputs) == 2 and not files_with(1234.5, archive)
    assert report.match == "same bits"
    inside = jit(lambda x: x * tf.constant([1234.5, 6789.5]))
    report = write_bug_report(archive, inside, tf.ones([2]))
    assert len(report.inputs) == 1
    texts = {"graph.pbtxt", "stablehlo.mlir", "hlo_before.txt", "hlo_after.txt"}
    assert texts <= files_with(1234.5, archive)


def test_an_argument_that_sets_a_shape_is_part_of_the_program(tf, jit, archive, here):
    report = write_bug_report(archive, jit(lambda n: tf.range(n)), tf.constant(4))
    assert report.inputs == () and report.outputs[0].shape == (4,)
    assert report.without_xla is None


def test_shapes_are_enough(tf, jit, archive, here):
    report = write_bug_report(archive, jit(double), tf.TensorSpec([3]))
    check_against(report, [2 * report.seeded_inputs()[0]])


def test_a_signature_of_unknown_shape_takes_the_shape_of_the_call(tf, archive, here):
    fn = tf.function(double, jit_compile=True, input_signature=[tf.TensorSpec([None])])
    assert write_bug_report(archive, fn, tf.ones([3])).inputs[0].shape == (3,)


def test_a_program_that_xla_refuses_is_reported_with_the_reason(tf, jit, archive):
    fn = jit(lambda x: tf.numpy_function(np.sin, [x], tf.float32))
    report = write_bug_report(archive, fn, tf.ones([3]))
    assert "PyFunc" in report.obstacle and "PyFunc" in repr(report)
    assert report.inputs[0].shape == (3,)
    assert names(archive) == ["README.txt", "report.json", "graph.pbtxt"]
    with pytest.raises(BugReportError, match="cannot be replayed.*PyFunc"):
        replay_bug_report(archive)


@pytest.mark.parametrize("last", ["identity", "reduce_sum"])
def test_sizes_that_depend_on_data_are_reported_and_not_replayed(tf, jit, archive, here, last):
    fn = jit(lambda x: getattr(tf, last)(tf.unique(x)[0]))
    report = write_bug_report(archive, fn, tf.constant([1, 2, 1]))
    assert report.without_xla.results
    assert {"stablehlo.mlir", "hlo_after.txt"} <= set(names(archive))
    with pytest.raises(BugReportError, match="depend on its data"):
        replay_bug_report(archive)


def test_graphs_of_clusters_go_along(jit, archive, here, tmp_path, monkeypatch):
    name = "mark_for_compilation_annotated_7.pbtxt"
    (tmp_path / name).write_text("node {}")
    (tmp_path / "before_something.pbtxt").write_text("other")
    write_bug_report(archive, jit(double), 1.0, dumps=tmp_path)
    assert [n for n in names(archive) if n.startswith("clusters/")] == [f"clusters/{name}"]
    monkeypatch.setenv("TF_DUMP_GRAPH_PREFIX", str(tmp_path))
    write_bug_report(archive, jit(double), 1.0)
    assert f"clusters/{name}" in names(archive)


# When the process fails


@pytest.fixture
def crash(here, monkeypatch):
    """Let the process fail that runs the program, or the graph."""

    def crash(part, **how):
        def run(function, path, program, graph, **options):
            if {"program": program, "graph": graph}[part]:
                raise ProcessError("It failed.", "", "", **how)
            return here(function, path, program, graph, **options)

        monkeypatch.setattr(replay, "run_in_process", run)

    return crash


def test_a_graph_that_crashes_without_xla_does_not_cost_the_report(jit, archive, crash):
    crash("graph", signal="SIGKILL")
    report = write_bug_report(archive, jit(double), 1.0)
    assert report.with_xla.results and report.without_xla is None


def test_a_program_that_crashes_is_reported_with_what_its_graph_gives(jit, archive, crash):
    crash("program", signal="SIGSEGV")
    report = write_bug_report(archive, jit(double), 1.0)
    assert report.with_xla.error == "The process was killed by SIGSEGV."
    assert report.without_xla.results
    assert "hlo_after.txt" not in names(archive)  # to compile it here might crash, too


def test_a_program_that_hangs_leaves_a_report_without_answers(jit, archive, crash):
    crash("program", timed_out=True)
    with pytest.raises(ProcessError):
        write_bug_report(archive, jit(double), 1.0)
    assert "with XLA:    not finished" in repr(read_bug_report(archive))
    assert "stablehlo.mlir" in names(archive)


# Flags


@pytest.mark.parametrize(
    "flags, kept",
    [
        ("--a=1,2 --b=.*", "--a=1,2 --b=.*"),
        ("--to=/home/jane/dumps --b", "--to=dumps --b"),
        ("--to='/home/jane doe/dumps/' --b=2", "--to=dumps --b=2"),
        ("--b=2\n--to=/home/jane=doe/dumps", "--b=2 --to=dumps"),
        ("--b /home/jane/dumps", "dumps"),
        ("/home/jane/flags.txt", "flags.txt"),
        ("relative/dumps", "dumps"),
        ("-", "-"),
        ("", ""),
    ],
)
def test_folders_in_flags_are_cut_off(flags, kept):
    assert without_folders(flags) == kept


# What is refused


def test_what_is_not_compiled_is_refused(tf, archive):
    for fn in (double, tf.function(double), 3):
        with pytest.raises(TypeError, match=r"jit_compile=True"):
            write_bug_report(archive, fn, 1.0)
    assert not archive.exists()


@pytest.mark.parametrize("wrap", [lambda tf: tf.constant("a"), lambda tf: [np.array(["a", "b"])]])
def test_text_is_refused(tf, jit, archive, wrap):
    with pytest.raises(TypeError, match="argument 1 of `fn` holds text"):
        write_bug_report(archive, jit(lambda x, text: x), 1.0, wrap(tf))


def test_an_unknown_shape_is_refused(tf, jit, archive):
    with pytest.raises(ValueError, match="static shapes"):
        write_bug_report(archive, jit(double), tf.TensorSpec([None]))
    assert not archive.exists()


def test_an_error_in_the_function_itself_passes(jit, archive):
    def broken(x):
        raise KeyError("mine")

    with pytest.raises(KeyError, match="mine"):
        write_bug_report(archive, jit(broken), 1.0)
