"""Does XLA pay for a model, with its shapes, on this machine? Check, race, and do the sums."""

import importlib.util
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from .agreement import TOLERANCE
from .checking import Check, check
from .comparing import compare
from .comparisons import Comparison
from .ratios import Ratio
from .startup import describe_machine
from .tables import counted, some
from .targets import plain_callable, resolve

SCATTER = 1.25  # how far a first call in another process may be from this one's
LUCK = 1.1  # how far a ratio in another process may be: notebook 12 shows such luck
NARROW = 1.1  # ends of an interval so far apart: more time would hardly bring them together
HALF = 0.5  # of the calls: a plan of which less was raced is not decided


@dataclass(frozen=True)
class Shape:
    """Calls of one shape. args: of the first one. share: how many of all calls are like it."""

    args: tuple
    share: float


@dataclass(frozen=True, repr=False)
class Decision:
    """What was found, and what to use.

    plan: shape in words to `Shape`, the most frequent first. checks: shape to `Check`. worst: the
    checks of inputs that should fail. races: shape to `Comparison`, for the shapes for which there
    was time. calls: how many there are in all. floor: how many times faster than the graph a
    candidate must be, first calls included.
    """

    plan: Mapping[str, Shape]
    checks: Mapping[str, Check]
    worst: tuple[Check, ...]
    races: Mapping[str, Comparison]
    calls: int
    floor: float
    machine: str = field(default_factory=describe_machine)

    @property
    def candidates(self) -> list[str]:
        """XLA, and then what was given beside it."""
        known = (label for race in self.races.values() for label in _labels(race))
        return list(dict.fromkeys(["XLA", *known]))

    @property
    def unusable(self) -> dict[str, str]:
        """Candidate to the reason for which nobody should choose it, as it goes on after "XLA"."""
        reasons = {label: self._why_not(label) for label in self.candidates}
        return {label: why for label, why in reasons.items() if why}

    @property
    def gains(self) -> dict[str, Ratio]:
        """Candidate to how many times faster than the graph all calls are, first calls included.

        The interval holds those of the races, and how far another process may be from this one.
        """
        usable = [label for label in self.candidates if label not in self.unusable]
        return {label: self._gain(label, self.calls) for label in usable}

    @property
    def label(self) -> str:
        """What to use: "graph" or a candidate; "" while more calls or more time may decide it."""
        gains = self.gains
        winners = [label for label, gain in gains.items() if gain.low >= self.floor]
        if winners:
            best = max(winners, key=lambda label: gains[label].value)
            return next(x for x in winners if gains[x].high >= gains[best].low)
        return "" if any(map(self.opens, gains)) else "graph"

    def opens(self, label: str) -> str:
        """What may still make a candidate worth it; "" when nothing does."""
        if self._gain(label, self.calls).high <= self.floor:
            return ""
        if self._covered < HALF:
            return "more time, since less than half of the calls were raced"
        if self._gain(label, 1e12).low >= self.floor:
            return f"more calls, since it repays its first calls after about {self.repaid(label)}"
        alone = self._gain(label, self.calls, luck=1.0)
        return "more time, since the interval is wide" if alone.high > NARROW * alone.low else ""

    def repaid(self, label: str) -> str:
        """After how many calls a candidate has repaid what its first calls cost, in words."""
        once = self._once(label) - self._once("graph")
        saved = self._steady("graph") - self._steady(label)
        if saved <= 0:
            return "no number of calls" if once > 0 else "0 calls"
        return counted(max(0, round(float(f"{once / saved:.2g}"))), "call")

    def over(self, calls: int) -> "Decision":
        """The same measurements, for another number of calls."""
        return replace(self, calls=calls)

    @property
    def verdict(self) -> str:
        """One line to paste: the choice, how much faster, over how many calls, and where."""
        return f"{self.label or 'undecided'}: {'; '.join(self._said())}. {self.machine}"

    @property
    def notes(self) -> list[str]:
        """What was not tested, and what to mind with the choice, in short sentences."""
        return list(self._notes())

    def __repr__(self):
        return "\n".join([self.verdict, *self.notes])

    # The sums

    @property
    def _covered(self):
        return sum(self.plan[shape].share for shape in self.races)

    def _steady(self, label):
        """Seconds per call, over the shapes that were raced."""
        seconds = (self.plan[x].share * race[label].median for x, race in self.races.items())
        return sum(seconds) / self._covered

    def _once(self, label):
        """Seconds of all first calls, beyond those of steady ones."""
        return sum(max(0, race[label].first - race[label].median) for race in self.races.values())

    def _gain(self, label, calls, luck=LUCK):
        graph = self._once("graph"), calls * self._steady("graph")
        noise = max([luck, *(max(race.noise, 1 / race.noise) for race in self.races.values())])
        scatter = SCATTER if luck > 1 else 1.0

        def times(end, scatter, noise):
            steady = sum(
                self.plan[x].share / self._covered * race["graph"].median / getattr(one, end)
                for x, race in self.races.items()
                for one in [race.ratio(label, "graph")]
            )
            whole = self._once(label) / scatter + calls * steady / noise
            return (graph[0] * scatter + graph[1]) / whole

        ends = times("low", 1 / scatter, 1 / noise), times("high", scatter, noise)
        return Ratio(times("value", 1, 1), *ends)

    # The words

    def _why_not(self, label):
        """Label by label: what the checks say of XLA, and the races of every candidate."""
        checks = self.checks.items() if label == "XLA" else ()
        for shape, found in checks:
            why = _differs(found)
            if why:
                return f"{why} with {shape}" if len(self.plan) > 1 else why
        for shape, race in self.races.items():
            if "graph" in race.failures:
                return f"cannot be compared: the graph fails with {shape}"
            if label not in race.measurements:
                return f"was not timed with {shape}: {race.failures.get(label, 'it was not there')}"
            if race.undecided:
                return f"cannot be compared: {race.undecided}"
            if race.evidence[label].mode != "XLA":
                return f"was not seen to run a program of XLA with {shape}"
        return "" if self.races else "was not raced"

    def _said(self):
        gains = self.gains
        order = sorted(gains, key=lambda label: label != self.label)
        for label in order:
            opened = "" if self.label else self.opens(label)
            mend = f" (to decide it: {opened})" if opened else ""
            yield f"{'' if label == self.label else f'{label} is '}{self._words(label)}{mend}"
        for label, why in self.unusable.items():
            yield f"{label} {why}"

    def _words(self, label):
        gain = f"{self._gain(label, self.calls).against('the graph')}"
        asked = "" if label == self.label else f", where at least {self.floor:.4g}x was asked for"
        return f"{gain} over {counted(self.calls, 'call')}, first calls included{asked}"

    def _notes(self):
        left = [shape for shape in self.plan if shape not in self.races]
        if left and self.races:
            yield f"Not raced: {some(left, 3)}, {1 - self._covered:.0%} of the calls."
        if not self.worst:
            yield "Not tested: inputs that should fail (`worst`)."
        for number, found in enumerate(self.worst, 1):
            if "XLA" in found.differing:
                how = found.against("XLA")
                yield f"Mind: with worst input {number}, XLA {how}."
        vanished = dict.fromkeys(name for x in self.checks.values() for name in x.vanished)
        if vanished and self.label != "graph":
            yield f"Mind: XLA leaves out {counted(len(vanished), 'check')} ({some([*vanished], 3)})."
        yield "Not tested: other processes, which is why the interval is wider than that of a race."


