"""Comparisons as small files, to be read on another day or another machine."""

import json
import os
import secrets
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import date
from functools import cache
from numbers import Integral, Real
from pathlib import Path

from .agreement import Difference
from .comparisons import Comparison, Sweep
from .evidence import Evidence
from .modes import mode_of
from .ratios import Ratio
from .schemas import read_file, violation
from .startup import machine_facts
from .subjects import Subject, fingerprint, subject_of
from .tables import cut
from .timing import Measurement
from .writing import write_file

FORMAT = 3  # of the files that are written
READABLE = (2, FORMAT)  # 2 is 3 without earlier runs; a reader refuses others
SHARED = ("name", "what", "subject", "machine")  # what all runs in a file have in common
LARGEST = 2_000_000  # bytes of a file that is still read
MOST_RUNS = 100  # in a file
MOST_ROUNDS = 10_000  # in a run
SENTENCE = 1000  # characters of a sentence that is kept
REASON = 200  # characters of a reason for skipping a file
RAN = ("eager", "graphs", "programs", "compiled")  # what is kept of `Evidence`
FOLDER = "XLA_RESULTS"  # environment variable that names the folder of the files


@dataclass(frozen=True)
class Between:
    """How far the ratios of several runs lie apart.

    ratios: how many times faster one was than another, the median of each run, the last run last.
    """

    ratios: tuple[float, ...]

    @property
    def low(self) -> float:
        """The smallest of them."""
        return min(self.ratios)

    @property
    def high(self) -> float:
        """The largest of them."""
        return max(self.ratios)

    def against(self, rival: str) -> str:
        """In words, with the rival's name: ``from 1.20x to 1.40x faster than eager``."""
        words = self._words()
        return f"{words} than {rival}" if words else f"as fast as {rival}"

    def __repr__(self):
        return f"in {len(self.ratios)} runs {self._words() or 'as fast'}"

    def _words(self):
        """From end to end, on one side of 1 or across it; empty where both are shown as 1."""
        (low, one), (high, other) = map(_times, (self.low, self.high))
        one, other = one or other, other or one
        if one == other == "slower":
            low, high = high, low
        elif one != other:
            low = f"{low} slower"
        ends = low if low == high else f"from {low} to {high}"
        return one and f"{ends} {other}"


def _times(ratio):
    """A ratio as shown, turned to above 1, and its side of 1; no side where it is shown as 1."""
    shown = f"{max(ratio, 1 / ratio):.2f}x"
    return shown, "" if shown == "1.00x" else "faster" if ratio > 1 else "slower"


