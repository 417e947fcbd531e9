"""Bug reports. Two tests start fresh processes; the others run the archived program here."""

import json
import struct
import zipfile

import numpy as np
import pytest
from google.protobuf import text_format
from google.protobuf.text_encoding import CEscape

from xla_helpers import (
    BugReportError,
    ProcessError,
    archives,
    bug_reports,
    read_bug_report,
    replay_bug_report,
    replays,
    write_bug_report,
)
from xla_helpers.replays import fingerprint


@pytest.fixture
def jit(tf):
    return lambda function: tf.function(function, jit_compile=True)


@pytest.fixture
def here(monkeypatch):
    """Run archived programs in this process, which has started TensorFlow already."""

    def run_here(path, timeout, *parts, flags=None):
        return json.loads(json.dumps(replays._run_archive(path, *parts)))

    monkeypatch.setattr(replays, "_run_elsewhere", run_here)


@pytest.fixture
def archive(tmp_path):
    return tmp_path / "report.zip"


def names(path):
    return zipfile.ZipFile(path).namelist()


def everything(path):
    with zipfile.ZipFile(path) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


def rewrite(path, name, change):
    """The archive with one of its files changed; None takes it out."""
    with zipfile.ZipFile(path) as archive:
        members = {member: archive.read(member) for member in archive.namelist()}
    content = change(members.pop(name))
    with zipfile.ZipFile(path, "w") as archive:
        for member, data in members.items():
            archive.writestr(member, data)
        if content is not None:
            archive.writestr(name, content)


def set_details(path, **changes):
    rewrite(path, "report.json", lambda text: json.dumps(json.loads(text) | changes))


def digests(results):
    return [fingerprint(np.asarray(result))["sha256"] for result in results]


def recorded(report):
    return [result["sha256"] for result in report.details["outcome"]["results"]]


def double(x):
    return 2 * x


def spellings(number):
    """A number as the files of an archive may hold it: as text, as bytes, and as escaped bytes."""
    raw = struct.pack("<f", number)
    return f"{number}".encode(), f"{number:e}".encode(), raw, CEscape(raw, False).encode()


# In fresh processes


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
    assert [(spec["dtype"], spec["shape"]) for spec in report.details["inputs"]] == [
        ("float32", [2]),
        ("int32", []),
        ("bool", [2]),
        ("int32", []),
        ("float32", [2]),
    ]
    assert [spec["captured"] for spec in report.details["inputs"]] == [False] * 3 + [True] * 2
    assert len(report.details["outputs"]) == 3  # two results, and the new value of `calls`
    assert report.details["flags"]["XLA_FLAGS"] == f"{flags}dumps"
    assert "report.zip: step(float32[2], int32[], bool[2]" in repr(report)
    assert calls.numpy() == 0 and scale.numpy().tolist() == [1234.5, 6789.5]

    content = everything(archive)
    for private in (b"the-secret", b"A_SECRET", *spellings(1234.5), *spellings(6789.5)):
        assert private not in content
    assert not any(private in content for private in spellings(np.float32(0.87654321)))
    assert report.without_xla.startswith("same bits")
    assert str(archive.parent).encode() not in content and b"site-packages" not in content
    assert names(archive)[:2] == ["README.txt", "report.json"]
    readme = zipfile.ZipFile(archive).read("README.txt").decode()
    assert all(f"\n{name}" in readme for name in names(archive)[1:])

    moved = archive.rename(archive.with_name("moved.zip"))
    replay = replay_bug_report(moved)
    assert replay.same and replay.verdict == "same bits"
    assert len(replay.outcome["results"]) == 3
    assert "moved.zip: same bits" in repr(replay)


