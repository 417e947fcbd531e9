"""`make refresh`, on small notebooks of its own."""

import errno
import os
import re
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools import collection
from tools.execute import reason_against
from tools.readme import END, START
from tools.recorded import MADE, hash_of, others
from tools.refreshing import refresh_one, tidy


def refresh(*paths):
    """What went wrong, by the name of the notebook."""
    reasons = {path.stem: reason_against(refresh_one, path, lambda *cell: None) for path in paths}
    return {name: reason for name, reason in reasons.items() if reason}


def run_before(path):
    """Give the cells the numbers of an earlier, longer session."""
    notebook = collection.read(path)
    for number, cell in enumerate(notebook.cells, start=40):
        cell.execution_count = number
    nbformat.write(notebook, path)


@pytest.fixture(scope="module")
def refreshed(tmp_path_factory, save):
    """One refresh over five notebooks, of which three are refused."""
    root = tmp_path_factory.mktemp("refresh")
    folder = root / "notebooks"
    save(folder, "01_good", "print('one')\nprint('two')", "1 + 1")
    save(folder, "02_fails", "print('before')", "{}['key']")
    save(folder, "03_noisy", "import sys; print('a warning', file=sys.stderr)")
    save(folder, "04_good", "'last'")
    save(folder, "05_dies", "", "import os; os._exit(1)")
    run_before(folder / "02_fails.ipynb")
    before = {path.stem: path.read_bytes() for path in folder.glob("*.ipynb")}
    return folder, before, refresh(*collection.choose([], root))


def test_refresh_writes_outputs_in_place(refreshed):
    folder, _, _ = refreshed
    first = collection.read(folder / "01_good.ipynb")
    assert first.cells[0].outputs[0].text == "one\ntwo\n"
    assert first.cells[1].outputs[0].data["text/plain"] == "2"
    assert [cell.execution_count for cell in first.cells] == [1, 2]
    assert [cell.id for cell in first.cells] == ["cell-0", "cell-1"]
    assert "'last'" in (folder / "04_good.ipynb").read_text()


def test_refresh_writes_what_a_notebook_costs_into_the_readme(tmp_path, save):
    rows = [
        "| 01 | [One](notebooks/01_one.ipynb) | Why? | | | [Colab](x) |",
        "| 02 | [Two](notebooks/02_two.ipynb) | Why? | 1 s | 0.1 GiB | [Colab](x) |",
    ]
    readme = tmp_path / "README.md"
    readme.write_text("\n".join(rows))
    hold = "import time\nheld = bytearray(2**29)\ntime.sleep(1.1)"
    save(tmp_path / "notebooks", "01_one", hold)
    assert refresh(tmp_path / "notebooks" / "01_one.ipynb") == {}
    first, second = readme.read_text().splitlines()
    cost = re.fullmatch(r"(.+) (\d+) s \| ([\d.]+) GiB( \| \[Colab\]\(x\) \|)", first)
    assert rows[0] == f"{cost.group(1)} |{cost.group(4)}"
    assert int(cost.group(2)) >= 1 and float(cost.group(3)) >= 0.5
    assert second == rows[1]


def test_refresh_leaves_refused_notebooks_as_they_were(refreshed):
    folder, before, reasons = refreshed
    assert reasons == {
        "02_fails": "cell 2: KeyError: 'key'; left as it was",
        "05_dies": "cell 1: DeadKernelError: Kernel died; exit code 1; left as it was",
        "03_noisy": "cell 1 wrote to stderr: a warning; left as it was",
    }
    for name in reasons:
        assert (folder / f"{name}.ipynb").read_bytes() == before[name]
    assert sorted(path.suffix for path in folder.iterdir()) == [".ipynb"] * 5


def test_refresh_twice_writes_the_same_bytes(refreshed):
    folder, _, _ = refreshed
    path = folder / "01_good.ipynb"
    once = path.read_bytes()
    assert refresh(path) == {}
    assert path.read_bytes() == once
    assert once.endswith(b"}\n")
    assert once.startswith(b'{\n "cells"')


def test_refresh_keeps_what_a_notebook_records(tmp_path, save, result, monkeypatch):
    monkeypatch.setenv("XLA_RESULTS", str(tmp_path / "elsewhere"))
    code = f"""
import os, pathlib
def record(name, text):
    pathlib.Path(os.environ["XLA_RESULTS"], f"{{name}}.json").write_text(text)
record("sum", '{result("sum", graph=0.2, XLA=0.1)}')"""
    path = save(tmp_path / "notebooks", "01_one", code)
    assert refresh(path) == {}
    assert [kept.name for kept in (tmp_path / "results").glob("*.json")] == ["sum.json"]
    assert others(tmp_path) == []
    assert not (tmp_path / "elsewhere").exists()


def test_a_refused_notebook_takes_nothing_away(tmp_path, save, result):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "sum.json").write_text(result("sum", graph=0.2, XLA=0.1))
    path = save(tmp_path / "notebooks", "01_one", 'def record(name): 1 / 0\nrecord("sum")')
    assert list(refresh(path)) == ["01_one"]
    assert (tmp_path / "results" / "sum.json").exists()


