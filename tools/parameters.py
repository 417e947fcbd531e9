"""The parameters of notebooks: their types and ranges are what their cells tell a reader."""

import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from nbformat import NotebookNode
from nbformat.v4 import new_code_cell

from tools.collection import UsageError
from xla_helpers.tables import cut

NUMBER = r"(\d[\d,]*)"
LIMITS = {  # words of a comment, and whether a whole number keeps to the number after them
    "at least": lambda value, limit: value >= limit,
    "at most": lambda value, limit: value <= limit,
    "a multiple of": lambda value, limit: value % limit == 0,
}
QUOTED = r'"[^"]*"'
CHOICES = rf"{QUOTED}(?:, {QUOTED})* or {QUOTED}"
EMPTY = ('""', "''")
SHOWN = 60  # characters of a refused value


@dataclass(frozen=True)
class Parameter:
    """A parameter as its cell shows it.

    kind: its type, as annotated. default: the code of its value. words: the comment beside it.
    Of a number these words limit what it may be: ``at least 7``, ``at most 100,000``, ``a multiple
    of 32``, and ``0 lets ...`` for one that is allowed besides; of a text ``"graph" or "XLA"``.
    """

    name: str
    kind: str
    default: str
    words: str


def parameters_of(notebook: NotebookNode) -> dict[str, Parameter]:
    """The parameters of a notebook, by name."""
    from papermill.translators import PythonTranslator

    cell = _cell(notebook)
    found = PythonTranslator.inspect(notebook.cells[cell]) if cell is not None else []
    return {p.name: Parameter(p.name, p.inferred_type_name, p.default, p.help) for p in found}


def with_values(notebook: NotebookNode, values: Mapping[str, object]) -> NotebookNode:
    """Put a cell that sets these values below the parameters of a notebook. Returns: it."""
    from papermill.translators import PythonTranslator

    if values:
        cell = new_code_cell(PythonTranslator.codify(values))
        cell.metadata["tags"] = ["injected-parameters"]
        notebook.cells.insert(_cell(notebook) + 1, cell)
    return notebook


def _cell(notebook):
    """Where the cell of parameters is; None where there is none."""
    tagged = (n for n, c in enumerate(notebook.cells) if "parameters" in c.metadata.get("tags", []))
    return next(tagged, None)


def given_to(
    notebooks: Mapping[Path, Mapping[str, Parameter]], given: Iterable[list[str]]
) -> dict[Path, dict[str, object]]:
    """What each notebook is given: name to value, of those parameters that it has.

    notebooks: the parameters of each, by name. given: a name and the texts after it, as often as
    they stand on a command line.

    Raises: UsageError, by name, for what no notebook has and for what a parameter may not be.
    """
    texts = _by_name(given)
    known = sorted({name for parameters in notebooks.values() for name in parameters})
    for name in texts.keys() - set(known):
        have = f"; they have: {', '.join(known)}" if known else ""
        raise UsageError(f"none of the notebooks to run has a parameter {name!r}{have}")
    return {path: _values(path, parameters, texts) for path, parameters in notebooks.items()}


def _by_name(given):
    texts = {}
    for name, *values in given:
        if not values:
            raise UsageError(f"{name} needs a value, as in: -p {name} VALUE")
        texts[name] = [*texts.get(name, []), *values]
    return texts


def _values(path, parameters, texts):
    own = [parameters[name] for name in texts if name in parameters]
    try:
        return {parameter.name: value_of(parameter, texts[parameter.name]) for parameter in own}
    except UsageError as error:
        raise UsageError(f"{path.stem}: {error}") from error


def value_of(parameter: Parameter, texts: list[str]):
    """What the texts of a command line stand for; only a list takes more than one.

    Raises: UsageError, with the name and the words, for what the parameter may not be.
    """
    if parameter.kind == "list[str]":
        return [one for text in texts for one in _texts(parameter, text)]
    if parameter.kind not in READERS:
        raise UsageError(f"{parameter.name} cannot be given: its cell does not say of what type")
    if len(texts) > 1:
        number = f"takes one value, and not {len(texts)}"
        raise UsageError(f"{parameter.name} {number}; notebooks are named before -p")
    return READERS[parameter.kind](parameter, texts[0])


def _int(parameter, text):
    try:
        value = int(text)
    except ValueError:
        _refuse(parameter, text, "and no whole number")
    if not in_range(value, parameter.words):
        _refuse(parameter, value)
    return value


def _bool(parameter, text):
    if text not in ("True", "False"):
        _refuse(parameter, text, "and neither True nor False")
    return text == "True"


def _str(parameter, text):
    _check_text(parameter, text)
    allowed = choices(parameter.words)
    if not text and parameter.default not in EMPTY:
        _refuse(parameter, text, "and must not be empty")
    if text and allowed and text not in allowed:
        _refuse(parameter, text)
    return text


READERS = {"int": _int, "bool": _bool, "str": _str}


def _texts(parameter, text):
    """The texts of a JSON list, or the one that it is."""
    texts = _from_json(parameter, text) if text.startswith("[") else [text]
    if not all(isinstance(one, str) and one for one in texts):
        _refuse(parameter, text, "and must hold texts, none of them empty")
    for one in texts:
        _check_text(parameter, one)
    return texts


def _from_json(parameter, text):
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        _refuse(parameter, text, "and no JSON list")


def _check_text(parameter, text):
    """Refuse what no notebook can hold: bytes of another encoding than UTF-8."""
    if text != text.encode(errors="replace").decode():
        _refuse(parameter, text, "and not in UTF-8")


def _refuse(parameter, value, wrong="") -> NoReturn:
    said = " ".join([cut(repr(value), SHOWN), wrong]).strip()
    raise UsageError(f"{parameter.name} is {said}; its cell says: {parameter.words}")


def in_range(value: int, words: str) -> bool:
    """Whether a whole number is what the words allow."""
    if value in _numbers(f"{NUMBER} lets", words):
        return True
    return all(
        keeps_to(value, limit)
        for phrase, keeps_to in LIMITS.items()
        for limit in _numbers(f"{phrase} {NUMBER}", words)
    )


def _numbers(pattern, words):
    return [int(found.replace(",", "")) for found in re.findall(rf"\b{pattern}", words)]


def choices(words: str) -> list[str]:
    """The texts that the words offer, such as ``"graph" or "XLA"``; none where any text will do."""
    found = re.search(CHOICES, words)
    return [text.strip('"') for text in re.findall(QUOTED, found[0])] if found else []
