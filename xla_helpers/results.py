"""Comparisons as small files, to be read on another day or another machine."""

import json
import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from numbers import Real
from pathlib import Path

from .agreement import Difference
from .comparisons import Comparison, Sweep
from .evidence import Evidence
from .modes import mode_of
from .ratios import Ratio
from .schemas import violation
from .startup import machine_facts
from .subjects import Subject, fingerprint, subject_of
from .tables import cut
from .timing import Measurement

FORMAT = 2  # of the files; a reader refuses others
LARGEST = 2_000_000  # bytes of a file that is still read
SENTENCE = 1000  # characters of a sentence that is kept
REASON = 200  # characters of a reason for skipping a file
RAN = ("eager", "graphs", "programs", "compiled")  # what is kept of `Evidence`
FOLDER = "XLA_RESULTS"  # environment variable that names the folder of the files


@dataclass(frozen=True)
class Result:
    """A recorded comparison.

    what: what was measured, with its sizes, in the words of who recorded it. day: as 2026-11-21.
    machine: what it was measured on, name to text. comparison: what was found, with its subject.
    path: its file.
    """

    name: str
    what: str
    day: str
    machine: dict[str, str]
    comparison: Comparison
    path: Path

    @property
    def about(self) -> tuple[str, str, str]:
        """What it is about: its name, its words, and the fingerprint of its subject, if known.

        Results may be set side by side when they are equal in it.
        """
        return self.name, self.what, _fingerprint(self.comparison)

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
    """Where results are recorded: `XLA_RESULTS`, or a folder of this user for this project.

    A project is the nearest folder above with a ``.git``, or else the working directory.
    """
    if os.environ.get(FOLDER):
        return Path(os.environ[FOLDER])
    from platformdirs import user_data_path

    here = Path.cwd()
    project = next((p for p in (here, *here.parents) if (p / ".git").exists()), here)
    return user_data_path("xla-helpers") / f"{project.name}-{fingerprint(str(project))}"


def record(
    name: str,
    comparison: Comparison | Sweep | Mapping[str, float],
    what: str,
    folder: Path | str | None = None,
    about: Callable | None = None,
) -> Path | list[Path]:
    """Write a comparison as a small JSON file, with machine and versions and nothing personal.

    name: small letters, digits and hyphens. comparison: a `Comparison`; a `Sweep`, of which each
    size becomes a file; or label to the seconds of a single call. what: what was measured, with
    its sizes, in one line. folder: where to; by default what the environment variable
    ``XLA_RESULTS`` names, or a folder that belongs to the user and the project. about: for single
    calls, the function that took the seconds; a `Comparison` knows what it is about.
    An earlier file is replaced when its name, its words and its subject are the same, and only
    then. Introduced in notebook 01, explained in notebook 12.

    Returns: the path of the file, or a list of them for a `Sweep`.
    Raises: TypeError for what is none of the three; ValueError for another name, or when
    nothing was measured.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> path = record("noted", {"eager": 0.4, "XLA": 0.1}, "single calls, noted by hand", folder)
    >>> results, skipped = read_results(path)
    >>> results[0].comparison.ratio("XLA"), skipped
    (4x faster, seen once, {})
    """
    if isinstance(comparison, Sweep):
        return _record_each(name, comparison, what, folder, about)
    comparison = _as_comparison(comparison)
    if about is not None:
        comparison = replace(comparison, subject=subject_of([about]))
    content = _content(name, comparison, what)
    _check(content)
    text = json.dumps(content, indent=1, allow_nan=False)
    path = _made(folder) / f"{name}.{fingerprint([what, _fingerprint(comparison)])}.json"
    new = path.with_suffix(".new")
    new.write_text(text + "\n", encoding="utf-8")
    os.replace(new, path)
    return path


def _made(folder) -> Path:
    """The folder to write to. The usual one can be opened by its user alone."""
    usual = folder is None and not os.environ.get(FOLDER)
    where = Path(folder or results_folder())
    where.mkdir(mode=0o700 if usual else 0o777, parents=True, exist_ok=True)
    return where


