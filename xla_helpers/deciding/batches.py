"""Example calls: of which shapes they are, how often each comes, and a file for them."""

import itertools
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from ..subjects import subject_of
from ..targets import as_tensors

MOST = 10_000
"""Example calls that are read; what comes after them is not looked at."""


@dataclass(frozen=True)
class Example:
    """One call. args: its positional arguments. kwargs: its keyword arguments."""

    args: tuple
    kwargs: dict = field(default_factory=dict)


@dataclass(frozen=True)
class Calls:
    """Example calls, counted.

    examples: the first one of each shape, in the order in which the shapes came. counts: how many
    had it. others: the last one of each shape, or None where there is only one. left_out: what
    was not read, in sentences.
    """

    examples: tuple[Example, ...]
    counts: tuple[int, ...]
    others: tuple[Example | None, ...] = ()
    left_out: tuple[str, ...] = ()


def calls_of(batches: Iterable | Calls | None, kwargs: Mapping | None = None) -> Calls:
    """The shapes of `batches`, and how often each comes.

    batches: example calls; a tuple holds positional arguments, anything else is one argument.
    kwargs: keyword arguments of every call. Only the first `MOST` are read.

    Raises: TypeError for one array instead of several calls, ValueError when there is no call.
    """
    if isinstance(batches, Calls):
        return _with(batches, kwargs or {})
    found, counts, last = {}, {}, {}
    examples = _examples(batches, kwargs)
    for example in itertools.islice(examples, MOST):
        key = key_of(example)
        found.setdefault(key, example)
        counts[key] = counts.get(key, 0) + 1
        last[key] = example if counts[key] > 1 else None
    if not found:
        raise ValueError("`batches` holds no example call: give at least one")
    cut = next(examples, None) is not None
    left_out = (f"Of the example calls, only the first {MOST:,} were read.",) if cut else ()
    return Calls(tuple(found.values()), tuple(counts.values()), tuple(last.values()), left_out)


def _with(calls, kwargs):
    """The same calls, with keyword arguments that they do not have."""

    def more(example):
        return example and replace(example, kwargs=as_tensors(dict(kwargs)) | example.kwargs)

    examples, others = (tuple(map(more, some)) for some in (calls.examples, calls.others))
    return replace(calls, examples=examples, others=others)


def worst_of(worst: Iterable, kwargs: Mapping | None = None) -> tuple[Example, ...]:
    """Each of the hostile inputs as a call, in order; at most `MOST` of them."""
    return tuple(itertools.islice(_examples(worst, kwargs, "worst"), MOST))


def words_of(example: Example) -> tuple[str, ...]:
    """Its arguments in words, such as "float32[16, 10]"."""
    return subject_of((), example.args, example.kwargs).arguments


def key_of(example: Example):
    """What two calls of one shape share: structure, shapes, types, and values of Python."""
    import tensorflow as tf

    given = (example.args, example.kwargs)
    parts = tf.nest.flatten(given, expand_composites=True)
    return repr(tf.nest.map_structure(lambda part: 0, given)), tuple(map(_mark, parts))


def _mark(part):
    """Arrays are alike when their shapes are; of anything else, when they are equal."""
    if hasattr(part, "shape") and hasattr(part, "dtype"):
        return str(part.dtype), str(part.shape)
    return type(part).__name__, repr(part)


def _examples(batches, kwargs, name="batches") -> Iterator[Example]:
    import tensorflow as tf  # noqa: F401  (arrays become tensors only when it has been imported)

    _check_batches(batches, name)
    if not isinstance(kwargs or {}, Mapping):
        raise TypeError(f"`kwargs` is {type(kwargs).__name__}: give a dict, name to argument")
    for batch in batches:
        args = batch if isinstance(batch, tuple) and not hasattr(batch, "_fields") else (batch,)
        yield Example(*as_tensors((args, dict(kwargs or {}))))


