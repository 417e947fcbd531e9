"""The public face: what is exported, what an import costs, and what the docstrings promise."""

import ast
import doctest
import inspect
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import xla_helpers

PACKAGE = Path(xla_helpers.__file__).parent
STUB = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
IMPORTS = [node for node in STUB.body if isinstance(node, ast.ImportFrom)]
THINGS = {a.name: getattr(xla_helpers, a.name) for node in IMPORTS for a in node.names}
TYPES = {name for name in THINGS if name[0].isupper()}
EXAMPLES = {
    name: test
    for name, thing in THINGS.items()
    for test in doctest.DocTestFinder(recurse=False).find(
        thing, name, globs=dict(vars(sys.modules[thing.__module__]))
    )
    if test.examples
}


def test_the_stub_lists_what_it_imports_and_that_is_little():
    (listed,) = [node.value for node in STUB.body if isinstance(node, ast.Assign)]
    assert sorted(ast.literal_eval(listed)) == sorted(THINGS) == sorted(xla_helpers.__all__)
    assert len(THINGS.keys() - TYPES) <= 30


def python(code):
    """What a fresh interpreter prints, in which names are loaded lazily."""
    lazy = {name: value for name, value in os.environ.items() if name != "EAGER_IMPORT"}
    command = [sys.executable, "-c", f"import os, sys\nimport xla_helpers as xh\n{code}"]
    return subprocess.run(command, capture_output=True, text=True, env=lazy, check=True).stdout


def test_an_import_loads_nothing():
    loaded = {*python("print(*sys.modules)").split()}
    assert [name for name in loaded if name.startswith("xla_helpers")] == ["xla_helpers"]
    assert not {"tensorflow", "keras", "numpy", "matplotlib", "msgspec"} & loaded


def test_names_load_no_tensorflow_and_change_no_setting():
    code = """
import matplotlib
before = dict(matplotlib.rcParams), dict(os.environ)
for name in xh.__all__:
    getattr(xh, name)
assert xh.compare({"sum": sum}, ([1],), rounds=1, budget=0).evidence["sum"] == xh.Evidence()
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
