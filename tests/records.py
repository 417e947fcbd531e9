"""What passed here is not run again: notebooks, and files of tests that read no notebook.

A file whose items all passed has a record, whose key holds what their outcome may depend on. With
--only-changed a file that has its key of before is not run again: its items are skipped, and the
summary names it.
"""

import functools
import hashlib
import json
import os
import platform
import re
import sys
from collections import Counter
from datetime import date
from importlib.metadata import distributions
from pathlib import Path

import pytest

AGAIN = "not run again"
EFFORT = "0.25"  # of the seconds that a block or a race takes otherwise, in kernels of tests
SAME = "text, parameters, helpers, packages, switches and machine"
HELPERS = ["xla_helpers/**/*", "xla_decide/**/*", "requirements*.txt", "pyproject.toml"]
HELPERS += ["conftest.py", "tests/notebook_files.py", "tests/records.py", "tests/lighter/*"]
HELPERS += [".venv/set-up.stamp"]  # which says for which accelerator
ALL_BUT_NOTEBOOKS = [*HELPERS, "*.*", "Makefile", "docs/**/*", "tests/**/*", "tools/**/*"]
READ_NOTEBOOKS = {"test_browser", "test_notebooks", "test_overview", "test_pages", "test_project"}
READ_NOTEBOOKS |= {"test_quotes", "test_workshop"}
SWITCHES = ("TF_", "XLA_", "ONEDNN_", "DNNL_", "KERAS_", "CUDA_", "NVIDIA_", "OMP_", "MKL_", "CXX")
SWITCHES += ("GLIBC_", "MALLOC_", "LD_", "PYTHON", "HF_", "TRANSFORMERS_", "LANG", "LC_")
ENVIRONMENT, RECORDS = pytest.StashKey[dict](), pytest.StashKey[dict]()
DESELECTED = pytest.StashKey[set]()


def pytest_addoption(parser):
    told = f"run nothing again that passed here with the same {SAME}; CI runs all"
    parser.addoption("--only-changed", action="store_true", help=told)


def pytest_configure(config):
    """Note the switches before any test sets one: TensorFlow's own, once it is imported here."""
    found = {name: value for name, value in os.environ.items() if name.startswith(SWITCHES)}
    for name in ("XLA_RESULTS", "XLA_CLAIMS"):  # a kernel gets others
        found.pop(name, None)
    config.stash[ENVIRONMENT], config.stash[RECORDS], config.stash[DESELECTED] = found, {}, set()


def pytest_deselected(items):
    for item in items:
        item.config.stash[DESELECTED].add(item.path)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    if record := record_of(item):
        record.skip_or_begin()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.when == "call" and report.passed and (record := record_of(item)):
        record.passed += 1
    return report


@pytest.hookimpl(trylast=True)
def pytest_runtest_teardown(item, nextitem):
    is_last = nextitem is None or nextitem.path != item.path
    if is_last and (record := record_of(item)):
        record.end()


def pytest_terminal_summary(terminalreporter):
    """Name what was not run, so that nobody takes it for a pass."""
    skipped = terminalreporter.getreports("skipped")
    reasons = {one.nodeid.partition("::")[0]: one.longrepr[2] for one in skipped}
    reasons = {file: why for file, why in reasons.items() if AGAIN in why}
    if reasons:
        kinds = Counter("notebook" if file.endswith(".ipynb") else "other" for file in reasons)
        counts = f"{kinds['notebook']} notebooks, {kinds['other']} files of tests"
        terminalreporter.section(f"{AGAIN}: {counts}; make test ALL=1 runs them")
    for file, why in sorted(reasons.items()):
        terminalreporter.write_line(f"{AGAIN}: {file}{why.partition(AGAIN)[2]}")


def record_of(item):
    """The `Record` of the file of an item; None for one that is always run."""
    records = item.config.stash[RECORDS]
    if item.path not in records:
        files = files_for(item.path)
        records[item.path] = Record(item, files) if files else None
    return records[item.path]


def files_for(path):
    """The files that the outcome of one may depend on, as patterns; none where it is always run."""
    if path.suffix == ".ipynb":
        return HELPERS
    return [] if path.stem in READ_NOTEBOOKS else ALL_BUT_NOTEBOOKS


class Record:
    """Whether a file passed before, and how many of its items passed now."""

    def __init__(self, item, files):
        self.path, self.config, self.passed, self._files = item.path, item.config, 0, files
        self._expected = sum(one.path == item.path for one in item.session.items)
        self._values = getattr(item.getparent(pytest.File), "values", None)  # of a notebook
        self._key, self._begun = self._key_of_now(), False
        name = item.nodeid.partition("::")[0].replace("/", "-")  # a copy has one of its own
        self._file = self.config.rootpath / "build/passed" / f"{name}.json"

    def skip_or_begin(self):
        if self._begun:
            return
        before = self._read()
        is_asked = self.config.option.only_changed and not os.environ.get("CI")
        if is_asked and before.get("key") == self._key:
            pytest.skip(f"{AGAIN}, passed on {before['day']} with the same {SAME}")
        self._file.unlink(missing_ok=True)  # whatever ends this run before its time
        self._begun = True

    def end(self):
        is_whole = self.path not in self.config.stash[DESELECTED]
        is_whole &= not any("::" in arg for arg in self.config.args)
        if is_whole and self.passed == self._expected and self._key == self._key_of_now():
            self._file.parent.mkdir(parents=True, exist_ok=True)
            text = json.dumps({"key": self._key, "day": date.today().isoformat()})
            self._file.write_text(f"{text}\n", encoding="utf-8")

    def _read(self):
        try:
            return json.loads(self._file.read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}

    def _key_of_now(self):
        """A hash of whatever the outcome may depend on."""
        root, switches = self.config.rootpath, self.config.stash[ENVIRONMENT]
        parts = [self._values, sorted(switches.items()), EFFORT, sys.version, packages(), machine()]
        key = hashlib.sha256(repr(parts).encode())
        files = {self.path, *(path for name in self._files for path in root.glob(name))}
        for path in sorted(files):
            if path.is_file() and path.parent.name != "__pycache__":
                content = hashlib.sha256(path.read_bytes()).hexdigest()
                key.update(f"{os.path.relpath(path, root)} {content}\n".encode())
        return key.hexdigest()


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
