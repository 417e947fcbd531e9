"""Which example calls trace or compile, and what that costs the calls to come."""

import math
from collections import Counter

import numpy as np

from xla_helpers.calls import Call
from xla_helpers.look.compilations import Reason, arguments_of, reasons_for

from .costs import Cost
from .stream import FEW, Stream
from .stream_race import Passes


class CompileCounts:
    """The example calls of one candidate, and which of them share a trace or a program.

    Attributes:
        examples: How many calls there were.
        new: Shape and seconds of each that traced or compiled.
        reasons: What set those of a shape that had been there.
        failure: Why an example call failed, or "".
    """

    def __init__(self, fn):
        self.examples, self.failure = 0, ""
        self.new, self.reasons = list[tuple[str, float]](), list[Reason]()
        self._users, self._programs, self._given = Counter[int](), dict[str, int](), list[dict]()
        self._shapes = dict[str, None]()  # of all calls
        self._fn, self._traces = fn, 0

    def add(self, shape: str, seconds: float, compilations: int, call: Call) -> None:
        """Note a call, and which program it used."""
        given, traces = arguments_of(call), self._traced()
        exact = repr(given)
        without_contents = repr([(x, facts | {"content": None}) for x, facts in given.items()])
        if compilations or traces > self._traces:
            program = len(self._given)
            if any(shape == other for other, _ in self.new):
                self.reasons += reasons_for(self._given, given)
            self.new.append((shape, seconds))
            self._given.append(given)
        else:
            program = self._program_of(exact, without_contents)
        self._programs[exact] = self._programs[without_contents] = program
        self._users[program] += 1
        self._shapes[shape] = None
        self.examples, self._traces = self.examples + 1, traces

    def _program_of(self, exact, without_contents):
        """The program that the same arguments used, or else others that differ in contents only."""
        if exact in self._programs:
            return self._programs[exact]
        return self._programs.get(without_contents, 0)

    def _traced(self):
        """The traces until now; 0 for anything but a `tf.function`."""
        count = getattr(self._fn, "experimental_get_tracing_count", None)
        return count() if count else 0

    @property
    def singletons(self) -> int:
        """How many calls shared their trace and their program with no other one."""
        return list(self._users.values()).count(1)

    def cost(self, label: str, stream: Stream, passes: Passes) -> Cost:
        """What the candidate costs in the calls to come.

        Where each shape has a program of its own, the shapes of all examples count, also of those
        that were not called. Where something else sets programs, those that were called are a
        sample of all.
        """
        more = [max(0.0, seconds - passes.usual(label, shape)) for shape, seconds in self.new]
        new, of, alone = len(self.new), self.examples, 0
        if new == len(self._shapes) > 1:
            new, of, alone = len(stream.shapes), stream.examples, stream.singletons
        elif new > len(self._shapes):
            alone = self.singletons
        is_sample = of >= FEW or new > len(stream.shapes)
        low, high = _ends_of_mean(more or [0.0])
        graph, ratio = passes.call("graph"), passes.ratio(label)
        return Cost(
            call=graph / ratio.value,
            slow=graph / ratio.low,
            fast=graph / ratio.high,
            per_new=float(np.mean(more or [0.0])),
            per_new_slow=high,
            per_new_fast=low,
            examples=of,
            new=new,
            singletons=alone if is_sample else 0,
            faults=passes.faults.get(label, 0.0),
        )


def _ends_of_mean(values):
    """The interval of a mean, two standard errors wide on either side, and not below zero."""
    mean, error = np.mean(values), np.std(values) / math.sqrt(max(1, len(values) - 1))
    return max(0.0, float(mean - 2 * error)), float(mean + 2 * error)
