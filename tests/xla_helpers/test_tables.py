import math
import re
from html import unescape

import pytest

from xla_helpers.tables import (
    LONG,
    LONG_TEXT,
    NUMBER,
    SHORT_TEXT,
    Bytes,
    Seconds,
    Table,
    counted,
    cut,
    format_bytes,
    format_seconds,
    tabulate,
)


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (2.5e-9, "2.5 ns"),
        (1.2345e-6, "1.23 µs"),
        (0.001, "1 ms"),
        (0.00123, "1.23 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1 s"),
        (12, "12 s"),
        (-0.002, "-2 ms"),
        (2e-13, "0.0002 ns"),
        (math.inf, "inf s"),
    ],
)
def test_seconds(seconds, text):
    assert format_seconds(seconds) == str(Seconds(seconds)) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 B"),
        (4, "4 B"),
        (999, "999 B"),
        (1000, "1 kB"),
        (67108864, "67.1 MB"),
        (448e6, "448 MB"),
        (2e15, "2e+03 TB"),
    ],
)
def test_bytes(count, text):
    assert format_bytes(count) == str(Bytes(count)) == text


def test_a_quantity_is_a_number_first():
    assert Seconds(0.002) + Seconds(0.001) == pytest.approx(0.003)


@pytest.mark.parametrize(("limit", "shown"), [(3, "abc"), (4, "abc"), (2, "a…"), (1, "…")])
def test_cut(limit, shown):
    assert cut("abc", limit) == shown


class Shown(Table):
    """A table of the given columns: head to cells."""

    def __init__(self, title="Title.", **columns):
        self.title, self.columns = title, columns

    def _title(self):
        return self.title

    def _columns(self):
        return list(self.columns)

    def _rows(self):
        return zip(*self.columns.values(), strict=True)


FRUIT = Shown(
    fruit=["apple", "fig"],
    count=[7, 12],
    price=["4.00", "0.5"],
    wait=[Seconds(0.0012), Seconds(12)],
    size=[Bytes(4), ""],
    mixed=[3, "none"],
)


@pytest.mark.parametrize(
    ("number", "words"), [(0, "0 kernels"), (1, "1 kernel"), (1000, "1,000 kernels")]
)
def test_a_number_of_things(number, words):
    assert counted(number, "kernel") == words


def test_text():
    assert (
        str(FRUIT)
        == repr(FRUIT)
        == """\
Title.
fruit  count  price    wait  size  mixed
-----  -----  -----  ------  ----  -----
apple      7   4.00  1.2 ms   4 B  3
fig       12    0.5   12 s         none"""
    )


def test_a_table_without_rows():
    empty = Shown(fruit=[], count=[])
    assert str(empty) == "Title.\nfruit  count\n-----  -----"
    assert "<td" not in empty._repr_html_()


def cells(table, tag="td"):
    """Style and text of every cell, row by row."""
    found = re.findall(rf'<{tag} style="([^"]*)">(.*?)</{tag}>', table._repr_html_())
    return [(style, unescape(re.sub("<[^>]*>", "", text))) for style, text in found]


def test_html_says_the_same_as_text():
    title, heads, _, *rows = str(FRUIT).splitlines()
    html = FRUIT._repr_html_()
    assert html.startswith(f"<p>{title}</p>\n<table>\n<thead>\n")
    assert [text for _, text in cells(FRUIT, "th")] == heads.split()
    shown = " ".join(text for _, text in cells(FRUIT))
    assert shown.split() == " ".join(rows).split()


def test_numbers_stand_on_the_right_and_all_else_on_the_left():
    styles = [SHORT_TEXT, *[NUMBER] * 4, SHORT_TEXT]  # a text that shows a number is one
    assert [style for style, _ in cells(FRUIT, "th")] == styles
    assert [style for style, _ in cells(FRUIT)] == 2 * styles
    assert "right" in NUMBER and "left" in SHORT_TEXT and "left" in LONG_TEXT


def test_units_stand_below_each_other():
    table = Shown(size=[Bytes(4), Bytes(5e6), ""], mixed=["never", Seconds(2), Seconds(0.01)])
    assert str(table).splitlines()[3:] == ["4 B   never", "5 MB  2 s", "      10 ms"]
    units = re.findall(r'(\d+) <span style="([^"]*)">(\w+)</span>', table._repr_html_())
    numbers = [(number, unit) for number, _, unit in units]
    assert numbers == [("4", "B"), ("5", "MB"), ("2", "s"), ("10", "ms")]
    assert len({style for _, style, _ in units}) == 1 and "width" in units[0][1]


def test_a_column_of_long_text_wraps():
    table = Shown(why=["short", "a" * (LONG + 1), "short"], name=["b" * LONG, "", ""])
    assert [style for style, _ in cells(table)] == [LONG_TEXT, SHORT_TEXT] * 3
    assert "normal" in LONG_TEXT and "nowrap" in SHORT_TEXT and "nowrap" in NUMBER


def test_a_number_with_many_digits_does_not_wrap():
    assert cells(Shown(n=[10**LONG]))[0][0] == NUMBER


EVIL = "<img onerror=\"f('x')\"> & co"


@pytest.mark.parametrize(
    "table",
    [Shown(title=EVIL, a=[1]), Shown(**{EVIL: [1]}), Shown(a=[EVIL, 2]), Shown(a=[EVIL * 3])],
    ids=["title", "column", "cell", "long cell"],
)
def test_html_is_escaped_everywhere(table):
    html = table._repr_html_()
    assert "<img" not in html and "&lt;img onerror=" in html and "&amp; co" in html
    assert EVIL in unescape(html) and EVIL in str(table)


def test_any_rows_are_a_table():
    table = tabulate(
        "Two copies.",
        ["of", "time"],
        ([name, Seconds(s)] for name, s in {"a": 0.2, "b": 3e-3}.items()),
    )
    assert isinstance(table, Table)
    assert str(table).splitlines() == [
        "Two copies.",
        "of    time",
        "--  ------",
        "a   200 ms",
        "b     3 ms",
    ]
    assert str(table) == str(table)  # rows that can be read only once are kept


HOSTILE = "\x1b[2J", "a\nb", "\ud800", "\u202eabc", "a\tb\r", "<img onerror=x>"


@pytest.mark.parametrize("text", HOSTILE)
def test_no_text_steers_a_terminal_or_a_page(text):
    table = tabulate(text, [text, "n"], [[text, Seconds(1)], [1, text]])
    head, *lines = str(table).splitlines()
    assert head.isprintable() and len(lines) == 4 and "".join(lines).isprintable()
    page = table._repr_html_()
    assert page.replace("\n", "").isprintable() and "<img" not in page
    assert page.encode()


def test_a_column_may_be_named_by_anything():
    assert str(tabulate("t", [1, None], [[2, 3]])).splitlines()[1].split() == ["1", "None"]