def decide(
    what,
    batches: Iterable | None = None,
    *,
    kwargs: Mapping | None = None,
    candidates: Mapping[str, Callable] | None = None,
    worst: Iterable = (),
    step: bool = False,
    calls: int = 10_000,
    tolerance: float = TOLERANCE,
    floor: float = 1.05,
    budget: float = 20.0,
) -> Decision:
    """Check and race a model as a graph and compiled, for each shape of its calls, and choose.

    what: whatever `check` takes; or a text, "path/file.py:make", which names a function that
    returns what is decided about, or (what, batches), or (what, batches, options by name).
    batches: example calls; a tuple holds the positional arguments of one call, anything else is
    its only argument. Their shapes, and how often each comes, are the plan. kwargs: keyword
    arguments of every call. candidates: more to race, label to function, such as "XLA, padded".
    worst: inputs that should fail, in the form of `batches`. step: whether `what` is a compiled
    Keras model, of which a training step is meant. calls: how many there will be in all.
    tolerance: the relative difference of results that is allowed. floor: how many times faster
    than the graph all calls must be, first calls included, to be worth it. budget: seconds,
    after which no further shape is raced. Introduced in notebook 13.

    Returns: a `Decision`.
    Raises: TypeError or ValueError for arguments that make no sense.
    """
    if isinstance(what, str) and ":" in what:
        given = {"kwargs": kwargs, "candidates": candidates, "worst": worst, "step": step}
        what, own, options = _made(what)
        options = {name: value for name, value in given.items() if value} | options
        batches = own if batches is None else batches
        more = {"calls": calls, "tolerance": tolerance, "floor": floor, "budget": budget}
        return decide(what, batches, **more | options)
    fn, end = resolve(what.train_step if step else what), time.monotonic() + budget
    kwargs, plan = dict(kwargs or {}), _plan_of(batches)
    checks, races = {}, {}
    for shape, one in plan.items():
        if checks and time.monotonic() > end:
            break
        checks[shape] = check(fn, *one.args, tolerance=tolerance, **kwargs)
        if not _differs(checks[shape]) or candidates:
            modes = _modes(fn) | dict(candidates or {})
            seconds = budget / 4 * one.share
            options = {"budget": seconds, "tolerance": tolerance, "strict": False}
            races[shape] = compare(modes, *one.args, **options, **kwargs)
    found = [check(fn, *_args(bad), tolerance=tolerance, **kwargs) for bad in worst]
    return Decision(plan, checks, tuple(found), races, calls, floor)


