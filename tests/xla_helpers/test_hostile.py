"""Whatever somebody sends: shown as text, or skipped with a reason in one line."""

import json
import tracemalloc
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import xla_helpers as xh

tried = settings(  # always the same examples, however busy the machine is
    derandomize=True,
    deadline=None,
    database=None,
    max_examples=100,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large],
)

TEXT = st.text(st.characters(), max_size=12) | st.sampled_from(["\x1b[2J", "\ud800", "a\nb", "$$"])
NUMBERS = st.integers() | st.floats() | st.sampled_from([10**400, 2**63, -1, 0])
LEAVES = st.none() | st.booleans() | NUMBERS | TEXT
JSON = st.recursive(
    LEAVES, lambda x: st.lists(x, max_size=3) | st.dictionaries(TEXT, x, max_size=3), max_leaves=8
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("sent")


def is_one_line(text):
    return text.isprintable() and len(text) < 500


def replaced(draw, value):
    """`value` with one part of it, however deep, replaced by something else."""
    keys = list(value) if isinstance(value, dict) else range(len(value))
    key = draw(st.sampled_from(sorted(keys, key=str)))
    part = value[key]
    deeper = isinstance(part, (dict, list)) and part and draw(st.booleans())
    copy = value.copy()
    copy[key] = replaced(draw, part) if deeper else draw(JSON)
    return copy


# Results


@pytest.fixture(scope="module")
def recorded(tf, tmp_path_factory):
    rows = {"graph": sum, "XLA": lambda x: sum(tuple(x))}
    comparison = xh.compare(rows, ([1.0, 2.0],), rounds=6, block=1e-9, budget=0)
    path = xh.record("sums", comparison, "two numbers", folder=tmp_path_factory.mktemp("recorded"))
    return path.read_bytes()


def is_shown_or_skipped(path, data):
    """Whether these bytes are a result."""
    path.write_bytes(data)
    results, skipped = xh.read_results(path)
    path.unlink()
    assert len(results) + len(skipped) == 1
    assert all(map(is_one_line, skipped.values()))
    for result in results:
        assert is_one_line(result.title + str(result.ratio))
        assert_shown_safely(result.comparison)
    return bool(results)


def test_what_was_recorded_here_is_shown(folder, recorded):
    assert is_shown_or_skipped(folder / "result.json", recorded)


@tried
@given(data=st.data())
def test_parts_of_a_result(folder, recorded, data):
    content = json.dumps(replaced(data.draw, json.loads(recorded)))
    content = content.replace('"XLA"', json.dumps(data.draw(TEXT)))
    is_shown_or_skipped(folder / "result.json", content.encode())


BOMBS = {"depth": '{"runs": ' + "[" * 2**19, "length": " " * 2**28}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_takes_bounded_memory(folder, name):
    bomb = BOMBS[name].encode()
    tracemalloc.start()
    try:
        assert not is_shown_or_skipped(folder / "result.json", bomb)
        assert tracemalloc.get_traced_memory()[1] < 150e6
    finally:
        tracemalloc.stop()


# What is shown


class Tags(HTMLParser):
    """The tags of a page, in their order, and all of their attributes."""

    def __init__(self, page):
        super().__init__()
        self.found, self.attributes = [], set()
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)
        self.attributes |= {name for name, _ in attrs}


def assert_shown_safely(shown):
    """Nothing in it steers a terminal, and no tag in its HTML is more than a part of a table."""
    assert "".join(str(shown).split("\n")).isprintable()
    page = Tags(shown._repr_html_())
    assert set(page.found) <= set("p div table thead tbody tr th td span".split())
    assert page.attributes <= {"style", "class"}


CELLS = LEAVES | st.floats(0, 1e9).map(lambda seconds: xh.format_si(seconds, "s"))


@tried
@given(TEXT, st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n))))
def test_any_table(text, rows):
    columns = len(rows[0]) if rows else 1
    table = xh.table(text, [text] * columns, rows)
    usual = xh.table("text", ["text"] * columns, [["text"] * columns] * len(rows))
    assert_shown_safely(table)
    assert len(str(table).split("\n")) == len(str(usual).split("\n"))
    tags = Tags(table._repr_html_()).found
    assert (tags.count("th"), tags.count("td")) == (columns, columns * len(rows))


HOSTILE = "<img src=x onerror=go()>\x1b[2J\u202e</td>\n|<b>"


def test_names_and_errors_are_text(tf):
    def fails(x):
        raise ValueError(HOSTILE)

    def named(x):
        return {HOSTILE: x}

    named.__name__ = HOSTILE
    args, brief = (tf.ones([2]),), {"rounds": 2, "budget": 0, "strict": False}
    comparison = xh.compare({HOSTILE: named, "fails": fails}, args, **brief)
    for shown in (comparison, xh.check(named, args), xh.check(fails, args)):
        assert "onerror" in str(shown)
        assert_shown_safely(shown)
