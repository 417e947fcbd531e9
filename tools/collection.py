"""The collection: where it is, which notebooks it has, and what stands in them."""

import re
from pathlib import Path

import nbformat

from xla_helpers.errors import headline

ROOT = Path(__file__).resolve().parents[1]


class UsageError(Exception):
    """A command line that cannot be meant as it stands."""


def paths(root=ROOT):
    """Every notebook, in order."""
    return sorted((root / "notebooks").glob("*.ipynb"))


def choose(wanted, root=ROOT):
    """The notebooks, in order: those in `wanted`, or all when it is empty."""
    notebooks = paths(root)
    if not notebooks:
        raise UsageError(f"there are no notebooks in {root / 'notebooks'}")
    for name in wanted:
        if not any(answers_to(path, name) for path in notebooks):
            names = ", ".join(path.stem for path in notebooks)
            raise UsageError(f"there is no notebook {name}; there are: {names}")
    return [p for p in notebooks if not wanted or any(answers_to(p, name) for name in wanted)]


def answers_to(path, name):
    """Whether a notebook is meant by its number, its name or its file."""
    return Path(name).stem == path.stem or (name.isdecimal() and number_of(path) == name.zfill(2))


def number_of(path):
    """As the text names a notebook, such as 02."""
    return path.stem.split("_")[0]


def read(path):
    """A notebook. Raises: UsageError, in one line, for a file that holds none."""
    wrong = {}
    try:
        notebook = nbformat.read(path, as_version=4, capture_validation_error=wrong)
        for error in wrong.values():
            raise error
        return notebook
    except OSError:
        raise
    except Exception as error:  # nbformat raises whatever the content leads it to
        raise UsageError(f"{path} is no notebook: {headline(error)}") from error


def read_all(root=ROOT):
    """Path to content, in order."""
    return {path: read(path) for path in paths(root)}


def title_of(notebook):
    first = notebook.cells[0].source if notebook.cells else ""
    return first.partition("\n")[0].removeprefix("# ")


def is_for_colab(cell):
    """Whether this is the cell that only Colab needs."""
    return "google.colab" in cell.source


def is_solution(cell):
    return cell.id.startswith("solution")


def shows_picture(cell):
    return any("image/png" in output.get("data", {}) for output in cell.get("outputs", []))


def text_of(output):
    """What an output says in plain text: what was printed, or how its value shows itself."""
    return output.get("text") or output.get("data", {}).get("text/plain", "")


def names_recorded(notebook):
    """The names under which a notebook records comparisons."""
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    return re.findall(r'\brecord\(\s*"([a-z0-9-]+)"', "\n".join(code))


def recorders(notebooks):
    """Name of a comparison to the notebook that records it. notebooks: path to content."""
    return {name: path for path, notebook in notebooks.items() for name in names_recorded(notebook)}
