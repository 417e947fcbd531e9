"""The three modes, eager, graph and XLA: their names in labels, and functions that run in them."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import RLock
from typing import Any

MODES = ("eager", "graph", "XLA")


def mode_of(label: str) -> str | None:
    """The mode with which a label begins, such as "XLA" for "XLA, padded"; else None."""
    first = label.partition(",")[0]
    return first if first in MODES else None


_switch = RLock()  # TensorFlow has one for all threads


@contextmanager
def functions_run_eagerly(eagerly: bool) -> Iterator[None]:
    """In the block every `tf.function` runs eagerly or not; then as before.

    Another thread waits with its block until this one has ended.
    """
    import tensorflow as tf

    with _switch:
        before = tf.config.functions_run_eagerly()
        tf.config.run_functions_eagerly(eagerly)
        try:
            yield
        finally:
            tf.config.run_functions_eagerly(before)


def modes_of(python: Any, **options) -> dict[str, Callable]:
    """Mode to a new function that runs `python` in it; options are those of `tf.function`."""
    import tensorflow as tf

    def eagerly(*args, **kwargs):
        with functions_run_eagerly(True):
            return python(*args, **kwargs)

    eagerly.python_function = python  # type: ignore[attr-defined]  # as a `tf.function` has it
    compiled = tf.function(python, jit_compile=True, **options)
    return {"eager": eagerly, "graph": tf.function(python, **options), "XLA": compiled}
