"""Does XLA pay for a model, with its shapes, on this machine? Check, race, and do the sums."""

import importlib.util
import math
import sys
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from .agreement import TOLERANCE
from .checking import Check, check
from .comparing import compare
from .comparisons import Comparison
from .ratios import Ratio
from .startup import describe_machine
from .tables import counted, some
from .targets import python_of, resolve
from .validation import check_count, check_positive

SCATTER = 1.25  # how far a first call in another process may be from this one's
LUCK = 1.1  # how far a ratio in another process may be: notebook 12 shows such luck
ROUNDS = 8  # of a race at least; its budget adds more while its interval is wide
MOST_BATCHES = 10_000  # example calls: a dataset may go on for ever


@dataclass(frozen=True, repr=False)
class Decision:
    """What was found, and what to use. It shows itself as the verdict, with notes below it.

    plan: shape in words to the share of the calls that have it, the most frequent first. checks:
    shape to `Check`. worst: the checks of inputs that should fail. races: shape to `Comparison`,
    where there was time. calls: how many there will be. floor: how many times faster than the graph
    all of them together must be, first calls included, to be worth it.
    """

    plan: Mapping[str, float]
    checks: Mapping[str, Check]
    worst: tuple[Check, ...]
    races: Mapping[str, Comparison]
    calls: int
    floor: float

    @property
    def objections(self) -> dict[str, str]:
        """XLA, and what was raced beside it, to why nobody should choose it; "" for no reason."""
        raced = (x for race in self.races.values() for x in (*race.measurements, *race.failures))
        labels = dict.fromkeys(["XLA", *raced])
        return {label: self._objection(label) for label in labels if label != "graph"}

    @property
    def gains(self) -> dict[str, Ratio]:
        """Candidate to how many times faster than the graph all calls are, first calls included.

        The interval adds to that of the races how far another process may be from this one.
        """
        return {label: self._gain(label) for label, why in self.objections.items() if not why}

    @property
    def label(self) -> str:
        """What to use: "graph" or a candidate; "" where only the middle of a gain is high enough.

        A candidate wins when the low end of its gain reaches the floor. Of several that may gain
        as much, it is the simplest: the one that was given first.
        """
        gains = self.gains
        winners = [label for label, gain in gains.items() if gain.low >= self.floor]
        if winners:
            best = max(winners, key=lambda label: gains[label].value)
            return next(label for label in winners if gains[label].high >= gains[best].low)
        return "" if any(gain.value >= self.floor for gain in gains.values()) else "graph"

    def total(self, label: str, calls: int) -> float:
        """Seconds of so many calls with a label, "graph" or a candidate, first calls included.

        Shapes that were not raced are taken to be like the others; the first call of each, to cost
        as much as the last one that was raced.
        """
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
        chosen, gains = self.label, self.gains
        said = [self._said(gains[chosen])] if chosen in gains else []
        said += [f"{x} is {self._said(gain)}" for x, gain in gains.items() if x != chosen]
        said += [f"{x} {why}" for x, why in self.objections.items() if why]
        return f"{chosen or 'undecided'}: {'; '.join(said)}. {describe_machine()}"

    @property
    def notes(self) -> Iterator[str]:
        """What was not tested, and what to mind, in short sentences."""
        if not self.label:
            yield "More calls or a larger `budget` may decide it."
        if left := [shape for shape in self.plan if shape not in self.checks]:
            share = sum(self.plan[shape] for shape in left)
            yield f"Neither checked nor raced: {some(left, 3)}, {share:.0%} of the calls."
        if not self.worst:
            yield "Not tested: inputs that should fail, in `worst`."
        for number, found in enumerate(self.worst, start=1):
            if not found["XLA"].agrees:
                yield f"Mind: with worst input {number} XLA {found.against('XLA')}."
        vanished = dict.fromkeys(name for found in self.checks.values() for name in found.vanished)
        if vanished:
            yield f"Mind: XLA leaves out {some(list(vanished), 3)}."
        if self.gains:
            yield "Not tested: other processes. So the interval is wider than that of a race."

    def __repr__(self):
        return "\n".join([self.verdict, *self.notes])

    def _objection(self, label):
        """The checks are of XLA; of other candidates the races say whether the results agree."""
        checks = self.checks.values() if label == "XLA" else ()
        raced = [_why_not_raced(race, label) for race in self.races.values()]
        return next(filter(None, [*map(_why_not_xla, checks), *raced]), "")

    def _once(self, label):
        """Seconds of all first calls, beyond those of steady ones."""
        each = [max(0, race[label].first - race[label].median) for race in self.races.values()]
        return sum(each) + (len(self.plan) - len(each)) * each[-1]

    def _steady(self, label, end="value"):
        """Seconds per call, by the value or one end of the label's ratio to the graph."""
        ratios = [race.ratio(label, "graph") for race in self.races.values()]
        graph = [race["graph"].median for race in self.races.values()]
        seconds = np.divide(graph, [getattr(ratio, end) for ratio in ratios])
        return float(np.average(seconds, weights=[self.plan[shape] for shape in self.races]))

    def _gain(self, label):
        noises = [race.noise for race in self.races.values()]
        luck = max(LUCK, *noises, *np.divide(1, noises))

        def times(end, luck, scatter):
            graph = self._once("graph") * scatter + self.calls * self._steady("graph")
            own = self._once(label) / scatter + self.calls * self._steady(label, end) / luck
            return graph / own

        ends = times("low", 1 / luck, 1 / SCATTER), times("high", luck, SCATTER)
        return Ratio(times("value", 1, 1), *ends)

    def _said(self, gain):
        calls = counted(self.calls, "call")
        said = f"{gain.against('the graph')} over {calls}, first calls included"
        if gain.low >= self.floor:
            return said
        less = "less" if gain.value < self.floor else "in another process perhaps less"
        return f"{said}, {less} than the {self.floor:.4g}x that was asked for"


