"""The rooms: who uses whom, what is exported, and that the tests stand where the rooms stand.

CONTRIBUTING.md draws the map. Here it is held against the imports.
"""

import ast
import re
from pathlib import Path

import pytest

from tools.collection import ROOT, paths, read
from tools.workshop.learners import check_cell

HELPERS, TOOLS = ROOT / "xla_helpers", ROOT / "tools"
OF_NO_ROOM = {Path(f"test_{name}") for name in ("browser", "init", "colours", "gallery")}
OF_NO_ROOM |= {Path("deciding/test_gallery")}
"""Tests of the pages, of a package as such, of the colours in every picture, of foreign models."""

STUB = ast.parse((HELPERS / "__init__.pyi").read_text())


def rooms(folder):
    """Name of a room, such as errors or bug_reports/write, to its code.

    A package's own `__init__` is no room: it only hands on.
    """
    files = [path for path in sorted(folder.rglob("*.py")) if path.name != "__init__.py"]
    return {
        path.relative_to(folder).with_suffix("").as_posix(): ast.parse(path.read_text())
        for path in files
    }


EXPORTED = {  # name to the room that the stub takes it from
    alias.name: node.module or alias.name
    for node in STUB.body
    if isinstance(node, ast.ImportFrom)
    for alias in node.names
}


def imported(code, room):
    """All that a room imports, now or later, as absolute dotted names. room: its own such name."""
    for node in ast.walk(code):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            start = ".".join(room.split(".")[: -node.level]) if node.level else ""
            module = ".".join(filter(None, [start, node.module]))
            yield from (f"{module}.{alias.name}" for alias in node.names)


def neighbours(name, known, package):
    """The rooms that a room uses. known: name to code of all rooms of a package."""
    found = set()
    for dotted in imported(known[name], f"{package}.{name}".replace("/", ".")):
        start, _, rest = dotted.partition(".")
        if start == package:
            place = EXPORTED.get(rest, rest) if package == "xla_helpers" else rest
            place = place.replace(".", "/") + "/"
            used = {room for room in known if place.startswith(f"{room}/")}
            assert used, f"{name} imports {dotted}, which is in no room"
            found |= used
    return found - {name}


def drawn(heading):
    """The map below a heading of CONTRIBUTING.md: room to the rooms that it says it uses."""
    section = (ROOT / "CONTRIBUTING.md").read_text().split(f"## {heading}\n")[1]
    table = section.split("| room |")[1].split("\n\n")[0]
    rows = re.findall(r"^\| ([\w/]+) \| .+ \|(.*)\|$", table, re.MULTILINE)
    return {name: set(uses.replace(",", " ").split()) for name, uses in rows}


MAPS = {"The rooms of `xla_helpers`": HELPERS, "The rooms of `tools`": TOOLS}
each_map = pytest.mark.parametrize(("heading", "folder"), MAPS.items(), ids=["helpers", "tools"])


@each_map
def test_the_map_is_that_of_the_imports(heading, folder):
    known = rooms(folder)
    assert drawn(heading) == {name: neighbours(name, known, folder.name) for name in known}


@each_map
def test_nothing_is_used_from_further_down_the_list(heading, folder):
    above = set()
    for name, uses in drawn(heading).items():
        assert uses <= above, f"{name} stands above what it uses"
        above.add(name)


def test_an_arrow_that_is_missing_is_seen():
    known = {"low": ast.parse("import math"), "high": ast.parse("def f():\n from .low import x")}
    assert neighbours("high", known, "xla_helpers") == {"low"}
    assert neighbours("low", known, "xla_helpers") == set()


def test_helpers_know_nothing_of_tools():
    for name, code in rooms(HELPERS).items():
        modules = {module.split(".")[0] for module in imported(code, f"xla_helpers.{name}")}
        assert not modules & {"tools", "tests", "notebooks"}, name


@each_map
def test_tests_stand_where_the_rooms_stand(heading, folder):
    place = ROOT / "tests" / folder.name
    tests = {path.relative_to(place).with_suffix("") for path in place.rglob("test_*.py")}
    expected = {Path(name).parent / f"test_{Path(name).name}" for name in rooms(folder)}
    assert tests - OF_NO_ROOM == expected


# What is exported


def cells():
    for path in paths():
        for cell in read(path).cells:
            if cell.cell_type == "code":
                yield path, ast.parse(re.sub(r"(?m)^( *)[%!].*$", r"\1pass", cell.source))


def attributes(code, name):
    """What is taken from a name, such as `compare` of `xh.compare`."""
    return {
        node.attr
        for node in ast.walk(code)
        if isinstance(node, ast.Attribute) and ast.unparse(node.value) == name
    }


def taught():
    """The names that cells use: those of the notebooks, and the checks of learner copies."""
    check = ast.parse(check_cell("check", "pass").source)
    return attributes(check, "xh").union(*(attributes(code, "xh") for _, code in cells()))


def definitions():
    """Name of a function or class to its code, for all of `xla_helpers`."""
    return {
        node.name: node
        for code in rooms(HELPERS).values()
        for node in code.body
        if isinstance(node, ast.ClassDef | ast.FunctionDef)
    }


def types_of(node):
    """Names in what a function or class takes, returns or raises."""
    for part in ast.walk(node):
        if isinstance(part, ast.FunctionDef) and (part is node or not part.name.startswith("_")):
            arguments = [*part.args.args, *part.args.kwonlyargs]
            for annotation in [part.returns, *(argument.annotation for argument in arguments)]:
                yield from names_in(annotation)
            raised = re.search(r"(?s)Raises: (.+?)(\n\n|$)", ast.get_docstring(part) or "")
            yield from re.findall(r"\w+", raised[1]) if raised else []
        elif isinstance(part, ast.AnnAssign):
            yield from names_in(part.annotation)


def names_in(annotation):
    for node in ast.walk(annotation) if annotation else ():
        if isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from re.findall(r"\w+", node.value)


def with_their_types(names):
    """The names, and each class of this package that they take, return or raise, and so on."""
    defined, found, new = definitions(), set(), set(names)
    while new:
        found |= new
        types = {name for one in new & set(defined) for name in types_of(defined[one])}
        new = {n for n in types - found if isinstance(defined.get(n), ast.ClassDef)}
    return found


def test_what_is_exported_is_what_is_taught_and_its_types():
    assert set(EXPORTED) == with_their_types(taught())
