"""A model that was saved, with example calls made up from what it takes."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np

BATCHES = 1, 8, 32  # rows of the example calls
MADE_UP = (
    "The example calls are made up from what the model takes: their rows are asked for, and their "
    "values are random. Real calls, in a file, give a better answer."
)
WRITE = "write a file with example calls, such as my_model.py:make"


def is_saved(path: Path) -> bool:
    """Whether it is a `.keras` file, or the folder of a SavedModel."""
    return (path.suffix == ".keras" and path.is_file()) or (path / "saved_model.pb").is_file()


def load(path: Path, signature: str, batches: Sequence[int] | None, below: int | None) -> tuple:
    """Load a model, and make up a call for each number of rows.

    Keras' safe mode stays on: a file with Python code in it is refused.

    Args:
        path: Of what was saved.
        signature: The name of a signature of a SavedModel; "" for `serve`, which Keras exports, or
            for the only one.
        batches: Rows of the example calls.
        below: Whole numbers are drawn from zero on, and below this.

    Returns:
        What is called, and the example calls.

    Raises:
        ValueError: Where there are several signatures, and for inputs that cannot be made up.
    """
    is_keras = path.suffix == ".keras"
    fn, specs, nest = _of_keras(path) if is_keras else _of_saved_model(path, signature)
    draws = np.random.default_rng(0)

    def made(rows):
        return nest.map_structure(lambda spec: _drawn(spec, rows, below, draws), specs)

    return fn, [(made(rows),) for rows in batches or BATCHES]


def _of_keras(path):
    import keras

    model = keras.saving.load_model(path)
    with suppress(AttributeError, ValueError):
        # In the form in which it was given: a list, or a dictionary.
        return model, model.input, keras.tree
    if inputs := getattr(model, "inputs", None):
        return model, inputs[0] if len(inputs) == 1 else inputs, keras.tree
    raise ValueError(f"{path.name} does not say what it takes: {WRITE}")


def _of_saved_model(path, signature):
    import tensorflow as tf

    loaded = tf.saved_model.load(str(path))
    if not signature and hasattr(loaded, "serve"):
        given, named = loaded.serve.concrete_functions[0].structured_input_signature
        if len(given) == 1 and not named:
            return _keeping(loaded, loaded.serve), given[0], tf.nest
    names = list(loaded.signatures)
    if signature not in names and (signature or len(names) != 1):
        raise ValueError(f"name one of its signatures, {path.name}:NAME: {', '.join(names)}")
    chosen = loaded.signatures[signature or names[0]]
    _, specs = chosen.structured_input_signature
    return _keeping(loaded, lambda given: chosen(**given)), specs, tf.nest


def _keeping(loaded, fn) -> Callable:
    """A function that keeps what was loaded, whose variables would be deleted otherwise."""

    def called(given):
        return fn(given)

    called.loaded = loaded  # type: ignore[attr-defined]
    called.__name__ = "serve"
    return called


def _drawn(spec, rows, below, draws: np.random.Generator) -> Any:
    """An array for an input: normal numbers, whole ones below a limit, or bools."""
    dtype = np.dtype(getattr(spec.dtype, "as_numpy_dtype", spec.dtype))
    first, *others = [*spec.shape] or [1]
    if None in others:
        raise ValueError(f"{spec.name} has the shape {tuple(spec.shape)}: {WRITE}")
    shape = [] if not len(spec.shape) else [rows if first is None else first, *others]
    if dtype.kind == "b":
        return draws.random(shape) < 0.5
    if dtype.kind in "iu":
        if below is None:
            limit = "say below which (--below 1000)"
            raise ValueError(f"{spec.name} takes whole numbers: {limit}, or {WRITE}")
        return draws.integers(0, below, shape).astype(dtype)
    if dtype.kind not in "fcV":
        raise ValueError(f"{spec.name} takes text: {WRITE}")
    return draws.standard_normal(shape).astype(dtype)
