"""Tables: the same in text and in HTML, whatever stands in them."""

import math
import re
from html import unescape

import pytest

import xla_helpers as xh


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (2.5e-9, "2.5 ns"),
        (1e-6, "1 µs"),
        (1.2345e-6, "1.23 µs"),
        (0.00123, "1.23 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1 s"),
        (12, "12 s"),
        (-0.002, "-2 ms"),
        (2e-13, "2e-13 s"),
        (math.inf, "inf s"),
    ],
)
def test_seconds(seconds, text):
    assert xh.format_seconds(seconds) == str(xh.Seconds(seconds)) == text


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0 B"), (999, "999 B"), (1000, "1 kB"), (2**26, "67.1 MB")]
)
def test_bytes(count, text):
    assert xh.format_bytes(count) == text


HEADS = ["fruit", "count", "price", "wait", "mixed", 5]
ROWS = [["apple", 7, "4.00", xh.Seconds(0.0012), 3, ""], ["fig", 12, "1,000", "", "none", True]]


def test_text():
    """Numbers stand on the right, those in texts too; rows that can be read once are kept."""
    table = xh.tabulate("Title.", HEADS, iter(ROWS))
    for _ in range(2):
        assert (
            str(table)
            == repr(table)
            == """\
Title.
fruit      count    price    wait  mixed       5
-------  -------  -------  ------  -------  ----
apple          7     4.00  1.2 ms  3
fig           12    1,000          none     True"""
        )


def cells(page, tag):
    """Style and text of every cell, row by row."""
    found = re.findall(rf'<{tag} style="([^"]*)">(.*?)</{tag}>', page)
    return [(style, unescape(text).strip()) for style, text in found]


def test_html_says_the_same_as_text():
    page = xh.tabulate("Title.", HEADS, ROWS)._repr_html_()
    assert page.startswith("<p>Title.</p>\n<table>\n<thead>\n")
    assert [text for _, text in cells(page, "th")] == list(map(str, HEADS))
    assert [text for _, text in cells(page, "td")] == [str(cell) for row in ROWS for cell in row]
    sides = ["left", "right", "right", "right", "left", "right"]
    for tag, count in (("th", 1), ("td", 2)):
        styles = [style for style, _ in cells(page, tag)]
        for style, side in zip(styles, sides * count, strict=True):
            assert f"text-align: {side}" in style and ("nowrap" in style) == (side == "right")


def test_a_table_without_rows():
    empty = xh.tabulate("Title.", ["fruit", "count"], [])
    assert len(str(empty).splitlines()) == 3 and "fruit    count" in str(empty)
    assert "<td" not in empty._repr_html_()


HOSTILE = ["\x1b[2J", "a\nb", "\ud800", "\u202eabc", "\x01", "<img onerror=\"f('x')\"> & </td><td>"]


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_steers_a_terminal_or_a_page(text):
    table = xh.tabulate(text, [text, "n"], [[text, xh.Seconds(1)], [1, text]])
    assert len(str(table).split("\n")) == 5 and str(table).replace("\n", "").isprintable()
    page = table._repr_html_()
    assert page.replace("\n", "").isprintable() and page.encode()
    assert set(re.findall(r"<(\w+)", page)) == set("p table thead tbody tr th td".split())
    assert [len(cells(page, tag)) for tag in ("th", "td")] == [2, 4]
    shown = "".join(letter if letter.isprintable() else " " for letter in text).strip()
    assert [said for _, said in cells(page, "td")][::3] == [shown] * 2
