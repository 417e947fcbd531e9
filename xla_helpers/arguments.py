"""The arguments of a call: taken apart, put back, and moved by their last bit."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import chain
from typing import Any

import numpy as np

from . import internals
from .tables import abbreviate

MANY = 32  # different whole numbers in an array of floating ones: then they are measured values


def flattened(given: Any) -> list:
    """The leaves of arguments; TypeError in words for what TensorFlow cannot take apart."""
    import tensorflow as tf

    try:
        return tf.nest.flatten(given)
    except TypeError as error:
        raise TypeError(
            f"TensorFlow cannot take the arguments apart, perhaps because a dictionary has keys of "
            f"several types, which have no order: {error}"
        ) from error


def as_tensors(given: Any) -> Any:
    """The same arguments with tensors in place of NumPy arrays."""
    import tensorflow as tf

    def as_tensor(value):
        is_array = isinstance(value, (np.ndarray, np.generic))
        return tf.convert_to_tensor(value) if is_array else value

    flattened(given)  # for the words of its error
    return tf.nest.map_structure(as_tensor, given)


# Put back


@contextmanager
def restored(**given: Any) -> Iterator[None]:
    """The arrays, lists and dictionaries among arguments are after the block as before.

    Args:
        given: Arguments, by the name that an error gives them.

    Raises:
        ValueError: After a block that changed one of them in place; it names them.
    """
    kept = [one for name, value in given.items() for one in _mutable_in(name, value)]
    try:
        yield
    finally:
        changed = [one for one in kept if _contents(one[1]) != _contents(one[2])]
        for _, value, copy in changed:
            _put_back(value, copy)
    if changed:
        places = abbreviate(place for place, _, _ in changed)
        raise ValueError(f"changes {places} in place: let it work on a copy")


def _mutable_in(place, value):
    """Each part of an argument that a call may change in place, with its place and a copy."""
    if isinstance(value, (list, dict)) or (isinstance(value, np.ndarray) and value.flags.writeable):
        yield place, value, value.copy()
    if isinstance(value, (list, tuple, dict)):
        for key, part in value.items() if isinstance(value, dict) else enumerate(value):
            yield from _mutable_in(f"{place}[{key!r}]", part)


def _contents(value):
    """What tells whether an array, a list or a dictionary was changed in place."""
    if isinstance(value, np.ndarray):
        return value.tobytes()
    parts = chain.from_iterable(value.items()) if isinstance(value, dict) else value
    return list(map(id, parts))


def _put_back(value, copy):
    """Give an array, a list or a dictionary the contents of its copy."""
    if isinstance(value, np.ndarray):
        value[...] = copy
    elif isinstance(value, dict):
        value.clear()
        value.update(copy)
    else:
        value[:] = copy


@contextmanager
def attributes_restored(owner: Any) -> Iterator[None]:
    """The attributes of an object hold after a trace no tensor of it, which nothing else can use.

    Args:
        owner: What is traced, or the object of the method that is; of a Keras layer, the layers
            that it holds, too.
    """
    import tensorflow as tf

    owners = [owner, *(internals.layers_in(owner) if internals.is_layer(owner) else ())]
    kept = [(vars(one), dict(vars(one))) for one in owners if hasattr(one, "__dict__")]
    try:
        yield
    finally:
        for now, before in kept:
            for name in [x for x, value in now.items() if tf.is_symbolic_tensor(value)]:
                if name in before:
                    now[name] = before[name]
                else:
                    del now[name]


# Moved by their last bit


def perturbed(given: Any, seed: int) -> Any:
    """The same arguments with each floating number moved up or down by its last bit."""
    import tensorflow as tf

    draws = np.random.default_rng(seed)

    def moved_up_or_down(value):
        return tf.convert_to_tensor(perturb(value, draws)) if _is_floating(value) else value

    return tf.nest.map_structure(moved_up_or_down, given, expand_composites=True)


def perturb(value: Any, draws: np.random.Generator) -> np.ndarray:
    """An array of floating numbers, each moved up or down by its last bit.

    Zeros and infinities, whose meaning would change, stay. So do whole numbers, unless an array has
    many different ones, as a picture has: then they move up, which rounds back to them.
    """
    from ml_dtypes import finfo

    array = np.asarray(value)
    eps = draws.choice([-1, 1], array.shape) * float(finfo(array.real.dtype).eps)
    is_whole = array == np.round(array)
    if len(np.unique(array[is_whole])) >= MANY:
        eps, is_whole = np.where(is_whole, np.abs(eps), eps), array == 0
    other = np.where(is_whole | np.isinf(array), array, array * (1 + eps))
    return other.astype(array.dtype)


def _is_floating(value):
    """Whether it is an array or a tensor of floating numbers, real or complex."""
    import tensorflow as tf

    kind = tf.as_dtype(value.dtype) if isinstance(value, (np.ndarray, tf.Tensor)) else None
    return bool(kind and (kind.is_floating or kind.is_complex))
