"""The three modes: which of them a label names, and how functions run in a block."""

from collections.abc import Iterator
from contextlib import contextmanager

MODES = ("eager", "graph", "XLA")

ALSO = {"plain": "graph", "False": "graph", "None": "graph", "True": "XLA"}
"""Values of `jit_compile` that notebook 06 takes as labels; "plain" is a function given none."""


def mode_of(label: str) -> str | None:
    """The mode that `label` begins with, such as "XLA" for "XLA, padded"; None for other labels."""
    first = label.replace(",", " ").split(maxsplit=1)[:1]
    return next((ALSO.get(word, word) for word in first if word in (*MODES, *ALSO)), None)


@contextmanager
def run_functions_eagerly(eagerly: bool) -> Iterator[None]:
    """Every `tf.function` in the block runs eagerly or not, and then as the caller has set it."""
    import tensorflow as tf

    before = tf.config.functions_run_eagerly()
    tf.config.run_functions_eagerly(eagerly)
    try:
        yield
    finally:
        tf.config.run_functions_eagerly(before)
