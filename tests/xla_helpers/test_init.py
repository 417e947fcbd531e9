"""The public face: what is exported, what importing costs, and what the docstrings promise."""

import ast
import doctest
import inspect
import json
import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

import xla_helpers
from xla_helpers.processes import run_in_process

PACKAGE = Path(xla_helpers.__file__).parent
NOTEBOOKS = sorted(PACKAGE.parent.glob("notebooks/[0-9][0-9]_*.ipynb"))
STUB = ast.parse((PACKAGE / "__init__.pyi").read_text(encoding="utf-8"))
NAMES = [
    alias.name for node in STUB.body if isinstance(node, ast.ImportFrom) for alias in node.names
]


# Names


def test_the_stub_lists_what_it_imports():
    (listed,) = [node.value for node in STUB.body if isinstance(node, ast.Assign)]
    assert len(NAMES) == len(set(NAMES))
    assert sorted(ast.literal_eval(listed)) == sorted(NAMES)


def test_everything_can_be_seen():
    assert set(NAMES) <= set(dir(xla_helpers))
    assert sorted(xla_helpers.__all__) == sorted(NAMES)


def test_everything_can_be_got():
    code = "import xla_helpers; print(*(type(getattr(xla_helpers, n)) for n in {}))"
    run_in_process(code.format(NAMES), flags={"EAGER_IMPORT": "1"})


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        xla_helpers.no_such_name  # noqa: B018


# Importing


def test_importing_changes_nothing_and_loads_nothing():
    def look():
        import os
        import sys

        before = dict(os.environ)
        import xla_helpers

        dir(xla_helpers)
        heavy = {"tensorflow", "keras", "transformers", "matplotlib", "numpy", "scipy"}
        return [sorted(heavy & set(sys.modules)), before == dict(os.environ)]

    assert run_in_process(look).value == [[], True]


def test_using_every_name_loads_no_tensorflow_and_changes_no_setting():
    def look():
        import sys

        import matplotlib

        before = dict(matplotlib.rcParams)
        import xla_helpers

        for name in xla_helpers.__all__:
            getattr(xla_helpers, name)
        heavy = {"tensorflow", "keras", "transformers"}
        return [sorted(heavy & set(sys.modules)), before == dict(matplotlib.rcParams)]

    assert run_in_process(look).value == [[], True]


def test_importing_costs_next_to_nothing():
    """It brings no other room, and of what others made only the loader."""
    code = "import sys, xla_helpers; print(*sys.modules)"
    lazy = {name: value for name, value in os.environ.items() if name != "EAGER_IMPORT"}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=lazy)
    loaded = done.stdout.split()
    assert [name for name in loaded if name.startswith("xla_helpers")] == ["xla_helpers"]
    assert not {"tensorflow", "keras", "numpy", "scipy", "matplotlib", "psutil"} & {*loaded}


# Docstrings


THINGS = {name: getattr(xla_helpers, name) for name in NAMES}
FUNCTIONS = {name: thing for name, thing in THINGS.items() if inspect.isfunction(thing)}
CLASSES = {name: thing for name, thing in THINGS.items() if inspect.isclass(thing)}
METHODS = {
    f"{name}.{method}": function
    for name, thing in CLASSES.items()
    for method, function in vars(thing).items()
    if inspect.isfunction(function) and not method.startswith("_")
}


def names(text, name):
    return re.search(rf"\b{name}\b", text, re.IGNORECASE)


def statements(function, kinds):
    """Statements of a function, without those of functions inside it."""

    def walk(node):
        for child in ast.iter_child_nodes(node):
            if isinstance(child, kinds):
                yield child
            if not isinstance(child, (ast.FunctionDef, ast.Lambda)):
                yield from walk(child)

    source = textwrap.dedent(inspect.getsource(inspect.unwrap(function)))
    return list(walk(ast.parse(source).body[0]))


def test_a_docstring_begins_with_one_line():
    for name, thing in (THINGS | METHODS).items():
        assert thing.__doc__, name
        first, *others = inspect.getdoc(thing).splitlines()
        assert first.endswith(".") and not (others and others[0]), name


def test_a_docstring_names_each_parameter():
    for name, function in (FUNCTIONS | METHODS).items():
        parameters = {*inspect.signature(function).parameters} - {"self"}
        assert [p for p in parameters if not names(inspect.getdoc(function), p)] == [], name


def test_a_docstring_names_each_field():
    for name, kind in CLASSES.items():
        fields = getattr(kind, "__dataclass_fields__", ())
        assert [field for field in fields if not names(inspect.getdoc(kind), field)] == [], name


NOUNS = "A An The One Every Rows Seconds How Whether Why In".split()
"""A first line that begins so says what comes back; one that begins with a verb does not."""


def test_a_docstring_says_what_comes_back():
    for name, function in (FUNCTIONS | METHODS).items():
        text = inspect.getdoc(function)
        said = re.search(r"^(Returns|Yields): |and return ", text, re.MULTILINE)
        gives = any(s.value for s in statements(function, (ast.Return, ast.Yield)))
        assert not gives or said or text.split()[0] in NOUNS, name


def test_a_docstring_says_what_is_raised():
    for name, function in (FUNCTIONS | METHODS).items():
        *_, said = inspect.getdoc(function).partition("Raises:")
        raised = [ast.unparse(s.exc) for s in statements(function, ast.Raise) if s.exc]
        assert all(names(said, re.match(r"\w+", error)[0]) for error in raised), name


@pytest.mark.parametrize("name", [name for name in FUNCTIONS if name.startswith("plot_")])
def test_axes_and_title_are_given_by_keyword(name):
    parameters = inspect.signature(FUNCTIONS[name]).parameters
    assert [parameters[p].kind.name for p in ("ax", "title")] == ["KEYWORD_ONLY"] * 2
    assert parameters["ax"].default is None and parameters["title"].default == ""


def test_a_count_of_samples_is_called_rounds():
    for name, function in (FUNCTIONS | METHODS).items():
        assert "samples" not in inspect.signature(function).parameters, name
    for name in ("measure", "compare"):
        assert inspect.signature(FUNCTIONS[name]).parameters["rounds"].kind.name == "KEYWORD_ONLY"


# Examples

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
    monkeypatch.setitem(xla_helpers.compare.__kwdefaults__, "budget", 0)  # no example is about it
    said = []
    failed, _ = doctest.DocTestRunner().run(EXAMPLES[name], out=said.append)
    assert not failed, "".join(said)


@pytest.mark.parametrize(
    "name",
    [
        *("measure", "compare", "sweep", "check", "inspect_program", "CompilationLog"),
        *("watch_compilations", "run_in_process", "record"),
    ],
)
def test_what_measures_or_compiles_has_an_example(name):
    assert name in EXAMPLES


# Notebooks


def first_uses():
    """Name to the number of the first notebook in which a code cell uses ``xh.name``."""
    found = {}
    for path in reversed(NOTEBOOKS):
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
        code = "\n".join("".join(c["source"]) for c in cells if c["cell_type"] == "code")
        found |= dict.fromkeys(re.findall(r"\bxh\.(\w+)", code), path.name[:2])
    return found


FIRST_USES = first_uses()


def test_it_is_introduced_where_it_says():
    for name, thing in THINGS.items():
        text = " ".join(inspect.getdoc(thing).split())
        numbers = re.findall(r"[Ii]ntroduced in notebook (\d\d)", text)
        called = name in FUNCTIONS and name in NAMES and name in FIRST_USES
        assert numbers in ([FIRST_USES.get(name)], *([] if called else [[]])), name
