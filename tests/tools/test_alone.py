"""One process at a time."""

import errno
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tools import alone as room
from tools.alone import Taken, alone
from tools.collection import ROOT

HOLD = """
import sys, time
from pathlib import Path
from tools.alone import alone
with alone(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(60)
"""


@pytest.fixture
def holder(tmp_path):
    """Another process that holds the lock in `tmp_path`."""
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, tmp_path / "lock"], cwd=ROOT, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout.readline() == "held\n"
        yield process
        process.kill()


def test_the_second_is_told_the_number_of_the_first(tmp_path, holder):
    with pytest.raises(Taken, match=f"^{holder.pid}$"), alone(tmp_path / "lock"):
        raise AssertionError("this ran")


def test_a_lock_ends_with_its_process_however_that_ends(tmp_path, holder):
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with alone(tmp_path / "lock"):
        assert (tmp_path / "lock").read_text(encoding="utf-8") == f"{os.getpid()}\n"


def test_who_waits_is_told_for_whom_and_goes_on_after_it(tmp_path, holder):
    told = []

    def say(number):
        told.append(number)
        holder.kill()
        holder.wait()

    with alone(tmp_path / "lock", wait=say):
        assert told == [f"{holder.pid}"]
        with pytest.raises(Taken, match=f"^{os.getpid()}$"), alone(tmp_path / "lock"):
            raise AssertionError("this ran")


@pytest.mark.parametrize("number", [errno.ENOSYS, errno.EIO])
def test_without_locks_nobody_is_kept_out_and_other_errors_are_errors(
    tmp_path, monkeypatch, number
):
    def refuse(file, how):
        raise OSError(number, os.strerror(number))

    monkeypatch.setattr(room.fcntl, "flock", refuse)
    ran = []
    try:
        with alone(tmp_path / "lock"):
            ran.append(True)
    except OSError as error:
        assert error.errno == errno.EIO
    assert bool(ran) == (number == errno.ENOSYS)


def test_a_lock_can_be_taken_again(tmp_path):
    for _ in range(2):
        with pytest.raises(KeyError), alone(tmp_path / "lock"):
            raise KeyError


def test_what_stands_in_the_way_is_named(tmp_path):
    (tmp_path / "lock").mkdir()
    with pytest.raises(OSError, match="lock"), alone(tmp_path / "lock"):
        pass


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_file_that_cannot_be_written_is_named(tmp_path):
    (tmp_path / "lock").symlink_to("/dev/full")
    with pytest.raises(OSError) as refused, alone(tmp_path / "lock"):
        raise AssertionError("this ran")
    assert refused.value.filename == str(tmp_path / "lock")