def _why_not_xla(found):
    """Why nobody should choose XLA, by what a check found; "" when nothing speaks against it."""
    if found.unsupported:
        return f"is refused: {'; '.join(map(str, found.unsupported))}"
    if found.undecided or found.differing:
        return f"is no choice: {found.summary.rstrip('.')}"
    return ""


def _why_not_raced(race, label):
    """The same of any candidate, by what a race found."""
    if why := race.undecided or race.failures.get(label) or race.failures.get("graph"):
        return f"cannot be judged: {why.rstrip('.')}"
    return "" if race.evidence[label].mode == "XLA" else "was not seen to run a program of XLA"


def decide(
    what,
    batches: Iterable,
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

    what: whatever `check` takes. batches: example calls, at most 10,000; a tuple holds the
    positional arguments of one call, anything else is its only argument. Their shapes, and how
    often each comes, are the plan. kwargs: keyword arguments of every call. candidates: more to
    race, label to function, such as "XLA, padded". worst: inputs that should fail, in the form of
    `batches`. step: whether `what` is a compiled Keras model of which a training step is meant.
    calls: how many there will be. tolerance: the relative difference of results that is allowed.
    floor: how many times faster than the graph all calls must be, first calls included. budget:
    seconds, after which no further shape is raced. Introduced in notebook 13.

    Returns: a `Decision`.
    Raises: TypeError or ValueError for arguments that make no sense, and where the graph fails;
    AttributeError for a step of what is no Keras model.
    """
    import tensorflow as tf

    check_count("calls", calls)
    check_positive("floor", floor)
    check_positive("budget", budget)
    if taken := {"graph", "XLA"} & set(candidates or {}):
        raise ValueError(f"`candidates` has {', '.join(taken)}: choose a label that is not taken")
    fn = resolve(what.train_step if step else what)
    plain, options = python_of(fn), {"tolerance": tolerance, **(kwargs or {})}
    examples, plan = _plan_of(batches, step)
    checks, races, end = {}, {}, time.monotonic() + budget
    for shape, share in plan.items():
        if checks and time.monotonic() > end:
            break
        checks[shape] = found = check(fn, *examples[shape], **options)
        if "graph" in found.errors:
            raise ValueError(f"the graph fails with {shape}: {found['graph'].short}")
        if candidates or not _why_not_xla(found):
            modes = {"graph": tf.function(plain), "XLA": tf.function(plain, jit_compile=True)}
            rest = {"rounds": ROUNDS, "budget": budget / 4 * share, "strict": False}
            races[shape] = compare(
                modes | dict(candidates or {}), *examples[shape], **rest, **options
            )
    bad = tuple(check(fn, *_args(one, step), **options) for one in worst)
    return Decision(plan, checks, bad, races, calls, floor)


def model_from(reference: str) -> dict:
    """What a function in a file of yours returns, as arguments of `decide` by name.

    reference: such as "path/file.py:make". The function takes no arguments, and returns
    (what, batches), or (what, batches, options), where options is a dict of further ones.
    Introduced in notebook 13.

    Raises: ValueError for no file, TypeError when it returns anything else, and what it raises.
    """
    place, _, name = reference.rpartition(":")
    if not Path(place).is_file():
        raise ValueError(f'there is no file {place!r}: give "path/file.py:make"')
    sys.path.insert(0, str(Path(place).resolve().parent))  # for its neighbours
    spec = importlib.util.spec_from_file_location(Path(place).stem, place)
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    match getattr(module, name)():
        case (what, batches):
            return {"what": what, "batches": batches}
        case (what, batches, dict() as options):
            return {"what": what, "batches": batches, **options}
    raise TypeError(f"{reference} must return (what, batches) or (what, batches, options)")


def _plan_of(batches, step):
    """Shape in words to its first example, and to its share, the most frequent first."""
    no_list = isinstance(batches, (str, Mapping)) or hasattr(batches, "shape")
    if no_list or not isinstance(batches, Iterable):
        raise TypeError(f"`batches` is {type(batches).__name__}: give a list of example calls")
    examples, counts = {}, Counter()
    for number, batch in enumerate(batches):
        if number == MOST_BATCHES:
            raise ValueError(f"`batches` holds more than {number:,} example calls: give fewer")
        args = _args(batch, step)
        shape = _words(args)
        examples.setdefault(shape, args)
        counts[shape] += 1
    if not counts:
        raise ValueError("`batches` holds no example call: give at least one")
    return examples, {shape: n / counts.total() for shape, n in counts.most_common()}


def _args(batch, step):
    """A training step takes all that belongs to a batch as one argument."""
    return batch if isinstance(batch, tuple) and not step else (batch,)


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
