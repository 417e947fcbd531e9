"""Limits of small processes, and what becomes of those that they started."""

import signal
import subprocess
import sys

import psutil
import pytest

from tests.xla_helpers.gone import is_gone
from xla_helpers import watching
from xla_helpers.watching import Watched, family, free_memory, guarded, resident, watch

SLEEP = "import time; time.sleep(300)"
HOLD = "held = b'x' * 300_000_000; " + SLEEP


@pytest.fixture
def start():
    """Starts a process with a session of its own; what is left of it ends with the test."""
    started = []

    def start(code):
        command = [sys.executable, "-c", code]
        started.append(subprocess.Popen(command, stdout=subprocess.PIPE, start_new_session=True))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.wait()
        process.stdout.close()


# Limits


def test_a_process_that_ends_is_not_looked_at(start):
    assert watch(start("pass"), 60) == Watched("finished")


def test_a_process_that_runs_too_long(start):
    process = start(SLEEP)
    assert watch(process, 0.1) == Watched("time")
    assert process.poll() is None  # stopping it is left to the caller


def test_what_it_holds_is_seen(start):
    watched = watch(start("held = b'x' * 50_000_000; import time; time.sleep(1)"), 60, 10**10)
    assert watched.how == "finished"
    assert 50_000_000 < watched.peak < 10**9


def test_a_process_that_holds_too_much(start):
    watched = watch(start(HOLD), 60, 200_000_000)
    assert watched.how == "memory"
    assert watched.peak > 200_000_000


def test_what_its_children_hold_counts(start, monkeypatch):
    monkeypatch.setattr(watching, "LOOKS", 1)
    child = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {HOLD!r}])"
    with guarded(process := start(child)):
        assert watch(process, 60, 200_000_000).how == "memory"


def test_a_process_that_is_gone_holds_nothing(start):
    process = start("pass")
    gone = psutil.Process(process.pid)
    process.wait()
    assert family(process.pid) == []
    assert resident(gone) == 0


# Nothing is left behind

STARTS_ANOTHER = """
import subprocess, sys
sleeper = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(300)"], {options})
print(sleeper.pid, flush=True)
"""


@pytest.mark.parametrize("options", ["", "start_new_session=True"])
def test_all_of_a_running_process_ends_with_the_block(start, options):
    with guarded(process := start(STARTS_ANOTHER.format(options=options) + SLEEP)):
        sleeper = int(process.stdout.readline())
    assert process.returncode == -signal.SIGKILL
    assert is_gone(sleeper)


def test_what_outlived_a_process_ends_with_the_block(start):
    with guarded(process := start(STARTS_ANOTHER.format(options=""))):
        sleeper = int(process.stdout.readline())
        process.wait()
    assert process.returncode == 0
    assert is_gone(sleeper)


def test_an_interruption_ends_it(start):
    with pytest.raises(KeyboardInterrupt), guarded(process := start(SLEEP)):
        raise KeyboardInterrupt
    assert process.returncode == -signal.SIGKILL


PARENT = """
import signal, subprocess, sys, time
from xla_helpers.watching import guarded, watch
signal.signal(signal.SIGINT, signal.default_int_handler)  # jobs in the background ignore it
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # and those of nohup this one
process = subprocess.Popen([sys.executable, "-c", "while True: pass"], start_new_session=True)
with guarded(process):
    print(process.pid, flush=True)
    watch(process, 300)
"""


@pytest.mark.parametrize("name", ["SIGKILL", "SIGTERM", "SIGHUP", "SIGINT"])
def test_a_process_ends_with_us_however_we_end(start, name):
    parent = start(PARENT)
    child = int(parent.stdout.readline())
    parent.send_signal(getattr(signal, name))
    assert is_gone(child)


# What is free


@pytest.mark.parametrize(
    ("limit", "used", "free"),
    [("max", "0", None), ("1000", "400", 650), ("1000", "2000", 1), (str(10**18), "0", None)],
)
def test_the_memory_of_a_container(tmp_path, monkeypatch, limit, used, free):
    """What is only kept for the case that a file is read again counts as free."""
    (tmp_path / "memory.stat").write_text("anon 350\ninactive_file 50\n")
    (tmp_path / "memory.max").write_text(f"{limit}\n")
    (tmp_path / "memory.current").write_text(f"{used}\n")
    monkeypatch.setattr(watching, "GROUP", tmp_path)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: type("Memory", (), {"available": 5000}))
    assert free_memory() == (5000 if free is None else free)


def test_of_several_groups_the_one_with_the_least_counts(tmp_path, monkeypatch):
    """A job of a cluster has its limit in a group of its own; all pages of a cache are free."""
    own = tmp_path / "job" / "step"
    own.mkdir(parents=True)
    for group, limit in {tmp_path: "max", tmp_path / "job": "3000", own: "max"}.items():
        (group / "memory.max").write_text(f"{limit}\n")
        (group / "memory.current").write_text("2500\n")
        (group / "memory.stat").write_text("active_file 700\ninactive_file 100\nanon 9\n")
    groups = tmp_path / "cgroup"
    groups.write_text("0::/job/step\n")
    monkeypatch.setattr(watching, "GROUP", tmp_path)
    monkeypatch.setattr(watching, "OWN_GROUP", groups)
    monkeypatch.setattr(psutil, "virtual_memory", lambda: type("Memory", (), {"available": 5000}))
    assert free_memory() == 3000 - 2500 + 800


def test_without_a_container(tmp_path, monkeypatch):
    monkeypatch.setattr(watching, "GROUP", tmp_path)
    assert free_memory() > 0
