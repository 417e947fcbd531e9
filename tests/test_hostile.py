"""Whatever somebody sends or types: read, or refused in one line, and nothing is written."""

import io
import json
import struct
import tracemalloc
import zipfile
from dataclasses import asdict
from html.parser import HTMLParser

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tools.collection import ROOT, UsageError
from tools.parameters import Parameter, in_range, value_of
from tools.suites import Suite
from tools.versions.found import FILE, Found, kept
from tools.versions.issue import text as issue_of
from tools.versions.table import table as table_of

from xla_helpers.bug_reports import BugReport, BugReportError, Fingerprint, Spec
from xla_helpers.bug_reports.archive import REPORT, STABLEHLO, read_bug_report, read_text
from xla_helpers.bug_reports.archive import write_archive as write
from xla_helpers.bug_reports.report import Answer
from xla_helpers.results import read_results
from xla_helpers.tables import Bytes, Seconds, tabulate

# Always the same examples, however busy the machine is.
tried = settings(
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


@st.composite
def mutated(draw, data):
    """Bytes of which some were changed, cut out, doubled, or stand behind others."""
    for _ in range(draw(st.integers(1, 3))):
        start = draw(st.integers(0, len(data)))
        old = data[start : start + draw(st.integers(1, 30))]
        same_size = st.binary(min_size=len(old), max_size=len(old))
        more = st.binary(max_size=9).map(old.__add__)
        new = draw(same_size | more | st.sampled_from([b"", old * 2]))
        data = data[:start] + new + data[start + len(old) :]
    return data


# Archives of bug reports


def a_report(path):
    answer = Answer((Fingerprint("0" * 64, (1.5, "nan")),))
    specs = (Spec("float32", (2, 3), "x"),)
    report = BugReport(path, "double", "a machine", {"numpy": "2"}, {}, specs, specs)
    write(BugReport(**vars(report) | {"with_xla": answer}), {STABLEHLO: "module {}" * 9})
    return path.read_bytes()


@pytest.fixture(scope="module")
def good(folder):
    return a_report(folder / "report.zip")


def is_read_or_refused(path, data):
    """Read both files of an archive, and say whether that was possible."""
    path.write_bytes(data)
    try:
        repr(read_bug_report(path)), read_text(path, STABLEHLO)
    except BugReportError as error:
        assert is_one_line(str(error)) and str(error).startswith("report.zip ")
        return False
    finally:
        assert [one.name for one in path.parent.iterdir()] == ["report.zip"]
    return True


@tried
@given(data=st.data())
def test_bytes_of_an_archive(folder, good, data):
    is_read_or_refused(folder / "report.zip", data.draw(mutated(good)))


@tried
@given(data=st.data())
def test_parts_of_a_report(folder, good, data):
    content = json.loads(zipfile.ZipFile(io.BytesIO(good)).read(REPORT))
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr(REPORT, json.dumps(replaced(data.draw, content)))
        archive.writestr(STABLEHLO, "module {}")
    is_read_or_refused(folder / "report.zip", packed.getvalue())


METHODS = zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA
NAMES = st.sampled_from([REPORT, STABLEHLO, "../../out.txt", "/tmp/out.txt", "a/" * 99, "é"])

CONTENTS = st.binary() | JSON.map(json.dumps)


@tried
@pytest.mark.filterwarnings("ignore:Duplicate name")
@given(st.lists(st.tuples(NAMES, CONTENTS, st.sampled_from(METHODS)), max_size=4))
def test_files_of_an_archive(folder, files):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        for name, content, method in files:
            archive.writestr(name, content, method)
    assert not is_read_or_refused(folder / "report.zip", packed.getvalue())


def a_bomb(content, method=zipfile.ZIP_DEFLATED):
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr(REPORT, content)
    return packed.getvalue()


def many_entries(count):
    """An archive that lists so many files; none of them is there."""
    entry = b"PK\1\2" + bytes(24) + struct.pack("<H", 1) + bytes(16) + b"x"
    end = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 0xFFFF, 0xFFFF, count * len(entry), 0, 0)
    return entry * count + end


BOMBS = {
    "zeros": lambda: a_bomb(bytes(2**28)),
    "zeros, packed otherwise": lambda: a_bomb(bytes(2**26), zipfile.ZIP_BZIP2),
    "errors": lambda: a_bomb(json.dumps({"inputs": [{}] * 10**6})),
    "depth": lambda: a_bomb("[" * 2**22),
    "entries": lambda: many_entries(500_000),
}


