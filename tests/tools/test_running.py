"""Copies of notebooks, executed with other parameters."""

import errno
import os

import pytest

from tools.alone import alone
from tools.collection import read
from tools.execute import reason_against
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
