"""Calls of oneDNN, counted in a process of their own."""

import platform

import pytest

import xla_helpers as xh

LINES = """
print("onednn_verbose,v1,info,oneDNN v3.7.3 (commit N/A)")
for time in ("1.5", "0.5"):
    print("onednn_verbose,v1,primitive,exec,cpu,gemm_api,,undef,src wei dst,,,144x9:9x1," + time)
print("onednn_verbose,v1,primitive,exec,cpu,convolution,jit:avx2,forward,src wei,attr,alg,mb1,0.2")
"""


def test_calls_are_counted_by_primitive_implementation_and_sizes():
    found = xh.onednn_calls(LINES)
    assert found.calls == {
        ("gemm_api", "", "144x9:9x1"): 2,
        ("convolution", "jit:avx2", "mb1"): 1,
    }
    assert (found.count("gemm_api"), found.count("matmul")) == (2, 0)
    assert str(found).startswith("3 calls of oneDNN.") and "144x9:9x1" in str(found)


def convolve(jit_compile):
    import tensorflow as tf

    x, kernel = tf.ones([1, 16, 16, 8]), tf.ones([3, 3, 8, 8])
    fn = tf.function(lambda x: tf.nn.conv2d(x, kernel, 1, "SAME"), jit_compile=jit_compile)
    return float(tf.reduce_sum(fn(x)))


@pytest.mark.skipif(platform.machine() != "x86_64", reason="oneDNN is in builds for x86")
def test_the_graph_s_convolution_is_one_of_onednn_where_it_is_on():
    on, off = (
        xh.onednn_calls(convolve, (None,), flags={"TF_ENABLE_ONEDNN_OPTS": switch})
        for switch in "10"
    )
    assert on.count("convolution") == 1 and off.count("convolution") == 0
    assert on.value == off.value


def test_a_process_that_calls_nothing_has_an_empty_table():
    assert str(xh.onednn_calls("print('x')")).startswith("0 calls of oneDNN.")
