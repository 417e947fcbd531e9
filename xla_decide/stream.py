"""The stream of example calls: its shapes, counted, and a fair sample of it in its order."""

import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

EXAMPLES = 10_000  # example calls whose shapes are read, at most
DRAW_SECONDS = 10.0  # after that, no further example is drawn
SAMPLE = 64  # examples that are called, at most, beside the smallest and the largest
SAMPLE_BYTES = 256 << 20  # that they hold, at most
NO_EXAMPLE = "`batches` holds no example call: give at least one"
FEW = 10  # fewer examples than that, each of a shape of its own, are all shapes that there are


class Example(NamedTuple):
    """An example call: its place in the list, shape in words, arguments, and numbers in them."""

    number: int
    shape: str
    args: tuple
    size: int = 0


@dataclass(frozen=True)
class Stream:
    """Example calls, in their order.

    Attributes:
        shapes: Shape in words to how many examples have it, the most frequent first.
        sample: Every k-th example, the smallest, the largest and the last.
        last: The shape of a last, smaller batch, which stands nowhere else; "" where none is.
        is_whole: Whether all were drawn before the time or the number was over.
    """

    shapes: Mapping[str, int]
    sample: tuple[Example, ...]
    last: str = ""
    is_whole: bool = True

    @property
    def examples(self) -> int:
        """How many were drawn."""
        return sum(self.shapes.values())

    @property
    def shares(self) -> dict[str, float]:
        """Shape to its share of the calls, the most frequent first."""
        return {shape: count / self.examples for shape, count in self.shapes.items()}

    @property
    def weights(self) -> list[float]:
        """How often each example of the sample stands for a call; all together once.

        Those of a shape share what the shape has.
        """
        in_sample = Counter(example.shape for example in self.sample)
        raw = [self.shapes[x.shape] / in_sample[x.shape] for x in self.sample]
        total = sum(raw)
        return [share / total for share in raw]

    @property
    def singletons(self) -> int:
        """How many shapes came once; a last, smaller batch comes again with the next pass."""
        return sum(count == 1 for count in self.shapes.values()) - bool(self.last)

    def spread(self) -> list[Example]:
        """The sample in an order of which every beginning is a fair sample, too.

        The first example, the largest and the smallest come first, then one of each shape, then
        the rest; within each, places are halved again and again.
        """
        bits = len(self.sample).bit_length()
        places = sorted(range(len(self.sample)), key=lambda place: _bit_reversed(place, bits))
        halved = [self.sample[place] for place in places]
        by_size = sorted(halved, key=lambda example: example.size)
        by_shape = sorted(halved, key=lambda example: -self.shapes[example.shape])
        special = [self.sample[0], by_size[-1], by_size[0], *by_shape]
        one_of_each_shape = _unique(special, lambda example: example.shape)
        return _unique([*one_of_each_shape, *halved], lambda example: example.number)

    def thinned(self, every: int) -> "Stream":
        """The same with every k-th example of the sample."""
        return replace(self, sample=self.sample[::every])

    def only(self, numbers: Iterable[int]) -> "Stream":
        """The same with those examples of the sample alone that have these numbers."""
        kept = set(numbers)
        return replace(self, sample=tuple(x for x in self.sample if x.number in kept))

    @property
    def is_sample(self) -> bool:
        """Whether there are enough examples to say anything of shapes that are still to come."""
        return self.examples >= FEW


def _bit_reversed(number, bits):
    """The number whose binary digits are those of another one, read backwards."""
    return int(f"{number:0{bits}b}"[::-1], 2)


def _unique(things, key):
    """The first thing of each key, in their order."""
    found = dict[Any, Any]()
    for thing in things:
        found.setdefault(key(thing), thing)
    return list(found.values())


