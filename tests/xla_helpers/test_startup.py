"""What every notebook calls first, in fresh processes, and the line that names the machine."""

import os
import re
import sys
from types import SimpleNamespace

import pytest

import xla_helpers as xh
from xla_helpers import startup
from xla_helpers.memory import PINNED


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
    def kerases(number):
        import xla_helpers as xh

        xh.prepare_tensorflow(keras=number)
        import keras
        import tensorflow as tf

        return tf.keras.Model.__module__.split(".")[0], keras.backend.backend()

    flags = {"TF_USE_LEGACY_KERAS": "1", "KERAS_BACKEND": "jax"}
    runs = [xh.run_in_process(kerases, (number,), flags=flags).value for number in (3, None)]
    assert runs == [["keras", "tensorflow"], ["tf_keras", "tensorflow"]]


def test_the_machine_in_one_line(tf, monkeypatch):
    python = ".".join(map(str, sys.version_info[:3]))
    middle = r"\d+ cores? · {} · (no )?oneDNN · (pinned )?\w+(, pages of unknown size)?"
    line = rf"\S.* · {middle} · Python {python} · TensorFlow {tf.__version__}"
    for found, shown in (([], "no GPU used"), (["A", "B"], "A, B")):
        details = SimpleNamespace(get_device_details=lambda gpu: {"device_name": gpu})
        monkeypatch.setattr(tf.config, "get_visible_devices", lambda kind, found=found: found)
        monkeypatch.setattr(tf.config, "experimental", details)
        assert re.fullmatch(line.format(shown), xh.describe_machine())


EPYC = {"vendor_id": "AuthenticAMD", "cpu family": "25", "model": "17", "model name": "AMD EPYC"}
XEON = {"cpu family": "6", "model name": "Intel(R) Xeon(R) Processor @ 2.80GHz"}
ARM = {"CPU implementer": "0x41", "CPU part": "0xd40", "Features": "fp asimd sve"}


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        (
            EPYC | {"flags": "avx2 avx512f avx"},
            r"AMD EPYC \(AuthenticAMD, family 25, .*AVX-512 ·.*",
        ),
        (EPYC | {"flags": "avx2 avx", "model name": "AMD EPYC 7763"}, "AMD EPYC 7763 · AVX2 ·.*"),
        (XEON, r"Intel\(R\) Xeon\(R\) Processor @ 2.80GHz \(family 6\) · \d.*"),
        (ARM, r"\S+ \(implementer 0x41, part 0xd40\) · SVE ·.*"),
        ({}, r"\S+ · \d.*"),
    ],
)
def test_a_brand_without_a_number_is_told_apart(tf, monkeypatch, said, shown):
    monkeypatch.setattr(startup, "_first_processor", lambda: said)
    assert re.fullmatch(shown, xh.describe_machine())


def test_what_a_child_runs_with_is_in_its_line():
    """oneDNN, and whether the limits of malloc are pinned."""
    code = "import xla_helpers as xh; print(xh.describe_machine())"
    flags = {"TF_ENABLE_ONEDNN_OPTS": "0", "GLIBC_TUNABLES": ""}
    shown = [xh.run_in_process(code, flags=flags | own).stdout for own in ({}, PINNED)]
    assert all("no oneDNN" in line for line in shown)
    assert ["pinned malloc" in line for line in shown] == [False, True]