def test_a_crash_is_an_outcome_and_a_hang_an_error(jit, archive, here, monkeypatch):
    write_bug_report(archive, jit(double), 1.0)
    monkeypatch.undo()
    monkeypatch.setattr(
        replays,
        "run_in_process",
        lambda *args, **options: reports_process("import os; os.kill(os.getpid(), 9)"),
    )
    replay = replay_bug_report(archive)
    assert replay.outcome == {"error": "ProcessError: The process was killed by SIGKILL."}
    assert replay.verdict == "other error" and not replay.same
    set_details(archive, outcome=replay.outcome)
    assert replay_bug_report(archive).verdict == "same error"
    monkeypatch.setattr(
        replays,
        "run_in_process",
        lambda *args, **options: reports_process("import time; time.sleep(60)", timeout=0.2),
    )
    with pytest.raises(ProcessError, match="longer than 0.2 s"):
        replay_bug_report(archive)


def reports_process(code, **options):
    from xla_helpers import run_in_process

    return run_in_process(code, **options)


# What a program may be


def check_against_itself(fn, archive, *args):
    """The replay's outcome, and the function's own on the replay's inputs, have the same bits."""
    import tensorflow as tf

    report = write_bug_report(archive, fn, *args)
    assert replay_bug_report(archive).verdict == "same bits"
    if report.inputs or not args:
        assert recorded(report) == digests(tf.nest.flatten(fn(*report.inputs)))
    return report


def test_results_are_those_of_the_function(tf, jit, archive, here):
    fn = jit(lambda x, i: (tf.gather(x, i), tf.reduce_sum(x)))
    report = check_against_itself(fn, archive, tf.ones([5, 3]), tf.constant([1, 2]))
    assert [array.shape for array in report.inputs] == [(5, 3), (2,)]


def test_no_inputs(tf, jit, archive, here):
    report = check_against_itself(jit(lambda: tf.constant([1.5, 2.5])), archive)
    assert report.inputs == [] and "no inputs" in repr(report)


def test_no_results(jit, archive, here):
    report = write_bug_report(archive, jit(lambda x: None), 1.0)
    assert report.details["outputs"] == [] and "no results" in repr(report)
    assert replay_bug_report(archive).same


@pytest.mark.parametrize("name", ["bool", "int8", "uint64", "bfloat16", "float64", "complex64"])
def test_every_kind_of_number(tf, jit, archive, here, name):
    x = tf.zeros([2, 3], name)
    report = check_against_itself(jit(lambda x: tf.transpose(x)), archive, x)
    assert report.inputs[0].dtype == tf.as_dtype(name).as_numpy_dtype


def test_python_values_and_defaults_are_part_of_the_program(tf, jit, archive, here):
    fn = jit(lambda x, mode, k=3.0: x * k if mode == "times" else x)
    report = write_bug_report(archive, fn, tf.ones([2]), "times")
    assert len(report.inputs) == 1
    assert recorded(report) == digests([report.inputs[0] * np.float32(3)])


def test_tensors_from_outside_are_inputs_and_constants_inside_are_not(tf, jit, archive, here):
    def files_with(number):
        with zipfile.ZipFile(archive) as file:
            contents = {name: file.read(name) for name in file.namelist()}
        return {n for n, data in contents.items() if any(s in data for s in spellings(number))}

    outside = tf.constant([1234.5, 6789.5])
    report = write_bug_report(archive, jit(lambda x: x * outside), tf.ones([2]))
    assert len(report.inputs) == 2 and not files_with(1234.5)
    assert report.without_xla.startswith("same bits")
    inside = jit(lambda x: x * tf.constant([1234.5, 6789.5]))
    report = write_bug_report(archive, inside, tf.ones([2]))
    assert len(report.inputs) == 1
    texts = {"graph.pbtxt", "stablehlo.mlir", "hlo_before.txt", "hlo_after.txt"}
    assert texts <= files_with(1234.5)


def test_an_argument_that_sets_a_shape_is_part_of_the_program(tf, jit, archive, here):
    report = write_bug_report(archive, jit(lambda n: tf.range(n)), tf.constant(4))
    assert report.inputs == [] and report.details["outputs"][0]["shape"] == [4]


