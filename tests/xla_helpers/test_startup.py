"""What every notebook calls first, in fresh processes."""

import os

import pytest

import xla_helpers as xh


def prepare_twice():
    import os
    import sys

    from xla_helpers import prepare_tensorflow

    path = prepare_tensorflow()
    print("Python speaks \N{SNOWMAN}", file=sys.stderr)
    os.write(2, b"C++ speaks\n")
    with open(path, encoding="utf-8") as log:
        text = log.read()
    names = ["TF_CPP_VMODULE", "TF_CPP_MIN_LOG_LEVEL", "TF_FORCE_GPU_ALLOW_GROWTH", "KERAS_BACKEND"]
    return path == prepare_tensorflow(), path, text, [os.environ[name] for name in names]


def test_only_what_c_code_writes_goes_to_the_log():
    flags = {"TF_CPP_VMODULE": "", "TF_CPP_MIN_LOG_LEVEL": "3", "KERAS_BACKEND": ""}
    run = xh.run_in_process(prepare_twice, flags=flags)
    same, path, text, switches = run.value
    assert same and run.stderr == "Python speaks \N{SNOWMAN}\n" and text == "C++ speaks\n"
    assert switches == ["service=1,device_compiler=1", "0", "true", "tensorflow"]
    assert not os.path.exists(path)


def test_switches_of_the_reader_are_kept():
    flags = {"TF_CPP_VMODULE": "xla_launch_util=2", "TF_FORCE_GPU_ALLOW_GROWTH": "false"}
    switches = xh.run_in_process(prepare_twice, flags=flags).value[-1]
    assert switches[::2] == ["xla_launch_util=2,service=1,device_compiler=1", "false"]


@pytest.mark.parametrize("first", ["tensorflow", "keras"])
def test_too_late_is_refused_before_anything_is_changed(first):
    code = f"""
import os, sys
import xla_helpers as xh
sys.modules[{first!r}] = None
switches = dict(os.environ)
try:
    xh.prepare_tensorflow()
except RuntimeError as error:
    assert switches == dict(os.environ)
    os.write(2, b"descriptor 2 is as before")
    print(error)
"""
    run = xh.run_in_process(code)
    assert first in run.stdout and run.stderr == "descriptor 2 is as before"


def test_the_keras_of_a_lesson_is_the_one_that_runs():
    def kerases():
        import os

        import xla_helpers as xh

        before = os.environ["TF_USE_LEGACY_KERAS"]
        xh.prepare_tensorflow(keras=3)
        import keras
        import tensorflow as tf

        return before, tf.keras.Model.__module__.split(".")[0], keras.backend.backend()

    flags = {"TF_USE_LEGACY_KERAS": "1", "KERAS_BACKEND": "jax"}
    assert xh.run_in_process(kerases, flags=flags).value == ["1", "keras", "tensorflow"]


def test_the_keras_of_a_reader_is_kept_where_a_lesson_names_none():
    """And keeps h5py, which that one looks for in its own import alone."""
    name = "TF_USE_LEGACY_KERAS"
    code = f"""
import os, sys
import xla_helpers as xh
xh.prepare_tensorflow()
import tensorflow as tf
print(os.environ[{name!r}], tf.keras.Model.__module__.split(".")[0], "h5py" in sys.modules)
"""
    assert xh.run_in_process(code, flags={name: "1"}).stdout == "1 tf_keras True\n"


SAYS = """
import logging, subprocess, sys
{before}
import xla_helpers as xh
path = xh.prepare_tensorflow()
{after}
assert "heard" not in open(path).read()
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("logging.basicConfig()", "logging.warning('heard')"),
        (
            "one = logging.getLogger('a.library')\none.addHandler(logging.StreamHandler())",
            "one.error('heard')",
        ),
        ("", "print('heard', file=sys.__stderr__)"),
        ("", "subprocess.run(['sh', '-c', 'echo heard >&2'], stderr=sys.stderr, check=True)"),
    ],
)
def test_what_python_and_its_children_say_is_heard(before, after):
    """Handlers that were there before, and children that are given `sys.stderr`."""
    done = xh.run_in_process(SAYS.format(before=before, after=after))
    assert "heard" in done.stderr


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_fork_leaves_the_log_to_the_process_that_made_it():
    code = """
import os, sys
import xla_helpers as xh
path = xh.prepare_tensorflow()
if not (child := os.fork()):
    sys.exit()
os.waitpid(child, 0)
print(os.path.exists(path))
"""
    assert xh.run_in_process(code).stdout == "True\n"
