"""Does XLA pay for a model, with its shapes, on this machine? Check, race, and do the sums."""

import importlib.util
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from .agreement import TOLERANCE
from .checking import Check, check
from .comparing import compare
from .comparisons import Comparison
from .errors import headline
from .ratios import Ratio
from .startup import describe_machine
from .tables import counted, some
from .targets import python_of, resolve
from .timing import ROUNDS
from .validation import check_count, check_positive

SCATTER = 1.25  # how far a first call in another process may be from this one's
LUCK = 1.1  # how far a ratio in another process may be: notebook 12 shows such luck
NARROW = 1.1  # ends of an interval so far apart: more time would hardly bring them together
HALF = 0.5  # of the calls: a plan of which less was raced is not decided
LONG = 5.0  # seconds of a check, from which on a race has as few rounds as an interval needs
FEW_ROUNDS = 8
MOST_BATCHES = 10_000  # example calls: a dataset may go on for ever

SETTINGS = {
    "kwargs": {},
    "candidates": {},
    "worst": (),
    "calls": 10_000,
    "tolerance": TOLERANCE,
    "floor": 1.05,
    "budget": 20.0,
}
"""What holds unless said."""


@dataclass(frozen=True)
class Shape:
    """Calls of one shape. args: of the first one. share: how many of all calls are like it."""

    args: tuple
    share: float


@dataclass(frozen=True, repr=False)
class Decision:
    """What was found, and what to use. It shows itself as the verdict, with notes below it.

    plan: shape in words to `Shape`, the most frequent first. checks: shape to `Check`. worst: the
    checks of inputs that should fail. races: shape to `Comparison`, where there was time. calls:
    how many there will be. floor: how many times faster than the graph all of them together must
    be, first calls included, to be worth it.
    """

    plan: Mapping[str, Shape]
    checks: Mapping[str, Check]
    worst: tuple[Check, ...]
    races: Mapping[str, Comparison]
    calls: int
    floor: float

    @property
    def candidates(self) -> list[str]:
        """XLA, and what was raced beside it."""
        raced = (label for race in self.races.values() for label in _labels(race))
        return list(dict.fromkeys(["XLA", *raced]))

    @property
    def unusable(self) -> dict[str, str]:
        """Candidate to the reason for which nobody should choose it."""
        reasons = {label: self._why_not(label) for label in self.candidates}
        return {label: why for label, why in reasons.items() if why}

    @property
    def gains(self) -> dict[str, Ratio]:
        """Candidate to how many times faster than the graph all calls are, first calls included.

        The interval adds to that of the races how far another process may be from this one.
        """
        usable = [label for label in self.candidates if label not in self.unusable]
        return {label: self._gain(label, self.calls) for label in usable}

    @property
    def label(self) -> str:
        """What to use: "graph" or a candidate; "" where more calls or more time would decide it.

        A candidate wins when the low end of its gain reaches the floor. Of several that may gain
        as much, it is the simplest: the one that was given first.
        """
        gains = self.gains
        winners = [label for label, gain in gains.items() if gain.low >= self.floor]
        if winners:
            best = max(winners, key=lambda label: gains[label].value)
            return next(label for label in winners if gains[label].high >= gains[best].low)
        return "" if any(map(self.what_would_decide, gains)) else "graph"

    def what_would_decide(self, label: str) -> str:
        """The way in which `label` may still win, in words; "" when there is none."""
        if self._gain(label, self.calls).high <= self.floor:
            return ""
        if self._covered < HALF:
            return "more time, since less than half of the calls were raced"
        if self._gain(label, math.inf).low >= self.floor:
            return "more calls, over which its first calls weigh less"
        alone = self._gain(label, self.calls, luck=1.0, scatter=1.0)
        return "more time, since its interval is wide" if alone.high > NARROW * alone.low else ""

    def total(self, label: str, calls: int) -> float:
        """Seconds of so many calls with a label, "graph" or a candidate, first calls included."""
        return self._once(label) + calls * self._steady(label)

    def repaid(self, label: str) -> float:
        """The calls after which `label` has repaid its first calls; infinity for never."""
        once = self._once(label) - self._once("graph")
        saved = self._steady("graph") - self._steady(label)
        return max(0.0, once / saved) if saved > 0 else math.inf

    def over(self, calls: int) -> "Decision":
        """The same measurements, for another number of calls."""
        check_count("calls", calls)
        return replace(self, calls=calls)

    @property
    def verdict(self) -> str:
        """One line to paste: what to use, how much faster it is, over how many calls, and where."""
        chosen = self.label
        said = [*self._gained(chosen), *(f"{x} {why}" for x, why in self.unusable.items())]
        return f"{chosen or 'undecided'}: {'; '.join(said)}. {describe_machine()}"

    @property
    def notes(self) -> list[str]:
        """What was not tested, and what to mind, in short sentences."""
        return list(self._notes())

    def __repr__(self):
        return "\n".join([self.verdict, *self.notes])

    # The sums

    @property
    def _covered(self):
        return sum(self.plan[shape].share for shape in self.races)

    def _steady(self, label):
        """Seconds per call, over the shapes that were raced."""
        return self._mean(lambda race: race[label].median)

    def _mean(self, seconds):
        """seconds: what a race says of a call of its shape."""
        found = (self.plan[shape].share * seconds(race) for shape, race in self.races.items())
        return sum(found) / self._covered

    def _once(self, label):
        """Seconds of all first calls, beyond those of steady ones.

        A shape that was not raced is taken to cost as much as the last one that was.
        """
        each = [max(0, race[label].first - race[label].median) for race in self.races.values()]
        return sum(each) + (len(self.plan) - len(each)) * each[-1]

    def _gain(self, label, calls, luck=LUCK, scatter=SCATTER):
        """luck, scatter: how far ratios and first calls may be off elsewhere, both ways."""
        luck = max([luck, *(max(race.noise, 1 / race.noise) for race in self.races.values())])
        graph, own = self._once("graph"), self._once(label)

        def times(end, luck, scatter):
            graph_steady, own_steady = self._steady("graph"), self._at(label, end) / luck
            if math.isinf(calls):
                return graph_steady / own_steady
            return (graph * scatter + calls * graph_steady) / (own / scatter + calls * own_steady)

        ends = times("low", 1 / luck, 1 / scatter), times("high", luck, scatter)
        return Ratio(times("value", 1, 1), *ends)

    def _at(self, label, end):
        """Seconds per call of a candidate, by one end of its ratio to the graph."""
        return self._mean(
            lambda race: race["graph"].median / getattr(race.ratio(label, "graph"), end)
        )

    # The words

    def _why_not(self, label):
        """The checks are of XLA; of other candidates the races say whether the results agree."""
        for shape, found in self.checks.items() if label == "XLA" else ():
            if why := _why_not_xla(found):
                return f"{self._with(shape)}{why}"
        for shape, race in self.races.items():
            if why := _why_not_raced(race, label):
                return f"{self._with(shape)}{why}"
        return "" if self.races else "was not raced"

    def _with(self, shape):
        return f"with {shape} " if len(self.plan) > 1 else ""

    def _gained(self, chosen):
        for label, gain in sorted(self.gains.items(), key=lambda one: one[0] != chosen):
            calls = f"over {counted(self.calls, 'call')}, first calls included"
            if label == chosen:
                yield f"{gain.against('the graph')} {calls}"
                continue
            less = "" if gain.high <= self.floor else "in another process perhaps "
            asked = f"{less}less than the {self.floor:.4g}x that was asked for"
            would = self.what_would_decide(label) if not chosen else ""
            mend = f"; to decide it: {would}" if would else ""
            yield f"{label} is {gain.against('the graph')} {calls}, {asked}{mend}"

    def _notes(self):
        left = [shape for shape in self.plan if shape not in self.checks]
        if left and self.races:
            yield (
                f"Neither checked nor raced: {some(left, 3)}, {1 - self._covered:.0%} of the "
                "calls. Their first calls are taken to cost what the last ones that were raced did."
            )
        if not self.worst:
            yield "Not tested: inputs that should fail, in `worst`."
        for number, found in enumerate(self.worst, start=1):
            if not found["XLA"].agrees:
                yield f"Mind: with worst input {number} XLA {found.against('XLA')}."
        vanished = dict.fromkeys(name for found in self.checks.values() for name in found.vanished)
        if vanished and self.label != "graph":
            yield f"Mind: XLA leaves out {some(list(vanished), 3)}."
        if self.gains:
            yield "Not tested: other processes. So the interval is wider than that of a race."


