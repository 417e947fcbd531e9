"""Parameters: what a command line gives is checked against the words of the cell, by name."""

import ast
from pathlib import Path

import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tools.collection import UsageError, paths, read
from tools.parameters import (
    LIMITS,
    Parameter,
    choices,
    given_to,
    in_range,
    parameters_of,
    value_of,
    with_values,
)

COLLECTION = {path: parameters_of(read(path)) for path in paths()}
EVERY = [(path.stem, own) for path, found in COLLECTION.items() for own in found.values()]
NUMBERS = [pytest.param(own, id=f"{stem}-{own.name}") for stem, own in EVERY if own.kind == "int"]
CELL = """size: int = 1024  # rows, at least 64, a multiple of 32; 0 lets the caches decide
steps: int = 10_000  # at most 100,000
deep: bool = False  # also the deep one
mode: str = ""  # "graph" or "XLA": fails when it is another
data: str = "digits"  # "digits" or "mnist", which needs the network
folder: str = "here"  # such as "/there/a b"
places: list[str] = []  # folders
other = 3  # of no type"""


@pytest.fixture
def parameters():
    cell = new_code_cell(CELL, metadata={"tags": ["parameters"]})
    return parameters_of(new_notebook(cells=[new_code_cell("x: int = 1  # not it"), cell]))


# The collection


def test_there_are_parameters_to_look_at():
    assert len(NUMBERS) > 10


@pytest.mark.parametrize("own", NUMBERS)
def test_a_number_has_a_bound_and_its_default_keeps_to_it(own):
    assert any(f"{phrase} " in own.words for phrase in LIMITS)
    assert not in_range(-1, own.words) and not in_range(-(2**70), own.words)
    assert in_range(ast.literal_eval(own.default), own.words)


@pytest.mark.parametrize("own", NUMBERS)
@pytest.mark.parametrize("text", ["-1", "1.5", "nan", "1e3", "True", "", "0x10", "many", "None"])
def test_a_number_refuses_by_name_and_in_its_own_words(own, text):
    with pytest.raises(UsageError, match=f"^{own.name} is ") as refused:
        value_of(own, [text])
    assert str(refused.value).endswith(f"; its cell says: {own.words}")
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(("stem", "own"), EVERY)
def test_every_default_may_be_given(stem, own):
    default = ast.literal_eval(own.default)
    texts = default if isinstance(default, list) else [str(default)]
    assert value_of(own, texts) == default
    assert own.kind != "str" or choices(own.words) == [] or default in ["", *choices(own.words)]


# Types


@pytest.mark.parametrize(
    ("name", "texts", "value"),
    [
        ("size", ["64"], 64),
        ("size", ["0"], 0),
        ("size", ["1_024"], 1024),
        ("deep", ["True"], True),
        ("deep", ["False"], False),
        ("mode", ["XLA"], "XLA"),
        ("mode", [""], ""),
        ("data", ["mnist"], "mnist"),
        ("folder", ["1"], "1"),
        ("folder", ["日本"], "日本"),
        ("places", ["/etc"], ["/etc"]),
        ("places", ["a", "b"], ["a", "b"]),
        ("places", ['["a", "b"]', "c"], ["a", "b", "c"]),
        ("places", ["[]"], []),
    ],
)
def test_types_come_from_the_annotations(parameters, name, texts, value):
    found = value_of(parameters[name], texts)
    assert (type(found), found) == (type(value), value)


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("size", "32", "^size is 32; its cell says: rows, at least 64, a multiple of 32; 0 lets"),
        ("size", "65", "^size is 65; its"),
        ("size", "9" * 5000, "^size is '9{50,58}.{1,3} and no whole number; its"),
        ("steps", "100_001", "^steps is 100001; its cell says: at most 100,000$"),
        ("deep", "1", "^deep is '1' and neither True nor False; its"),
        ("deep", "true", "^deep is 'true' and neither"),
        ("mode", "xla", "^mode is 'xla'; its"),
        ("data", "", "^data is '' and must not be empty; its"),
        ("data", "mnist2", "^data is 'mnist2'; its"),
        ("folder", "", "^folder is '' and must not be empty; its"),
        ("folder", "\udcff", r"^folder is '\\udcff' and not in UTF-8; its"),
        ("places", "", "^places is '' and must hold texts, none of them empty; its"),
        ("places", '["a", ""]', "^places is .* and must hold texts"),
        ("places", "[1]", r"^places is '\[1\]' and must hold texts"),
        ("places", "[a]", r"^places is '\[a\]' and no JSON list; its"),
        ("places", '["\\ud800"]', "^places is .* and not in UTF-8"),
        ("places", "[" * 100_000, "^places is .* and no JSON list"),
        ("other", "4", "^other cannot be given: its cell does not say of what type$"),
    ],
)
def test_what_a_parameter_may_not_be_is_refused_by_name(parameters, name, text, message):
    with pytest.raises(UsageError, match=message) as refused:
        value_of(parameters[name], [text])
    assert str(refused.value).isprintable()


