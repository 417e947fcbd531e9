"""Comparisons as small files, to be read on another day or another machine."""

import json
import os
import tempfile
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from pathlib import Path

from .agreement import Difference
from .comparisons import Comparison
from .modes import mode_of
from .ratios import Ratio
from .schemas import violation
from .startup import machine_facts
from .timing import Measurement

FORMAT = 1  # of the files; a reader refuses others
LARGEST = 2_000_000  # bytes of a file that is still read
REASON = 200  # characters of a reason for skipping a file
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

    @property
    def xla_against_graph(self) -> Ratio | None:
        """How many times faster its first XLA row is than its first graph; None without both.

        A row counts when its label begins with the mode itself, as "graph" or "XLA, padded" do.
        """
        labels = reversed(self.comparison.measurements)
        rows = {mode_of(x): x for x in labels if x.startswith(str(mode_of(x)))}
        if not {"graph", "XLA"} <= set(rows):
            return None
        return self.comparison.ratio(rows["XLA"], rows["graph"])


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
    where to; by default what the environment variable ``XLA_RESULTS`` names, or a folder for
    temporary files. Introduced in notebook 01, explained in notebook 12.

    Returns: the path of the file.
    Raises: ValueError for another name, or a comparison without measurements.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> path = record("noted", {"eager": 0.4, "XLA": 0.1}, "single calls, noted by hand", folder)
    >>> results, skipped = read_results(path)
    >>> results[0].comparison.ratio("XLA"), skipped
    (4x faster, seen once, {})
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
    text = json.dumps(content, indent=1, allow_nan=False)
    path = Path(folder or results_folder(), f"{name}.json")
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_suffix(".new")
    new.write_text(text + "\n", encoding="utf-8")
    os.replace(new, path)
    return path


def _candidate(comparison, label):
    m = comparison[label]
    content = {"first": m.first, "samples": list(m.samples), "calls": m.calls}
    if label in comparison.differences:
        content["difference"] = comparison.differences[label].size
    return content


def read_results(*places: Path | str) -> tuple[list[Result], dict[str, str]]:
    """Read results, from files and from all JSON files in folders.

    places: the files and folders, by default the one to which `record` writes. Introduced in
    notebook 05, explained in notebook 12.

    Returns: the results, and for each file that was skipped the reason.
    """
    results, skipped = [], {}
    for path in _files(places or [results_folder()], skipped):
        try:
            results.append(_read(path))
        except (OSError, ValueError, RecursionError) as error:
            skipped[str(path)] = " ".join(str(error).split())[:REASON]
    return results, skipped


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
    differences = {
        label: Difference(c["difference"]) for label, c in candidates.items() if "difference" in c
    }
    return Comparison(measurements, differences, tolerance=content["tolerance"])


def _check(content):
    """Raise ValueError, in one line, unless `content` is a result of this format."""
    found = content.get("format") if isinstance(content, dict) else None
    if not isinstance(found, int):
        raise ValueError("not a result of xla_helpers: it names no format")
    if found != FORMAT:
        age = "a newer" if found > FORMAT else "an older"
        raise ValueError(f"format {found}, from {age} xla_helpers; this one reads {FORMAT}")
    wrong = violation(content, "result.schema.json")
    if wrong:
        raise ValueError(f"not a whole result: {wrong}")
    candidates = content["candidates"].values()
    if len({len(c["samples"]) for c in candidates}) > 1:
        raise ValueError("not a whole result: its candidates have different numbers of samples")
    if any(c.get("difference", 0) > content["tolerance"] for c in candidates):
        raise ValueError("its candidates do not agree: a difference is above the tolerance")
