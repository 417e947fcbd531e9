"""Notebooks as tests: nbval's, at their sizes for tests.

`parameters.toml` says with which parameters a notebook is tested, and kernels measure for a part of
the usual seconds.
"""

import json
import os
import tempfile
import tomllib
from pathlib import Path

import pytest
from nbval.plugin import IPyNbCell, IPyNbFile

from tests.records import EFFORT

TABLE = "tests/parameters.toml"


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(parent):
    collected = yield
    return [
        Notebook.from_parent(parent, path=one.path) if type(one) is IPyNbFile else one
        for one in collected
    ]


def pytest_terminal_summary(terminalreporter):
    """Count the claims about time, and name those that this machine left undecided."""
    notes, folder = [], Path(os.environ["XLA_CLAIMS"]).parent
    for path in sorted(folder.glob("*.claims")):
        lines = path.read_text(encoding="utf-8").splitlines()
        notes += [(path.stem, json.loads(line)) for line in lines]
    open_ones = [(name, note["text"]) for name, note in notes if note["outcome"] == "undecided"]
    if notes:
        held = sum(note["outcome"] == "held" for _, note in notes)
        terminalreporter.section(f"claims about time: {held} held, {len(open_ones)} undecided")
    for name, text in open_ones:
        terminalreporter.write_line(f"undecided: {name}: {text}")


class Notebook(IPyNbFile):
    """A notebook, whose code cells are tests in one kernel.

    Attributes:
        values: Parameter to the value with which it is tested.
    """

    def collect(self):
        self.values = self.values_for_tests()
        for item in super().collect():
            yield item
            if self.values and "parameters" in item.cell.metadata.get("tags", []):
                told = {"name": "parameters for tests", "cell_num": item.cell_num}
                told |= {"cell": cell_with(self.path, self.values), "options": item.options}
                yield IPyNbCell.from_parent(self, **told)

    def setup(self):
        self.recorded = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("XLA_EFFORT", os.environ.get("XLA_EFFORT", EFFORT))
            environment.setenv("XLA_RESULTS", self.recorded.name)  # no results at such sizes
            claims = Path(os.environ["XLA_CLAIMS"]).with_name(f"{self.path.stem}.claims")
            environment.setenv("XLA_CLAIMS", str(claims))
            super().setup()

    def teardown(self):
        super().teardown()
        self.recorded.cleanup()

    def values_for_tests(self):
        """The values in the table, each of a parameter that there is, and of its type."""
        table = self.config.rootpath / TABLE
        tables = tomllib.loads(table.read_text(encoding="utf-8")) if table.exists() else {}
        values = tables.get(self.path.stem, {})
        known = parameters_of(self.path) if values else {}
        for name, value in values.items():
            kind = known.get(name, {}).get(
                "inferred_type_name", "nothing, it has no such parameter"
            )
            if type(value).__name__ != kind.partition("[")[0]:
                what = f"{TABLE}: {name} = {value!r} in {self.path.stem}, which takes {kind}"
                raise self.CollectError(what)
        return values


def parameters_of(path):
    """What a notebook's cell of parameters says, name to type and comment."""
    from papermill import inspect_notebook  # half a second, which most processes need not spend

    return inspect_notebook(str(path).replace("{", "{{").replace("}", "}}"))  # it fills in braces


def cell_with(path, values):
    """The cell that papermill puts below that of the parameters."""
    from papermill.iorw import load_notebook_node
    from papermill.parameterize import parameterize_notebook

    cells = parameterize_notebook(load_notebook_node(str(path)), values).cells
    return next(cell for cell in cells if "injected-parameters" in cell.metadata.get("tags", []))
