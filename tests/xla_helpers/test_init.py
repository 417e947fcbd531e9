"""The public face: what is exported, what importing costs, and what the docstrings promise."""

import ast
import doctest
import inspect
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import xla_helpers

PACKAGE = Path(xla_helpers.__file__).parent
NOTEBOOKS = sorted(PACKAGE.parent.glob("notebooks/[0-9][0-9]_*.ipynb"))
STUB = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
NAMES = [
    alias.name for node in STUB.body if isinstance(node, ast.ImportFrom) for alias in node.names
]
THINGS = {name: getattr(xla_helpers, name) for name in NAMES}
CALLED = {
    f"{name}.{method}".removesuffix("."): function
    for name, thing in THINGS.items()
    for method, function in ({"": thing} if inspect.isfunction(thing) else vars(thing)).items()
    if inspect.isfunction(function) and not method.startswith("_")
}


def test_the_stub_lists_what_it_imports():
    (listed,) = [node.value for node in STUB.body if isinstance(node, ast.Assign)]
    assert len(NAMES) == len(set(NAMES))
    assert sorted(ast.literal_eval(listed)) == sorted(NAMES) == sorted(xla_helpers.__all__)
    assert set(NAMES) <= set(dir(xla_helpers))


def python(code):
    """What a fresh interpreter prints, in which names are loaded lazily."""
    lazy = {name: value for name, value in os.environ.items() if name != "EAGER_IMPORT"}
    command = [sys.executable, "-c", f"import os, sys\nimport xla_helpers\n{code}"]
    return subprocess.run(command, capture_output=True, text=True, env=lazy, check=True).stdout


def test_importing_loads_and_changes_nothing():
    loaded = python("print(*sys.modules)").split()
    assert [name for name in loaded if name.startswith("xla_helpers")] == ["xla_helpers"]
    assert not {"tensorflow", "keras", "numpy", "scipy", "matplotlib", "msgspec"} & {*loaded}


def test_using_every_name_loads_no_tensorflow_and_changes_no_setting():
    code = """
import matplotlib
before = dict(matplotlib.rcParams), dict(os.environ)
for name in xla_helpers.__all__:
    getattr(xla_helpers, name)
print({"tensorflow", "keras", "transformers"} & set(sys.modules))
print(before == (dict(matplotlib.rcParams), dict(os.environ)))
"""
    assert python(code).split() == ["set()", "True"]


# Docstrings


def test_a_docstring_begins_with_one_line_and_names_each_parameter():
    for name, function in CALLED.items():
        first, *others = inspect.getdoc(function).splitlines()
        assert first.endswith(".") and not (others and others[0]), name
        parameters = {*inspect.signature(function).parameters} - {"self"}
        text = inspect.getdoc(function)
        assert all(re.search(rf"\b{p}\b", text, re.IGNORECASE) for p in parameters), name


def test_a_docstring_names_each_field():
    for name, kind in THINGS.items():
        fields = getattr(kind, "__dataclass_fields__", ())
        assert all(re.search(rf"\b{field}\b", kind.__doc__, re.IGNORECASE) for field in fields), (
            name
        )


EXAMPLES = {
    name: test
    for name, thing in THINGS.items()
    for test in doctest.DocTestFinder(recurse=False).find(
        thing, name, globs=dict(vars(sys.modules[thing.__module__]))
    )
    if test.examples
}


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_gives_what_it_says(name, keep_log, monkeypatch):
    keep_log()
    monkeypatch.delitem(sys.modules, "ipykernel", raising=False)  # nbval's; it asks for progress
    said = []
    failed, _ = doctest.DocTestRunner().run(EXAMPLES[name], out=said.append)
    assert not failed, "".join(said)


def test_each_name_is_used_by_a_cell_and_says_where_it_is_introduced():
    """The first notebook that uses it; types stand where a function that returns them does."""
    first = {}
    for path in reversed(NOTEBOOKS):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
        first |= dict.fromkeys(re.findall(r"\bxh\.(\w+)", code), path.name[:2])
    for name, thing in THINGS.items():
        if inspect.isclass(thing) and issubclass(thing, Exception):
            continue  # nobody wants to meet it
        assert name in first, f"{name} is exported, and no cell uses it"
        said = re.findall(r"[Ii]ntroduced in notebook (\d\d)", " ".join(thing.__doc__.split()))
        assert said in ([first[name]], []) and (said or inspect.isclass(thing)), name
