"""Does XLA pay for a model, with its shapes, on this machine? Check, race, and do the sums."""

import itertools
import math
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from .calls import Call
from .checking import Check, check
from .comparing import compare
from .comparisons import Comparison, Ratio
from .differences import TOLERANCE, leaves
from .errors import check_number
from .startup import describe_machine
from .tables import Table, counted, first_of


@dataclass(frozen=True, repr=False)
class Decision(Table):
    """What was found, and what to use.

    Attributes:
        shape_shares: Shape in words to the share of the calls that have it, the most frequent
            first.
        checks: Shape to `Check`.
        invalid_inputs: The checks of inputs that should fail.
        races: Shape to `Comparison`, where there was time.
        calls: How many there will be.
        min_speedup: How many times faster than the graph all of them together must be, first calls
            included, to be worth it.
    """

    shape_shares: Mapping[str, float]
    checks: Mapping[str, Check]
    invalid_inputs: tuple[Check, ...]
    races: Mapping[str, Comparison]
    calls: int
    min_speedup: float

    @property
    def objections(self) -> dict[str, str]:
        """XLA, and each other candidate, to why nobody should choose it; "" for no reason."""
        raced = (x for race in self.races.values() for x in (*race.measurements, *race.failures))
        labels = dict.fromkeys(["XLA", *raced])
        return {label: self._objection(label) for label in labels if label != "graph"}

    @property
    def gains(self) -> dict[str, Ratio]:
        """Candidate to how many times faster than the graph all calls are, first calls included.

        The interval is that of the races: of this process alone.
        """
        return {label: self._gain(label) for label, why in self.objections.items() if not why}

    @property
    def label(self) -> str:
        """What to use: "graph" or a candidate; "" where only the middle of a gain is high enough.

        A candidate wins when the low end of its gain reaches `min_speedup`. Of several that may
        gain as much, it is the one that was given first, which should be the simplest.
        """
        gains = self.gains
        winners = {label: gain for label, gain in gains.items() if gain.low >= self.min_speedup}
        if winners:
            best = max(winners.values(), key=lambda gain: gain.value)
            return next(label for label, gain in winners.items() if gain.high >= best.low)
        return "" if any(gain.value >= self.min_speedup for gain in gains.values()) else "graph"

    def total(self, label: str, calls: int) -> float:
        """Estimate the seconds of so many calls, first calls included.

        Shapes that were not raced are taken to be like the others; the first call of each, to cost
        as much as the last one that was raced.

        Args:
            label: "graph" or a candidate.
            calls: How many.

        Returns:
            Seconds.

        Raises:
            KeyError: For a candidate that was refused, with the reason.
        """
        if why := self.objections.get(label, "" if label == "graph" and self.races else "unknown"):
            raise KeyError(f"{label}: {why}")
        return self._once(label) + calls * self._steady(label)

    def break_even_calls(self, label: str) -> float:
        """The calls after which `label` has repaid its first calls; infinity for never."""
        saved = self._steady("graph") - self._steady(label) if label in self.gains else 0
        once = self._once(label) - self._once("graph") if saved else 0
        return max(0.0, once / saved) if saved > 0 else math.inf

    @property
    def verdict(self) -> str:
        """One line to paste: what to use, how much faster it is, over how many calls, and where."""
        gains, label = self.gains, self.label
        if label not in gains:
            label = max(gains, key=lambda x: gains[x].value, default="XLA")
        said = self.objections.get(label)
        if label in gains:
            said = f"is {gains[label].against('the graph')} over {counted(self.calls, 'call')}, "
            said += "first calls included, in this process alone"
        return f"{self.label or 'undecided'}: {label} {said}. {describe_machine()}"

    @property
    def notes(self) -> list[str]:
        """What was not tested, and what to mind, in short sentences."""
        more = "" if self.label else " More calls or a larger `budget` may decide it."
        notes = [f"Asked for: {self.min_speedup:.4g}x.{more}"]
        if left := [shape for shape in self.shape_shares if shape not in self.checks]:
            share = sum(self.shape_shares[shape] for shape in left)
            notes.append(f"Neither checked nor raced: {first_of(left)}, {share:.0%} of the calls.")
        if not self.invalid_inputs:
            notes.append("Not tested: inputs that should fail, in `invalid_inputs`.")
        for number, found in enumerate(self.invalid_inputs, start=1):
            if not found["XLA"].agrees:
                notes.append(f"Invalid input {number} under XLA: {found.against('XLA')}.")
        dropped = dict.fromkeys(x for found in self.checks.values() for x in found.dropped_checks)
        return notes + ([f"XLA drops the checks {first_of(dropped)}."] if dropped else [])

    def _parts(self):
        gains, objections = self.gains, self.objections
        rows = [[label, gains.get(label, ""), why] for label, why in objections.items()]
        return self.verdict, ["", "against the graph", "why not"], rows, *self.notes

    def _objection(self, label):
        """The checks are of XLA; of other candidates the races say whether the results agree."""
        checked = [_why_not_xla(found) for found in self.checks.values() if label == "XLA"]
        raced = [_why_not_raced(race, label) for race in self.races.values()]
        return next(filter(None, [*checked, *raced]), "")

    def _once(self, label):
        """Seconds of all first calls, beyond those of steady ones."""
        each = [max(0, race[label].first - race[label].median) for race in self.races.values()]
        return sum(each) + (len(self.shape_shares) - len(each)) * each[-1]

    def _steady(self, label, end="value"):
        """Seconds per call, by the value or one end of the label's ratio to the graph."""
        ratios = [race.ratio(label, "graph") for race in self.races.values()]
        graph = [race["graph"].median for race in self.races.values()]
        seconds = np.divide(graph, [getattr(ratio, end) for ratio in ratios])
        return float(np.average(seconds, weights=[self.shape_shares[s] for s in self.races]))

    def _gain(self, label):
        graph = self._once("graph") + self.calls * self._steady("graph")
        once = self._once(label)
        ends = ("value", "low", "high")
        gains = [graph / (once + self.calls * self._steady(label, end)) for end in ends]
        noises = [race.noise for race in self.races.values()]
        return Ratio(*gains, noise=max(noises, key=lambda noise: max(noise, 1 / noise)))


