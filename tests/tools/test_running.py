"""Copies of notebooks, executed with other parameters."""

import errno
import os

import pytest

from tools.alone import alone
from tools.collection import read
from tools.execute import reason_against
from tools.kernels import Refused
from tools.running import given_in, run_one

SIZE = ("size: int = 4  # rows, at least 2", "parameters")


def printed(path):
    """All that the cells of a notebook printed."""
    outputs = [output for cell in read(path).cells for output in cell.get("outputs", [])]
    return "".join(output.get("text", "") for output in outputs)


@pytest.fixture
def run(tmp_path, save):
    """Runs a notebook of these cells in the folder `build`, and says what went wrong."""

    def once(*cells, **values):
        source = save(tmp_path / "notebooks", "01_one", *cells)
        (tmp_path / "build").mkdir(exist_ok=True)

        def action(path, started):
            run_one(path, tmp_path / "build", values, started)

        return reason_against(action, source, lambda *cell: None)

    return once


@pytest.fixture
def copy(tmp_path):
    return tmp_path / "build" / "01_one.ipynb"


def test_a_copy_runs_with_other_values_and_in_the_folder_of_the_notebooks(run, copy, tmp_path):
    assert run(SIZE, "import os", "print(size * 2, os.path.basename(os.getcwd()))", size=512) == ""
    assert printed(copy) == "1024 notebooks\n"
    assert "512" not in (tmp_path / "notebooks" / "01_one.ipynb").read_text()


def test_a_copy_keeps_what_was_printed_before_an_error(run, copy):
    reason = run("print('before')", "1 / 0", "print('never')")
    assert reason.startswith("cell 2: ZeroDivisionError: division by zero\n    see ")
    assert reason.endswith("build/01_one.ipynb")
    assert printed(copy) == "before\n"
    assert "ZeroDivisionError" in copy.read_text()


def test_a_folder_in_the_way_of_a_copy_is_one_line(run, copy):
    copy.mkdir(parents=True)
    assert run("1 / 0") == f"{copy}: {os.strerror(errno.EISDIR)}"


def test_a_link_that_leads_nowhere_is_one_line(run, copy):
    copy.parent.mkdir()
    copy.symlink_to(copy.parent / "absent" / "there.ipynb")
    assert run("1").endswith(f"absent: {os.strerror(errno.ENOENT)}")


@pytest.mark.parametrize("linked", ["copy", "folder"])
def test_a_link_to_the_notebook_is_refused_before_it_runs(run, copy, linked):
    notebook = copy.parents[1] / "notebooks" / copy.name
    if linked == "copy":
        copy.parent.mkdir()
        copy.symlink_to(notebook)
    else:
        copy.parent.symlink_to(notebook.parent)
    reason = run("2")
    assert reason.endswith(f"01_one.ipynb leads to {notebook}, where no copy is written")
    assert printed(notebook) == "" and [cell.source for cell in read(notebook).cells] == ["2"]


def test_a_link_out_of_the_folder_is_refused(run, copy, tmp_path):
    copy.parent.mkdir()
    copy.symlink_to(tmp_path / "mine.ipynb")
    assert run("1").endswith(f"leads to {tmp_path / 'mine.ipynb'}, where no copy is written")
    assert not (tmp_path / "mine.ipynb").exists()


@pytest.fixture
def ends(monkeypatch):
    """Makes every run end with an error, before its first cell or in it."""

    def with_error(error, cells=0):
        def execute(notebook, folder, environment, started):
            for cell in range(1, cells + 1):
                started(cell, 9)
            raise error

        monkeypatch.setattr("tools.running.execute", execute)

    return with_error


@pytest.mark.parametrize("cells", [0, 1])
def test_an_interrupted_run_leaves_the_copy_of_an_earlier_one(run, copy, ends, cells):
    ends(KeyboardInterrupt(), cells)
    with pytest.raises(KeyboardInterrupt, match="^see .*build/01_one.ipynb$"):
        run("1")
    copy.write_text("an earlier copy")
    with pytest.raises(KeyboardInterrupt, match="build/01_one.ipynb is of an earlier run$"):
        run("1")
    assert copy.read_text() == "an earlier copy"


def test_a_copy_that_cannot_be_written_hides_no_interrupt(run, ends, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    ends(KeyboardInterrupt())
    monkeypatch.setattr("os.replace", full)
    with pytest.raises(KeyboardInterrupt, match=os.strerror(errno.ENOSPC)):
        run("1")


def test_a_kernel_that_does_not_start_leaves_the_copy_of_an_earlier_run(run, copy, ends):
    copy.parent.mkdir()
    copy.write_text("an earlier copy")
    ends(Refused("no kernel"))
    reason = run("1")
    assert reason.startswith("no kernel\n    ") and reason.endswith("ipynb is of an earlier run")
    assert copy.read_text() == "an earlier copy"
    ends(Refused("cell 1: no"), cells=1)
    assert run("1").startswith("cell 1: no\n    see ")
    assert copy.read_text() != "an earlier copy"


def test_a_full_disk_is_one_line_and_loses_no_copy(run, copy, monkeypatch):
    def full(file, *rest):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    copy.parent.mkdir()
    copy.write_text("an earlier copy")
    monkeypatch.setattr("os.replace", full)
    assert run("1") == f"{copy}: {os.strerror(errno.ENOSPC)}"
    monkeypatch.undo()
    assert copy.read_text() == "an earlier copy"
    assert sorted(path.name for path in copy.parent.iterdir()) == [".01_one.lock", copy.name]


def test_two_runs_of_one_notebook_are_not_mixed(run, copy):
    copy.parent.mkdir()
    with alone(copy.parent / ".01_one.lock"):
        assert run("1") == f"another run of it is under way, process {os.getpid()}"
    assert not copy.exists()
    assert run("1") == ""


def test_half_a_character_is_written_too(run, copy):
    assert run(r"print('\ud800')") == ""
    assert copy.exists()


def test_a_notebook_that_cannot_be_read_has_no_parameters(tmp_path, save):
    good = save(tmp_path, "01_good", SIZE)
    broken, gone = tmp_path / "02_broken.ipynb", tmp_path / "03_gone.ipynb"
    broken.write_text("{")
    found = given_in([good, broken, gone], [["size", "8"]])
    assert found == {good: {"size": 8}, broken: {}, gone: {}}
