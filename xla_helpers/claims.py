"""Published figures and sentences, and whether a sentence holds for a comparison made here."""

from dataclasses import dataclass
from importlib.resources import files

import msgspec

from .comparisons import Comparison
from .ratios import Ratio
from .results import Result

ENOUGH = 1.5  # times: a smaller ratio of two single calls decides nothing

HOLDS, FAILS = "holds", "does not hold"
UNDECIDED, UNKNOWN = "undecided", "cannot be judged"


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
        kinds = set(map(self._kind, ratios))
        return Verdict(self, kinds.pop() if len(kinds) == 1 else UNDECIDED, ratios)

    @staticmethod
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
        if len(self.ratios) > 1:
            values = [ratio.value for ratio in self.ratios]
            words = f"{min(values):.2f}x to {max(values):.2f}x as fast as {self.claim.slower}"
            runs = f"{len(values)} runs"
        else:
            words, runs = self.ratios[0].against(self.claim.slower), "one run"
        return f"{self.kind}, in {runs}: {self.claim.faster} is {words}"


@dataclass(frozen=True)
class Published:
    """Figures of others, to be set beside a comparison.

    name: of that comparison. source: who published them. hardware: what they were measured on.
    seconds: label to mean and standard deviation, 0 where none was given. claims: what they say.
    differs: what was measured otherwise than here.
    """

    name: str
    source: str
    hardware: str
    differs: str
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