def test_what_varies_between_machines_is_dropped():
    cell = new_code_cell("1", metadata={"tags": ["solution"], "execution": {}, "papermill": {}})
    info = {"name": "python", "version": "3.11.7"}
    kernel = {"name": "python3", "display_name": "Python 3"}
    metadata = {"kernelspec": kernel, "language_info": info, "papermill": {}, "widgets": {}}
    tidied = tidy(new_notebook(cells=[new_markdown_cell("text"), cell], metadata=metadata))
    assert tidied.metadata == {"kernelspec": kernel, "language_info": {"name": "python"}}
    assert tidied.cells[1].metadata == {"tags": ["solution"]}


@pytest.mark.parametrize("text", ["{", "[]", ""])
def test_a_file_that_is_no_notebook_is_one_line(tmp_path, text):
    path = tmp_path / "notebooks" / "01_one.ipynb"
    path.parent.mkdir()
    path.write_text(text)
    reason = refresh(path)["01_one"]
    assert "is no notebook: " in reason and "\n" not in reason
    assert path.read_text() == text


@pytest.fixture
def recording(tmp_path, save, result, monkeypatch):
    """A notebook with a row in the README, whose refresh recorded a sum and now a larger one."""
    (tmp_path / "README.md").write_text(
        "| 01 | [One](notebooks/01_one.ipynb) | Why? | 1 s | 0.1 GiB | [Colab](x) |\n\n"
        f"{START}\nold\n{END}\n"
    )
    (tmp_path / "results").mkdir()
    old = tmp_path / "results" / "sum.00000000.json"
    old.write_text(result("sum", graph=0.2, XLA=0.1))
    (tmp_path / "results" / MADE).write_text(f"{hash_of(old.read_bytes())}  {old.name}\n")
    texts = {"sum.11111111.json": result("sum", "a large sum", graph=0.4, XLA=0.1)}

    def record(notebook, folder, environment, started):
        for name, text in texts.items():
            Path(environment["XLA_RESULTS"], name).write_text(text, encoding="utf-8")
        notebook.cells.append(new_code_cell("'refreshed'"))

    monkeypatch.setattr("tools.refreshing.execute", record)
    return save(tmp_path / "notebooks", "01_one", 'record("sum", found)'), texts


def files(root):
    """The content of every file below."""
    return {path: path.read_bytes() for path in root.rglob("*") if path.is_file()}


def test_all_that_a_refresh_writes_is_written_together(recording, tmp_path):
    path, _ = recording
    assert refresh(path) == {}
    assert "'refreshed'" in path.read_text()
    assert [one.name for one in (tmp_path / "results").glob("*.json")] == ["sum.11111111.json"]
    readme = (tmp_path / "README.md").read_text()
    assert "| 0 s | " in readme and "| a large sum |" in readme and "old" not in readme
    assert (tmp_path / "README.png").exists()


def test_a_result_of_another_name_leaves_all_as_it_was(recording, tmp_path, result):
    path, texts = recording
    texts["sum.11111111.json"] = result("elsewhere", graph=0.2, XLA=0.1)
    before = files(tmp_path)
    reason = refresh(path)["01_one"]
    assert reason.endswith("it is named elsewhere inside; left as it was")
    assert files(tmp_path) == before


def test_a_file_of_another_name_stops_it_before_it_runs(recording, tmp_path, result):
    path, texts = recording
    bad = tmp_path / "results" / "sum.22222222.json"
    bad.write_text(result("elsewhere", graph=0.2, XLA=0.1))
    texts.clear()  # as if nothing ran
    before = files(tmp_path)
    assert refresh(path)["01_one"].endswith(f"{bad}: it is named elsewhere inside")
    assert files(tmp_path) == before


@pytest.mark.parametrize("when", ["before", "meanwhile"])
def test_a_mark_that_is_there_twice_leaves_all_as_it_was(recording, tmp_path, monkeypatch, when):
    if when == "meanwhile":
        monkeypatch.setattr("tools.refreshing.check", lambda root: None)
    with (tmp_path / "README.md").open("a") as file:
        file.write(f"{START}\n{END}\n")
    before = files(tmp_path)
    reason = refresh(recording[0])["01_one"]
    assert reason.startswith("README.md must hold once") and "\n" not in reason
    assert reason.endswith("; left as it was") == (when == "meanwhile")
    assert files(tmp_path) == before


def test_a_picture_that_cannot_be_written_leaves_all_as_it_was(recording, tmp_path):
    (tmp_path / "README.png").mkdir()
    before = files(tmp_path)
    assert refresh(recording[0])["01_one"].startswith(f"{tmp_path / 'README.png'}: ")
    assert files(tmp_path) == before


def test_a_full_disk_leaves_all_as_it_was(recording, tmp_path, monkeypatch):
    def full(*arguments):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    before = files(tmp_path)
    monkeypatch.setattr("os.replace", full)
    assert refresh(recording[0])["01_one"].endswith(os.strerror(errno.ENOSPC))
    assert files(tmp_path) == before
