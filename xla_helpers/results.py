"""Comparisons as small files, read on another day or machine."""

import hashlib
import os
import re
import uuid
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date
from importlib import metadata
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta
from platformdirs import user_data_path

from .comparisons import Comparison
from .differences import Difference
from .machine import VERSIONS, machine_facts
from .ratios import ENOUGH, Ratio, median_ratio
from .tables import abbreviate, printable, truncate

LARGEST = 2_000_000  # bytes of a file that is still read
SHORTEST, LONGEST = 1e-12, 1e9  # seconds of a call
LONGEST_NAME = 120  # letters of a folder's name, without its hash
LIBRARIES = "keras", "keras-hub", "numpy", "tf-keras", "transformers"

Line = Annotated[str, Meta(min_length=1, max_length=200)]
Name = Annotated[str, Meta(pattern="^[a-z0-9][a-z0-9._-]{0,99}$")]


@dataclass(frozen=True)
class Recorded:
    """A comparison as one process found it.

    Attributes:
        day: As 2026-11-21.
        comparison: Its measurements.
        load: The share of the processors' time that others took just before; None: not known.
    """

    day: Line
    comparison: Comparison
    load: Annotated[float, Meta(ge=0, le=1)] | None = None


@dataclass(frozen=True)
class Result:
    """A recorded comparison, of one machine, and of one process or several.

    Attributes:
        name: Of the comparison, and of its file: small letters, digits, ``.``, ``_`` and ``-``.
        what: What was measured, with its sizes.
        machine: What it was measured on, with versions, name to text.
        runs: What each process found, the oldest first.
        label: The row that stands for XLA.
        rival: The row that it is compared with.
        libraries: The versions of what models are built with, name to version.
        version: Of the race: a person raises it when the code that is raced means something else.
    """

    name: Name
    what: Line
    machine: Annotated[dict[Line, Line], Meta(min_length=1, max_length=20)]
    runs: Annotated[tuple[Recorded, ...], Meta(min_length=1, max_length=100)]
    label: Line = "XLA"
    rival: Line = "graph"
    libraries: Annotated[dict[Line, Line], Meta(max_length=20)] = field(default_factory=dict)
    version: Annotated[int, Meta(ge=1, le=999)] = 1

    @property
    def comparison(self) -> Comparison:
        """What the last process found."""
        return self.runs[-1].comparison

    @property
    def about(self) -> tuple[str | int, ...]:
        """What was measured. Results that are equal in it may be set side by side."""
        return self.name, self.what, self.label, self.rival, self.version

    @property
    def title(self) -> str:
        """The machine in one line."""
        return " · ".join(self.machine.values())

    @property
    def hardware(self) -> str:
        """The machine in one line, without versions."""
        return " · ".join(text for name, text in self.machine.items() if name not in VERSIONS)

    @property
    def ratio(self) -> Ratio | None:
        """How many times faster `label` is than `rival`; None where one was not measured.

        Of several processes, that of their median (`median_ratio`); of one, that of its race.
        """
        found = [run.comparison for run in self.runs]
        if not all({self.label, self.rival} <= set(one.measurements) for one in found):
            return None
        ratios = [one.ratio(self.label, self.rival) for one in found]
        return ratios[0] if len(ratios) == 1 else median_ratio([ratio.value for ratio in ratios])

    @property
    def as_labelled(self) -> bool:
        """Whether both rows were seen to run, in each process, in the modes that they name."""
        found = [run.comparison for run in self.runs]
        return all(one.ran_as_labelled(self.label, self.rival) for one in found)

    def with_runs(self, earlier: "Result") -> "Result":
        """This result with the runs of an earlier one before its own, `ENOUGH` of them at most.

        Runs on another machine, with other libraries, or of another version are left out.
        """
        unlike = replace(earlier, runs=self.runs) != self
        return self if unlike else replace(self, runs=(*earlier.runs, *self.runs)[-ENOUGH:])


def results_folder() -> Path:
    """Where results are recorded: ``XLA_RESULTS``, or a folder of this user."""
    return Path(os.environ.get("XLA_RESULTS") or user_data_path("xla-helpers") / "results")


