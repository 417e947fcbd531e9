"""Other work on this machine, as the system counts it."""

import psutil
import pytest

from xla_helpers.deciding import load
from xla_helpers.deciding.load import busy_cores


@pytest.fixture
def system(monkeypatch):
    """Says how busy each core is, in percent, which of them are ours, and what we took."""

    class Process:
        def __init__(self, cores, took):
            self.cores, self.seconds = cores, iter([5.0, 5.0 + took])

        def __call__(self):
            return self

        def cpu_affinity(self):
            return self.cores

        def cpu_times(self):
            return type("Times", (), {"user": next(self.seconds), "system": 0.0})

    def say(shares, cores=(0, 1), took=0.0):
        process = Process(list(cores), took)
        monkeypatch.setattr(psutil, "Process", process)
        monkeypatch.setattr(psutil, "cpu_percent", lambda interval, percpu: shares)
        monkeypatch.setattr(load, "usable_cores", lambda: len(cores))

    return say


@pytest.mark.parametrize(
    ("shares", "cores", "took", "busy"),
    [
        ([0.0, 0.0], (0, 1), 0.0, 0.0),
        ([100.0, 50.0], (0, 1), 0.0, 1.5),
        ([100.0, 50.0], (0, 1), 0.25, 1.0),  # half of a core was ours
        ([100.0, 50.0, 20.0], (2,), 0.0, 0.2),
        ([10.0, 0.0], (0, 1), 0.4, 0.0),
        ([100.0], (0, 7), 0.0, 1.0),  # a core of which nothing is said
    ],
)
def test_what_others_keep_busy(system, shares, cores, took, busy):
    system(shares, cores, took)
    assert busy_cores() == pytest.approx(busy)


def test_nothing_is_invented(monkeypatch):
    def refuse(**_):
        raise PermissionError

    monkeypatch.setattr(psutil, "cpu_percent", refuse)
    assert busy_cores() is None


def test_of_this_machine(monkeypatch):
    monkeypatch.setattr(load, "LOOK", 0.05)
    assert 0 <= busy_cores() <= psutil.cpu_count()
