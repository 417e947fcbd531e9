import pytest

from xla_helpers import format_bytes, format_seconds
from xla_helpers.tables import Table


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0, "0 s"),
        (2.5e-9, "2.5 ns"),
        (1.2345e-6, "1.23 µs"),
        (0.00123, "1.23 ms"),
        (0.9994, "999 ms"),
        (0.9996, "1 s"),
        (12, "12 s"),
        (-0.002, "-2 ms"),
    ],
)
def test_seconds(seconds, text):
    assert format_seconds(seconds).replace("−", "-") == text


@pytest.mark.parametrize(
    ("count", "text"),
    [(0, "0 B"), (4, "4 B"), (999, "999 B"), (67108864, "67.1 MB"), (448e6, "448 MB")],
)
def test_bytes(count, text):
    assert format_bytes(count) == text


class Fruit(Table):
    def _title(self):
        return "Two fruits."

    def _columns(self):
        return ["name", "weight"]

    def _rows(self):
        return [["apple", "4.00"], ["<lambda>", ""]]


def test_text():
    assert str(Fruit()) == repr(Fruit())
    lines = [line.rstrip() for line in str(Fruit()).splitlines()]
    assert lines[0] == "Two fruits."
    assert lines[1].split() == ["name", "weight"]
    assert lines[3].split() == ["apple", "4.00"]  # as given: not read as a number


def test_html():
    html = Fruit()._repr_html_()
    assert html.startswith("<p>Two fruits.</p>\n<table>")
    assert "&lt;lambda&gt;" in html
    assert "<lambda>" not in html
    assert "4.00" in html