def test_shapes_are_enough(tf, jit, archive, here):
    report = write_bug_report(archive, jit(double), tf.TensorSpec([3]))
    assert recorded(report) == digests([2 * report.inputs[0]])


def test_a_signature_of_unknown_shape_takes_the_shape_of_the_call(tf, archive, here):
    fn = tf.function(double, jit_compile=True, input_signature=[tf.TensorSpec([None])])
    assert write_bug_report(archive, fn, tf.ones([3])).inputs[0].shape == (3,)


def test_a_program_that_xla_refuses_is_reported_with_the_reason(tf, jit, archive):
    fn = jit(lambda x: tf.numpy_function(np.sin, [x], tf.float32))
    report = write_bug_report(archive, fn, tf.ones([3]))
    assert "PyFunc" in report.details["error"] and "PyFunc" in repr(report)
    assert report.details["inputs"][0]["shape"] == [3]
    assert names(archive) == ["README.txt", "report.json", "graph.pbtxt"]
    with pytest.raises(BugReportError, match="cannot be replayed.*PyFunc"):
        replay_bug_report(archive)


def test_sizes_that_depend_on_data_are_reported_and_not_replayed(tf, jit, archive, here):
    write_bug_report(archive, jit(lambda x: tf.unique(x)[0]), tf.constant([1, 2, 1]))
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


# Without XLA


def test_the_outcome_without_xla_stands_beside_it(tf, jit, archive, here):
    offset = tf.Variable([1.0, 2.0, 3.0])
    inner = jit(lambda x: tf.tanh(x) * 2)

    def pick(table, ids):
        offset.assign_add([1.0, 1.0, 1.0])
        return tf.gather(inner(table) + offset, ids), ids

    specs = tf.TensorSpec([8, 3]), tf.TensorSpec([4], tf.int32)
    report = write_bug_report(archive, jit(pick), *specs)
    assert report.without_xla.startswith(("same bits", "close"))
    assert len(report.details["without_xla"]["results"]) == 2
    assert len(report.details["outcome"]["results"]) == 3
    table, ids, start = report.inputs
    expected = np.tanh(table[ids]) * 2 + start + 1
    numbers = np.array(report.details["without_xla"]["results"][0]["real"])
    np.testing.assert_allclose(numbers, expected.ravel()[np.linspace(0, 11, 12).astype(int)], 1e-5)
    assert offset.numpy().tolist() == [1.0, 2.0, 3.0]

    report = write_bug_report(archive, jit(pick), tf.TensorSpec([2, 3]), specs[1])
    assert "results" in report.details["outcome"]
    assert "is not in [0, 2)" in report.without_xla
    assert report.without_xla in repr(report) and report.without_xla in repr(
        replay_bug_report(archive)
    )


def test_xla_is_off_in_a_graph_run_without_it(tf, jit, archive, here):
    inner = jit(lambda table, ids: tf.gather(table, ids))
    specs = tf.TensorSpec([2, 3]), tf.TensorSpec([4], tf.int32)
    report = write_bug_report(archive, jit(lambda *args: inner(*args) + 1), *specs)
    assert "is not in [0, 2)" in report.without_xla  # XLA would have taken the last row

    from tensorflow.core.framework.graph_pb2 import GraphDef

    graph = text_format.Parse(zipfile.ZipFile(archive).read("graph.pbtxt"), GraphDef())
    replays._switch_off_xla(graph)
    (function,) = graph.library.function
    assert len(function.node_def) > 0 and not function.attr["_XlaMustCompile"].b
    for node in [*graph.node, *function.node_def]:
        assert "_XlaCompile" in node.attr and not node.attr["_XlaCompile"].b


