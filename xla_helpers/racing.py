"""The race: blocks of calls of several candidates in turns, and of one of them twice."""

import random
import time
from collections.abc import Callable, Mapping, Sequence

from .timing import Block, in_step
from .variables import Snapshot

Lane = Sequence[Callable]  # the calls of a candidate, without arguments; a pass makes each once


class Race:
    """Blocks of several candidates in rounds, in an order drawn anew for each round.

    So drift hits all alike. Before each block the variables have their values again. A candidate
    that raises leaves the race, unless it is the one that is needed: then the race ends with it.

    Attributes:
        control: The label of the candidate that runs twice in each round: a ratio as close to 1 as
            its own says nothing.
        blocks: Label to the `Block` of each round, of the candidates that have not left.
        again: The other blocks of the control.
        passes: Label to how often a block goes over its lane.
        errors: Label to what a candidate raised.
        changing: Names of the variables that are restored; None for all.
    """

    def __init__(
        self, lanes: Mapping[str, Lane], snapshot: Snapshot, *, control: str, needed: str = "",
        timer: Callable[..., Block], changing: set[str] | None = None, clock=time.perf_counter
    ):  # fmt: skip
        """timer: Times so many passes over a lane by a clock, such as `time_block`."""
        self._needed = needed
        self._lanes, self._snapshot = dict(lanes), snapshot
        self._timer, self._clock = timer, clock
        self.control, self.changing = control, changing
        self.blocks: dict[str, list[Block]] = {label: [] for label in lanes}
        self.again: list[Block] = []
        self.passes = dict.fromkeys(lanes, 1)
        self.errors: dict[str, Exception] = {}
        self._shuffle = random.Random(0).shuffle  # always the same orders
        self._order = [*self.blocks.items(), (control, self.again)]

    def changed(self) -> set[str]:
        """Names of the variables whose values are not those from which each block begins."""
        return set(self._snapshot.changed())

    def attempt(self, label: str, act: Callable, *args):
        """What `act` gives for the lane of a candidate; None when it raises, and leaves."""
        self._snapshot.restore(self.changing)
        try:
            return act(self._lanes[label], *args, self._clock)
        except Exception as error:  # whatever a reader's function raises
            if label == self._needed:
                raise
            self.errors[label] = error
            del self.blocks[label]
            return None

    def calibrate(self, act: Callable, seconds: float) -> None:
        """Let each block last about so many seconds, and find out which variables change.

        Args:
            act: How many passes over a lane last so long, such as `calibrate` of `timing`.
            seconds: Of a block.
        """
        passes = dict[str, int]()
        for label in list(self.blocks):
            enough = self.attempt(label, act, seconds)
            if enough is not None:
                passes[label] = in_step(enough, next(iter(passes.values()), enough))
            if self.changing is not None:
                self.changing |= self.changed()
        self.passes |= passes

    def round(self) -> None:
        """A block of each candidate, and another one of the control."""
        self._shuffle(self._order)
        for label, blocks in self._order:
            if label in self.blocks:
                block = self.attempt(label, self._timer, self.passes[label])
                if block is not None:
                    blocks.append(block)

    def until(self, is_over: Callable[[], bool]) -> None:
        """Round after round, while there is a candidate, until it is over.

        An interval may be asked for its width, never for the side of 1 on which it lies: so it
        stays honest, as `make bench` counts.
        """
        while self.blocks and not is_over():
            self.round()