def _why_not_xla(found):
    """Why nobody should choose XLA, by what a check found; "" when nothing speaks against it."""
    if found.unsupported:
        return f"is refused: {'; '.join(f'{one}: {one.fix}' for one in found.unsupported)}"
    wrong = found.undecided or found.differing
    return f"is no choice: {str(found).splitlines()[0].rstrip('.')}" if wrong else ""


def _why_not_raced(race, label):
    """The same of any candidate, by what a race found."""
    if why := race.undecided or race.failures.get(label) or race.failures.get("graph"):
        return f"cannot be judged: {why.rstrip('.')}"
    return "" if race.evidence[label].mode == "XLA" else "was not seen to run a program of XLA"


def decide(
    fn: Any, batches: Iterable, *, kwargs=None, candidates=None, invalid_inputs=(), step=False,
    calls=10_000, tolerance=TOLERANCE, min_speedup=1.05, budget=20.0
) -> Decision:  # fmt: skip
    """Check and race a model as a graph and compiled, for each shape of its calls, and choose.

    The intervals are those of this process alone; another process may lie outside.

    Args:
        fn: A model or a function, as for `check`.
        batches: Example calls, of which the first 10,000 count; a tuple holds the positional
            arguments of one call, anything else is its only argument. Their shapes, and how often
            each comes, stand for all calls.
        kwargs: Keyword arguments of every call.
        candidates: More to race, label to function, such as "XLA, padded".
        invalid_inputs: Inputs that should fail, in the form of `batches`.
        step: Whether `fn` is a compiled Keras model of which a training step is meant.
        calls: How many calls there will be.
        tolerance: The relative difference of results that is allowed.
        min_speedup: How many times faster than the graph all calls together must be, first calls
            included.
        budget: Seconds after which no further shape is raced.

    Returns:
        A `Decision`.

    Raises:
        TypeError, ValueError: For arguments that make no sense, and where the graph fails.
        AttributeError: For a step of what is no Keras model.
    """
    import tensorflow as tf

    check_number("calls", calls, whole=True)
    check_number("min_speedup", min_speedup)
    check_number("budget", budget)
    if taken := {"graph", "XLA"} & set(candidates or {}):
        raise ValueError(f"`candidates` has {', '.join(taken)}: choose a label that is not taken")
    fn = fn.train_step if step else fn
    plain = Call(fn).python
    examples, shares = _shape_shares(batches, step)
    checks, races = dict[str, Check](), dict[str, Comparison]()
    end, options = time.monotonic() + budget, {"kwargs": kwargs, "tolerance": tolerance}
    for shape, share in shares.items():
        if checks and time.monotonic() > end:
            break
        checks[shape] = found = check(fn, examples[shape], **options)
        if "graph" in found.errors:
            raise ValueError(f"the graph fails with {shape}: {found['graph'].short}")
        if candidates or not _why_not_xla(found):
            modes = {"graph": tf.function(plain), "XLA": tf.function(plain, jit_compile=True)}
            modes.update(candidates or {})
            how = {"rounds": 8, "budget": budget / 4 * share, "strict": False, **options}
            races[shape] = compare(modes, examples[shape], **how)
    bad = tuple(check(fn, _args(one, step), **options) for one in invalid_inputs)
    return Decision(shares, checks, bad, races, calls, min_speedup)


def _shape_shares(batches, step):
    """Shape in words to its first example, and to its share, the most frequent first."""
    if isinstance(batches, (str, Mapping)) or hasattr(batches, "shape"):
        raise TypeError(f"`batches` must be a list of example calls, not {type(batches).__name__}")
    examples, counts = dict[str, tuple](), Counter[str]()
    for batch in itertools.islice(batches, 10_000):
        args = _args(batch, step)
        shape = ", ".join(_words(leaf) for _, leaf in leaves(args))
        examples.setdefault(shape, args)
        counts[shape] += 1
    if not counts:
        raise ValueError("`batches` holds no example call: give at least one")
    return examples, {shape: n / counts.total() for shape, n in counts.most_common()}


def _args(batch, step):
    """A training step takes all that belongs to a batch as one argument."""
    return batch if isinstance(batch, tuple) and not step else (batch,)


def _words(value):
    """An argument by type and shape, such as "float32[16, 10]"; a value of Python as it is."""
    if not hasattr(value, "shape") or not hasattr(value, "dtype"):
        return repr(value)
    return f"{getattr(value.dtype, 'name', value.dtype)}[{', '.join(map(str, value.shape))}]"
