"""Comparisons as small files, read on another day or machine, and claims that are held to them."""

import os
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from importlib.resources import files
from pathlib import Path
from typing import Annotated

import msgspec
from msgspec import Meta
from platformdirs import user_data_path

from .agreement import Difference
from .comparisons import Comparison
from .ratios import Ratio
from .startup import machine_facts
from .tables import cut, in_one_line
from .timing import Measurement

LARGEST = 2_000_000  # bytes of a file that is still read
MOST = 100  # rows of a comparison
SHORTEST, LONGEST = 1e-12, 1e9  # seconds of a call
ENOUGH = 1.5  # times: a smaller ratio of two single calls decides nothing

HOLDS, FAILS = "holds", "does not hold"
UNDECIDED, UNKNOWN = "undecided", "cannot be judged"

Line = Annotated[str, Meta(min_length=1, max_length=200)]


@dataclass(frozen=True)
class Result:
    """A recorded comparison.

    name: of the comparison. what: what was measured, with its sizes. day: as 2026-11-21. machine:
    what it was measured on, name to text. runs: what each run found, the oldest first.
    """

    name: Line
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
        rows = self.comparison.measurements
        first = {label.partition(",")[0]: label for label in reversed(rows)}  # as "XLA, padded"
        pair = first.get("XLA"), first.get("graph")
        return tuple(run.ratio(*pair) for run in self.runs if set(pair) <= set(run.measurements))


def results_folder() -> Path:
    """Where results are recorded: `XLA_RESULTS`, or a folder of this user."""
    return Path(os.environ.get("XLA_RESULTS") or user_data_path("xla-helpers") / "results")


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
    result = Result(name, what, date.today().isoformat(), machine_facts(), (_kept(comparison),))
    path = Path(folder or results_folder()) / f"{re.sub('[^a-z0-9]+', '-', name.lower())}.json"
    if runs > 1:
        result = _after_earlier_runs(result, path, runs)
    data = msgspec.json.format(msgspec.json.encode(result), indent=1) + b"\n"
    _parse(data)  # nothing is written that could not be read
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_suffix(".part")  # so that nobody reads half a file
    part.write_bytes(data)
    os.replace(part, path)
    return path


def _kept(comparison):
    """A comparison without what may name a file or a layer, or hold a value of the reader's."""
    differences = comparison.differences.items()
    sizes = {x: Difference(one.size) for x, one in differences if x in comparison.measurements}
    ran = {x: replace(one, draws=()) for x, one in comparison.evidence.items()}
    return replace(comparison, differences=sizes, failures={}, evidence=ran)


def _after_earlier_runs(result, path, most):
    read, _ = read_results(path)
    same = [old for old in read if old.about == result.about and old.machine == result.machine]
    earlier = [run for old in same for run in old.runs]
    return replace(result, runs=(*earlier, *result.runs)[-most:])


def read_results(*places: Path | str) -> tuple[list[Result], dict[str, str]]:
    """Read results, from files, and from the JSON files in folders and in their folders.

    places: the files and folders, by default the folder to which `record` writes. Introduced in
    notebook 05, explained in notebook 12.

    Returns: the results, and for each file that was skipped the reason.
    """
    results, skipped = [], {}
    for path in [file for place in places or [results_folder()] for file in _files(Path(place))]:
        try:
            results.append(_parse(read_bytes(path, LARGEST)))
        except (OSError, ValueError, RecursionError) as error:
            skipped[str(path)] = cut(in_one_line(str(error)), 200)
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
    """The `Result` in these bytes, checked. Raises: ValueError."""
    try:
        result = msgspec.json.decode(data, type=Result)
        if not "".join((*result.about, result.day, result.title)).isprintable():
            raise ValueError("a text in it is not in one line")
        for run in result.runs:
            _check(run)
    except ValueError as error:
        raise ValueError(f"not a result that this xla_helpers reads: {error}") from error
    return result


