"""How results are shown: one table in text and in HTML, with units chosen for the eye."""

from matplotlib.ticker import EngFormatter
from tabulate import tabulate


class Table:
    """A result that shows itself as a table: text in a terminal, HTML in a notebook.

    A subclass gives `_title()` (one line), `_columns()` and `_rows()`.
    """

    def __str__(self):
        body = tabulate(self._rows(), self._columns(), tablefmt="simple", disable_numparse=True)
        return f"{self._title()}\n{body}"

    __repr__ = __str__

    def _repr_html_(self):
        body = tabulate(self._rows(), self._columns(), tablefmt="html", disable_numparse=True)
        return f"<p>{self._title()}</p>\n{body}"


def format_seconds(seconds: float) -> str:
    """Seconds with three digits and a unit that fits: ``0.00123`` becomes ``1.23 ms``."""
    return _with_unit(seconds, "s")


def format_bytes(count: float) -> str:
    """Bytes with three digits and a decimal unit: ``67108864`` becomes ``67.1 MB``."""
    return _with_unit(count, "B")


def cut(text: str, limit: int) -> str:
    """`text` in at most `limit` characters, with a mark where it was cut."""
    return text if len(text) <= limit else f"{text[: limit - 1]}…"


def _with_unit(value, unit):
    """Rounded before the unit is chosen, so that 999.9 ms is 1 s."""
    return EngFormatter(unit)(float(f"{value:.3g}"))
