"""Arguments made larger, so that fewer shapes come: how, and the result cut back to its shape."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from ..targets import as_tensors, name_of
from ..trials import refuse_what_aborts
from ..validation import check_count
from .batches import Example, key_of, words_of
from .findings import Padded

MEND = "give `pad` as a function of the arguments that returns them padded"


@dataclass(frozen=True)
class Padding:
    """What padding makes of example calls.

    pad: a call to the same call, padded; None when there is nothing to pad. words: how, in words.
    examples: the padded calls, the first one of each shape. shapes: what is known of them.
    numbers: for each example call, the number of its padded shape. left_out: why there is nothing
    to pad, in a sentence.
    """

    pad: Callable[[Example], Example] | None = None
    words: str = ""
    examples: tuple[Example, ...] = ()
    shapes: tuple[Padded, ...] = ()
    numbers: tuple[int, ...] = ()
    left_out: tuple[str, ...] = ()


def padding_of(pad, examples: Sequence[Example], counts: Sequence[int]) -> Padding:
    """What `pad` makes of the example calls.

    pad: None; a whole number, of which each size becomes the next multiple; sizes, of which each
    size becomes the next; or a function of the arguments that returns them padded. Numbers and
    sizes pad with zeros at the end, along each axis in which the example calls differ.

    Raises: TypeError and ValueError when that is not possible, with the reason.
    """
    if pad is None:
        return Padding()
    function, words = _by_function(pad) if callable(pad) else _by_sizes(pad, examples)
    if function is None:
        return Padding(left_out=(f"Nothing to pad: {words}.",))
    padded = [function(example) for example in examples]
    keys = [key_of(example) for example in padded]
    order = list(dict.fromkeys(keys))
    numbers = tuple(map(order.index, keys))
    first = tuple(padded[numbers.index(number)] for number in range(len(order)))
    waste = _waste(numbers, counts, list(map(sizes_of, examples)), list(map(sizes_of, padded)))
    shapes = tuple(Padded(words_of(one), share) for one, share in zip(first, waste, strict=True))
    return Padding(function, words, first, shapes, numbers)


def sizes_of(example: Example) -> list[int]:
    """How many numbers each of its positional arguments holds; the others are not padded."""
    import tensorflow as tf

    parts = tf.nest.flatten(example.args, expand_composites=True)
    return [int(tf.size(part)) for part in parts if tf.is_tensor(part)]


def _waste(numbers, counts, before, after):
    """For each padded shape, the share of padding in the arguments that padding changes.

    numbers: the padded shape of each example call. counts: how often it comes. before, after: the
    sizes of its arguments.
    """
    if any(len(exact) != len(larger) for exact, larger in zip(before, after, strict=True)):
        changed = None  # other arguments than before: all of them count
    else:
        both = [
            zip(exact, larger, strict=True) for exact, larger in zip(before, after, strict=True)
        ]
        changed = {i for pairs in both for i, (one, other) in enumerate(pairs) if one != other}

    def total(sizes, number):
        """Over the example calls that come to one padded shape."""
        own = [i for i, its in enumerate(numbers) if its == number]
        return sum(counts[i] * _sum(sizes[i], changed) for i in own)

    totals = [(total(before, one), total(after, one)) for one in sorted(set(numbers))]
    return [max(0.0, 1 - exact / larger) if larger else 0.0 for exact, larger in totals]


def _sum(sizes, places):
    return sum(size for i, size in enumerate(sizes) if places is None or i in places)


# Ways to pad


def _by_function(pad):
    def padded(example):
        args = pad(*example.args)
        return Example(as_tensors(args if isinstance(args, tuple) else (args,)), example.kwargs)

    name = name_of(pad)
    return padded, "by a function" if name == "the function" else f"by the function `{name}`"


def _by_sizes(pad, examples):
    next_size, words = _rule(pad)
    if len(examples) < 2:
        return None, "all example calls have one shape"
    axes = _axes(examples)
    if not any(axes):
        return None, "no size of an argument differs among the example calls"

    def padded(example):
        import tensorflow as tf

        parts = tf.nest.flatten(example.args)
        larger = [_enlarged(part, its, next_size) for part, its in zip(parts, axes, strict=True)]
        return Example(tf.nest.pack_sequence_as(example.args, larger), example.kwargs)

    return padded, words


def _rule(pad):
    """Size to the next size, and how that is said."""
    if isinstance(pad, (list, tuple)):
        for size in pad:
            check_count("pad", size)
        if not pad:
            raise ValueError("`pad` is empty: give at least one size")
        sizes = sorted(pad)
        return lambda size: _bucket(size, sizes), f"with zeros to {_listed(sizes)}"
    check_count("pad", pad)
    return lambda size: -(-size // pad) * pad, f"with zeros to the next multiple of {pad}"


def _bucket(size, sizes):
    if size > sizes[-1]:
        raise ValueError(
            f"an example call has a size of {size}, above the largest size in `pad`, {sizes[-1]}: "
            "add a larger one"
        )
    return next(one for one in sizes if one >= size)


def _listed(sizes):
    first = ", ".join(map(str, sizes[:-1]))
    return f"{first} or {sizes[-1]}" if first else str(sizes[-1])


def _axes(examples):
    """For each argument, the axes in which its size differs among the example calls."""
    import tensorflow as tf

    columns = [tf.nest.flatten(example.args) for example in examples]
    if len({len(parts) for parts in columns}) > 1:
        raise ValueError(f"the example calls have different arguments: {MEND}")
    return [_differing(parts) for parts in zip(*columns, strict=True)]


def _differing(parts):
    """The axes along which some arrays differ; none for what is no array."""
    import tensorflow as tf

    if not any(map(tf.is_tensor, parts)):
        return ()
    shapes = [getattr(part, "shape", None) for part in parts]
    if any(isinstance(part, tf.__internal__.CompositeTensor) for part in parts):
        raise ValueError(f"an argument is ragged or sparse, which zeros cannot pad: {MEND}")
    if len({len(shape) for shape in shapes if shape is not None}) != 1 or None in shapes:
        raise ValueError(f"an argument has different numbers of axes in the example calls: {MEND}")
    return tuple(i for i, sizes in enumerate(zip(*shapes, strict=True)) if len(set(sizes)) > 1)


def _enlarged(part, axes, next_size):
    """An array with zeros at the end, made by NumPy: one operation of TensorFlow costs more."""
    import tensorflow as tf

    if not axes:
        return part
    own = tuple(part.shape)
    sizes = tuple(next_size(size) if axis in axes else size for axis, size in enumerate(own))
    if sizes == own:
        return part
    larger = np.full(sizes, b"", object) if part.dtype == tf.string else None
    larger = np.zeros(sizes, part.dtype.as_numpy_dtype) if larger is None else larger
    larger[tuple(map(slice, own))] = part.numpy()
    return tf.convert_to_tensor(larger)


# Results


def padded_call(compiled: Callable, exact: Callable, pad: Callable) -> Callable:
    """A function that pads its arguments, calls `compiled`, and cuts what comes back.

    compiled: a `tf.function`. exact: a `tf.function` of the same, which is traced, and not run, to
    see the shapes of a result without padding. pad: as in `Padding`.
    """
    shapes = {}

    def call(*args, **kwargs):
        import tensorflow as tf

        larger = pad(Example(args, kwargs))
        key = tuple(getattr(part, "shape", part) for part in tf.nest.flatten((args, kwargs)))
        if key not in shapes:
            shapes[key] = _result_shapes(exact, args, kwargs)
            refuse_what_aborts(compiled.get_concrete_function(*larger.args, **larger.kwargs).graph)
        return cropped(compiled(*larger.args, **larger.kwargs), shapes[key])

    return call


def _result_shapes(exact, args, kwargs):
    import tensorflow as tf

    outputs = exact.get_concrete_function(*args, **kwargs).structured_outputs
    return [getattr(part, "shape", None) for part in tf.nest.flatten(outputs)]


def cropped(result, shapes):
    """A result whose arrays are cut to `shapes`, one for each, where they are larger."""
    import tensorflow as tf

    parts = tf.nest.flatten(result)
    if len(parts) != len(shapes):
        return result
    cut = [_cropped(part, shape) for part, shape in zip(parts, shapes, strict=True)]
    return tf.nest.pack_sequence_as(result, cut)


def _cropped(part, shape):
    if not _is_larger(part, shape):
        return part
    return part[tuple(slice(size) for size in shape)]


def _is_larger(part, shape):
    """Whether an array has the axes of `shape`, and is longer along one and shorter along none."""
    own = getattr(part, "shape", None)
    if own is None or shape is None or None in (own.rank, shape.rank) or len(own) != len(shape):
        return False
    pairs = list(zip(own, shape, strict=True))
    known = all(None not in pair for pair in pairs)
    return known and own != shape and all(one >= other for one, other in pairs)
