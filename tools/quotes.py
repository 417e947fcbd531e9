"""Numbers in prose that quote an output: where they come from, and whether they still hold.

A cell of prose has in its metadata `quotes`: each number that it takes from an output, as written,
to the id of the cell that shows it, such as {"0.7 ms": "compare"}. A number from elsewhere, which
stands there with its source, is quoted from "elsewhere". In a notebook that quotes at all, each
number with a unit is quoted.
"""

import json
import re
from itertools import chain, pairwise
from pathlib import Path

from bets import text_of

ELSEWHERE = "elsewhere"
SIZES = {"": 1, "n": 1e-9, "µ": 1e-6, "m": 1e-3, "k": 1e3, "M": 1e6, "G": 1e9, "T": 1e12}
UNIT = r"(?:(?P<prefix>[nµmkMGT]?)(?P<unit>s|B)\b|(?P<share>%|x\b)| (?P<word>times|percent)\b)"
NUMBER = re.compile(rf"(?<![\w.,-])(?P<digits>\d[\d,]*(?:\.\d+)?)(?: ?{UNIT})?(?![\w])")
WORDS = {"times": "x", "percent": "%"}
NO_PROSE = re.compile(r"`[^`]*`|\]\([^)]*\)|```.*?```|https?://\S+", re.DOTALL)


class Amount:
    """A number with its unit, and the digits that were written of it."""

    def __init__(self, match):
        digits = match["digits"].replace(",", "")
        unit = match["unit"] or match["share"] or WORDS.get(match["word"] or "", "")
        self.unit, self.size = unit, SIZES[match["prefix"] or ""]
        self.written, self.value = float(digits), float(digits) * self.size
        self.decimals = len(digits.partition(".")[2])

    def rounds(self, other):
        """Whether this is another amount, rounded as this one is written."""
        return self.unit == other.unit and (
            abs(other.value / self.size - self.written) <= 0.5000001 * 10.0**-self.decimals
        )


def amounts_in(text):
    """Each number in a text, as written, with its amount."""
    return [(match[0].strip(), Amount(match)) for match in NUMBER.finditer(text)]


def broken(notebook):
    """Sentences about the quotes of a notebook that do not hold."""
    code = {cell["id"]: cell for cell in notebook["cells"] if cell["cell_type"] == "code"}
    prose = [cell for cell in notebook["cells"] if cell["cell_type"] == "markdown"]
    if not any("quotes" in cell["metadata"] for cell in prose):
        return []
    return list(chain.from_iterable(_broken_in(cell, code) for cell in prose))


def _broken_in(cell, code):
    source, quotes = "".join(cell["source"]), cell["metadata"].get("quotes", {})
    for quote, home in quotes.items():
        if why := _why_broken(quote, home, source, code):
            yield f"{cell['id']}: {quote!r} {why}"
    known = " ".join(quotes)
    for written, amount in amounts_in(NO_PROSE.sub(" ", source)):
        if amount.unit and written not in known:
            yield f"{cell['id']}: {written!r} is quoted from nowhere"


def _why_broken(quote, home, source, code):
    """Why a quote does not hold, or ""."""
    if quote not in source:
        return "is quoted, and does not stand there"
    if home == ELSEWHERE:
        return ""
    if home not in code:
        return f"is quoted from {home!r}, which is no cell of code"
    return "" if _shows(code[home], quote) else f"is not what {home!r} shows"


def _shows(cell, quote):
    """Whether a cell has shown a number that rounds to the quoted one."""
    shown = [amount for _, amount in amounts_in(text_of(cell))]
    wanted = [amount for _, amount in amounts_in(quote)]
    for one, next_one in reversed(list(pairwise(wanted))):  # 22 to 24 percent
        if not one.unit:
            one.unit, one.size = next_one.unit, next_one.size
            one.value = one.written * one.size
    return bool(wanted) and all(any(one.rounds(x) for x in shown) for one in wanted)


if __name__ == "__main__":
    for path in sorted(Path(__file__).resolve().parents[1].glob("notebooks/*.ipynb")):
        for why in broken(json.loads(path.read_text(encoding="utf-8"))):
            print(f"{path.stem}, {why}")
