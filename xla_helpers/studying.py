"""What one process finds out about a model: equal results, counted programs, races."""

import inspect
import itertools
import time
from collections import Counter
from collections.abc import Mapping

import numpy as np

from .calls import KEEP, MODES, Call, State
from .checking import CAVEATS, Check, check, check_of, modes_of
from .comparing import race
from .comparisons import Comparison
from .compilations import Reason, arguments_of, reasons_for
from .decisions import Cost, Finding
from .errors import headline
from .outcomes import first_calls
from .startup import describe_machine, functions_run_eagerly, watch_compilations
from .tables import first_of, table
from .timing import timed

EXAMPLES = 10_000  # example calls that count, at most
SAMPLE = 10  # fewer example calls than that, with a program for each shape, are all there is
ROUNDS = 8  # of each race, at least
NOTES = {"dropped_checks": "XLA drops the checks"} | CAVEATS  # of a `Check`
SETTINGS = {
    "value": "the Python value of `{}` (pass tensors)",
    "content": "the content of `{}`",
    "shape": "the shape of `{}`",
}
"""Kinds of a `Reason` to what sets a program."""
FAULTS = "faults", "fault_share"  # of a `Measurement` and of a `Cost`


class Study:
    """A model under its example calls, as a graph and compiled; the options are those of `decide`.

    checks: shape to `Check`. races: shape to `Comparison`. shapes: to its share of the calls.
    doing: is told what begins, such as "XLA", which may end the process.
    """

    def __init__(self, fn, batches, kwargs, candidates, step, tolerance, budget, doing):
        if taken := set(MODES) & set(candidates or {}):
            raise ValueError(
                f"`candidates` has {first_of(taken)}: choose a label that is not taken"
            )
        self._fn = fn.train_step if step else fn
        self._step, self._kwargs, self._tolerance, self._doing = step, kwargs, tolerance, doing
        self._modes = modes_of(Call(self._fn).python) | (candidates or {})
        self._uses = {label: _Uses(mode) for label, mode in self._modes.items() if label != "eager"}
        self._state, self._outcomes = State(), dict[str, dict]()
        self.checks, self.races = dict[str, Check](), dict[str, Comparison]()
        examples, counts = self._call_all(batches, budget / 2)
        self.shapes = {x: count / counts.total() for x, count in counts.most_common()}
        self.undecided = next((c.compiled_by for c in self.checks.values() if c.compiled_by), "")
        if self.undecided:
            self.undecided = f"the graph runs XLA, too, by {self.undecided}: give a plain function"
        elif candidates or not any(map(_why_not_xla, self.checks.values())):
            self._race(examples, budget)

    def check(self, batch) -> Check:
        """The `Check` of a call that is no example."""
        return check(self._fn, self._args(batch), self._kwargs, tolerance=self._tolerance)

    def _args(self, batch):
        """A training step takes all that belongs to a batch as one argument."""
        return batch if isinstance(batch, tuple) and not self._step else (batch,)

    def _calls(self, args):
        """Label to call; the modes have the arguments of a `functools.partial`, too."""
        own = Call(self._fn, args, self._kwargs)
        modes = {x: Call(self._modes[x], own.args, own.keywords) for x in MODES}
        others = {x: fn for x, fn in self._modes.items() if x not in MODES}
        return modes | {x: Call(fn, args, self._kwargs) for x, fn in others.items()}

    def _call_all(self, batches, seconds):
        """Call the first example of each shape, and others until the seconds are over."""
        if isinstance(batches, (str, Mapping)) or hasattr(batches, "shape"):
            kind = type(batches).__name__
            raise TypeError(f"`batches` must be a list of example calls, not {kind}")
        examples, counts, end = dict[str, tuple](), Counter[str](), 0.0
        for batch in itertools.islice(batches, EXAMPLES):
            args = self._args(batch)
            shape = _words(args)
            counts[shape] += 1
            if end and time.monotonic() > end:
                continue
            (self._again if shape in examples else self._first)(shape, args)
            examples.setdefault(shape, args)
            end = end or time.monotonic() + seconds
        if not counts:
            raise ValueError("`batches` holds no example call: give at least one")
        self._state.restore()
        return examples, counts

    def _first(self, shape, args):
        _refuse_pair(self._fn, args)
        calls = {x: call.with_tensors() for x, call in self._calls(args).items()}
        with functions_run_eagerly(False):
            self._outcomes[shape] = outcomes = first_calls(calls, self._state, self._doing)
            self.checks[shape] = check_of(calls, outcomes, self._tolerance, self._state)
        if outcomes["graph"].error is not None:
            raise _graph_fails(shape, outcomes["graph"].error)
        for label, uses in self._uses.items():
            uses.add(shape, outcomes[label].seconds, outcomes[label].compilations, calls[label])

    def _again(self, shape, args):
        calls = self._calls(args)
        for label, uses in self._uses.items():
            if uses.failure or self._outcomes[shape][label].error:
                continue
            self._doing(label)
            seconds = 0.0
            with watch_compilations() as compiled:
                try:
                    seconds, _ = timed(calls[label])
                except Exception as error:  # whatever a reader's function raises
                    if label == "graph":
                        raise _graph_fails(shape, error) from error
                    uses.failure = f"fails with an example call: {headline(error)}"
            uses.add(shape, seconds, len(compiled), calls[label])

    def _race(self, examples, budget):
        """Race the shapes, the most frequent first, until the budget is over."""
        self._doing("the race")
        end = time.monotonic() + budget
        for shape in filter(examples.__contains__, self.shapes):
            if self.races and time.monotonic() > end:
                break
            labels = [label for label, uses in self._uses.items() if not uses.failure]
            outcomes = {label: self._outcomes[shape][label] for label in labels}
            every = self._calls(examples[shape])
            calls = {label: every[label] for label in labels}
            how = self._tolerance, self._state, ROUNDS, budget / 4 * self.shapes[shape]
            self.races[shape] = race(calls, outcomes, *how)

    @property
    def finding(self) -> Finding:
        """All of it as plain data."""
        objections = {label: self._objection(label) for label in self._uses if label != "graph"}
        good = [label for label, why in objections.items() if not why and self.races]
        costs = {label: self._cost(label) for label in ["graph"] * bool(good) + good}
        reasons = [one for label in good for one in self._uses[label].reasons]
        sets = (SETTINGS[one.kind].format(one.argument) for one in reasons if one.kind in SETTINGS)
        noise = max((one.noise for one in self.races.values()), key=_apart, default=1.0)
        told = first_of(dict.fromkeys(sets)), tuple(self._notes()), noise, tuple(self._evidence())
        return Finding(describe_machine(), self.shapes, costs, objections, self.undecided, *told)

    def _objection(self, label):
        """The checks are of XLA; of other candidates the races say whether the results agree."""
        checked = [_why_not_xla(found) for found in self.checks.values() if label == "XLA"]
        raced = [_why_not_raced(one, label) for one in self.races.values()]
        return next(filter(None, [*checked, self._uses[label].failure, *raced]), "")

    def _cost(self, label):
        uses, calls = self._uses[label], [self._seconds(label, x) for x in ("value", "low", "high")]
        usual = {shape: one[label].median for shape, one in self.races.items()}
        more = [max(0.0, seconds - usual.get(shape, calls[0])) for shape, seconds in uses.new]
        is_sample = uses.examples >= SAMPLE or len(more) > len(self.shapes)
        alone, first = uses.alone * is_sample, float(np.mean(more or [0.0]))
        rows = [one[label] for one in self.races.values()]
        faults = [self._average(getattr(row, x) or 0.0 for row in rows) for x in FAULTS]
        return Cost(*calls, first, uses.examples, len(more), alone, *faults)

    def _seconds(self, label, end):
        """A call of any shape, by the value or one end of the label's ratio to the graph."""
        ratios = [getattr(one.ratio(label, "graph"), end) for one in self.races.values()]
        graph = [one["graph"].median for one in self.races.values()]
        return self._average(np.divide(graph, ratios))

    def _average(self, values):
        """Over the shapes that were raced, as often as they come."""
        return float(np.average(list(values), weights=[self.shapes[x] for x in self.races]))

    def _notes(self):
        if left := [shape for shape in self.shapes if shape not in self.checks]:
            share = sum(self.shapes[shape] for shape in left)
            yield f"Neither checked nor raced: {first_of(left)}, {share:.0%} of the calls."
        for name, words in NOTES.items():
            told = dict.fromkeys(x for one in self.checks.values() for x in getattr(one, name))
            if told:
                yield f"{words}: {first_of(told)}."
        yield from dict.fromkeys(one.see for one in self.checks.values() if one.see)

    def _evidence(self):
        raced = {x: "yes" if x in self.races else "no" for x in self.shapes}
        rows = [[x, f"{share:.0%}", raced[x]] for x, share in self.shapes.items()]
        fixes = [found.fixes for found in self.checks.values() if found.unsupported]
        calls = table("The example calls.", ["shape", "of the calls", "raced"], rows)
        return map(str, (calls, *self.checks.values(), *fixes, *self.races.values()))