def _check(run):
    """Raise ValueError when a run has no ratios, or none that mean anything."""
    if not 0 < len(run.measurements) <= MOST:
        raise ValueError(f"a run has no candidates, or more than {MOST}")
    rows = [*run.measurements.values(), *([run.control] if run.control else [])]
    if {len(row.samples) for row in rows} != {len(rows[0].samples)} or not rows[0].samples:
        raise ValueError("candidates have different numbers of samples, or none")
    if not all(SHORTEST < s <= LONGEST for row in rows for s in (row.first, *row.samples)):
        raise ValueError("a sample or a first call took a time that no clock measures")
    if any(one.size > run.tolerance for one in run.differences.values()):
        raise ValueError("candidates do not agree: a difference is above the tolerance")


# Claims


@dataclass(frozen=True)
class Claim:
    """A published sentence: `faster` is faster than `slower`.

    It says nothing of how many times: a size does not carry over to another model.
    says: the sentence. faster, slower: labels of the comparison that it is held against.
    """

    says: str
    faster: str
    slower: str

    def judge(self, found: Comparison | Result) -> "Verdict":
        """Whether it holds for what was found: a `Comparison`, or a `Result` with all its runs.

        It holds when the ratio is clear and the whole interval lies on its side of 1. With one
        sample there is no interval, and only a ratio beyond `ENOUGH` decides. Several runs are
        judged one by one, and decide only where they agree.
        """
        runs = found.runs if isinstance(found, Result) else (found,)
        both = {self.faster, self.slower}
        judged = [run for run in runs if both <= set(run.measurements)]
        if not judged:
            measured = {label for run in runs for label in run.measurements}
            return Verdict(self, UNKNOWN, missing=tuple(sorted(both - measured)))
        ratios = tuple(run.ratio(self.faster, self.slower) for run in judged)
        kinds = set(map(_kind, ratios))
        return Verdict(self, kinds.pop() if len(kinds) == 1 else UNDECIDED, ratios)


def _kind(ratio):
    if ratio.once:
        holds, fails = ratio.value > ENOUGH, ratio.value < 1 / ENOUGH
    else:
        holds, fails = ratio.clear and ratio.low > 1, ratio.clear and ratio.high < 1
    return HOLDS if holds else FAILS if fails else UNDECIDED


@dataclass(frozen=True)
class Verdict:
    """What a comparison says of a claim.

    kind: "holds", "does not hold", "undecided" or "cannot be judged". ratios: of the claim's two
    labels, as measured here in each run. missing: labels that were not measured.
    """

    claim: Claim
    kind: str
    ratios: tuple[Ratio, ...] = ()
    missing: tuple[str, ...] = ()

    def __str__(self):
        if not self.ratios:
            return f"{self.kind}: {' and '.join(self.missing)} not measured"
        runs = "one run" if len(self.ratios) == 1 else f"{len(self.ratios)} runs"
        words = ", ".join(ratio.against(self.claim.slower) for ratio in self.ratios)
        return f"{self.kind}, in {runs}: {self.claim.faster} is {words}"


@dataclass(frozen=True)
class Published:
    """Figures of others, to be set beside a comparison.

    name: of that comparison. source: who published them. hardware: what they were measured on.
    seconds: label to mean and standard deviation, 0 where none was given. claims: what they say.
    """

    name: str
    source: str
    hardware: str
    seconds: dict[str, tuple[float, float]]
    claims: tuple[Claim, ...]


def read_published(name: str | None = None) -> list[Published]:
    """The published figures that the notebooks quote, each with its source and hardware.

    name: of a comparison; without it, all. Introduced in notebook 03.

    >>> sorted({figures.name for figures in read_published()})
    ['five-modes-efficientnetv2-s', 'generate', 'three-prompts']
    """
    data = (files(__package__) / "data/published.json").read_bytes()
    entries = msgspec.json.decode(data, type=list[Published])
    return [entry for entry in entries if name in (None, entry.name)]
