"""Whether other processes worked while a model was raced."""

import os
import subprocess
import sys
import time

import numpy as np
import pytest

import xla_decide as xd
from xla_decide import other_work, stream_race
from xla_decide.other_work import OtherWork


@pytest.mark.parametrize(("busy", "own", "share"), [(15.0, 5.0, 0.5), (5.0, 5.0, 0.0), (0, 9, 0)])
def test_what_is_not_ours_is_others(monkeypatch, busy, own, share):
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    clocks = iter([(7.0, 100.0, 1.0), (17.0, 100.0 + busy, 1.0 + own)])
    monkeypatch.setattr(other_work, "_clocks", lambda: next(clocks))
    assert OtherWork().share() == share


@pytest.mark.skipif(sys.platform != "linux", reason="nobody knows")
def test_a_process_beside_is_seen():
    others = OtherWork()
    with subprocess.Popen([sys.executable, "-c", "while True: pass"]) as process:
        time.sleep(2)
        process.kill()
    assert others.share() > 0.1 / os.cpu_count()


def test_a_busy_machine_is_told(tf, keep_log, monkeypatch):
    monkeypatch.setattr(OtherWork, "share", lambda self: 0.46)
    found = xd.decide(tf.tanh, [np.ones(3, "float32")], budget=0.1)
    told = "Other processes took more than 10% of the processors"
    assert any(note.startswith(told) for note in found.notes)
    assert isinstance(found.passes, stream_race.Passes) and found.passes.others == 0.46