class _Uses:
    """The example calls of one candidate, and which of them share a trace or a program.

    new: shape and seconds of each that traced or compiled. reasons: what set those of a shape that
    had been there. failure: why an example call failed, or "".
    """

    def __init__(self, mode):
        self.examples, self.failure = 0, ""
        self.new, self.reasons = list[tuple[str, float]](), list[Reason]()
        self._users, self._numbers, self._given = Counter[int](), dict[str, int](), list[dict]()
        self._traced, self._traces = getattr(mode, "experimental_get_tracing_count", int), 0

    def add(self, shape, seconds, compilations, call):
        """Note a call. Its program is known by its arguments, or by all but their contents."""
        given, traces = arguments_of(call), self._traced()
        alike = repr([(x, facts | {"content": None}) for x, facts in given.items()])
        number = self._numbers.get(repr(given), self._numbers.get(alike, 0))
        if compilations or traces > self._traces:
            number = len(self._given)
            if any(shape == other for other, _ in self.new):
                self.reasons += reasons_for(self._given, given)
            self.new.append((shape, seconds))
            self._given.append(given)
        self._numbers[repr(given)] = self._numbers[alike] = number
        self._users[number] += 1
        self.examples, self._traces = self.examples + 1, traces

    @property
    def alone(self) -> int:
        """How many shared nothing with another one."""
        return list(self._users.values()).count(1)