@pytest.mark.parametrize("name", BOMBS)
def test_a_bomb_takes_bounded_memory(folder, name):
    bomb = BOMBS[name]()
    tracemalloc.start()
    try:
        assert not is_read_or_refused(folder / "report.zip", bomb)
        assert tracemalloc.get_traced_memory()[1] < 150e6
    finally:
        tracemalloc.stop()


# Results


@pytest.fixture(scope="module")
def recorded():
    return min((ROOT / "results").glob("*.json"), key=lambda path: path.stat().st_size).read_bytes()


def is_shown_or_skipped(path, data):
    path.write_bytes(data)
    results, skipped = read_results(path)
    assert len(results) + len(skipped) == 1
    assert all(map(is_one_line, skipped.values()))
    for result in results:
        assert str(result.comparison).replace("\n", "").isprintable()
        assert is_one_line(result.title)
    path.unlink()


@tried
@given(data=st.data())
def test_bytes_of_a_result(folder, recorded, data):
    is_shown_or_skipped(folder / "result.json", data.draw(mutated(recorded)))


@tried
@given(data=st.data())
def test_parts_of_a_result(folder, recorded, data):
    content = replaced(data.draw, json.loads(recorded))
    is_shown_or_skipped(folder / "result.json", json.dumps(content).encode())


# What was found among other versions

SUITE = Suite(1, {"a test": "why"})
FOUND = Found("oldest", "3.11", True, "Linux", {"numpy": "2"}, {"numpy": ("1", "2")}, SUITE, SUITE)


@tried
@given(data=st.data())
def test_parts_of_what_was_found(folder, data):
    below = folder / "versions"
    below.mkdir(exist_ok=True)
    content = replaced(data.draw, json.loads(json.dumps(asdict(FOUND))))
    (below / FILE).write_text(json.dumps(content), encoding="utf-8")
    try:
        (found,) = kept(below)
    except UsageError as error:
        assert is_one_line(str(error)) and FILE in str(error)
        return
    assert "".join(table_of([found]).split("\n")).isprintable()
    lines = issue_of([found], 1).split("\n")
    assert all(map(str.isprintable, lines)) and sum(line.startswith("## ") for line in lines) == 1


# Tables


class Tags(HTMLParser):
    """The tags of a page, in their order."""

    def __init__(self, page):
        super().__init__()
        self.found = []
        self.feed(page)

    def handle_starttag(self, tag, attrs):
        self.found.append(tag)


CELLS = LEAVES | st.floats().map(Seconds) | st.floats().map(Bytes)


@tried
@given(TEXT, st.integers(1, 4).flatmap(lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n))))
def test_any_table(text, rows):
    columns = len(rows[0]) if rows else 1
    table = tabulate(text, [text] * columns, rows)
    lines = str(table).split("\n")
    assert len(lines) == len(rows) + 3 and all(map(str.isprintable, lines))
    tags = Tags(table._repr_html_()).found
    assert set(tags) <= set("p table thead tbody tr th td span".split())
    assert (tags.count("th"), tags.count("td")) == (columns, columns * len(rows))


# Parameters


def taken(kind, words, texts):
    """The value that the texts stand for; UsageError where there is none."""
    try:
        return value_of(Parameter("size", kind, "8", words), texts)
    except UsageError as error:
        assert is_one_line(str(error)) and str(error).startswith("size ")
        return UsageError


@tried
@given(st.integers(), st.integers(0, 10**6), st.integers(0, 10**6), st.integers(1, 64))
def test_a_number_is_taken_when_it_keeps_to_the_words(value, low, high, step):
    words = f"how many, at least {low:,}, at most {high:,}, a multiple of {step}"
    allowed = low <= value <= high and value % step == 0
    assert in_range(value, words) == allowed
    assert taken("int", words, [str(value)]) == (value if allowed else UsageError)


@tried
@given(st.sampled_from(["int", "bool", "str", "list[str]"]), st.lists(TEXT, min_size=1, max_size=3))
def test_any_text_for_a_parameter(kind, texts):
    value = taken(kind, 'of which "graph" or "XLA"', texts)
    kinds = {"int": int, "bool": bool, "str": str, "list[str]": list}
    assert value is UsageError or type(value) is kinds[kind]