def decide(
    what,
    batches: Iterable | None = None,
    *,
    kwargs: Mapping | None = None,
    candidates: Mapping[str, Callable] | None = None,
    worst: Iterable | None = None,
    step: bool | None = None,
    calls: int | None = None,
    tolerance: float | None = None,
    floor: float | None = None,
    budget: float | None = None,
) -> Decision:
    """Check and race a model as a graph and compiled, for each shape of its calls, and choose.

    what: whatever `check` takes; or a text, "path/file.py:make", that names a function without
    arguments, which returns (what, batches), or (what, batches, options), where options are those
    below by name; what is given here counts more. batches: example calls, at most 10,000; a tuple
    holds the positional arguments of one call, anything else is its only argument. Their shapes,
    and how often each comes, are the plan. kwargs: keyword arguments of every call. candidates:
    more to race, label to function, such as "XLA, padded". worst: inputs that should fail, in the
    form of `batches`. step: whether `what` is a compiled Keras model of which a training step is
    meant. calls: how many there will be, 10,000 unless said. tolerance: the relative difference of
    results that is allowed. floor: how many times faster than the graph all calls must be, first
    calls included, 1.05 unless said. budget: seconds, after which no further shape is raced, 20
    unless said. Introduced in notebook 13.

    Returns: a `Decision`.
    Raises: TypeError or ValueError for arguments that make no sense, and where the graph fails.
    """
    given = {"kwargs": kwargs, "candidates": candidates, "worst": worst, "step": step}
    given |= {"calls": calls, "tolerance": tolerance, "floor": floor, "budget": budget}
    given = {name: value for name, value in given.items() if value is not None}
    if isinstance(what, str) and ":" in what:
        what, own, options = _made(what)
        return decide(what, own if batches is None else batches, **options | given)
    settings = SETTINGS | given
    check_count("calls", settings["calls"])
    for name in ("floor", "budget"):
        check_positive(name, settings[name])
    if taken := {"graph", "XLA"} & set(settings["candidates"]):
        raise ValueError(
            f"`candidates` has {', '.join(taken)}, a label that is taken: choose another"
        )
    if step and not hasattr(what, "train_step"):
        raise TypeError(f"`step` asks for a Keras model, and this is {type(what).__name__}")
    fn = resolve(what.train_step if step else what)
    plan = _plan_of(batches, step)
    checks, races = _look(fn, plan, settings)
    bad = [_check(fn, _args(one, step), settings) for one in settings["worst"]]
    return Decision(plan, checks, tuple(bad), races, settings["calls"], settings["floor"])