def draw(batches: Iterable, args_of: Callable[[Any], tuple], between: Callable[[], None]) -> Stream:
    """Read the shapes of the examples, and keep a fair sample of them.

    Nothing is called, and at most one example more than the sample is held at once.

    Args:
        batches: Example calls.
        args_of: Gives the arguments of one.
        between: Is called before each is asked for.

    Raises:
        TypeError: For anything but a list of examples.
        ValueError: Where there is none.
    """
    counts, kept = Counter[str](), _Sample()
    end, last, ended = time.monotonic() + DRAW_SECONDS, None, True
    for number, batch in enumerate(itertools.islice(_each(batches, between), EXAMPLES)):
        args = args_of(batch)
        last, before = Example(number, words_of(args), args, size_of(args)), last
        counts[last.shape] += 1
        kept.add(last)
        if time.monotonic() > end:
            ended = False
            break
    if last is None:
        raise ValueError(NO_EXAMPLE)
    is_whole = ended and counts.total() < EXAMPLES
    is_smaller = before is not None and last.size < before.size
    is_last_batch = is_whole and is_smaller and counts[last.shape] == 1
    sample, shapes = kept.with_ends([last] if is_whole else []), dict(counts.most_common())
    return Stream(shapes, sample, last.shape if is_last_batch else "", is_whole)


def first_of(batches: Iterable) -> Any:
    """The first example call.

    Raises:
        TypeError, ValueError: As `draw` raises them.
    """
    for batch in _each(batches, lambda: None):
        return batch
    raise ValueError(NO_EXAMPLE)


def _each(batches, between) -> Iterator:
    if isinstance(batches, (str, Mapping)) or hasattr(batches, "shape"):
        kind = type(batches).__name__
        raise TypeError(f"the example calls must be a list, not {kind}")
    if hasattr(batches, "__getitem__") and not hasattr(batches, "__iter__"):  # of Keras
        batches = map(batches.__getitem__, range(len(batches)))
    between()
    for batch in batches:
        yield batch
        between()  # a slow pipeline is nobody's fault but its own


class _Sample:
    """Every k-th example, where k doubles whenever there are too many or too large ones."""

    def __init__(self):
        self._kept, self._step, self._bytes = list[Example](), 1, 0
        self._least: Example | None = None
        self._most: Example | None = None

    def add(self, example):
        if self._least is None or example.size < self._least.size:
            self._least = example
        if self._most is None or example.size > self._most.size:
            self._most = example
        if example.number % self._step:
            return
        self._kept.append(example)
        self._bytes += bytes_of(example.args)
        while len(self._kept) > 1 and (len(self._kept) > SAMPLE or self._bytes > SAMPLE_BYTES):
            self._kept, self._step = self._kept[::2], 2 * self._step
            self._bytes = sum(bytes_of(one.args) for one in self._kept)

    def with_ends(self, others):
        """The sample, with the smallest, the largest and others whose shapes are not in it."""
        there = {example.shape for example in self._kept}
        ends = {x.shape: x for x in (self._least, self._most, *others) if x.shape not in there}
        return tuple(sorted((*self._kept, *ends.values()), key=lambda example: example.number))


def _flat(args):
    import tensorflow as tf

    return tf.nest.flatten(args)


def size_of(args) -> int:
    """How many numbers the arguments hold."""
    return sum(_numbers_in(getattr(value, "shape", ())) for value in _flat(args))


def bytes_of(args) -> int:
    """How many bytes the arguments hold, about."""
    arrays = [value for value in _flat(args) if hasattr(value, "shape")]
    return sum(_numbers_in(x.shape) * _item_bytes(getattr(x, "dtype", None)) for x in arrays)


def _item_bytes(dtype):
    return getattr(dtype, "itemsize", None) or getattr(dtype, "size", None) or 8


def _numbers_in(shape):
    return math.prod(length or 0 for length in (() if shape is None else shape))


def words_of(args) -> str:
    """Arguments by type and shape, such as "float32[16, 10]"; numbers of Python by type alone."""
    return ", ".join(map(_word, _flat(args))) or "no argument"


def _word(value):
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{getattr(value.dtype, 'name', value.dtype)}[{', '.join(map(str, value.shape))}]"
    if type(value) in (int, float):
        return type(value).__name__
    if isinstance(value, (str, bytes, bool, complex, type(None))):
        return repr(value)
    return getattr(value, "__name__", None) or type(value).__name__  # without its address
