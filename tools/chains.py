"""The cells that recorded races need, tagged "run": what they record, and whether they changed.

`python tools/chains.py` accepts the code of all of them as it is, and writes results/races.toml.
"""

import ast
import hashlib
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path

import nbformat
from IPython.core.inputtransformer2 import TransformerManager

ROOT = Path(__file__).resolve().parents[1]
ACCEPTED = "results/races.toml"
HEAD = """\
# The races of each notebook with their versions, and a hash of the code that they run.
# Made by `.venv/bin/python tools/chains.py`, as CONTRIBUTING.md explains: do not edit.
"""
ASK = (
    "{name}: the code of its races is not the accepted one. Where a race means something else now, "
    "raise `version=` in its `xh.record`, and measure it again. Then, or where all mean the same, "
    "accept the code: .venv/bin/python tools/chains.py"
)


def chain_of(path):
    """The notebook with these cells alone."""
    notebook = nbformat.read(path, as_version=4)
    notebook.cells = [cell for cell in notebook.cells if "run" in cell.metadata.get("tags", ())]
    return notebook


def chains(root=ROOT):
    """The name of each notebook with a chain to its code, in 16 digits, and its races' versions."""
    found = {}
    for path in sorted(root.glob("notebooks/*.ipynb")):
        if statements := code_of(path):
            code = hashlib.sha256(repr(meaning(statements)).encode()).hexdigest()[:16]
            found[path.stem] = {"code": code, "races": races_in(statements, path)}
    return found


def code_of(path):
    """The statements of the chain; magics are the calls that IPython makes of them."""
    statements = []
    for cell in chain_of(path).cells:
        code = TransformerManager().transform_cell(cell.source)
        statements += ast.parse(code, f"{path.name}, cell {cell.id}").body
    return statements


def meaning(node):
    """Code as nested tuples, without comments and format, and the same in each Python."""
    if isinstance(node, list):
        return tuple(map(meaning, node))
    if not isinstance(node, ast.AST):
        return node
    fields = ((name, meaning(value)) for name, value in ast.iter_fields(node))
    # Which fields are there, and whether an empty one is, differs from Python to Python.
    return type(node).__name__, *(field for field in fields if field[1] not in (None, ()))


def races_in(statements, path):
    """The name of each race that a chain records, "*" where it is computed, to its version."""
    calls = [node for x in statements for node in ast.walk(x) if isinstance(node, ast.Call)]
    found = {}
    for call in (call for call in calls if ast.unparse(call.func) == "xh.record"):
        versions = [x.value for x in call.keywords if x.arg == "version"] or [ast.Constant(1)]
        name, version = pattern(call.args[0]) if call.args else "", versions[0]
        if not name or not isinstance(version, ast.Constant):
            line = ast.unparse(call)
            raise ValueError(f"{path.name}: write name and version of a race into its call: {line}")
        found[name] = version.value
    return dict(sorted(found.items()))


def pattern(node):
    """A text in code, with "*" for what an f-string computes; "" for any other expression."""
    parts = node.values if isinstance(node, ast.JoinedStr) else [node]
    if isinstance(node, ast.Constant | ast.JoinedStr):
        return "".join(x.value if isinstance(x, ast.Constant) else "*" for x in parts)
    return ""


def home_of(race, found):
    """The notebook that records a race, and its version there; None where no notebook does."""
    for notebook, chain in found.items():
        for name, version in chain["races"].items():
            if fnmatchcase(race, name):
                return notebook, version
    return None


def changed(found, root=ROOT):
    """For each notebook whose code was not accepted as it is, what to do. found: its chains."""
    file = root / ACCEPTED
    accepted = tomllib.loads(file.read_text(encoding="utf-8")) if file.exists() else {}
    names = [name for name in found | accepted if found.get(name) != accepted.get(name)]
    return {name: ASK.format(name=name) for name in sorted(names)}


def accept(found, root=ROOT):
    """Write down the code of all chains as it is."""
    lines = [HEAD]
    for name, chain in found.items():
        races = [f'races."{race}" = {version}' for race, version in chain["races"].items()]
        lines += [f"[{name}]", f'code = "{chain["code"]}"', *races, ""]
    (root / ACCEPTED).parent.mkdir(exist_ok=True)
    (root / ACCEPTED).write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    now = chains()
    for notebook in changed(now):
        print(f"accepted: {notebook}")
    accept(now)
