"""Tables: the same in text and in HTML, whatever stands in them."""

import math
import re
from html import unescape

import pytest

import xla_helpers as xh
from xla_helpers.tables import abbreviate


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "s", "0 s"),
        (2.5e-9, "s", "2.5 ns"),
        (1.2345e-6, "s", "1.23 µs"),
        (0.9994, "s", "999 ms"),
        (0.9996, "s", "1 s"),
        (-0.002, "s", "-2 ms"),
        (math.inf, "s", "inf s"),
        (999, "B", "999 B"),
        (2**26, "B", "67.1 MB"),
    ],
)
def test_a_number_has_three_digits_a_prefix_and_a_unit(value, unit, text):
    assert xh.format_si(value, unit) == text


@pytest.mark.parametrize(("names", "text"), [("", ""), ("abc", "a, b, c"), ("abcd", "a, b, c, …")])
def test_names_that_are_left_out_are_marked_and_no_others(names, text):
    assert abbreviate(names) == text


HEADS = ["fruit", "count", "price", "wait", "mixed"]
ROWS = [["apple", 7, "4.00", xh.format_si(-0.0012, "s"), 3], ["fig", 12, "1,000", "", "none"]]


def test_text():
    """Numbers stand on the right, those in texts too; rows that can be read once are kept."""
    shown = xh.table("Title.", HEADS, iter(ROWS))
    expected = """\
Title.
fruit      count    price     wait  mixed
-------  -------  -------  -------  -------
apple          7     4.00  -1.2 ms  3
fig           12    1,000           none"""
    assert str(shown) == repr(shown) == expected
    assert len(str(xh.table("Title.", HEADS, [])).splitlines()) == 3


def cells(page, tag):
    """Whether each cell stands on the right, and its text."""
    found = re.findall(rf'<{tag} style="text-align: (left|right);">(.*?)</{tag}>', page)
    return [(side == "right", unescape(text).strip()) for side, text in found]


def test_html_says_the_same_as_text():
    page, right = xh.table("Title.", HEADS, ROWS)._repr_html_(), [False, True, True, True, False]
    assert page.startswith("<p>Title.</p>\n<table>\n")
    assert cells(page, "th") == [*zip(right, HEADS, strict=True)]
    shown = [(side, str(cell)) for row in ROWS for side, cell in zip(right, row, strict=True)]
    assert cells(page, "td") == shown


@pytest.mark.parametrize("text", ["\x1b[2J", "a\nb", "\ud800", "\u202ea", "<img> & </td><td>"])
def test_no_text_steers_a_terminal_or_a_page(examples, text):
    rows = examples.comparison(**{text: 1.0}).measurements
    control = xh.Comparison(rows, {}, control=rows[text])  # named in a note
    for shown, count in ((xh.table(text, [text, "n"], [[text, 1], [1, text]]), 4), (control, 7)):
        assert str(shown).replace("\n", "").isprintable()
        page = shown._repr_html_()
        assert page.replace("\n", "").isprintable() and page.encode()
        assert set(re.findall(r"<(\w+)", page)) == set("p table thead tbody tr th td".split())
        assert len(cells(page, "td")) == count
