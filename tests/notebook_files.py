"""Notebooks as tests: nbval's, at their sizes for tests, and not again where nothing has changed.

`parameters.toml` says with which parameters a notebook is tested, and kernels measure for a part of
the usual seconds. A notebook whose cells all passed has a record, whose key holds what the outcome
may depend on. With --only-changed a notebook that has its key of before is not run again: its cells
are skipped, and the summary names it.
"""

import functools
import hashlib
import json
import os
import platform
import re
import sys
import tempfile
import tomllib
from datetime import date
from importlib.metadata import distributions
from pathlib import Path

import pytest
from nbval.plugin import IPyNbCell, IPyNbFile

TABLE = "tests/parameters.toml"
EFFORT = "0.25"  # of the seconds that a block or a race takes otherwise
AGAIN = "not run again"
SAME = "text, parameters, helpers, packages, switches and machine"
FILES = ["xla_helpers/**/*", "requirements*.txt", "pyproject.toml", "conftest.py"]
FILES += ["tests/notebook_files.py", ".venv/set-up.stamp"]  # which says for which accelerator
SWITCHES = ("TF_", "XLA_", "ONEDNN_", "DNNL_", "KERAS_", "CUDA_", "NVIDIA_", "OMP_", "MKL_", "CXX")
SWITCHES += ("GLIBC_", "MALLOC_", "LD_", "PYTHON", "HF_", "TRANSFORMERS_", "LANG", "LC_")
ENVIRONMENT = pytest.StashKey[dict]()


def pytest_addoption(parser):
    told = f"run no notebook again that passed here with the same {SAME}; CI runs all"
    parser.addoption("--only-changed", action="store_true", help=told)


def pytest_configure(config):
    """Note the switches before any test sets one: TensorFlow's own, once it is imported here."""
    found = {name: value for name, value in os.environ.items() if name.startswith(SWITCHES)}
    found.pop("XLA_RESULTS", None)  # a kernel gets another folder
    config.stash[ENVIRONMENT] = found


@pytest.hookimpl(wrapper=True)
def pytest_collect_file(parent):
    collected = yield
    return [
        Notebook.from_parent(parent, path=one.path) if type(one) is IPyNbFile else one
        for one in collected
    ]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if isinstance(item.parent, Notebook) and report.when == "call" and report.passed:
        item.parent.passed += 1
    return report


def pytest_terminal_summary(terminalreporter):
    """Name what was not run, so that nobody takes it for a pass."""
    skipped = terminalreporter.getreports("skipped")
    reasons = {one.nodeid.partition("::")[0]: one.longrepr[2] for one in skipped}
    reasons = {file: why for file, why in reasons.items() if AGAIN in why}
    if reasons:
        terminalreporter.section(f"notebooks {AGAIN}: {len(reasons)}; make test ALL=1 runs them")
    for file, why in sorted(reasons.items()):
        passed = why.partition(AGAIN)[2]
        terminalreporter.write_line(f"{AGAIN}: {Path(file).stem}{passed}")


class Notebook(IPyNbFile):
    """A notebook, whose code cells are tests in one kernel."""

    def collect(self):
        self.values, self.cells, self.passed = self.values_for_tests(), 0, 0
        self.key = self.key_of_now()
        for item in super().collect():
            self.cells += 1
            yield item
            if self.values and "parameters" in item.cell.metadata.get("tags", []):
                self.cells += 1
                told = {"name": "parameters for tests", "cell_num": item.cell_num}
                told |= {"cell": cell_with(self.path, self.values), "options": item.options}
                yield IPyNbCell.from_parent(self, **told)

    def setup(self):
        before = self.read_record()
        is_asked = self.config.option.only_changed and not os.environ.get("CI")
        if is_asked and before.get("key") == self.key:
            pytest.skip(f"{AGAIN}, passed on {before['day']} with the same {SAME}")
        self.record.unlink(missing_ok=True)  # whatever ends this run before its time
        self.recorded = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        with pytest.MonkeyPatch.context() as environment:
            environment.setenv("XLA_EFFORT", os.environ.get("XLA_EFFORT", EFFORT))
            environment.setenv("XLA_RESULTS", self.recorded.name)  # no results at such sizes
            super().setup()

    def teardown(self):
        super().teardown()
        if self.kernel is None:
            return
        self.recorded.cleanup()
        if self.passed == self.cells and self.key == self.key_of_now():
            self.write_record()

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

    @property
    def record(self):
        name = self.nodeid.replace("/", "-")  # of a copy another than of the notebook itself
        return self.config.rootpath / "build/passed" / f"{name}.json"

    def read_record(self):
        try:
            return json.loads(self.record.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}

    def write_record(self):
        self.record.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps({"key": self.key, "day": date.today().isoformat()})
        self.record.write_text(f"{text}\n", encoding="utf-8")

    def key_of_now(self):
        """A hash of whatever the outcome may depend on."""
        root, switches = self.config.rootpath, self.config.stash[ENVIRONMENT]
        parts = [self.values, sorted(switches.items()), EFFORT, sys.version, packages(), machine()]
        key = hashlib.sha256(repr(parts).encode())
        for path in [self.path, *sorted(path for name in FILES for path in root.glob(name))]:
            if path.is_file() and path.parent.name != "__pycache__":
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                key.update(f"{os.path.relpath(path, root)} {content}\n".encode())
        return key.hexdigest()


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


@functools.cache
def packages():
    return sorted(f"{one.name} {one.version}" for one in distributions())


@functools.cache
def machine():
    """The system, what its processor can, how many cores are ours, and the GPUs."""
    cores = len(getattr(os, "sched_getaffinity", lambda pid: range(os.cpu_count() or 1))(0))
    cpus = Path("/proc/cpuinfo")
    said = cpus.read_text(encoding="utf-8") if cpus.exists() else ""
    kinds = set(re.findall(r"(?m)^(?:model name|flags|Features)\s*: .*", said))
    gpus = [*Path("/dev").glob("nvidia[0-9]*"), *Path("/proc/driver/nvidia/gpus").glob("*")]
    return tuple(platform.uname()), cores, sorted(kinds), sorted(map(str, gpus))
