"""Comparisons as small files, and what others have published, to set beside each other."""

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from functools import cache
from importlib.resources import files
from pathlib import Path

from .comparing import Comparison
from .startup import machine_facts
from .timing import Measurement

FORMAT = 1  # of the files; a reader refuses others
LARGEST = 2_000_000  # bytes of a file that is still read
REASON = 200  # characters of a reason for skipping a file
ONCE = 1.5  # times: a smaller ratio of two single calls decides nothing
FOLDER = "XLA_RESULTS"  # environment variable that names the folder of the files


@dataclass(frozen=True)
class Result:
    """A recorded comparison.

    what: what was measured, with its sizes; results that differ in it are about different things.
    day: as 2026-11-21. machine: what it was measured on, name to text. path: its file.
    """

    name: str
    what: str
    day: str
    machine: dict[str, str]
    comparison: Comparison
    path: Path

    @property
    def title(self) -> str:
        """The machine in one line."""
        return " · ".join(self.machine.values())


@dataclass(frozen=True)
class Published:
    """Figures of others. seconds: label to mean and standard deviation, 0 where none was given.

    claims: what they say, as pairs of labels. differs: what was measured otherwise than here.
    """

    name: str
    source: str
    hardware: str
    seconds: dict[str, tuple[float, float]]
    claims: tuple["Claim", ...]
    differs: str = ""


@dataclass(frozen=True)
class Claim:
    """A published sentence: `faster` is faster than `slower`, by `times` where it says so."""

    name: str
    says: str
    hardware: str
    faster: str
    slower: str
    times: float | None = None

    def judge(self, comparison: Comparison) -> str:
        """In words, whether it holds for this comparison.

        It holds in part when this machine's ratio stays below half of a published one. With one
        sample on either side there is no interval, and only a ratio beyond `ONCE` decides.
        """
        missing = [x for x in (self.faster, self.slower) if x not in comparison.measurements]
        if missing:
            return f"cannot be judged: {' and '.join(missing)} not measured"
        slow, fast = comparison[self.slower], comparison[self.faster]
        if min(len(slow.samples), len(fast.samples)) == 1:
            times = slow.median / fast.median
            verdict = _verdict(times > ONCE, times < 1 / ONCE)
            return f"{verdict}, by its order alone: {times:.3g} times, one call each"
        ratio = comparison.ratio(self.faster, self.slower)
        verdict = _verdict(ratio.clear and ratio.low > 1, ratio.clear and ratio.high < 1)
        if verdict == "holds" and self.times and ratio.high < self.times / 2:
            verdict = "holds in part"
        published = f", published about {self.times:g}x" if self.times else ""
        return f"{verdict}: {self.faster} is {_than(ratio, self.slower)}{published}"


def _verdict(holds, opposite):
    return "holds" if holds else "does not hold" if opposite else "undecided"


def _than(ratio, slower):
    words = repr(ratio)
    if not ratio.clear:
        return words.replace("no clear difference", f"not clearly different from {slower}")
    return words.replace(" [", f" than {slower} [")


def results_folder() -> Path:
    """Where results are recorded: `XLA_RESULTS`, or a folder for temporary files."""
    return Path(os.environ.get(FOLDER) or Path(tempfile.gettempdir(), "xla-results"))


