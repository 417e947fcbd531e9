"""One way to name a call: whatever can be called, its name, and its arguments."""

import os
from collections.abc import Callable
from pathlib import Path

import numpy as np

from .state import python_of

SERVING = "serving_default"  # the signature of a SavedModel that is meant when none is named


def resolve(fn) -> Callable:
    """What is called: a SavedModel's function for its folder or its loaded object, else `fn`.

    fn: a function, method, Keras model, `tf.Module`, `tf.function`, concrete function, or a
    SavedModel: its folder, what `tf.saved_model.load` gave for it, or one of its signatures.

    Raises: TypeError for what cannot be called, ValueError for a folder that holds no SavedModel.
    """
    if isinstance(fn, (str, Path)):
        fn = _load(fn)
    restored = getattr(fn, "__dict__", {}).get("__call__")  # of an object that was loaded
    if hasattr(restored, "get_concrete_function"):
        restored.loaded_from = fn
        return restored
    signatures = getattr(fn, "signatures", None)
    if not callable(fn) and signatures:
        fn = _one_signature(fn, signatures)
    if not callable(fn):
        raise TypeError(
            f"`fn` is {type(fn).__name__}, which cannot be called: pass the function itself, a "
            "model, or the folder of a SavedModel"
        )
    return fn


def _load(place):
    import tensorflow as tf

    if not tf.saved_model.contains_saved_model(os.fspath(place)):
        raise ValueError(f"{os.fspath(place)!r} is no folder of a SavedModel: it has no graph")
    return tf.saved_model.load(os.fspath(place))


def _one_signature(loaded, signatures):
    """The signature to call. It refers to its model weakly, so it gets to hold it."""
    if SERVING not in signatures and len(signatures) != 1:
        raise TypeError(f"`fn` has the signatures {', '.join(signatures)}: pass one of them")
    signature = signatures[SERVING if SERVING in signatures else next(iter(signatures))]
    signature.loaded_from = loaded
    return signature


def name_of(fn) -> str:
    """The name of what is called; for a model, which has none, that of its class."""
    if holds_no_python(fn):
        return "the graph"
    python = python_of(fn)
    name = getattr(python, "__name__", None) or type(python).__name__
    return "the function" if name == "<lambda>" else name


def is_traced(fn) -> bool:
    """Whether it is a `tf.function` that a call now would run as a graph."""
    if not hasattr(fn, "experimental_get_tracing_count"):
        return False
    import tensorflow as tf

    return not tf.config.functions_run_eagerly()


def holds_no_python(fn) -> bool:
    """Whether it is a graph and nothing else, so that it cannot run eagerly."""
    return hasattr(fn, "function_def") or type(fn).__name__ == "RestoredFunction"


def as_tensors(arguments):
    """Arguments in which arrays of NumPy have become tensors, in any nest."""
    import tensorflow as tf

    def as_tensor(value):
        is_array = isinstance(value, (np.ndarray, np.generic))
        return tf.convert_to_tensor(value) if is_array else value

    return tf.nest.map_structure(as_tensor, arguments)
