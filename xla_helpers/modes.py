"""The three modes, and which of them a label names."""

MODES = ("eager", "graph", "XLA")

ALSO = {"plain": "graph", "False": "graph", "None": "graph", "True": "XLA"}
"""Values of `jit_compile` that notebook 06 takes as labels; "plain" is a function given none."""


def mode_of(label: str) -> str | None:
    """The mode that `label` begins with, such as "XLA" for "XLA, padded"; None for other labels."""
    first = label.replace(",", " ").split(maxsplit=1)[:1]
    return next((ALSO.get(word, word) for word in first if word in (*MODES, *ALSO)), None)
