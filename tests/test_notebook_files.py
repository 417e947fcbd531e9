"""Which notebooks run, with which values, and what is said of those that do not."""

import os
import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

from tests.records import READ_NOTEBOOKS

ROOT = Path(__file__).parents[1]
PASSES = ["size: int = 8  # rows", "assert size == 8"]


def write_notebook(path, *sources):
    cells = [new_code_cell(source) for source in sources]
    cells[0].metadata["tags"] = ["parameters"]
    path.parent.mkdir(exist_ok=True)
    metadata = {"kernelspec": {"name": "python3", "display_name": "", "language": "python"}}
    nbformat.write(new_notebook(cells=cells, metadata=metadata), path)


class Here:
    """Instead of a kernel, which takes seconds to start: cells run in this process."""

    def __init__(self, *args, **options):
        self.names = {}

    def is_alive(self):
        return True

    def stop(self):
        self.names.clear()


@pytest.fixture
def here(monkeypatch):
    def runtest(test):
        exec(test.cell.source, test.parent.kernel.names)

    monkeypatch.setattr("nbval.plugin.RunningKernel", Here)
    monkeypatch.setattr("nbval.plugin.IPyNbCell.runtest", runtest)


@pytest.fixture
def project(pytester, monkeypatch):
    """A project with a notebook and a helper."""
    monkeypatch.delenv("CI", raising=False)
    monkeypatch.delenv("XLA_EFFORT", raising=False)
    for name in ("xla_helpers/one.py", "requirements.txt", ".venv/set-up.stamp"):
        (pytester.path / name).parent.mkdir(exist_ok=True)
        (pytester.path / name).touch()
    (pytester.path / "tests").mkdir()
    write_notebook(pytester.path / "notebooks/01_one.ipynb", *PASSES)
    return pytester


def run(project, *options):
    """How many cells passed, were skipped and failed, and what was said."""
    asked = ["--nbval-lax", "--nbval-current-env", "-p", "tests.records"]
    asked += ["-p", "tests.notebook_files", "-p", "no:hypothesispytest"]  # which takes seconds
    done = project.runpytest_inprocess(*asked, *options, "notebooks")
    found = done.parseoutcomes()
    return *(found.get(name, 0) for name in ("passed", "skipped", "failed")), done.stdout.str()


def outcomes(project, *options):
    return run(project, *options)[:3]


@pytest.mark.usefixtures("here")
def test_what_passed_is_skipped_and_named_and_without_the_option_or_in_ci_it_runs(
    project, monkeypatch
):
    assert outcomes(project, "--only-changed") == (2, 0, 0)
    *found, said = run(project, "--only-changed")
    assert found == [0, 2, 0] and "again: notebooks/01_one.ipynb, passed on 20" in said
    assert "make test ALL=1" in said
    assert outcomes(project) == (2, 0, 0)
    monkeypatch.setenv("CI", "true")
    assert outcomes(project, "--only-changed") == (2, 0, 0)


@pytest.mark.usefixtures("here")
def test_what_may_change_the_outcome_makes_it_run(project, monkeypatch):
    assert outcomes(project) == (2, 0, 0)
    for name in (
        "xla_helpers/one.py",
        "xla_helpers/data.bin",
        "requirements.txt",
        "pyproject.toml",
        "tests/records.py",
        "tests/lighter/sitecustomize.py",
    ):
        (project.path / name).parent.mkdir(exist_ok=True)
        (project.path / name).write_text("# another\n")
        assert outcomes(project, "--only-changed") == (2, 0, 0), name
    (project.path / ".venv/set-up.stamp").write_text("accelerator cuda\n")
    assert outcomes(project, "--only-changed") == (2, 0, 0)
    for name in ("XLA_FLAGS", "TF_ENABLE_ONEDNN_OPTS", "XLA_EFFORT"):
        monkeypatch.setenv(name, "1")
        assert outcomes(project, "--only-changed") == (2, 0, 0), name
    write_notebook(project.path / "notebooks/01_one.ipynb", *PASSES, "assert True")
    assert outcomes(project, "--only-changed") == (3, 0, 0)
    (project.path / "xla_helpers/__pycache__").mkdir()
    (project.path / "xla_helpers/__pycache__/one.pyc").touch()  # what Python makes of it
    (project.path / "tests/test_other.py").touch()
    assert outcomes(project, "--only-changed") == (0, 3, 0)


@pytest.mark.usefixtures("here")
def test_a_notebook_that_failed_ran_in_part_or_ran_while_helpers_changed_has_no_record(project):
    path = project.path / "notebooks/01_one.ipynb"
    assert outcomes(project, "--deselect", "notebooks/01_one.ipynb::Cell 1") == (1, 0, 0)
    assert outcomes(project, "--only-changed") == (2, 0, 0)
    write_notebook(path, *PASSES, "assert not size")
    assert outcomes(project, "--only-changed") == (2, 0, 1)
    assert outcomes(project, "--only-changed") == (2, 0, 1)
    assert not list(project.path.glob("build/passed/*"))
    write_notebook(path, *PASSES)
    assert outcomes(project, "--only-changed") == (2, 0, 0)  # which had passed, before it failed
    meanwhile = "open('xla_helpers/one.py', 'a').write('# more')"
    write_notebook(path, *PASSES, meanwhile)
    for _ in range(2):  # nobody knows with which helpers it ran
        (project.path / "xla_helpers/one.py").write_text("")
        assert outcomes(project, "--only-changed") == (3, 0, 0)