@dataclass(frozen=True)
class Result:
    """A recorded comparison.

    what: what was measured, with its sizes, in the words of who recorded it. day: as 2026-11-21.
    machine: what it was measured on, name to text. comparison: what was found, with its subject,
    in the last run. path: its file. earlier: what earlier runs found, the oldest first.
    """

    name: str
    what: str
    day: str
    machine: dict[str, str]
    comparison: Comparison
    path: Path
    earlier: tuple[Comparison, ...] = ()

    @property
    def runs(self) -> tuple[Comparison, ...]:
        """What each run found, the oldest first."""
        return (*self.earlier, self.comparison)

    def between_runs(self, label: str, baseline: str | None = None) -> Between | None:
        """How many times faster `label` was than `baseline` in each run that measured both.

        None where fewer than two did. An interval knows the rounds of its own run alone.
        """
        baseline = baseline or self.comparison.baseline
        both = [run for run in self.runs if {label, baseline} <= set(run.measurements)]
        ratios = tuple(run.ratio(label, baseline).value for run in both)
        return Between(ratios) if len(ratios) > 1 else None

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
        rows = self._xla_and_graph()
        return self.comparison.ratio(*rows) if rows else None

    @property
    def xla_between_runs(self) -> Between | None:
        """The same in each run, by the same rows; None without both or with a single run."""
        rows = self._xla_and_graph()
        return self.between_runs(*rows) if rows else None

    def _xla_and_graph(self):
        labels = reversed(self.comparison.measurements)
        rows = {mode_of(x): x for x in labels if x.startswith(str(mode_of(x)))}
        return (rows["XLA"], rows["graph"]) if {"XLA", "graph"} <= set(rows) else ()


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
    runs: int = 1,
    machine: dict[str, str] | None = None,
) -> Path | list[Path]:
    """Write a comparison as a small JSON file, with machine and versions and nothing personal.

    name: small letters, digits and hyphens. comparison: a `Comparison`; a `Sweep`, of which each
    size becomes a file; or label to the seconds of a single call. what: what was measured, with
    its sizes, in one line. folder: where to; by default what the environment variable
    ``XLA_RESULTS`` names, or a folder that belongs to the user and the project. about: for single
    calls, the function that took the seconds; a `Comparison` knows what it is about.
    An earlier file is replaced when its name, its words and its subject are the same, and only
    then. runs: how many runs the file may hold, this one included; with more than one, those that
    it held of other processes, on the same machine with the same versions, stay beside it.
    machine: what it was measured on, such as the `machine` of a `Result` that another process
    recorded; by default, what this process sees. What is shown in a line may hold nothing that
    steers a terminal: the words, the labels and what is said of the machine.
    Introduced in notebook 01, explained in notebook 12.

    Returns: the path of the file, or a list of them for a `Sweep`.
    Raises: TypeError for what is none of the three; ValueError for another name, when nothing was
    measured, for more rounds than a file may hold, for a number of runs that makes no sense, and
    for a text that may not stand in a line.

    >>> import tempfile
    >>> folder = tempfile.mkdtemp()
    >>> path = record("noted", {"eager": 0.4, "XLA": 0.1}, "single calls, noted by hand", folder)
    >>> results, skipped = read_results(path)
    >>> results[0].comparison.ratio("XLA"), skipped
    (4x faster, seen once, {})
    """
    _check_runs(runs)
    if isinstance(comparison, Sweep):
        return _record_each(name, comparison, what, folder, about, runs, machine)
    comparison = _as_comparison(comparison)
    if about is not None:
        comparison = replace(comparison, subject=subject_of([about]))
    _check_rounds(comparison)
    content = _content(name, comparison, what, machine)
    _check(content)
    path = _made(folder) / f"{name}.{fingerprint([what, _fingerprint(comparison)])}.json"
    if runs > 1:
        content["earlier"] = _earlier(path, content)[1 - runs :]
    _write(path, content)
    return path


def _check_runs(runs):
    if not (isinstance(runs, Integral) and 1 <= runs <= MOST_RUNS):
        raise ValueError(f"`runs` is {runs!r}: give a whole number from 1 to {MOST_RUNS}")


def _check_rounds(comparison):
    rounds = max((len(m.samples) for m in comparison.measurements.values()), default=0)
    if rounds > MOST_ROUNDS:
        raise ValueError(f"{rounds:,} rounds; a file holds {MOST_ROUNDS:,}: record fewer rounds")


def _earlier(path, content):
    """The runs in the file at `path` that may stay beside that in `content`, the oldest first.

    They are about the same and of the same machine, but of other processes: recorded twice in one
    process, a comparison is one run.
    """
    try:
        before = _load(path)
    except (OSError, ValueError, RecursionError):  # none, or none that can be read
        return []
    if any(before.get(key) != content.get(key) for key in SHARED):
        return []
    last = {key: before[key] for key in before if key not in {*SHARED, "format", "earlier"}}
    found = [*before.get("earlier", ()), last]
    return [run for run in found if run.get("process") != content["process"]]


def _write(path, content):
    text = json.dumps(content, indent=1, allow_nan=False) + "\n"
    if len(text) > LARGEST:
        raise ValueError("this is too large for a result: record fewer runs or rounds")
    write_file(path, text)


def _made(folder) -> Path:
    """The folder to write to. The usual one can be opened by its user alone."""
    usual = folder is None and not os.environ.get(FOLDER)
    where = Path(folder or results_folder())
    where.mkdir(mode=0o700 if usual else 0o777, parents=True, exist_ok=True)
    return where