def _apart(noise):
    return max(noise, 1 / noise)


def _graph_fails(shape, error):
    keep = f" {KEEP}" if "variables which have been deleted" in str(error) else ""
    return ValueError(f"the graph fails with {shape}: {headline(error)}{keep}")


def _refuse_pair(model, args):
    """Raise ValueError where the labels of a batch would become the model's `training`."""
    if len(args) < 2 or not hasattr(model, "train_step") or not hasattr(args[1], "shape"):
        return
    names = list(inspect.signature(model.call).parameters)
    if names[1:2] in ([], ["training"]):
        raise ValueError(
            f"a batch is a tuple of {len(args)}, perhaps (inputs, labels), and the model takes "
            "inputs alone: give [inputs for inputs, _ in batches], or step=True for a training step"
        )


def _why_not_xla(found):
    """Why nobody should choose XLA, by what a check found; "" when nothing speaks against it."""
    if found.unsupported:
        return f"is refused: {'; '.join(f'{one}: {one.fix}' for one in found.unsupported)}"
    return f"is no choice: {found.said}" if found.undecided or found.differing else ""


def _why_not_raced(found, label):
    """The same of any candidate, by what a race found."""
    if why := found.undecided or found.failures.get(label) or found.failures.get("graph"):
        return f"cannot be judged: {why}"
    return "" if found.evidence[label].mode == "XLA" else "was not seen to run a program of XLA"


def _words(args):
    """Arguments by type and shape, such as "float32[16, 10]"; numbers of Python by type alone."""
    import tensorflow as tf

    return ", ".join(map(_word, tf.nest.flatten(args)))


def _word(value):
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{getattr(value.dtype, 'name', value.dtype)}[{', '.join(map(str, value.shape))}]"
    return type(value).__name__ if type(value) in (int, float) else repr(value)
