"""Numbers in prose are those of the outputs that they quote."""

import copy
import json
from pathlib import Path

import pytest
from quotes import ELSEWHERE, broken

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_numbers_in_prose_are_those_of_the_outputs(path):
    assert broken(json.loads(path.read_text(encoding="utf-8"))) == []


def notebook(prose, shown, quotes):
    stream = {"output_type": "stream", "name": "stdout", "text": shown}
    code = {"cell_type": "code", "id": "race", "metadata": {}, "outputs": [stream]}
    told = {"cell_type": "markdown", "id": "read", "metadata": {"quotes": quotes}}
    return {"cells": [code, told | {"source": [prose]}]}


@pytest.mark.parametrize(
    ("prose", "shown", "quotes"),
    [
        ("It took 0.7 ms.", "graph  661 µs", {"0.7 ms": "race"}),
        ("It is 5.5 times faster.", "5.47x faster [4.69, 6.12]", {"5.5 times": "race"}),
        ("From 22 to 24 percent.", "22.4% and 23.9%", {"22 to 24 percent": "race"}),
        ("1,711 functions", "eager: 1711 functions", {"1,711": "race"}),
        ("Intel writes 2.9 µs.", "", {"2.9 µs": ELSEWHERE}),
        ("`x * 3 s` and [7 s](a.md#7-s) and step 3", "", {"step 3": ELSEWHERE}),
    ],
)
def test_a_number_holds_as_it_is_rounded_and_with_any_prefix(prose, shown, quotes):
    made = notebook(prose, shown, quotes)
    made["cells"][1]["source"] = [prose.replace("[7 s]", "[seven]")]
    assert broken(made) == []


@pytest.mark.parametrize(
    ("prose", "shown", "quotes", "why"),
    [
        ("It took 0.8 ms.", "661 µs", {"0.8 ms": "race"}, "not what 'race' shows"),
        ("It took 0.7 ms.", "761 µs", {"0.7 ms": "race"}, "not what 'race' shows"),
        ("It took 0.66 ms.", "0.7 ms", {"0.66 ms": "race"}, "not what 'race' shows"),
        ("It took 0.7 ms.", "661 µs", {}, "quoted from nowhere"),
        ("It took 0.7 ms.", "661 µs", {"0.7 ms": "gone"}, "no cell of code"),
        ("It took long.", "661 µs", {"0.7 ms": "race"}, "does not stand there"),
        ("It takes 7 MB.", "7 ms", {"7 MB": "race"}, "not what 'race' shows"),
        ("It is 6x as fast.", "5.47x", {"6x": "race"}, "not what 'race' shows"),
    ],
)
def test_a_changed_digit_is_seen(prose, shown, quotes, why):
    (found,) = broken(notebook(prose, shown, quotes))
    assert why in found


def quotes_of(path):
    """A notebook, and each of its quotes with the place of its cell."""
    plain = json.loads(path.read_text(encoding="utf-8"))
    for number, cell in enumerate(plain["cells"]):
        for quote, home in cell["metadata"].get("quotes", {}).items():
            if home != ELSEWHERE:
                yield plain, number, quote


def is_seen(plain, number, quote, other):
    """Whether a quote that is changed, in prose and metadata, is told."""
    changed = copy.deepcopy(plain)
    cell = changed["cells"][number]
    cell["source"] = ["".join(cell["source"]).replace(quote, other)]
    cell["metadata"]["quotes"][other] = cell["metadata"]["quotes"].pop(quote)
    return bool(broken(changed))


def test_a_changed_digit_of_our_quotes_is_seen():
    """Each of the nine others; one in a hundred may be another number of the same output."""
    seen = []
    for plain, number, quote in (one for path in NOTEBOOKS for one in quotes_of(path)):
        digit = next(letter for letter in quote if letter.isdigit())
        for other in set("0123456789") - {digit}:
            seen.append(is_seen(plain, number, quote, quote.replace(digit, other, 1)))
    assert seen and sum(seen) >= 0.98 * len(seen)
