"""How results are shown: one table in text and in HTML, and numbers with a unit."""

import re
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from tabulate import tabulate

PREFIXES = {1e12: "T", 1e9: "G", 1e6: "M", 1e3: "k", 1: "", 1e-3: "m", 1e-6: "µ", 1e-9: "n"}
NUMERAL = re.compile(r"[-+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?( [TGMkmµn]?[sB]|%|x)?")


class Table:
    """A result that shows itself as a title, a table and notes: as text, and as HTML in a notebook.

    A subclass gives `_parts`: title, names of columns, rows, and any number of notes. Columns of
    numbers, with a unit or without, are right-aligned.
    """

    def __init__(self, *parts):
        self._given = parts

    def _parts(self) -> tuple:
        return self._given

    def __str__(self):
        title, columns, rows, *notes = self._parts()
        shown = [printable(title), _laid_out(columns, rows, "simple"), *map(printable, notes)]
        return "\n".join(shown)

    __repr__ = __str__

    def _repr_html_(self):
        title, columns, rows, *notes = self._parts()
        title, *notes = (f"<p>{escape(printable(line))}</p>" for line in (title, *notes))
        return "\n".join([title, _laid_out(columns, rows, "html"), *notes])


def _laid_out(columns, rows, form):
    cells = [[printable(str(cell)) for cell in row] for row in rows]
    sides = ["right" if _are_numbers(column) else "left" for column in zip(*cells, strict=True)]
    shown = tabulate(
        cells,
        list(map(printable, columns)),
        tablefmt=form,
        colalign=sides or None,  # tabulate fails on alignments without a row
        disable_numparse=True,  # which would write 4.00 as 4
    )
    if form != "html":
        return shown
    # Jupyter aligns on the right whatever says nothing. No cell holds a tag: tabulate escapes it.
    return re.sub("<(t[hd])>", r'<\1 style="text-align: left;">', shown)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence]) -> Table:
    """Show rows as a table, in text and in HTML.

    Args:
        title: One line above the table.
        columns: The names of the columns.
        rows: One cell for each column, of any type; numbers with a unit by `format_si`.

    Returns:
        A `Table`, which shows itself.

    Example:
        >>> table("Copies.", ["of", "time"], [["a", format_si(0.2, "s")], ["b", "3 ms"]])
        Copies.
        of      time
        ----  ------
        a     200 ms
        b       3 ms
    """
    return Table(title, columns, list(rows))


def format_si(value: float, unit: str) -> str:
    """Write a number with three digits, an SI prefix and a unit.

    Args:
        value: The number, in `unit`.
        unit: Such as "s" or "B".

    Returns:
        Such as ``1.23 ms`` or ``67.1 MB``.

    Example:
        >>> format_si(0.00123, "s"), format_si(2**26, "B")
        ('1.23 ms', '67.1 MB')
    """
    rounded = float(f"{float(value):.3g}")  # first, so that 999.9 ms becomes 1 s
    fits = (size for size in PREFIXES if size <= abs(rounded) < 1000 * size)
    size = next(fits, 1)
    return f"{rounded / size:.3g} {PREFIXES[size]}{unit}"


def pluralize(number: int, what: str) -> str:
    """A number of things: ``1 kernel``, ``1,000 kernels``, ``2 passes``, ``3 launches``."""
    ending = "es" if what.endswith(("s", "ch")) else "s"
    return f"{number:,} {what}{'' if number == 1 else ending}"


def printable(text: str) -> str:
    """The text without characters that a terminal would obey."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def truncate(text: str, limit: int) -> str:
    """The text in at most `limit` characters, with a mark where it was cut."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def abbreviate(names: Iterable[Any], most: int = 3) -> str:
    """At most `most` names, with a mark if there are more."""
    names = list(map(str, names))
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def _are_numbers(cells):
    shown = [cell for cell in cells if cell]
    return bool(shown) and all(map(NUMERAL.fullmatch, shown))