def _look(fn, plan, settings):
    """Of each shape for which there is time: its check, and its race."""
    import tensorflow as tf

    checks, races, end = {}, {}, time.monotonic() + settings["budget"]
    for shape, one in plan.items():
        if checks and time.monotonic() > end:
            break
        began = time.monotonic()
        checks[shape] = found = _check(fn, one.args, settings)
        if "graph" in found.errors:
            raise ValueError(f"the graph fails with {shape}: {found['graph'].short}")
        if settings["candidates"] or not _why_not_xla(found):
            rounds = FEW_ROUNDS if time.monotonic() - began > LONG else ROUNDS
            plain = python_of(fn)
            modes = {"graph": tf.function(plain), "XLA": tf.function(plain, jit_compile=True)}
            races[shape] = compare(
                modes | dict(settings["candidates"]),
                *one.args,
                rounds=rounds,
                budget=settings["budget"] / 4 * one.share,
                tolerance=settings["tolerance"],
                strict=False,
                **settings["kwargs"],
            )
    return checks, races


def _check(fn, args, settings):
    return check(fn, *args, tolerance=settings["tolerance"], **settings["kwargs"])


def _labels(race):
    return [label for label in (*race.measurements, *race.failures) if label != "graph"]


def _why_not_xla(found):
    """Why nobody should choose XLA, by what a check found; "" when nothing speaks against it."""
    if found.unsupported:
        return f"is refused: {'; '.join(map(str, found.unsupported))}"
    if found.undecided:
        return f"cannot be compared: {found.undecided}"
    xla, graph = found["XLA"], found["graph"]
    if not graph.agrees:
        return f"cannot be judged: beside eager mode, the graph {found.against('graph')}"
    if not xla.agrees and xla.error:
        return f"fails: {headline(xla.error).rstrip('.')}"
    return "" if xla.agrees else found.against("XLA")


def _why_not_raced(race, label):
    """The same of a candidate, by what a race found."""
    if race.undecided:
        return f"cannot be compared: {race.undecided.rstrip('.')}"
    for one, whose in (("graph", "the graph: "), (label, "")):
        if one in race.failures:
            return f"was not timed: {whose}{race.failures[one]}"
    return "" if race.evidence[label].mode == "XLA" else "was not seen to run a program of XLA"


# What is given


def _made(reference):
    """What the function in "path/file.py:name" returns: what, batches, options."""
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
    if not isinstance(made, tuple) or len(made) not in (2, 3):
        raise TypeError(f"{reference} must return (what, batches) or (what, batches, options)")
    return *made, *([] if made[2:] else [{}])


def _plan_of(batches, step):
    """Shape in words to `Shape`, the most frequent first."""
    no_list = isinstance(batches, (str, Mapping)) or hasattr(batches, "shape")
    if no_list or not isinstance(batches, Iterable):
        raise TypeError(f"`batches` is {type(batches).__name__}: give a list of example calls")
    first, counts = {}, Counter()
    for number, batch in enumerate(batches):
        if number == MOST_BATCHES:
            raise ValueError(
                f"`batches` holds more than {MOST_BATCHES:,} example calls: give fewer"
            )
        args = _args(batch, step)
        shape = _words(args)
        first.setdefault(shape, args)
        counts[shape] += 1
    if not counts:
        raise ValueError("`batches` holds no example call: give at least one")
    return {x: Shape(first[x], n / counts.total()) for x, n in counts.most_common()}


def _args(batch, step):
    """A training step takes all that belongs to a batch as one argument."""
    whole = step or not isinstance(batch, tuple) or hasattr(batch, "_fields")
    return (batch,) if whole else batch


def _words(value):
    """Arguments by type and shape, such as "float32[16, 10]"; values of Python as they are."""
    if isinstance(value, Mapping):
        return ", ".join(f"{key}: {_words(part)}" for key, part in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(_words, value))
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        sizes = ", ".join(map(str, value.shape))
        return f"{getattr(value.dtype, 'name', value.dtype)}[{sizes}]"
    return repr(value)
