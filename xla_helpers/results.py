"""Comparisons as small files, to be read on another day or another machine."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Annotated, Literal

import msgspec
from msgspec import Meta, Struct

from .agreement import Difference
from .comparisons import Comparison
from .evidence import Evidence
from .modes import mode_of
from .ratios import Ratio
from .startup import machine_facts
from .tables import cut, in_one_line
from .timing import Measurement

FOLDER = "XLA_RESULTS"  # environment variable that names the folder of the files
FORMAT = 4  # of the files
LARGEST = 2_000_000  # bytes of a file that is still read
REASON = 200  # characters of a reason for skipping a file
RAN = ("eager", "graphs", "programs", "compiled")  # what is kept of `Evidence`


# What a file holds. Whatever stands in it, reading gives these or a ValueError.

Text = Annotated[str, Meta(min_length=1, max_length=1000)]
Line = Annotated[str, Meta(min_length=1, max_length=200)]
Time = Annotated[float, Meta(ge=0, le=1e9)]
Sample = Annotated[float, Meta(gt=1e-12, le=1e9)]
Count = Annotated[int, Meta(ge=0, le=2**40)]


class Timed(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A candidate: what its calls took, what it ran, how far its result was from the first."""

    first: Time
    samples: Annotated[list[Sample], Meta(min_length=1, max_length=10_000)]
    calls: Annotated[int, Meta(ge=1, le=2**40)]
    difference: Time | None = None
    ran: dict[Literal[RAN], Count | None] | None = None


class Run(Struct, forbid_unknown_fields=True, omit_defaults=True):
    """A comparison. control: the label of the candidate that was timed twice, and that time."""

    tolerance: Time
    candidates: Annotated[dict[Line, Timed], Meta(min_length=1, max_length=100)]
    control: tuple[Line, Timed] | None = None
    undecided: Annotated[str, Meta(max_length=1000)] = ""
    remarks: Annotated[list[Text], Meta(max_length=10)] = []


class File(Struct, forbid_unknown_fields=True):
    """All runs of one name, the oldest first."""

    format: Literal[FORMAT]
    name: Line
    what: Line
    day: Line
    machine: Annotated[dict[Line, Line], Meta(min_length=1, max_length=20)]
    runs: Annotated[list[Run], Meta(min_length=1, max_length=100)]


@dataclass(frozen=True)
class Result:
    """A recorded comparison.

    name: of the comparison. what: what was measured, with its sizes. day: as 2026-11-21. machine:
    what it was measured on, name to text. runs: what each run found, the oldest first.
    """

    name: str
    what: str
    day: str
    machine: dict[str, str]
    runs: tuple[Comparison, ...]

    @property
    def comparison(self) -> Comparison:
        """What the last run found."""
        return self.runs[-1]

    @property
    def about(self) -> tuple[str, str]:
        """Its name and its words. Results may be set side by side when they are equal in both."""
        return self.name, self.what

    @property
    def title(self) -> str:
        """The machine in one line."""
        return " · ".join(self.machine.values())

    @property
    def xla_against_graph(self) -> Ratio | None:
        """How many times faster its first XLA row is than its first graph; None without both."""
        return next(reversed(self.xla_in_runs), None)

    @property
    def xla_in_runs(self) -> tuple[Ratio, ...]:
        """The same in each run that measured both; none where the last one did not.

        An interval knows the rounds of its own run alone.
        """
        labels = reversed(self.comparison.measurements)  # such as "graph" or "XLA, padded"
        rows = {mode_of(x): x for x in labels if x.startswith(str(mode_of(x)))}
        pair = [rows[mode] for mode in ("XLA", "graph") if mode in rows]
        both = [run for run in self.runs if set(pair) <= set(run.measurements)]
        return tuple(run.ratio(*pair) for run in both) if len(pair) == 2 else ()


def results_folder() -> Path:
    """Where results are recorded: `XLA_RESULTS`, or a folder of this user."""
    if os.environ.get(FOLDER):
        return Path(os.environ[FOLDER])
    from platformdirs import user_data_path

    return user_data_path("xla-helpers") / "results"


