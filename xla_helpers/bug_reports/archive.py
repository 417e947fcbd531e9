"""The file of a bug report: written so that it can be read, read as if nobody vouched for it."""

import json
import zipfile
from collections.abc import Mapping
from dataclasses import asdict
from io import BytesIO
from pathlib import Path

from ..errors import headline
from ..schemas import read_data, read_file, violation
from ..tables import cut, in_one_line
from ..writing import write_file
from .report import BugReport, BugReportError, report_from

FORMAT = 2  # raised when another reader would misread an archive
LARGEST = 2**28  # bytes of an archive, and of what is in it
LARGEST_REPORT = 2**22  # bytes of its `report.json`
MOST_FILES = 10_000  # in an archive: Python keeps a list of all of them
ENTRY = b"PK\1\2"  # the beginning of each entry in that list

REPORT, GRAPH, STABLEHLO = "report.json", "graph.pbtxt", "stablehlo.mlir"


def read_bug_report(path: str | Path) -> BugReport:
    """The report in the archive at `path`. Introduced in notebook 09.

    Raises: BugReportError when it is none, a damaged one, or one of another format.
    """
    path = Path(path)
    return _parse(path, read_text(path, REPORT, LARGEST_REPORT))


def read_text(path: Path, name: str, limit: int = LARGEST) -> str:
    """The text of a file of the archive; see `read_member`."""
    try:
        return read_member(path, name, limit).decode()
    except UnicodeDecodeError as error:
        raise _refusal(path, f"{name}: {headline(error)}") from error


def read_member(path: Path, name: str, limit: int = LARGEST) -> bytes:
    """A file of the archive, read by its name in bounded memory, and never unpacked to disk.

    Raises: BugReportError for whatever is wrong with its bytes; OSError when the archive cannot be
    opened.
    """
    try:
        data = read_file(path, LARGEST)
    except ValueError as error:
        raise _refusal(path, error) from error
    try:
        return _unpack(data, name, limit)
    except BugReportError as error:
        raise _refusal(path, error) from error
    except Exception as error:  # zipfile raises whatever broken bytes lead it to
        raise _refusal(path, headline(error)) from error


def _refusal(path, why):
    return BugReportError(f"{in_one_line(path.name)} is no bug report: {why}")


def _unpack(data, name, limit):
    if data.count(ENTRY) > MOST_FILES:
        raise BugReportError(f"it lists more than {MOST_FILES:,} files")
    with zipfile.ZipFile(BytesIO(data)) as archive:
        if name not in archive.namelist():
            raise BugReportError(f"it holds no {name}")
        # By other methods Python unpacks all at once, however much it is.
        if archive.getinfo(name).compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise BugReportError(f"{name} is not packed by deflate")
        with archive.open(name) as file:
            content = file.read(limit + 1)
    if len(content) > limit:
        raise BugReportError(f"{name} is larger than {limit:,} bytes")
    return content


def _parse(path, text):
    try:
        content = json.loads(text)
        wrong = _other_format(content) or violation(content, "report.schema.json")
    except (ValueError, RecursionError) as error:
        wrong = headline(error)
    if wrong:
        raise BugReportError(f"{in_one_line(path.name)} cannot be read: {REPORT}: {wrong}")
    del content["format"]
    return report_from(path, content)


def _other_format(content):
    found = content.get("format") if isinstance(content, dict) else FORMAT
    if found == FORMAT:
        return ""
    return f"format {cut(repr(found), 20)} is for another xla_helpers; this one reads {FORMAT}"


def write_archive(report: BugReport, members: Mapping[str, str | bytes]) -> None:
    """Write the report to its path, with files beside `report.json`.

    Raises: ValueError, and writes nothing, when it could not be read again.
    """
    content = {"format": FORMAT} | asdict(report)
    del content["path"]
    members = {REPORT: json.dumps(content, indent=1, allow_nan=False)} | members
    if sum(map(len, members.values())) > LARGEST:
        raise ValueError(
            f"the report would have more than {LARGEST:,} bytes: "
            "give large constants to the function as arguments"
        )
    _parse(report.path, members[REPORT])
    readme = read_data("report.README.txt").format(archive=report.path.name)
    packed = BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in ({"README.txt": readme} | members).items():
            archive.writestr(name, data)
    write_file(report.path, packed.getvalue())
