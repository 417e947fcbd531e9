"""What is written comes back; what is broken, foreign or hostile is refused by one error."""

import bz2
import json
import os
import random
import struct
import tracemalloc
import zipfile

import pytest

from xla_helpers import BugReport, BugReportError, read_bug_report
from xla_helpers.bug_reports import archive as room
from xla_helpers.bug_reports.archive import STABLEHLO, read_text, write_archive
from xla_helpers.bug_reports.report import Answer, Fingerprint, Spec
from xla_helpers.bug_reports.write import DTYPES
from xla_helpers.schemas import read_data

ODD = [None, True, -1, 2.5, 10**400, float("nan"), "\x1b[2J", "\ud800", [], {}, [[]], "x" * 5000]


@pytest.fixture
def report(archive):
    numbers = Fingerprint("0" * 64, (1.5, "nan", "-inf")), Fingerprint("a" * 64, ())
    report = BugReport(
        path=archive,
        function="double",
        machine="a machine · 2 cores",
        versions={"numpy": "2"},
        flags={"XLA_FLAGS": "--a=1"},
        inputs=(Spec("float32", (2, 3), "x"), Spec("int64", (), "v", captured=True)),
        outputs=(Spec("float32", (2, 3), "Identity:0"), Spec("complex64", ())),
        with_xla=Answer(numbers),
        without_xla=Answer(error="E: wrong"),
    )
    write_archive(report, {"stablehlo.mlir": "module {}" * 99, "hlo_after.pb": b"\x00\xff"})
    return report


def refused(archive, match="report.zip"):
    with pytest.raises(BugReportError, match=match):
        read_bug_report(archive)


def replaced(value, odd):
    """`value` with itself, and each of its parts, replaced by `odd`, one at a time."""
    yield odd
    keys = value if isinstance(value, dict) else range(len(value) if type(value) is list else 0)
    for key in keys:
        for part in replaced(value[key], odd):
            copy = value.copy()
            copy[key] = part
            yield copy


def test_what_is_written_comes_back(report, archive):
    assert read_bug_report(archive) == read_bug_report(str(archive)) == report
    assert read_text(archive, STABLEHLO) == "module {}" * 99
    with zipfile.ZipFile(archive) as file:
        assert file.namelist() == ["README.txt", "report.json", "stablehlo.mlir", "hlo_after.pb"]
        readme = file.read("README.txt").decode()
        assert all(f"\n{name} " in readme for name in file.namelist()[1:])
        json.loads(file.read("report.json"), parse_constant=pytest.fail)
    assert "xh.replay_bug_report('report.zip')" in readme


def test_what_could_not_be_read_is_not_written(report, archive, monkeypatch):
    before = archive.read_bytes()
    odd = BugReport(archive, "\x1b[2J", "a machine", {}, {})
    with pytest.raises(BugReportError, match=r"\$.function"):
        write_archive(odd, {})
    monkeypatch.setattr(room, "LARGEST", 2000)
    with pytest.raises(ValueError, match="more than 2,000 bytes: give large constants"):
        write_archive(report, {"stablehlo.mlir": " " * 2000})
    assert archive.read_bytes() == before


def test_an_archive_that_cannot_be_written_leaves_the_old_one(report, archive, monkeypatch):
    before = archive.read_bytes()
    monkeypatch.delattr(os, "replace")
    with pytest.raises(AttributeError):
        write_archive(report, {})
    assert archive.read_bytes() == before and list(archive.parent.iterdir()) == [archive]


def test_the_schema_knows_every_dtype():
    schema = json.loads(read_data("report.schema.json"))
    dtypes = schema["$defs"]["specs"]["items"]["properties"]["dtype"]["enum"]
    assert dtypes == list(DTYPES.values())


def test_what_is_no_report_is_refused(archive):
    with pytest.raises(FileNotFoundError):
        read_bug_report(archive)
    archive.mkdir()
    refused(archive, "report.zip is no bug report: not a regular file")
    archive.rmdir()
    archive.write_text("hello")
    refused(archive, "report.zip is no bug report: BadZipFile: File is not a zip file")
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr("other.txt", "hello")
    refused(archive, "report.zip is no bug report: it holds no report.json")


