"""The layers of a Keras model, and the one in which an operation stands."""

import dis
import inspect
import re
from collections.abc import Callable, Mapping
from typing import Any

from .. import internals

NUMBER = re.compile(r"_\d+$")  # what TensorFlow adds to a name that is taken


def layers_of(fn: Callable) -> dict[str, Any]:
    """Find the Keras layers of a model, or of the models that a function names.

    A path is made of names, such as ``augmentation/random_zoom``; the name of a model that is alone
    at the top is left out. Models are not listed, their layers are, and so is a layer that holds
    others, which may do work of its own. Of two layers with one path the first is listed.

    Args:
        fn: A model, a layer, a method of one, or a function that reads one from its closure or from
            a global name. Lists of models, and functions that it calls, are not searched.

    Returns:
        Path to layer, in the order in which models hold them.

    Example:
        >>> import keras
        >>> inner = keras.Sequential([keras.layers.Rescaling(2, name="double")], name="inner")
        >>> list(layers_of(keras.Sequential([inner, keras.layers.Flatten(name="row")])))
        ['inner/double', 'row']
    """
    python = inspect.unwrap(fn)
    named: list[Any] = [fn, python, *(getattr(x, "__self__", None) for x in (fn, python))]
    if inspect.isfunction(python):
        named += _read_by(python)
    reached = {id(x): x for x in named if internals.is_layer(x)}
    held = {id(part) for x in reached.values() for part in internals.layers_in(x)}
    tops = [x for x in reached.values() if id(x) not in held]
    found: dict[str, Any] = {}
    for top in tops:
        _add(found, "" if len(tops) == 1 and hasattr(top, "train_step") else top.name, top)
    return found


def _read_by(function):
    """What a function reads from its closure and from global names.

    `inspect.getclosurevars` takes the names of attributes for global ones before Python 3.13.
    """
    read = (x.argval for x in dis.get_instructions(function) if x.opname == "LOAD_GLOBAL")
    known, enclosing = function.__globals__, inspect.getclosurevars(function).nonlocals
    return [*enclosing.values(), *(known[name] for name in dict.fromkeys(read) if name in known)]


def _add(found, path, layer):
    """Add a layer and those that it holds, or those of a model."""
    if not hasattr(layer, "train_step"):  # a layer, and not a model
        found.setdefault(path, layer)
    for part in internals.layers_in(layer, recursive=False):
        if type(part).__name__ != "InputLayer":
            _add(found, f"{path}/{part.name}".lstrip("/"), part)


def layer_at(name: str, layers: Mapping[str, Any]) -> str | None:
    """The path of the innermost layer in which an operation of this name stands; None outside all.

    Keras 3 until 3.15 opens two scopes a call, and the work is in the second, to which TensorFlow
    adds a number: `dense_1` is ``dense_1_1``.

    >>> import keras
    >>> layer_at("model_1/dense_1_1/MatMul", {"dense_1": keras.layers.Dense(1)})
    'dense_1'
    """
    scopes = name.split("/")[:-1]
    if any(map(_opens_two_scopes, layers.values())):
        scopes = [NUMBER.sub("", scope) for scope in scopes if NUMBER.search(scope)]
    inside = [path for path in layers if _is_subsequence(path.split("/"), scopes)]
    return max(inside, key=lambda path: path.count("/"), default=None)


def _is_subsequence(parts, scopes):
    """Whether all parts are among the scopes, each behind the one before."""
    rest = iter(scopes)
    return all(any(scope == part for scope in rest) for part in parts)


def _opens_two_scopes(layer):
    if not hasattr(layer, "path"):  # Keras 2
        return False
    import keras

    return tuple(map(int, keras.__version__.split(".")[:2])) < (3, 16)