def record(
    name: str,
    comparison: Comparison | Mapping[str, float],
    what: str,
    folder: Path | str | None = None,
) -> Path:
    """Write a comparison as a small JSON file, with machine and versions and nothing personal.

    name: small letters, digits and hyphens; an earlier file of that name is replaced.
    comparison: a `Comparison`, or label to the seconds of a single call. what: what was measured,
    with its sizes, in one line: only results with the same words are set side by side. folder:
    where to, by default `results_folder()`. Explained in notebook 12.

    Returns: the path of the file.
    Raises: ValueError for another name, or a comparison without measurements.
    """
    if not isinstance(comparison, Comparison):
        single = {label: Measurement(label, s, (s,), 1) for label, s in comparison.items()}
        comparison = Comparison(single, differences={})
    content = {
        "format": FORMAT,
        "name": name,
        "what": what,
        "day": date.today().isoformat(),
        "machine": machine_facts(),
        "tolerance": comparison.tolerance,
        "candidates": {label: _candidate(comparison, label) for label in comparison.measurements},
    }
    _check(content)
    path = Path(folder or results_folder(), f"{name}.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(json.dumps(content, indent=1) + "\n")
    os.replace(new, path)
    return path


def _candidate(comparison, label):
    m = comparison[label]
    content = {"first": m.first, "samples": list(m.samples), "calls": m.calls}
    if label in comparison.differences:
        content["difference"] = comparison.differences[label]
    return content


def read_results(*places: Path | str) -> tuple[list[Result], dict[str, str]]:
    """Read results, from files and from all JSON files in folders.

    Returns: the results, and for each file that was skipped the reason.
    """
    results, skipped = [], {}
    for path in _files(places or [results_folder()], skipped):
        try:
            results.append(_read(path))
        except (OSError, ValueError, RecursionError) as error:
            skipped[str(path)] = " ".join(str(error).split())[:REASON]
    return results, skipped


def read_published(name: str | None = None) -> list[Published]:
    """The published figures that the notebooks quote, each with its source and hardware.

    name: of a comparison; without it, all.
    """
    entries = json.loads(_data("published.json"))
    return [_published(entry) for entry in entries if name in (None, entry["name"])]


def _published(entry):
    shared = {"name": entry["name"], "hardware": entry["hardware"]}
    claims = tuple(Claim(**shared, **claim) for claim in entry["claims"])
    seconds = {
        label: (figures["mean"], figures.get("deviation", 0.0))
        for label, figures in entry["seconds"].items()
    }
    return Published(
        **shared,
        source=entry["source"],
        seconds=seconds,
        claims=claims,
        differs=entry.get("differs", ""),
    )


def _files(places: Iterable[Path | str], skipped: dict[str, str]):
    def refuse(error):
        skipped[str(error.filename)] = f"cannot be opened: {error.strerror}"

    for place in map(Path, places):
        if not place.is_dir():
            yield place
            continue
        for folder, _, names in sorted(os.walk(place, onerror=refuse)):
            for name in sorted(names):
                if name.lower().endswith(".json"):
                    yield Path(folder, name)


def _read(path):
    if path.stat().st_size > LARGEST:
        raise ValueError("too large for a result")
    if not path.is_file():
        raise ValueError("not a regular file")
    text = path.read_text(encoding="utf-8-sig", errors="replace")
    if not text.strip():
        raise ValueError("empty")
    try:
        content = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from error
    _check(content)
    facts = (content[key] for key in ("name", "what", "day", "machine"))
    return Result(*facts, _comparison(content), path)


def _refuse(constant):
    raise ValueError(f"{constant} is no number that JSON knows")


def _comparison(content):
    candidates = content["candidates"]
    measurements = {
        label: Measurement(label, c["first"], tuple(c["samples"]), c["calls"])
        for label, c in candidates.items()
    }
    differences = {label: c["difference"] for label, c in candidates.items() if "difference" in c}
    return Comparison(measurements, differences, tolerance=content["tolerance"])


def _check(content):
    """Raise ValueError, in one line, unless `content` is a result of this format."""
    found = content.get("format") if isinstance(content, dict) else None
    if not isinstance(found, int):
        raise ValueError("not a result of xla_helpers: it names no format")
    if found != FORMAT:
        age = "a newer" if found > FORMAT else "an older"
        raise ValueError(f"format {found}, from {age} xla_helpers; this one reads {FORMAT}")
    from jsonschema.exceptions import best_match

    error = best_match(_validator().iter_errors(content))
    if error:
        raise ValueError(f"not a whole result: {error.json_path}: {error.message[:100]}")
    if len({len(c["samples"]) for c in content["candidates"].values()}) > 1:
        raise ValueError("not a whole result: its candidates have different numbers of samples")
    if any(c.get("difference", 0) > content["tolerance"] for c in content["candidates"].values()):
        raise ValueError("its candidates do not agree: a difference is above the tolerance")


@cache
def _validator():
    from jsonschema import Draft202012Validator

    return Draft202012Validator(json.loads(_data("result.schema.json")))


def _data(name):
    return files("xla_helpers").joinpath("data", name).read_text()
