"""What a bug report says, as data: a program's inputs and results, and what it gave."""

import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ..agreement import TOLERANCE, largest_difference
from ..tables import in_one_line

MOST_NUMBERS = 2**30  # in the inputs of a replay
BLOCK = 2**20  # numbers drawn at a time


class BugReportError(ValueError):
    """A file is no bug report, or one that cannot be read or replayed here."""


@dataclass(frozen=True)
class Spec:
    """An input or a result of a program: its dtype and shape.

    name: of its tensor in the graph, if it has one. captured: whether the function took it from
    outside, like a variable, not as an argument.
    """

    dtype: str
    shape: tuple[int, ...]
    name: str | None = None
    captured: bool = False

    def __str__(self):
        return f"{self.dtype}{list(self.shape)}"


@dataclass(frozen=True)
class Fingerprint:
    """An array in short.

    sha256: the digest of its bits. sample: a few of its numbers; where numbers are complex, each
    real part and behind it the imaginary one. NaN and infinities are text, because JSON has none.
    """

    sha256: str
    sample: tuple[float | str, ...]


@dataclass(frozen=True)
class Answer:
    """What a program gave. results: a fingerprint of each. error: in one line, or None."""

    results: tuple[Fingerprint, ...] = ()
    error: str | None = None

    def match(self, other: "Answer") -> str:
        """How `other` matches this one, in the words of `Replay.match`."""
        if self.error or other.error:
            return "same error" if self == other else "other error"
        if [r.sha256 for r in self.results] == [r.sha256 for r in other.results]:
            return "same bits"
        now, then = ([np.array(r.sample, float) for r in a.results] for a in (other, self))
        close = largest_difference(now, then, equal_nan=True).within(TOLERANCE)
        return "close" if close else "different"

    def __str__(self):
        digests = ", ".join(result.sha256[:8] for result in self.results)
        return self.error or (f"results {digests}" if digests else "no results")


@dataclass(frozen=True, repr=False)
class BugReport:
    """What an archive says of a program.

    path: the archive. function: its name. machine, versions: where it was written. flags: the
    environment variables that were set. inputs, outputs: dtypes and shapes; behind the results
    stand the new values of variables. obstacle: why it cannot be replayed. with_xla, without_xla:
    what it gave on `seeded_inputs`.
    """

    path: Path
    function: str
    machine: str
    versions: Mapping[str, str]
    flags: Mapping[str, str]
    inputs: tuple[Spec, ...] = ()
    outputs: tuple[Spec, ...] = ()
    obstacle: str | None = None
    with_xla: Answer = Answer(error="not finished")
    without_xla: Answer | None = None

    @property
    def match(self) -> str | None:
        """How the answer without XLA matches the one with it, in the words of `Replay.match`.

        None when the one without XLA was not recorded.
        """
        if self.without_xla is None:
            return None
        count = len(self.without_xla.results)  # XLA's go on with the new values of variables
        return Answer(self.with_xla.results[:count], self.with_xla.error).match(self.without_xla)

    @property
    def line_without_xla(self) -> str:
        """The answer without XLA, and how it matches where both have results."""
        if self.without_xla is None:
            return "not recorded"
        errors = self.with_xla.error or self.without_xla.error
        return str(self.without_xla) if errors else f"{self.match}, {self.without_xla}"

    def seeded_inputs(self) -> list[np.ndarray]:
        """The arrays that every replay uses: from the recorded dtypes and shapes, and a seed.

        Floating-point numbers lie from 0 to 1, whole numbers from 0 to 7.
        Raises: BugReportError when they are too many.
        """
        numbers = sum(math.prod(max(n, 1) for n in spec.shape) for spec in self.inputs)
        if numbers > MOST_NUMBERS:
            raise BugReportError(
                f"the inputs hold {numbers:,} numbers, and a replay makes at most {MOST_NUMBERS:,}"
            )
        return [_draw(seed, spec) for seed, spec in enumerate(self.inputs)]

    def __repr__(self):
        inputs = ", ".join(map(str, self.inputs)) or "no inputs"
        return (
            f"{in_one_line(self.path.name)}: {self.function}({inputs})\n"
            f"  with XLA:    {self.obstacle or self.with_xla}\n"
            f"  without XLA: {self.line_without_xla}"
        )


def report_from(path: Path, content: Mapping) -> BugReport:
    """The report that `dataclasses.asdict` and JSON made `content` of."""
    parts = {
        "inputs": tuple(map(_spec, content["inputs"])),
        "outputs": tuple(map(_spec, content["outputs"])),
        "with_xla": answer_from(content["with_xla"]),
        "without_xla": answer_from(content["without_xla"]),
    }
    return BugReport(path, **content | parts)


def answer_from(content: Mapping | None) -> Answer | None:
    """The same for an answer, where there is one."""
    if content is None:
        return None
    results = (Fingerprint(r["sha256"], tuple(r["sample"])) for r in content["results"])
    return Answer(tuple(results), content["error"])


def _spec(content):
    return Spec(**content | {"shape": tuple(map(int, content["shape"]))})


def _draw(seed, spec):
    """The bits come from NumPy's PCG64, whose stream never changes."""
    import tensorflow as tf

    stream = np.random.PCG64(seed)
    array = np.empty(math.prod(spec.shape), tf.as_dtype(spec.dtype).as_numpy_dtype)
    for start in range(0, array.size, BLOCK):
        block = array[start : start + BLOCK]
        block[:] = _numbers(stream.random_raw((block.size, 2)), array.dtype.kind)
    return array.reshape(spec.shape)


def _numbers(pairs, kind):
    """One number from each pair of 64 random bits; only complex ones use both."""
    if kind in "biu":
        return pairs[:, 0] >> (63 if kind == "b" else 61)
    pairs = (pairs >> 11) * 2.0**-53
    return pairs.view(np.complex128)[:, 0] if kind == "c" else pairs[:, 0]
