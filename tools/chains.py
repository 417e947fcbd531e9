"""The cells that recorded races need, tagged "run", and a hash of their source."""

import hashlib

import nbformat


def chain_of(path):
    """The notebook with these cells alone."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if "run" in cell.metadata.get("tags", ())]
    return notebook


def hash_of(path):
    """16 digits that change with the source of any cell in the chain."""
    text = "\n\n".join(cell.source for cell in chain_of(path).cells)
    return hashlib.sha256(text.encode()).hexdigest()[:16]
