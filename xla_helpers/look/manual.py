"""The rows of docs/messages.md, to which checks and verdicts lead."""

import tomllib
from pathlib import Path

ROWS = tomllib.loads((Path(__file__).parents[1] / "data/manual.toml").read_text("utf-8"))
"""Words of what was found to the row that is about it."""


def see(row: str) -> str:
    """Words that lead to a row of the manual."""
    return f"What it means, and what to do: docs/messages.md#{row}"


def see_about(text: str) -> str:
    """Words that lead to the first row that is about this text; "" for none."""
    return next((see(row) for words, row in ROWS.items() if words in text), "")
