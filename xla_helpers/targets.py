"""One way to name a call: whatever can be called, its name, and its arguments."""

import os
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np

from .modes import functions_run_eagerly
from .state import python_of, started

NUMBER = re.compile(r"_\d+$")  # what TensorFlow adds to the name of a graph

SAVED = "the function of a SavedModel"

OWN_NAMES = {"<lambda>": "the function", "restored_function_body": SAVED, "_UserObject": SAVED}
"""Names that say nothing, and what is said instead."""

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


def name_of(fn) -> str:
    """The name of what is called; for a model, which has none, that of its class."""
    python = python_of(fn)
    name = getattr(python, "__name__", None) or type(python).__name__
    if hasattr(python, "structured_input_signature"):  # a graph without Python
        name = NUMBER.sub("", python.name.decode()).removeprefix("__inference_")
        name = name.removeprefix("signature_wrapper").strip("_")
        name = SAVED if name in ("", "call") else name
    return OWN_NAMES.get(name, name)


def is_traced(fn) -> bool:
    """Whether it is a `tf.function` that a call now would run as a graph."""
    return hasattr(fn, "experimental_get_tracing_count") and not functions_run_eagerly()


def holds_no_python(fn) -> bool:
    """Whether it is a graph and nothing else, so that it cannot run eagerly."""
    return hasattr(fn, "function_def") or type(fn).__name__ == "RestoredFunction"


def plain_callable(fn) -> Callable:
    """`fn` as a function that any `tf.function` may wrap.

    The signature of a SavedModel takes its arguments by name; a single one needs none.
    """
    names = _signature_names(fn)

    def call(*args, **kwargs):
        if len(args) > 1 or (args and len(names) > 1):
            raise TypeError(f"the signature takes {', '.join(names)}: give them by name")
        return fn(**dict(zip(names, args, strict=False)), **kwargs)

    return call if names else python_of(fn)


def as_tensors(arguments):
    """Arguments in which arrays of NumPy have become tensors, in any nest."""
    if not started():
        return arguments
    import tensorflow as tf

    def as_tensor(value):
        is_array = isinstance(value, (np.ndarray, np.generic))
        return tf.convert_to_tensor(value) if is_array else value

    return tf.nest.map_structure(as_tensor, arguments)


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


def _signature_names(fn):
    """The names of the arguments of a SavedModel's signature, in order; nothing for others."""
    if not hasattr(fn, "structured_input_signature") or not hasattr(fn, "_arg_keywords"):
        return ()
    positional, named = fn.structured_input_signature
    return () if positional else tuple(named)
