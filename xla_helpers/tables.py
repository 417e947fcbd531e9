"""How results are shown: one table in text and in HTML, with units chosen for the eye."""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from html import escape
from numbers import Real

PREFIXES = {-9: "n", -6: "µ", -3: "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T"}

NUMERAL = re.compile(r"[-+]?\d+(\.\d+)?(e[-+]?\d+)?")

LONG = 23  # characters of a text that may go on in a next line

# A notebook's own style would put all text on the right, so each cell says where it stands.
SHORT_TEXT = "text-align: left; white-space: nowrap"
LONG_TEXT = "text-align: left; white-space: normal; min-width: 10em"
NUMBER = "text-align: right; white-space: nowrap"
UNIT = '<span style="display: inline-block; width: 1.7em; text-align: left">{}</span>'


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
    on the right, also when they are text already, and all others on the left; the units of
    `Seconds` and `Bytes` stand below each other.
    """

    def __str__(self):
        columns = [[in_one_line(head), *_texts(cells)] for head, cells in self._by_column()]
        widths = [max(map(len, column)) for column in columns]
        for column, width, (_, cells) in zip(columns, widths, self._by_column(), strict=True):
            column[:] = [f"{text:{'>' if _numeric(cells) else '<'}{width}}" for text in column]
            column.insert(1, "-" * width)
        lines = ["  ".join(row).rstrip() for row in zip(*columns, strict=True)]
        return "\n".join([in_one_line(self._title()), *lines])

    __repr__ = __str__

    def _repr_html_(self):
        columns = [_html_column(head, cells) for head, cells in self._by_column()]
        head, *rows = (f"<tr>{''.join(row)}</tr>" for row in zip(*columns, strict=True))
        body = "\n".join(rows)
        return (
            f"<p>{escape(in_one_line(self._title()))}</p>\n"
            f"<table>\n<thead>\n{head}\n</thead>\n<tbody>\n{body}\n</tbody>\n</table>"
        )

    def _by_column(self):
        rows = list(self._rows())
        return [(str(head), [row[i] for row in rows]) for i, head in enumerate(self._columns())]


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
    of    time
    --  ------
    a   200 ms
    b     3 ms
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


def _with_unit(value, unit):
    value = float(f"{float(value):.3g}")  # before the unit is chosen, so that 999.9 ms is 1 s
    power = 0
    if value and math.isfinite(value):
        power = min(max(3 * math.floor(math.log10(abs(value)) / 3), min(PREFIXES)), max(PREFIXES))
    return f"{value / 10**power:.3g} {PREFIXES[power]}{unit}"


def _numeric(cells):
    shown = [cell for cell in cells if cell != ""]
    return bool(shown) and all(map(_is_number, shown))


def _is_number(cell):
    """Numbers, and text that shows nothing else."""
    if isinstance(cell, Real):
        return True
    return isinstance(cell, str) and NUMERAL.fullmatch(cell) is not None


def _texts(cells):
    """A unit is filled up, so that it stands below the others."""
    texts = [in_one_line(str(cell)) for cell in cells]
    units = [text.split()[-1] for text, cell in zip(texts, cells, strict=True) if _has_unit(cell)]
    width = max(map(len, units), default=0)
    return [
        text + " " * (width - len(text.split()[-1])) if _has_unit(cell) else text
        for text, cell in zip(texts, cells, strict=True)
    ]


def _has_unit(cell):
    return isinstance(cell, (Seconds, Bytes))


def _html_column(head, cells):
    long = any(len(str(cell)) > LONG for cell in cells)
    style = NUMBER if _numeric(cells) else LONG_TEXT if long else SHORT_TEXT
    yield f'<th style="{style}">{escape(in_one_line(head))}</th>'
    for cell in cells:
        text = escape(in_one_line(str(cell)))
        if _has_unit(cell):
            number, unit = text.split()
            text = f"{number} {UNIT.format(unit)}"
        yield f'<td style="{style}">{text}</td>'
