"""How results are shown: one table in text and in HTML, with units chosen for the eye."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from numbers import Real

from tabulate import tabulate as lay_out

PREFIXES = {1e12: "T", 1e9: "G", 1e6: "M", 1e3: "k", 1: "", 1e-3: "m", 1e-6: "µ", 1e-9: "n"}

STYLES = {
    "<th>": '<th style="text-align: left">',  # a notebook's own would put all text on the right
    "<td>": '<td style="text-align: left">',
    ' style="text-align: right;"': ' style="text-align: right; white-space: nowrap"',
}
"""Tags as tabulate writes them, and as they are shown; in a text these letters are escaped."""

NUMERAL = re.compile(r"[-+]?\d[\d,]*(\.\d+)?(e[-+]?\d+)?")


class Seconds(float):
    """Seconds that show themselves with a unit that fits."""

    def __str__(self):
        return _with_unit(self, "s")


class Bytes(float):
    """Bytes that show themselves with a decimal unit that fits."""

    def __str__(self):
        return _with_unit(self, "B")


class Table:
    """A result that shows itself as a table: text in a terminal, HTML in a notebook.

    A subclass gives `_title()` (one line), `_columns()` and `_rows()`. A column of numbers stands
    on the right, also when they are text already, and all others on the left.
    """

    def __str__(self):
        return f"{in_one_line(self._title())}\n{self._laid_out('simple')}"

    __repr__ = __str__

    def _repr_html_(self):
        table = self._laid_out("html")
        for plain, styled in STYLES.items():
            table = table.replace(plain, styled)
        return f"<p>{escape(in_one_line(self._title()))}</p>\n{table}"

    def _laid_out(self, form):
        heads, rows = self._columns(), list(self._rows())
        sides = ["right" if _are_numbers(column) else "left" for column in zip(*rows, strict=True)]
        return lay_out(
            [[in_one_line(str(cell)) for cell in row] for row in rows],
            [in_one_line(str(head)) for head in heads],
            tablefmt=form,
            colalign=sides if rows else None,  # release 0.9 has no columns where there are no rows
            disable_numparse=True,  # it would write 4.00 as 4
        )


@dataclass(frozen=True, repr=False)
class _Rows(Table):
    """A `Table` of what it was given."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence]

    def _title(self):
        return self.title

    def _columns(self):
        return self.columns

    def _rows(self):
        return self.rows


def tabulate(title: str, columns: Sequence[str], rows: Iterable[Sequence]) -> Table:
    """Rows of any cells as a `Table`.

    title: one line. columns: their names. rows: for each a cell for every column; `Seconds` and
    `Bytes` choose their units. Introduced in notebook 01.

    >>> tabulate("Two copies.", ["of", "time"], [["a", Seconds(0.2)], ["b", Seconds(3e-3)]])
    Two copies.
    of      time
    ----  ------
    a     200 ms
    b       3 ms
    """
    return _Rows(title, columns, list(rows))


def format_seconds(seconds: float) -> str:
    """Seconds with three digits and a unit that fits: ``0.00123`` becomes ``1.23 ms``.

    Introduced in notebook 01.
    """
    return str(Seconds(seconds))


def format_bytes(count: float) -> str:
    """A count of bytes with three digits and a decimal unit: ``67108864`` becomes ``67.1 MB``.

    Introduced in notebook 01.
    """
    return str(Bytes(count))


def counted(number: int, what: str) -> str:
    """A number of things: ``1 kernel``, ``1,000 kernels``."""
    return f"{number:,} {what}{'' if number == 1 else 's'}"


def in_one_line(text: str) -> str:
    """Without what a terminal would not show, or obey."""
    return "".join(letter if letter.isprintable() else " " for letter in text)


def some(names: Sequence[str], most: int) -> str:
    """Names in a line, at most so many, with a mark where there are more."""
    return ", ".join(names[:most]) + (", …" if len(names) > most else "")


def cut(text: str, limit: int) -> str:
    """`text` in at most `limit` characters, with a mark where it was cut."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _with_unit(number, unit):
    rounded = float(f"{float(number):.3g}")  # before the unit is chosen, so that 999.9 ms is 1 s
    for size, prefix in PREFIXES.items():
        if size <= abs(rounded) < 1000 * size:
            return f"{rounded / size:.3g} {prefix}{unit}"
    return f"{rounded:.3g} {unit}"


def _are_numbers(cells):
    """Whether they are numbers, or text that shows nothing else; some may be empty."""
    shown = [cell for cell in cells if cell != ""]
    numbers = [isinstance(cell, Real) or NUMERAL.fullmatch(str(cell)) for cell in shown]
    return bool(shown) and all(numbers)
