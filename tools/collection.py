"""What the tools read in the notebooks."""

import nbformat


def read_all(root):
    """Every notebook, in order: path to content."""
    paths = sorted((root / "notebooks").glob("*.ipynb"))
    return {path: nbformat.read(path, as_version=4) for path in paths}


def title_of(notebook):
    return notebook.cells[0].source.splitlines()[0].removeprefix("# ")


def is_for_colab(cell):
    """Whether this is the cell that only Colab needs."""
    return "google.colab" in cell.source


def shows_picture(cell):
    return any("image/png" in output.get("data", {}) for output in cell.get("outputs", []))


def text_of(output):
    """What an output says in plain text: what was printed, or how its value shows itself."""
    return output.get("text") or output.get("data", {}).get("text/plain", "")