def record(
    name: str,
    comparison: Comparison,
    what: str,
    *,
    label="XLA",
    rival="graph",
    version=1,
    folder=None,
) -> Path:
    """Write a comparison as a small JSON file, with machine and versions and nothing personal.

    Args:
        name: What the comparison and its file are called, such as ``dense-model``: small letters,
            digits, ``.``, ``_`` and ``-``. An earlier file of that name, version and machine is
            replaced.
        comparison: What was found in this process, by `compare` or another race. A row whose
            results differ from the first one's is left out.
        what: What was measured, with its sizes, in one line.
        label: The row that stands for XLA.
        rival: The row that it is compared with.
        version: Raise it when the code that is raced means something else: what was recorded
            before stays in a file of its own, and the two are never mixed.
        folder: Where to, by default the folder in the environment variable ``XLA_RESULTS``, or one
            of the user. Each machine has a folder in it.

    Returns:
        The path of the file.

    Raises:
        ValueError: For a label or a rival that was not measured or has other results, and for
            what no file may hold, such as a time of zero.

    Example:
        >>> import tempfile
        >>> from xla_helpers import compare
        >>> found = compare({"sum": sum, "max": max}, ([2, 0],), rounds=6, budget=0)
        >>> about = "the sum of two numbers, and the larger one"
        >>> options = {"label": "max", "rival": "sum", "folder": tempfile.mkdtemp()}
        >>> path = record("sum-or-max", found, about, **options)
        >>> results, skipped = read_results(path)
        >>> list(results[0].comparison.measurements), skipped
        (['sum', 'max'], {})
    """
    if missing := {label, rival} - comparison.measurements.keys():
        there = abbreviate(comparison.measurements, 9) or "nothing"
        raise ValueError(f"{abbreviate(sorted(missing))} was not measured: there is {there}")
    allowed = comparison.tolerance
    unlike = {x for x, one in comparison.differences.items() if not one.within(allowed)}
    if differing := {label, rival} & unlike:
        raise ValueError(f"{abbreviate(sorted(differing))} has other results: it is not recorded")
    rows = {x: row for x, row in comparison.measurements.items() if x not in unlike}
    sizes = {
        x: Difference(comparison.differences[x].size) for x in rows if x in comparison.differences
    }
    ran = {x: replace(one, random_ops=()) for x, one in comparison.evidence.items() if x in rows}
    kept = replace(
        comparison,
        measurements=rows,
        differences=sizes,
        failures={},
        evidence=ran,
        inconclusive=comparison.inconclusive and "they are not comparable",  # nothing personal
        sensitive=(),
    )
    run, libraries = Recorded(date.today().isoformat(), kept), {}
    for library in LIBRARIES:
        with suppress(metadata.PackageNotFoundError):
            libraries[library] = metadata.version(library)
    found = Result(name, what, machine_facts(), (run,), label, rival, libraries, version)
    return write(found, folder)


def path_of(result: Result, folder=None) -> Path:
    """The file of a result, in the folder of its machine; no name holds an "@"."""
    name = result.name if result.version == 1 else f"{result.name}@{result.version}"
    return Path(folder or results_folder()) / _folder_name(result.hardware) / f"{name}.json"


def _folder_name(hardware):
    """Small letters, digits and "-"; with a hash behind it where that would not tell two apart."""
    name = re.sub("[^a-z0-9]+", "-", hardware.lower()).strip("-")
    is_whole = len(name) <= LONGEST_NAME and not re.search(r"[^\W_a-z0-9]", hardware.lower())
    if is_whole:
        return name
    digest = hashlib.sha256(hardware.encode()).hexdigest()[:12]
    return f"{name[:LONGEST_NAME]}-{digest}".lstrip("-")


def write(result: Result, folder=None) -> Path:
    """Write a result into the folder of its machine. Returns: the path of the file."""
    _parse(msgspec.json.encode(result))  # nothing is written that could not be read
    path = path_of(result, folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    # Nobody reads half a file, and two who write at once have a part of their own.
    part = path.with_name(f"{path.stem}.{uuid.uuid4().hex}.part")
    part.write_bytes(msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n")
    os.replace(part, path)
    return path


def read_results(*places: Path | str) -> tuple[list[Result], dict[str, str]]:
    """Read results, from files, and from all JSON files in folders.

    Args:
        places: The files and folders, by default the folder to which `record` writes.

    Returns:
        The results, and for each file that was skipped the reason.
    """
    results, skipped = [], {}
    for place in map(Path, places or [results_folder()]):
        for path in sorted(place.rglob("*.json")) if place.is_dir() else [place]:
            try:
                if not path.exists():
                    raise ValueError("there is no such file or folder")
                if not path.is_file() or path.stat().st_size > LARGEST:
                    raise ValueError(f"no regular file of at most {LARGEST:,} bytes")
                results.append(_parse(path.read_bytes()))
            except (OSError, ValueError, RecursionError) as error:
                skipped[str(path)] = truncate(printable(str(error)), 200)
    return results, skipped


def _parse(data):
    """The `Result` in these bytes; ValueError when it is none, or its numbers mean nothing."""
    try:
        result = msgspec.json.decode(data, type=Result)
    except ValueError as error:
        raise ValueError(f"not a result that this xla_helpers reads: {error}") from error
    days = [run.day for run in result.runs]
    if not "".join((*map(str, result.about), *days, result.title)).isprintable():
        raise ValueError("a text in it is not in one line")
    for run in (run.comparison for run in result.runs):
        rows = [*run.measurements.values(), *([run.control] if run.control else [])]
        seconds = [s for row in rows for s in (row.first, *row.samples)]
        unlike = any(one.size > run.tolerance for one in run.differences.values())
        if not run.measurements or len({len(row.samples) for row in rows}) > 1 or unlike:
            raise ValueError("no comparison: of unlike results, or without samples for each row")
        if len(seconds) <= len(rows) or not all(SHORTEST < s <= LONGEST for s in seconds):
            raise ValueError("no samples, or a time that no clock measures")
        if not all(0 <= (row.faults or 0) <= LONGEST and row.fault_seconds >= 0 for row in rows):
            raise ValueError("page faults that no process has")
    return result