def _check_batches(batches, name):
    if batches is None:
        raise ValueError(
            "there are no example calls: give `batches`, or let the maker return (what, batches)"
        )
    if isinstance(batches, (str, bytes, Mapping)) or hasattr(batches, "dtype"):
        kind = type(batches).__name__
        raise TypeError(f"`{name}` is one {kind}: put it in a list, to make it one example call")
    if not isinstance(batches, Iterable):
        raise TypeError(f"`{name}` is {type(batches).__name__}: give a list of example calls")


# As a file


def write_calls(path: Path, calls: Calls | None, options: Mapping) -> None:
    """Write example calls and options for another process: arrays, and JSON for all else.

    options: such as `worst`, `kwargs`, `signature`, `pad`, by name.
    Raises: TypeError for what does not fit, with what to do instead.
    """
    arrays = {}
    counted = calls and {
        "examples": list(map(_parts, calls.examples)),
        "counts": calls.counts,
        "others": list(map(_parts, calls.others)),
        "left_out": calls.left_out,
    }
    content = {"calls": counted, "options": dict(options)}
    structure = json.dumps(_packed(content, arrays, "what is given"))
    with path.open("wb") as file:
        np.savez(file, structure=np.array(structure), **arrays)


def read_calls(path: Path) -> tuple[Calls | None, dict]:
    """What `write_calls` wrote; arrays come back as arrays of NumPy.

    Raises: OSError when there is no such file, ValueError when it holds something else.
    """
    with np.load(path, allow_pickle=False) as arrays:
        if "structure" not in arrays.files:
            raise ValueError(f"{path} holds no example calls")
        content = _unpacked(json.loads(str(arrays["structure"])), arrays)
    counted = content["calls"]
    if counted is None:
        return None, content["options"]
    examples, others = (tuple(map(_whole, counted[name])) for name in ("examples", "others"))
    return Calls(examples, counted["counts"], others, counted["left_out"]), content["options"]


def _parts(example):
    return None if example is None else (example.args, example.kwargs)


def _whole(parts):
    return None if parts is None else Example(*as_tensors(parts))


def _packed(value, arrays, place):
    """A nest as JSON can hold it; its arrays go into `arrays`."""
    if value is None or type(value) in (bool, int, float, str):
        return value
    if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
        return {"dict": {key: _packed(part, arrays, f"`{key}`") for key, part in value.items()}}
    if type(value) in (list, tuple):
        parts = [_packed(part, arrays, place) for part in value]
        return {type(value).__name__: parts}
    if type(value).__name__ == "TensorSpec" and value.shape.rank is not None:
        return {"spec": [value.shape.as_list(), value.dtype.name, value.name]}
    array = _as_plain_array(value)
    if array is None:
        raise TypeError(
            f"{type(value).__name__} in {place} cannot be given to a fresh process: let the "
            "function that makes the model return (what, batches, options) with it"
        )
    name = f"array{len(arrays)}"
    arrays[name] = array
    return {"array": name}


def _unpacked(value, arrays):
    if not isinstance(value, dict):
        return value
    [(kind, content)] = value.items()
    if kind == "array":
        return arrays[content]
    if kind == "spec":
        import tensorflow as tf

        return tf.TensorSpec(*content)
    if kind == "dict":
        return {key: _unpacked(part, arrays) for key, part in content.items()}
    parts = [_unpacked(part, arrays) for part in content]
    return tuple(parts) if kind == "tuple" else parts


def _as_plain_array(value):
    """An array of numbers or text that a file of NumPy can hold; None for anything else."""
    if hasattr(value, "numpy") and hasattr(value, "shape"):
        value = value.numpy()
    if not isinstance(value, (np.ndarray, np.generic)):
        return None
    array = np.asarray(value)
    if array.dtype.kind == "O" and all(isinstance(one, (bytes, str)) for one in array.flat):
        array = np.array(array.tolist())  # text of one length, so that nothing is pickled
    return array if array.dtype.kind in "biufcSU" else None
