"""Published figures and sentences, and whether a sentence holds for a comparison made here."""

import json
from dataclasses import dataclass, field

from .comparisons import Comparison
from .ratios import Ratio, median_ratio
from .results import Between, Result
from .schemas import read_data, violation

ENOUGH = 1.5  # times: a smaller ratio of two single calls decides nothing

HOLDS, IN_PART, FAILS = "holds", "holds in part", "does not hold"
UNDECIDED, UNKNOWN, ELSEWHERE = "undecided", "cannot be judged", "about something else"


@dataclass(frozen=True)
class Claim:
    """A published sentence: `faster` is faster than `slower`, by `times` where it says so.

    name: of the comparison that it is about. says: the sentence. hardware: what it was said of.
    models: those it may be judged by, name to the `model` of a `Subject`; any when it is empty.
    """

    name: str
    says: str
    hardware: str
    faster: str
    slower: str
    times: float | None = None
    models: dict[str, str] = field(default_factory=dict)

    def judge(self, found: Comparison | Result) -> "Verdict":
        """Whether it holds for what was found: a `Comparison`, or a `Result` with all its runs.

        It holds when the ratio is clear and the whole interval lies on its side of 1, and in part
        when the interval also stays below half of a published ratio. With one sample there is no
        interval, and only a ratio beyond `ENOUGH` decides. A comparison of another model says
        nothing of it. Several runs are judged one by one, and decide only where they agree.
        """
        if isinstance(found, Comparison):
            return self._judge(found)
        verdicts = [self._judge(run) for run in found.runs]
        judged = [verdict for verdict in verdicts if verdict.ratio]
        if len(judged) < 2:
            return (judged or verdicts)[-1]
        between = found.between_runs(self.faster, self.slower)
        return Verdict(self, _shared(judged), judged[-1].ratio, between=between)

    def _judge(self, comparison):
        if comparison.subject and not _is_about(self.models, comparison):
            return Verdict(self, ELSEWHERE)
        measured = comparison.measurements
        missing = tuple(label for label in (self.faster, self.slower) if label not in measured)
        if missing or not _is_about(self.models, comparison):
            return Verdict(self, UNKNOWN, missing=missing)
        one, other = measured[self.faster], measured[self.slower]
        if min(len(one.samples), len(other.samples)) == 1:
            ratio = median_ratio([other.median / one.median])
            kind = _kind(ratio.value > ENOUGH, ratio.value < 1 / ENOUGH)
            return Verdict(self, kind, ratio, calls=max(one.calls, other.calls))
        ratio = comparison.ratio(self.faster, self.slower)
        kind = _kind(ratio.clear and ratio.low > 1, ratio.clear and ratio.high < 1)
        if kind == HOLDS and self.times and ratio.high < self.times / 2:
            kind = IN_PART
        return Verdict(self, kind, ratio)


@dataclass(frozen=True)
class Verdict:
    """What a comparison says of a claim.

    kind: "holds", "holds in part", "does not hold", "undecided", "cannot be judged" or "about
    something else". ratio: of the claim's two labels, as measured here, in the last run. missing:
    labels that were not measured. between: the ratios of all runs, where there were several.
    calls: the most calls in a sample, where one sample alone was judged.
    """

    claim: Claim
    kind: str
    ratio: Ratio | None = None
    missing: tuple[str, ...] = ()
    between: Between | None = None
    calls: int = 1

    def __str__(self):
        if self.missing:
            return f"{self.kind}: {' and '.join(self.missing)} not measured"
        if self.ratio is None:
            known = "is not" if self.kind == ELSEWHERE else "is not known to be"
            return f"{self.kind}: what was measured {known} {' or '.join(self.claim.models)}"
        if self.between is None and self.ratio.once:
            each = "one call each" if self.calls == 1 else "one sample each"
            return f"{self.kind}, by its order alone: {self.ratio.value:.3g} times, {each}"
        runs = f"{len(self.between.ratios)} runs" if self.between else "one run"
        words = (self.between or self.ratio).against(self.claim.slower)
        times = self.claim.times
        published = f", published about {times:g}x" if times else ""
        return f"{self.kind}, in {runs}: {self.claim.faster} is {words}{published}"


@dataclass(frozen=True)
class Published:
    """Figures of others, to be set beside a comparison.

    name: of that comparison. source: who published them. hardware: what they were measured on.
    seconds: label to mean and standard deviation, 0 where none was given. claims: what they say,
    as pairs of labels. differs: what was measured otherwise than here. models: by which the
    claims may be judged, name to the `model` of a `Subject`.
    """

    name: str
    source: str
    hardware: str
    seconds: dict[str, tuple[float, float]]
    claims: tuple[Claim, ...]
    differs: str = ""
    models: dict[str, str] = field(default_factory=dict)

    def is_about(self, comparison: Comparison) -> bool:
        """Whether the comparison measured one of its models, in whatever sizes."""
        return _is_about(self.models, comparison)


def read_published(name: str | None = None) -> list[Published]:
    """The published figures that the notebooks quote, each with its source and hardware.

    name: of a comparison; without it, all. Introduced in notebook 03.

    Raises: ValueError when their file is damaged.

    >>> sorted({figures.name for figures in read_published()})
    ['five-modes', 'generate', 'three-prompts']
    """
    entries = json.loads(read_data("published.json"))
    wrong = violation(entries, "published.schema.json")
    if wrong:
        raise ValueError(f"published.json is damaged: {wrong}")
    return [_published(entry) for entry in entries if name in (None, entry["name"])]


def _is_about(models, comparison):
    measured = comparison.subject and comparison.subject.model
    return not models or measured in models.values()


def _kind(holds, opposite):
    return HOLDS if holds else FAILS if opposite else UNDECIDED


def _shared(verdicts):
    """The kind on which runs agree; where one holds in part, all do at most."""
    kinds = {verdict.kind for verdict in verdicts}
    if kinds == {HOLDS, IN_PART}:
        return IN_PART
    return kinds.pop() if len(kinds) == 1 else UNDECIDED


def _published(entry):
    shared = {key: entry[key] for key in ("name", "hardware", "models")}
    claims = tuple(Claim(**shared, **claim) for claim in entry["claims"])
    seconds = {
        label: (figures["mean"], figures.get("deviation", 0.0))
        for label, figures in entry["seconds"].items()
    }
    differs = entry.get("differs", "")
    return Published(
        **shared, source=entry["source"], seconds=seconds, claims=claims, differs=differs
    )
