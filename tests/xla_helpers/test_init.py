"""The public face: what is exported, what an import costs, and what the docstrings promise."""

import ast
import doctest
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path

import pytest

import xla_decide
import xla_helpers

PACKAGES = [xla_helpers, xla_decide]
REFERENCE = (Path(xla_helpers.__file__).parents[1] / "docs/reference.rst").read_text("utf-8")


def described():
    """Name to thing, of all that the reference describes."""
    things, package = {}, ""
    for kind, name in re.findall(r"(?m)^\.\. (currentmodule|auto\w+):: (\S+)$", REFERENCE):
        if kind == "currentmodule":
            package = name
        else:
            whole = name if name.startswith("xla_") else f"{package}.{name}"
            things[whole] = pkgutil.resolve_name(whole)
    return things


THINGS = described()
EXAMPLES = {
    name: test
    for name, thing in THINGS.items()
    for test in doctest.DocTestFinder(recurse=False).find(
        thing, name, globs=dict(vars(sys.modules[thing.__module__]))
    )
    if test.examples
}


@pytest.mark.parametrize("package", PACKAGES)
def test_the_stub_lists_what_it_imports(package):
    stub = ast.parse(Path(package.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    (listed,) = [node.value for node in stub.body if isinstance(node, ast.Assign)]
    imports = [node for node in stub.body if isinstance(node, ast.ImportFrom)]
    names = sorted(alias.name for node in imports for alias in node.names)
    assert sorted(ast.literal_eval(listed)) == names == sorted(package.__all__)


def python(code):
    """What a fresh interpreter prints, in which names are loaded lazily."""
    lazy = {name: value for name, value in os.environ.items() if name != "EAGER_IMPORT"}
    command = [
        sys.executable,
        "-c",
        f"import os, sys\nimport xla_helpers as xh, xla_decide as xd\n{code}",
    ]
    return subprocess.run(command, capture_output=True, text=True, env=lazy, check=True).stdout


def test_an_import_loads_nothing():
    loaded = {*python("print(*sys.modules)").split()}
    assert {x for x in loaded if x.startswith("xla_")} == {"xla_helpers", "xla_decide"}
    assert not {"tensorflow", "keras", "numpy", "matplotlib", "msgspec"} & loaded


def test_names_load_no_tensorflow_and_change_no_setting():
    code = """
import matplotlib
from xla_helpers.evidence import Evidence
before = dict(matplotlib.rcParams), dict(os.environ)
for package in (xh, xd):
    for name in package.__all__:
        getattr(package, name)
assert xh.compare({"sum": sum}, ([1],), rounds=1, budget=0).evidence["sum"] == Evidence()
assert not {"tensorflow", "keras", "transformers"} & sys.modules.keys()
assert before == (dict(matplotlib.rcParams), dict(os.environ))
"""
    assert python(code) == ""


def test_a_docstring_begins_with_one_line_and_names_each_field():
    for name, thing in THINGS.items():
        methods = vars(thing).values() if inspect.isclass(thing) else ()
        for one in [thing, *(m for m in methods if inspect.isfunction(m) and m.__name__[0] != "_")]:
            first, *others = inspect.getdoc(one).splitlines()
            assert first.endswith(".") and not (others and others[0]), name
        for field in getattr(thing, "__dataclass_fields__", ()):
            assert re.search(rf"^    .*\b{field}\b.*: ", thing.__doc__, re.MULTILINE), (name, field)


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_gives_what_it_says(name, keep_log):
    said = []
    failed, _ = doctest.DocTestRunner().run(EXAMPLES[name], out=said.append)
    assert not failed, "".join(said)