def test_two_processes_record_and_the_summary_names_both(project):
    write_notebook(project.path / "notebooks/02_two.ipynb", *PASSES)
    assert outcomes(project, "--numprocesses", "2", "--dist", "loadfile") == (4, 0, 0)
    *found, said = run(project, "--numprocesses", "1", "--only-changed")
    assert found == [0, 4, 0]
    assert said.count("not run again: notebooks/0") == 2
    assert "not run again: 2 notebooks, 0 files of tests;" in said


def test_a_file_of_tests_is_not_run_again_for_a_notebook_unless_it_reads_them(project):
    for name in ("test_helpers", "test_pages"):
        (project.path / f"tests/{name}.py").write_text("def test_one():\n    assert True\n")
    assert outcomes(project, "tests") == (4, 0, 0)
    write_notebook(project.path / "notebooks/01_one.ipynb", *PASSES, "assert True")
    *found, said = run(project, "tests", "--only-changed")
    assert found == [4, 1, 0] and "again: tests/test_helpers.py, passed on" in said
    assert "not run again: 0 notebooks, 1 files of tests;" in said
    for change in ("docs/page.md", "tools/tool.py", "tests/test_pages.py", "xla_helpers/one.py"):
        (project.path / change).parent.mkdir(exist_ok=True)
        with (project.path / change).open("a") as file:
            file.write("# more\n")
        assert outcomes(project, "tests", "--only-changed", "--deselect", "notebooks")[1] == 0
        assert outcomes(project, "tests", "--only-changed", "--deselect", "notebooks")[1] == 1


def test_no_file_that_is_not_run_again_reads_the_notebooks():
    for path in ROOT.glob("tests/**/test_*.py"):
        if path.stem not in READ_NOTEBOOKS | {Path(__file__).stem}:
            text = path.read_text(encoding="utf-8")
            assert not re.search(r"(ROOT|parents?)\b.{0,20}(notebooks|results)", text), path


CLAIMS = """import xla_helpers as xh
from xla_helpers.ratios import Ratio
for low in (1.1, 0.9):
    xh.claim(f"from {low}", Ratio(1.2, low, 1.3, rounds=15), above=1, again=None)"""


def test_claims_of_all_processes_are_counted_and_open_ones_named(project, monkeypatch):
    monkeypatch.setenv("XLA_CLAIMS", str(project.path / "tests.claims"))
    for name in ("02_two", "03_three"):
        write_notebook(project.path / f"notebooks/{name}.ipynb", "size: int = 1  # rows", CLAIMS)
    *found, said = run(project, "--numprocesses", "2", "--dist", "loadfile")
    assert found == [6, 0, 0] and "claims about time: 2 held, 2 undecided" in said
    assert "undecided: 02_two: from 0.9: 1.2 [0.9, 1.3], median of 15" in said
    assert "from 1.1" not in said


@pytest.mark.parametrize("effort", ["", "0.5"])
def test_a_kernel_gets_the_values_in_the_table_and_less_effort(project, monkeypatch, effort):
    if effort:
        monkeypatch.setenv("XLA_EFFORT", effort)
    results = os.environ.get("XLA_RESULTS")
    (project.path / "tests/parameters.toml").write_text("[01_one]\nsize = 2\n")
    checks = [f"assert os.environ['XLA_EFFORT'] == {effort or '0.25'!r}", "assert size == 2"]
    checks += [f"assert os.environ['XLA_RESULTS'] not in (None, {results!r})"]
    checks += ["import sitecustomize\nassert 'lighter' in sitecustomize.__file__"]
    write_notebook(project.path / "notebooks/01_one.ipynb", PASSES[0], "import os", *checks)
    assert outcomes(project) == (7, 0, 0)
    assert os.environ.get("XLA_EFFORT", "") == effort
    assert os.environ.get("XLA_RESULTS") == results


@pytest.mark.usefixtures("here")
def test_another_value_in_the_table_makes_it_run(project):
    for size, found in ((8, (3, 0, 0)), (9, (2, 0, 1)), (8, (3, 0, 0)), (8, (0, 3, 0))):
        (project.path / "tests/parameters.toml").write_text(f"[01_one]\nsize = {size}\n")
        assert outcomes(project, "--only-changed") == found


@pytest.mark.parametrize("line", ["sizes = 2", "size = '2'", "size = 2.0", "size = true"])
def test_a_wrong_name_or_type_in_the_table_is_an_error(project, line):
    (project.path / "tests/parameters.toml").write_text(f"[01_one]\n{line}\n")
    *found, said = run(project)
    assert found == [0, 0, 0] and "1 error" in said
    assert line.split()[0] in said and "tests/parameters.toml" in said
