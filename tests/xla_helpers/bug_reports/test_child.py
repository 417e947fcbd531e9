"""A program and its graph, run in this process."""

import zipfile

import numpy as np
from google.protobuf import text_format

from xla_helpers import write_bug_report
from xla_helpers.bug_reports import child


def test_the_answer_without_xla_stands_beside_the_one_with(tf, jit, archive, here):
    offset = tf.Variable([1.0, 2.0, 3.0])
    inner = jit(lambda x: tf.tanh(x) * 2)

    def pick(table, ids):
        offset.assign_add([1.0, 1.0, 1.0])
        return tf.gather(inner(table) + offset, ids), ids

    specs = tf.TensorSpec([8, 3]), tf.TensorSpec([4], tf.int32)
    report = write_bug_report(archive, jit(pick), *specs)
    assert report.match in ("same bits", "close")
    assert len(report.without_xla.results) == 2 and len(report.with_xla.results) == 3
    table, ids, start = report.seeded_inputs()
    expected = np.tanh(table[ids]) * 2 + start + 1
    np.testing.assert_allclose(report.without_xla.results[0].sample, expected.ravel(), 1e-5)
    assert offset.numpy().tolist() == [1.0, 2.0, 3.0]

    report = write_bug_report(archive, jit(pick), tf.TensorSpec([2, 3]), specs[1])
    assert report.with_xla.results and "is not in [0, 2)" in report.without_xla.error
    assert report.match == "other error"


def test_xla_is_off_in_a_graph_run_without_it(tf, jit, archive, here):
    inner = jit(lambda table, ids: tf.gather(table, ids))
    specs = tf.TensorSpec([2, 3]), tf.TensorSpec([4], tf.int32)
    report = write_bug_report(archive, jit(lambda *args: inner(*args) + 1), *specs)
    assert "is not in [0, 2)" in report.without_xla.error  # XLA would have taken the last row

    from tensorflow.core.framework.graph_pb2 import GraphDef

    graph = text_format.Parse(zipfile.ZipFile(archive).read("graph.pbtxt"), GraphDef())
    child.switch_off_xla(graph)
    (function,) = graph.library.function
    assert len(function.node_def) > 0 and not function.attr["_XlaMustCompile"].b
    for node in [*graph.node, *function.node_def]:
        assert "_XlaCompile" in node.attr and not node.attr["_XlaCompile"].b


def test_a_long_result_is_sampled():
    sample = child.fingerprint(np.arange(1000.0)).sample
    assert len(sample) == child.SAMPLES and sample[0] == 0 and sample[-1] == 999


def test_a_sample_holds_both_parts_and_what_is_no_number():
    assert child.fingerprint(np.array([1 + 2j, 3])).sample == (1.0, 2.0, 3.0, 0.0)
    assert child.fingerprint(np.array([np.nan, np.inf, -np.inf])).sample == ("nan", "inf", "-inf")
    assert child.fingerprint(np.array(True)).sample == (1.0,)


def test_an_error_is_one_line_that_a_terminal_can_show(tf):
    def fails():
        raise ValueError("red \x1b[31m and\ta tab\nmore")

    assert child._answer(fails).error == "ValueError: red  and a tab"
