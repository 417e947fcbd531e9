"""Candidates in turns: rounds in orders drawn anew, until intervals are narrow or time is up."""

import math
import random

import numpy as np

from .comparisons import Failure
from .errors import headline
from .ratios import median_ratio
from .timing import calibrate, time_block

NARROW = 0.05  # width of an interval beside its ratio, at which there are rounds enough
BUDGET = 2.0  # seconds for rounds beyond those that were asked for


class Race:
    """Blocks of calls of several candidates, and of one of them twice, in rounds.

    samples: label to seconds per call, one entry for each round. again: the same for the control,
    the candidate that runs twice. calls: label to the calls in each block. failures: label to the
    `Failure` of a candidate that raised, and left the race.
    """

    def __init__(self, candidates, control, state, block, clock):
        """candidates: label to what is called, without arguments. control: one of the labels, or
        None. state: the variables that are put back before each block. block: about the
        seconds that one lasts. clock: gives seconds.
        """
        self.samples = {label: [] for label in candidates}
        self.again, self.calls, self.failures = [], {}, {}
        self._moved = set()  # names of variables that a candidate changes
        self._candidates, self._state, self._clock = candidates, state, clock
        self._lanes = list(self.samples.items())
        if control in candidates:
            self._lanes.append((control, self.again))
        self._shuffle = random.Random(0).shuffle  # always the same orders
        for label in candidates:
            calls = self._attempt(label, calibrate, block)
            self.calls[label] = calls and self._in_step(calls)
            self._moved |= state.moved().keys()

    def run(self, rounds: int, budget: float) -> None:
        """At least `rounds`; then twice as many, and so on, while an interval is wide.

        The intervals are looked at seldom, and only at their widths, never at which side of 1 they
        lie on, so that they stay nearly honest; `make bench` counts how nearly.
        budget: seconds after which no further round begins, from the end of the first ones.
        """
        for _ in range(rounds):
            self._round()
        end, done = self._clock() + budget, rounds
        while not self._narrow():
            for _ in range(done):
                if self._clock() >= end:
                    return
                self._round()
            done *= 2

    def _round(self):
        self._shuffle(self._lanes)
        for label, samples in self._lanes:
            if label in self.samples:
                samples.append(self._attempt(label, _timed, self.calls[label]))

    def _in_step(self, calls):
        """Calls in a block: as many as the first candidate's, or 4, 16 times as many or as few.

        The start of a block costs something too. So it costs two like candidates the same, also
        where a disturbance made one of them look slower than it is.
        """
        first = next(filter(None, self.calls.values()), calls)
        return max(1, round(first * 4.0 ** round(math.log(calls / first, 4))))

    def _narrow(self):
        first, *others = self.samples.values() or [[]]
        ratios = [median_ratio(np.divide(first, other)) for other in others]
        return all(r.high - r.low <= NARROW * r.value for r in ratios)

    def _attempt(self, label, act, amount):
        """What `act` gives for a candidate; None when it raises, and leaves."""
        self._state.put_back(self._moved)
        try:
            return act(self._candidates[label], amount, self._clock)
        except Exception as error:  # whatever a reader's function raises
            self.failures[label] = Failure(headline(error))
            del self.samples[label]


def _timed(call, calls, clock):
    seconds = time_block(call, calls, clock)
    if not seconds > 0:
        raise ValueError(
            "the clock did not move during a block: give a finer one, or a longer `block`"
        )
    return seconds