def _record_each(name, sweep, what, folder, about, runs, machine):
    measured = {size: found for size, found in sweep.comparisons.items() if found.measurements}
    if not measured:
        raise ValueError("nothing was measured at any size, so there is nothing to record")
    return [
        record(name, found, f"{what}, {sweep.name} {size}", folder, about, runs, machine)
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


def _content(name, comparison, what, machine):
    content = {
        "format": FORMAT,
        "name": name,
        "what": what,
        **_subject_parts(comparison.subject),
        "day": date.today().isoformat(),
        "machine": machine_facts() if machine is None else machine,
        "process": _mark(os.getpid()),
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


@cache
def _mark(process):
    """A random mark, by which the runs of one process are known, and nothing else of it."""
    return secrets.token_hex(4)


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


def read_results(
    *places: Path | str | Iterable[Path | str],
) -> tuple[list[Result], dict[str, str]]:
    """Read results, from files and from all JSON files in folders.

    places: the files and folders, or lists of them, by default the one to which `record` writes.
    Links to folders are not followed, and neither a whole file system nor a folder that holds
    the user's home is searched. Introduced in notebook 05, explained in notebook 12.

    Returns: the results, and for each file or folder that was skipped the reason.
    """
    results, skipped = [], {}
    for path in _files(_each(places or [results_folder()]), skipped):
        try:
            results.append(_read(path))
        except (OSError, ValueError, RecursionError) as error:
            skipped[str(path)] = " ".join(str(error).split())[:REASON]
    return results, skipped


def _each(places):
    """Every place on its own: a text is one, and a list holds some."""
    for place in places:
        if isinstance(place, str | os.PathLike):
            yield place
        else:
            yield from _each(place)


def _files(places: Iterable[Path | str], skipped: dict[str, str]):
    for place in places:
        reason = _too_wide(place)
        if reason:
            skipped[str(place)] = reason
        elif os.path.isdir(place):
            yield from _json_files(place, skipped)
        else:
            yield Path(place)


def _too_wide(place):
    """Why this cannot be meant as a place of results; "" where it can."""
    if not os.fspath(place):
        return "an empty name"
    if not os.path.isdir(place):
        return ""
    path, home = Path(os.path.realpath(place)), Path(os.path.realpath(os.path.expanduser("~")))
    if path == Path(path.anchor):
        return "a whole file system is not searched: name a folder in it"
    if path in (home, *home.parents):
        return "the home of a user is not searched as a whole: name a folder in it"
    return ""


def _json_files(folder, skipped):
    def refuse(error):
        skipped[str(error.filename)] = f"cannot be opened: {error.strerror}"

    for below, _, names in sorted(os.walk(folder, onerror=refuse)):
        for name in sorted(names):
            if name.lower().endswith(".json"):
                yield Path(below, name)


def _read(path):
    content = _load(path)
    facts = (content[key] for key in ("name", "what", "day", "machine"))
    subject = _subject(content["subject"]) if "subject" in content else None
    earlier = tuple(_comparison(run, subject) for run in content.get("earlier", ()))
    return Result(*facts, _comparison(content, subject), path, earlier)


def _load(path):
    """What the file at `path` holds, checked."""
    text = read_file(path, LARGEST).decode("utf-8-sig", errors="replace")
    if not text.strip():
        raise ValueError("empty")
    try:
        content = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"not JSON: {error}") from error
    _check(content)
    return content


def _refuse(constant):
    raise ValueError(f"{constant} is no number that JSON knows")


def _comparison(content, subject):
    rows, control = content["candidates"], content.get("control")
    return Comparison(
        {label: _measurement(label, row) for label, row in rows.items()},
        {x: Difference(row["difference"]) for x, row in rows.items() if "difference" in row},
        tolerance=content["tolerance"],
        evidence={x: Evidence(**row["evidence"]) for x, row in rows.items() if "evidence" in row},
        control=_measurement(control["of"], control) if control else None,
        subject=subject,
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
    if found not in READABLE:
        age = "a newer" if found > FORMAT else "an older"
        known = " and ".join(map(str, READABLE))
        raise ValueError(f"format {found}, from {age} xla_helpers; this one reads {known}")
    wrong = violation(content, "result.schema.json")
    if wrong:
        raise ValueError(f"not a whole result: {wrong}")
    for run in (content, *content.get("earlier", ())):
        _check_run(run)


def _check_run(run):
    candidates = run["candidates"].values()
    rounds = [*candidates, *filter(None, [run.get("control")])]
    if len({len(row["samples"]) for row in rounds}) > 1:
        raise ValueError("not a whole result: its candidates have different numbers of samples")
    if any(c.get("difference", 0) > run["tolerance"] for c in candidates):
        raise ValueError("its candidates do not agree: a difference is above the tolerance")