def _modes(fn):
    import tensorflow as tf

    plain = plain_callable(fn)
    return {"graph": tf.function(plain), "XLA": tf.function(plain, jit_compile=True)}


def _labels(race):
    return [label for label in (*race.measurements, *race.failures) if label != "graph"]


def _differs(found):
    """Why XLA cannot be chosen by what a check found, as it goes on after "XLA"; "" if it can."""
    if found.unsupported:
        return f"is refused: {'; '.join(map(str, found.unsupported))}"
    if len(found.errors) == len(found.outcomes):
        return f"fails, and so does every mode: {found['XLA'].short}"
    if not (found.compared and found.settled and found.decidable):
        return f"cannot be compared. {found.summary}"
    return "" if found["XLA"].agrees else found.against("XLA")


# What is given


def _made(reference):
    """What the function in "path/file.py:name" returns: what, batches or None, options."""
    place, _, name = reference.rpartition(":")
    if not Path(place).is_file():
        raise ValueError(f'there is no file {place}: give "path/file.py:make"')
    sys.path.insert(0, str(Path(place).resolve().parent))  # for its neighbours
    spec = importlib.util.spec_from_file_location(Path(place).stem, place)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    if not hasattr(module, name):
        raise ValueError(f"{place} has no {name!r}")
    made = getattr(module, name)()
    what, batches, options = (*made, None, None)[:3] if isinstance(made, tuple) else (made, None, None)
    return what, batches, dict(options or {})


def _plan_of(batches):
    """Shape in words to `Shape`, the most frequent first."""
    if not isinstance(batches, Iterable) or isinstance(batches, (str, Mapping)):
        raise TypeError(f"`batches` is {type(batches).__name__}: give a list of example calls")
    first, counts = {}, Counter()
    for batch in batches:
        args = _args(batch)
        shape = _words(args)
        first.setdefault(shape, args)
        counts[shape] += 1
    if not counts:
        raise ValueError("`batches` holds no example call: give at least one")
    return {x: Shape(first[x], n / counts.total()) for x, n in counts.most_common()}


def _args(batch):
    return batch if isinstance(batch, tuple) and not hasattr(batch, "_fields") else (batch,)


def _words(value):
    """Arguments by shape and type, such as "float32[16, 10]"; values of Python as they are."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_words(part)}" for key, part in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_words, value))
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        sizes = ", ".join(map(str, value.shape))
        return f"{getattr(value.dtype, 'name', value.dtype)}[{sizes}]"
    return repr(value)