def test_without_xla_is_compared_in_words(jit, archive, here):
    report = write_bug_report(archive, jit(double), 1.0)
    without = report.details["without_xla"]
    set_details(archive, without_xla={"results": [fingerprint(np.float32(7))]})
    assert read_bug_report(archive).without_xla.startswith("different, results ")
    set_details(archive, outcome={"error": "E: x"}, without_xla=without)
    assert read_bug_report(archive).without_xla.startswith("results ")
    set_details(archive, without_xla=None)
    assert read_bug_report(archive).without_xla == "not recorded"


def test_a_graph_that_crashes_without_xla_does_not_cost_the_report(jit, archive, here, monkeypatch):
    run_here = replays._run_elsewhere

    def crash(path, timeout, *parts, flags=None):
        if "run_graph" in parts:
            raise ProcessError("The process was killed by SIGKILL.", "", "")
        return run_here(path, timeout, *parts, flags=flags)

    monkeypatch.setattr(replays, "_run_elsewhere", crash)
    report = write_bug_report(archive, jit(double), 1.0)
    assert "results" in report.details["outcome"] and report.without_xla == "not recorded"


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
    assert bug_reports._without_paths(flags) == kept


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


def test_what_is_no_report_is_refused(archive):
    with pytest.raises(FileNotFoundError):
        replay_bug_report(archive)
    archive.write_text("hello")
    with pytest.raises(BugReportError, match="report.zip is no bug report: File is not a zip"):
        replay_bug_report(archive)
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("other.txt", "hello")
    with pytest.raises(BugReportError, match="no bug report: it holds no report.json"):
        read_bug_report(archive)


def test_a_damaged_report_is_refused(jit, archive, here):
    write_bug_report(archive, jit(double), 1.0)
    good = archive.read_bytes()

    def refused(match, **changes):
        archive.write_bytes(good)
        set_details(archive, **changes)
        with pytest.raises(BugReportError, match=match):
            replay_bug_report(archive)

    refused("format 2, and this version reads up to 1", format=2)
    refused("damaged", format="1")
    refused("damaged", inputs=[{"dtype": "float32"}])
    refused("damaged", inputs=[{"dtype": "resource", "shape": []}])
    refused("damaged", inputs=[{"dtype": "float32", "shape": [-1]}])
    refused("damaged", outcome=[])
    archive.write_bytes(good)
    rewrite(archive, "report.json", lambda text: b"[]")
    with pytest.raises(BugReportError, match="damaged"):
        read_bug_report(archive)
    archive.write_bytes(good)
    rewrite(archive, "stablehlo.mlir", lambda text: None)
    with pytest.raises(BugReportError, match="holds no stablehlo.mlir"):
        replay_bug_report(archive)


def test_a_file_too_large_is_refused(jit, archive, here, monkeypatch):
    write_bug_report(archive, jit(double), 1.0)
    monkeypatch.setattr(archives, "LARGEST", 10)
    with pytest.raises(BugReportError, match="larger than 10 bytes"):
        read_bug_report(archive)


# What a replay says


def test_another_program_gives_another_result(tf, jit, archive, here):
    write_bug_report(archive, jit(lambda x: tf.reduce_sum(x * x)), tf.ones([9]))
    rewrite(
        archive,
        "stablehlo.mlir",
        lambda text: text.replace(b"stablehlo.multiply", b"stablehlo.add"),
    )
    replay = replay_bug_report(archive)
    assert replay.verdict == "different" and not replay.same


def test_a_program_that_fails_gives_an_error(jit, archive, here):
    write_bug_report(archive, jit(double), 1.0)
    rewrite(archive, "stablehlo.mlir", lambda text: b"nonsense")
    replay = replay_bug_report(archive)
    assert replay.verdict == "other error" and "Error" in replay.outcome["error"]


def test_a_long_result_is_sampled():
    sampled = fingerprint(np.arange(1000.0))
    assert len(sampled["real"]) == replays.SAMPLES
    assert sampled["real"][0] == 0 and sampled["real"][-1] == 999
