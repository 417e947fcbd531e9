"""Claims about time: held, refuted twice, or undecided."""

import json
import math
import os
from collections.abc import Callable

from .ratios import ENOUGH, Ratio

HELD, REFUTED, UNDECIDED = "held", "refuted", "undecided"


def claim(
    what: str,
    found: Ratio,
    *,
    again: Callable[[], Ratio],
    above: float = 0.0,
    below: float = math.inf,
) -> str:
    """Hold a sentence about time, or about memory, against what was measured.

    It holds where the whole interval lies between the bounds. It is refuted where the interval lies
    outside of them, and does so once more when it is measured anew, because a busy machine can make
    one measurement wrong. All else is undecided: a line says so, and nothing fails. Each claim is
    noted as a line of JSON in the file that the environment variable ``XLA_CLAIMS`` names, if any.

    Args:
        what: The sentence, such as "XLA is faster than the graph".
        found: How many times faster, longer or larger one thing is, with its interval.
        again: Measures the same anew.
        above: What it is said to exceed: 1, or a factor that a count gives. No factor that one
            processor sets.
        below: What it is said to stay below.

    Returns:
        "held" or "undecided".

    Raises:
        AssertionError: Where it was refuted twice.
        ValueError: Without a bound, or where no number lies between the bounds.

    Example:
        >>> twice = Ratio.of([2.0, 2.1, 2.2], [1.0, 1.1, 1.0])
        >>> claim("it takes longer", twice, above=1, again=lambda: twice)
        'held'
    """
    if not 0 <= above < below or (above, below) == (0.0, math.inf):
        raise ValueError("a claim needs `above`, `below`, or both with numbers between them")
    measured, outcome = [found], _judged(found, above, below)
    if outcome == REFUTED:
        measured.append(again())
        outcome = REFUTED if _judged(measured[-1], above, below) == REFUTED else UNDECIDED
    text = f"{what}: {' and again '.join(map(_in_words, measured))}"
    _note(what, outcome, text)
    if outcome == REFUTED:
        bounds = [f"above {above:g}"] * (above > 0) + [f"below {below:g}"] * (below < math.inf)
        raise AssertionError(f"refuted: {text}; it should be {' and '.join(bounds)}{_load()}")
    if outcome == UNDECIDED:
        print(f"undecided: {text}")
    return outcome


def _judged(ratio, above, below):
    if ratio.low > above and ratio.high < below:
        return HELD
    return REFUTED if ratio.high <= above or ratio.low >= below else UNDECIDED


def _in_words(ratio):
    """A ratio with its statistic."""
    kind = "median" if ratio.rounds >= ENOUGH else "extremes"
    return f"{ratio.value:.3g} [{ratio.low:.3g}, {ratio.high:.3g}], {kind} of {ratio.rounds}"


def _load():
    """How busy the machine is, where the system says it: beside others, a red may mean nothing."""
    if not hasattr(os, "getloadavg"):
        return ""
    return f" (load {os.getloadavg()[0]:.1f} on {os.cpu_count()} processors)"


def _note(what, outcome, text):
    """Append a line for tests and for a refresh, which count what is undecided."""
    if path := os.environ.get("XLA_CLAIMS"):
        with open(path, "a", encoding="utf-8") as notes:
            notes.write(json.dumps({"what": what, "outcome": outcome, "text": text}) + "\n")