def test_another_format_is_refused_in_one_sentence(report, archive, change):
    for other in (1, 3, "2", None, 10**400):
        change(format=other)
        refused(archive, "report.json: format .* is for another xla_helpers; this one reads 2$")


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "7", "[" * 100_000, '{"a":' * 100_000, "9" * 5000, '{"format": 2}', "\ud800"],
)
def test_what_is_no_whole_report_is_refused(report, archive, rewrite, text):
    rewrite("report.json", lambda _: text.encode(errors="surrogatepass"))
    refused(archive)


def test_each_damaged_part_is_refused_or_harmless(report, archive, rewrite):
    """The whole way from bytes to what is shown, for every part of a report and odd values."""
    read, seen = 0, 0
    content = json.loads(read_text(archive, "report.json"))
    for odd in ODD:
        for damaged in replaced(content, odd):
            seen += 1
            try:
                parsed = room._parse(archive, json.dumps(damaged))
            except BugReportError as error:
                assert str(error).startswith("report.zip ") and "\n" not in str(error)
            else:
                read += 1
                repr(parsed), parsed.match, parsed.with_xla.match(report.with_xla)
                assert repr(parsed).replace("\n", "").isprintable()
    assert 0 < read < seen / 4


@pytest.mark.parametrize("seed", range(4))
def test_a_changed_byte_is_noticed_or_harmless(report, archive, seed):
    draw, good, read = random.Random(seed), archive.read_bytes(), 0
    for _ in range(150):
        broken = bytearray(good)
        broken[draw.randrange(len(good))] ^= 1 << draw.randrange(8)
        archive.write_bytes(broken)
        try:
            assert read_bug_report(archive) == report
            assert read_text(archive, STABLEHLO) == "module {}" * 99
            read += 1
        except BugReportError as error:
            assert str(error).startswith("report.zip is no bug report: ")
    assert 0 < read < 150


def test_an_archive_that_ends_early_is_refused(report, archive):
    good = archive.read_bytes()
    for end in range(0, len(good), 20):
        archive.write_bytes(good[:end])
        refused(archive, "report.zip is no bug report: ")


def test_a_file_too_large_is_refused(report, archive, monkeypatch):
    monkeypatch.setattr(room, "LARGEST_REPORT", 10)
    refused(archive, "report.json is larger than 10 bytes")
    monkeypatch.setattr(room, "LARGEST", 10)
    refused(archive, "no bug report: larger than 10 bytes")


def test_a_bomb_stays_packed(archive, monkeypatch):
    """One that says its true size, one that lies about it, and one packed by another method."""
    monkeypatch.setattr(room, "LARGEST_REPORT", 2**20)
    zeros = bytes(2**26)

    def bomb(method):
        with zipfile.ZipFile(archive, "w", method) as file:
            file.writestr("report.json", zeros)

    bomb(zipfile.ZIP_DEFLATED)
    honest = archive.read_bytes()
    liar = honest.replace(struct.pack("<L", len(zeros)), struct.pack("<L", 10))
    assert liar != honest
    bomb(zipfile.ZIP_BZIP2)
    other = archive.read_bytes()
    assert bz2.compress(zeros) in other
    tracemalloc.start()
    for data in (honest, liar, other):
        archive.write_bytes(data)
        refused(archive, "no bug report")
    assert tracemalloc.get_traced_memory()[1] < 2**23
    tracemalloc.stop()


def test_an_encrypted_archive_is_refused(report, archive):
    data = bytearray(archive.read_bytes())
    for mark, flags in ((b"PK\3\4", 6), (b"PK\1\2", 8)):
        place = data.find(mark)
        while place >= 0:
            data[place + flags] |= 1
            place = data.find(mark, place + 1)
    archive.write_bytes(data)
    refused(archive, "no bug report: RuntimeError: .*encrypted")