def test_only_a_list_takes_several_values(parameters):
    with pytest.raises(UsageError, match="size takes one value, and not 2; notebooks are named be"):
        value_of(parameters["size"], ["64", "1"])


# Words


@pytest.mark.parametrize(
    ("words", "right", "wrong"),
    [
        ("at least 7", [7, 8], [6, 0, -7]),
        ("at least 1,000, at most 100,000", [1000, 100_000], [999, 100_001]),
        ("rows, a multiple of 32", [0, 32, 96], [1, 33]),
        ("a padded input has a multiple of this", [-1, 0, 3], []),
        ("at least 64; 0 lets the caches decide", [0, 64], [1, 63, -1]),
        ("", [-1, 0, 1], []),
    ],
)
def test_words_are_the_range(words, right, wrong):
    assert [in_range(value, words) for value in right] == [True] * len(right)
    assert [in_range(value, words) for value in wrong] == [False] * len(wrong)


@pytest.mark.parametrize(
    ("words", "texts"),
    [
        ('"a" or "b": either', ["a", "b"]),
        ('"a", "b" or "c"', ["a", "b", "c"]),
        ('of yours, such as "/path/a:b"', []),
        ("a folder or a file", []),
    ],
)
def test_words_offer_texts(words, texts):
    assert choices(words) == texts


# Notebooks


def test_a_notebook_without_the_cell_has_no_parameters():
    assert parameters_of(new_notebook(cells=[new_code_cell("size: int = 4  # rows")])) == {}


SIZE = Parameter("size", "int", "4", "rows, at least 2")
WIDE = Parameter("size", "int", "64", "columns, at least 64")
BY_PATH = {Path("01_a.ipynb"): {"size": SIZE}, Path("02_b.ipynb"): {}}


def test_each_notebook_is_given_what_it_has():
    assert list(given_to(BY_PATH, [["size", "8"]]).values()) == [{"size": 8}, {}]
    assert list(given_to(BY_PATH, []).values()) == [{}, {}]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([["size"]], "^size needs a value, as in: -p size VALUE$"),
        ([["size", "8"], ["size"]], "^size needs a value"),
        ([["size", "8"], ["size", "9"]], "^01_a: size takes one value, and not 2"),
        ([["sise", "8"]], "none of the notebooks to run has a parameter 'sise'; they have: size$"),
        ([["\x1b[31m", "8"]], r" has a parameter '\\x1b\[31m'"),
        ([["size", "1"]], "^01_a: size is 1; its cell says: rows, at least 2$"),
    ],
)
def test_nothing_is_given_when_one_word_is_wrong(given, message):
    with pytest.raises(UsageError, match=message):
        given_to(BY_PATH, given)


def test_a_value_must_suit_every_notebook_that_has_it():
    both = BY_PATH | {Path("03_c.ipynb"): {"size": WIDE}}
    with pytest.raises(UsageError, match="^03_c: size is 8; its cell says: columns, at least 64$"):
        given_to(both, [["size", "8"]])


def test_values_stand_in_a_cell_below_the_parameters():
    values = {"size": 3, "deep": True, "folder": 'a"\\\n\x1b日', "places": ["/etc", ""]}
    cells = [new_code_cell(CELL, metadata={"tags": ["parameters"]}), new_code_cell("size")]
    found = with_values(new_notebook(cells=cells), values)
    assert [cell.source for cell in found.cells][::2] == [CELL, "size"]
    assert found.cells[1].metadata.tags == ["injected-parameters"]
    read_back = {}
    for line in ast.parse(found.cells[1].source).body:
        read_back[line.targets[0].id] = ast.literal_eval(line.value)
    assert read_back == values


def test_without_values_a_notebook_stays_as_it_is():
    assert with_values(new_notebook(cells=[]), {}).cells == []
