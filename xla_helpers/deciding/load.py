"""Other work on this machine: how many cores it keeps busy."""

import psutil

from ..startup import usable_cores

LOOK = 0.5  # seconds


def busy_cores() -> float | None:
    """How many of the cores that this process may use others keep busy, over half a second.

    None where the system does not say.
    """
    try:
        own = _own_seconds()
        shares = psutil.cpu_percent(interval=LOOK, percpu=True)
        own = _own_seconds() - own
        mine = psutil.Process().cpu_affinity() if hasattr(psutil.Process, "cpu_affinity") else []
    except (psutil.Error, OSError, RuntimeError):
        return None
    usable = [shares[core] for core in mine if core < len(shares)] or shares
    return round(min(usable_cores(), max(0.0, sum(usable) / 100 - own / LOOK)), 2)


def _own_seconds():
    times = psutil.Process().cpu_times()
    return times.user + times.system