def _record_each(name, sweep, what, folder, about):
    measured = {size: found for size, found in sweep.comparisons.items() if found.measurements}
    if not measured:
        raise ValueError("nothing was measured at any size, so there is nothing to record")
    return [
        record(name, found, f"{what}, {sweep.name} {size}", folder, about)
        for size, found in measured.items()
    ]


def _as_comparison(found) -> Comparison:
    if isinstance(found, Comparison):
        return found
    if not isinstance(found, Mapping) or not all(isinstance(s, Real) for s in found.values()):
        raise TypeError(
            "`comparison` must be a Comparison, a Sweep, or map labels to seconds, for example "
            f'{{"eager": 0.4, "XLA": 0.1}}; this is {type(found).__name__}'
        )
    single = {label: Measurement(label, float(s), (float(s),), 1) for label, s in found.items()}
    return Comparison(single, differences={})


def _fingerprint(comparison):
    return comparison.subject.fingerprint if comparison.subject else ""


def _content(name, comparison, what):
    content = {
        "format": FORMAT,
        "name": name,
        "what": what,
        **_subject_parts(comparison.subject),
        "day": date.today().isoformat(),
        "machine": machine_facts(),
        "tolerance": comparison.tolerance,
        "candidates": {label: _candidate(comparison, label) for label in comparison.measurements},
    }
    if comparison.control:
        content["control"] = {"of": comparison.control.label, **_seconds(comparison.control)}
    if comparison.undecided:
        content["undecided"] = cut(comparison.undecided, SENTENCE)
    if comparison.remarks:
        content["remarks"] = list(comparison.remarks)
    return content


def _subject_parts(subject):
    if subject is None:
        return {}
    return {"subject": asdict(subject) | {"arguments": list(subject.arguments)}}


def _candidate(comparison, label):
    content = _seconds(comparison[label])
    if label in comparison.differences:
        content["difference"] = comparison.differences[label].size
    if label in comparison.evidence:
        found = comparison.evidence[label]
        content["evidence"] = {name: getattr(found, name) for name in RAN}
    return content


def _seconds(m):
    return {"first": m.first, "samples": list(m.samples), "calls": m.calls}


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
    rows, control = content["candidates"], content.get("control")
    return Comparison(
        {label: _measurement(label, row) for label, row in rows.items()},
        {x: Difference(row["difference"]) for x, row in rows.items() if "difference" in row},
        tolerance=content["tolerance"],
        evidence={x: Evidence(**row["evidence"]) for x, row in rows.items() if "evidence" in row},
        control=_measurement(control["of"], control) if control else None,
        subject=_subject(content["subject"]) if "subject" in content else None,
        undecided=content.get("undecided", ""),
        remarks=tuple(content.get("remarks", ())),
    )


def _measurement(label, row):
    return Measurement(label, row["first"], tuple(row["samples"]), row["calls"])


def _subject(content):
    return Subject(**content | {"arguments": tuple(content["arguments"])})


def _check(content):
    """Raise ValueError, in one line, unless `content` is a result of this format."""
    found = content.get("format") if isinstance(content, dict) else None
    if type(found) is not int:
        raise ValueError("not a result of xla_helpers: it names no format")
    if found != FORMAT:
        age = "a newer" if found > FORMAT else "an older"
        raise ValueError(f"format {found}, from {age} xla_helpers; this one reads {FORMAT}")
    wrong = violation(content, "result.schema.json")
    if wrong:
        raise ValueError(f"not a whole result: {wrong}")
    candidates = content["candidates"].values()
    rounds = [*candidates, *filter(None, [content.get("control")])]
    if len({len(row["samples"]) for row in rounds}) > 1:
        raise ValueError("not a whole result: its candidates have different numbers of samples")
    if any(c.get("difference", 0) > content["tolerance"] for c in candidates):
        raise ValueError("its candidates do not agree: a difference is above the tolerance")