def record(
    name: str,
    comparison: Comparison | Mapping[str, float],
    what: str,
    folder: Path | str | None = None,
    runs: int = 1,
) -> Path:
    """Write a comparison as a small JSON file, with machine and versions and nothing personal.

    name: what the comparison is called; the file is named after it, and an earlier one of that
    name is replaced. comparison: what `compare` found, or label to the seconds of a single call.
    what: what was measured, with its sizes, in one line. folder: where to; by default what the
    environment variable ``XLA_RESULTS`` names, or a folder of the user. runs: how many runs the
    file may hold, this one included; earlier ones stay when they have the same words, machine and
    versions. A run of its own is one of another process. Introduced in notebook 01, explained in
    notebook 12.

    Returns: the path of the file.
    Raises: ValueError for what no file may hold, such as no measurement, or a time of zero.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> path = record("noted", {"eager": 0.4, "XLA": 0.1}, "single calls, noted by hand", folder)
    >>> results, skipped = read_results(path)
    >>> results[0].comparison.ratio("XLA"), skipped
    (4x faster, seen once, {})
    """
    if isinstance(comparison, Mapping):
        single = {x: Measurement(x, float(s), (float(s),), 1) for x, s in comparison.items()}
        comparison = Comparison(single, differences={})
    today = date.today().isoformat()
    one = File(FORMAT, name, what, today, machine_facts(), [_run(comparison)])
    path = Path(folder or results_folder()) / f"{re.sub('[^a-z0-9]+', '-', name.lower())}.json"
    if runs > 1:
        one.runs[:0] = _earlier(path, one)[1 - runs :]
    text = msgspec.json.format(msgspec.json.encode(one), indent=1) + b"\n"
    _parse(text)  # nothing is written that could not be read
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")  # so that nobody reads half a file
    part.write_bytes(text)
    os.replace(part, path)
    return path


def _earlier(path, one):
    """The runs that may stay beside a new one, the oldest first."""
    try:
        before = _parse(read_bytes(path, LARGEST))
    except (OSError, ValueError, RecursionError):  # none, or none that can be read
        return []
    same = (before.name, before.what, before.machine) == (one.name, one.what, one.machine)
    return before.runs if same else []


def _run(comparison):
    control = comparison.control
    return Run(
        comparison.tolerance,
        {label: _timed(comparison, label) for label in comparison.measurements},
        control and (control.label, Timed(control.first, list(control.samples), control.calls)),
        cut(comparison.undecided, 1000),
        list(comparison.remarks),
    )


def _timed(comparison, label):
    measured = comparison[label]
    difference, evidence = comparison.differences.get(label), comparison.evidence.get(label)
    return Timed(
        measured.first,
        list(measured.samples),
        measured.calls,
        difference.size if difference else None,
        {key: getattr(evidence, key) for key in RAN} if evidence else None,
    )


def read_results(*places: Path | str) -> tuple[list[Result], dict[str, str]]:
    """Read results, from files, and from the JSON files in folders and in their folders.

    places: the files and folders, by default the folder to which `record` writes. Introduced in
    notebook 05, explained in notebook 12.

    Returns: the results, and for each file that was skipped the reason.
    """
    results, skipped = [], {}
    for path in [file for place in places or [results_folder()] for file in _files(Path(place))]:
        try:
            results.append(_result(_parse(read_bytes(path, LARGEST))))
        except (OSError, ValueError, RecursionError) as error:
            skipped[str(path)] = cut(in_one_line(str(error)), REASON)
    return results, skipped


def _files(place):
    if not place.is_dir():
        return [place]
    return sorted([*place.glob("*.json"), *place.glob("*/*.json")])


def read_bytes(path: Path, largest: int) -> bytes:
    """What a file holds that somebody may have sent. Raises: OSError or ValueError."""
    if path.exists() and not path.is_file():
        raise ValueError("not a regular file")
    if path.stat().st_size > largest:
        raise ValueError(f"larger than {largest:,} bytes")
    return path.read_bytes()


def _parse(data):
    """The `File` in these bytes, checked. Raises: ValueError."""
    try:
        found = msgspec.json.decode(data, type=File)
    except ValueError as error:
        raise ValueError(f"not a result that this xla_helpers reads: {error}") from error
    for run in found.runs:
        rounds = {len(one.samples) for one in _rows(run)}
        if len(rounds) > 1:
            raise ValueError("its candidates have different numbers of samples")
        if any((one.difference or 0) > run.tolerance for one in _rows(run)):
            raise ValueError("its candidates do not agree: a difference is above the tolerance")
    return found


def _rows(run):
    return [*run.candidates.values(), *([run.control[1]] if run.control else [])]


def _result(file):
    machine = {name: in_one_line(fact) for name, fact in file.machine.items()}
    told = map(in_one_line, (file.name, file.what, file.day))
    return Result(*told, machine, tuple(map(_comparison, file.runs)))


def _comparison(run):
    rows = run.candidates
    return Comparison(
        {label: _measurement(label, row) for label, row in rows.items()},
        {x: Difference(row.difference) for x, row in rows.items() if row.difference is not None},
        tolerance=run.tolerance,
        evidence={x: Evidence(**row.ran) for x, row in rows.items() if row.ran},
        control=_measurement(*run.control) if run.control else None,
        undecided=run.undecided,
        remarks=tuple(run.remarks),
    )


def _measurement(label, row):
    return Measurement(label, row.first, tuple(row.samples), row.calls)
