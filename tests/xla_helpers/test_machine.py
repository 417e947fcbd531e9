"""The line that names the machine."""

import re
import sys
from types import SimpleNamespace

import pytest

import xla_helpers as xh
from xla_helpers import machine
from xla_helpers.memory import PINNED


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
    monkeypatch.setattr(machine, "_first_processor", lambda: said)
    assert re.fullmatch(shown, xh.describe_machine())


def test_what_a_child_runs_with_is_in_its_line():
    code = "import xla_helpers as xh; print(xh.describe_machine())"
    line = xh.run_in_process(code, flags={"TF_ENABLE_ONEDNN_OPTS": "0"} | PINNED).stdout
    assert "no oneDNN" in line and "pinned malloc" in line


def test_a_child_whose_malloc_is_not_pinned_says_so():
    code = "from xla_helpers.memory import malloc_name; print(malloc_name())"
    said = [xh.run_in_process(code, flags=own).stdout for own in ({"GLIBC_TUNABLES": ""}, PINNED)]
    assert said == ["malloc\n", "pinned malloc\n"]
