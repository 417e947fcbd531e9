"""Comparisons as small files, read on another day or machine."""

import os
from dataclasses import dataclass, replace
from datetime import date
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta
from platformdirs import user_data_path

from .comparisons import Comparison, Ratio
from .differences import Difference
from .startup import machine_facts
from .tables import cut, in_one_line

LARGEST = 2_000_000  # bytes of a file that is still read
SHORTEST, LONGEST = 1e-12, 1e9  # seconds of a call

Line = Annotated[str, Meta(min_length=1, max_length=200)]
Name = Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9._-]{0,99}$")]


@dataclass(frozen=True)
class Result:
    """A recorded comparison.

    Attributes:
        name: Of the comparison, and of its file: small letters, digits, ``.``, ``_`` and ``-``.
        what: What was measured, with its sizes.
        day: As 2026-11-21.
        machine: What it was measured on, name to text.
        runs: What each run found, the oldest first; each is of one process.
    """

    name: Name
    what: Line
    day: Line
    machine: Annotated[dict[Line, Line], Meta(min_length=1, max_length=20)]
    runs: Annotated[tuple[Comparison, ...], Meta(min_length=1, max_length=100)]

    @property
    def comparison(self) -> Comparison:
        """What the last run found."""
        return self.runs[-1]

    @property
    def about(self) -> tuple[str, str]:
        """Its name and its words. Results that are equal in both measured the same."""
        return self.name, self.what

    @property
    def title(self) -> str:
        """The machine in one line."""
        return " · ".join(self.machine.values())

    @property
    def xla_against_graph(self) -> Ratio | None:
        """How many times faster its first XLA row is than its first graph; None without both."""
        rows = self.comparison.measurements
        first = {label.partition(",")[0]: label for label in reversed(rows)}  # as "XLA, padded"
        both = "XLA" in first and "graph" in first
        return self.comparison.ratio(first["XLA"], first["graph"]) if both else None


def results_folder() -> Path:
    """Where results are recorded: ``XLA_RESULTS``, or a folder of this user."""
    return Path(os.environ.get("XLA_RESULTS") or user_data_path("xla-helpers") / "results")


def record(name: str, comparison: Comparison, what: str, folder=None, runs=1) -> Path:
    """Write a comparison as a small JSON file, with machine and versions and nothing personal.

    Args:
        name: What the comparison and its file are called, such as ``dense-model``: small letters,
            digits, ``.``, ``_`` and ``-``. An earlier file of that name is replaced.
        comparison: What `compare` found.
        what: What was measured, with its sizes, in one line.
        folder: Where to, by default the folder in the environment variable ``XLA_RESULTS``, or one
            of the user.
        runs: How many runs the file may hold, this one included; earlier ones stay when they have
            the same words, machine and versions. A run is of one process.

    Returns:
        The path of the file.

    Raises:
        ValueError: For what no file may hold, such as no measurement, or a time of zero.

    Example:
        >>> import tempfile
        >>> from xla_helpers import compare
        >>> found = compare({"sum": sum}, ([1, 2],), rounds=6, budget=0)
        >>> path = record("one-sum", found, "the sum of two numbers", tempfile.mkdtemp())
        >>> results, skipped = read_results(path)
        >>> list(results[0].comparison.measurements), skipped
        (['sum'], {})
    """
    agree = comparison.differences.items()
    sizes = {x: Difference(d.size) for x, d in agree if x in comparison.measurements}
    ran = {x: replace(one, random_ops=()) for x, one in comparison.evidence.items()}
    undecided = comparison.undecided and "they are not comparable"  # nothing personal
    kept = replace(
        comparison, differences=sizes, failures={}, evidence=ran, undecided=undecided, rounded=()
    )
    result = Result(name, what, date.today().isoformat(), machine_facts(), (kept,))
    path = Path(folder or results_folder()) / f"{name}.json"
    same = [old for old in read_results(path)[0] if old.about == result.about]
    earlier = [run for old in same if old.machine == result.machine for run in old.runs]
    result = replace(result, runs=(*earlier, *result.runs)[-runs:])
    _parse(msgspec.json.encode(result))  # nothing is written that could not be read
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")  # so that nobody reads half a file
    part.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")
    os.replace(part, path)
    return path


def read_results(*places: Path | str) -> tuple[list[Result], dict[str, str]]:
    """Read results, from files, and from the JSON files in folders and in their folders.

    Args:
        places: The files and folders, by default the folder to which `record` writes.

    Returns:
        The results, and for each file that was skipped the reason.
    """
    results, skipped = [], {}
    for place in map(Path, places or [results_folder()]):
        inside = sorted([*place.glob("*.json"), *place.glob("*/*.json")])
        for path in inside if place.is_dir() else [place]:
            try:
                if not path.is_file() or path.stat().st_size > LARGEST:
                    raise ValueError(f"no regular file of at most {LARGEST:,} bytes")
                results.append(_parse(path.read_bytes()))
            except (OSError, ValueError, RecursionError) as error:
                skipped[str(path)] = cut(in_one_line(str(error)), 200)
    return results, skipped


def _parse(data):
    """The `Result` in these bytes; ValueError when it is none, or its numbers mean nothing."""
    try:
        result = msgspec.json.decode(data, type=Result)
    except ValueError as error:
        raise ValueError(f"not a result that this xla_helpers reads: {error}") from error
    if not "".join((*result.about, result.day, result.title)).isprintable():
        raise ValueError("a text in it is not in one line")
    for run in result.runs:
        rows = [*run.measurements.values(), *([run.control] if run.control else [])]
        seconds = [s for row in rows for s in (row.first, *row.samples)]
        unlike = any(one.size > run.tolerance for one in run.differences.values())
        if not run.measurements or len({len(row.samples) for row in rows}) > 1 or unlike:
            raise ValueError("no comparison: of unlike results, or without samples for each row")
        if len(seconds) <= len(rows) or not all(SHORTEST < s <= LONGEST for s in seconds):
            raise ValueError("no samples, or a time that no clock measures")
    return result
