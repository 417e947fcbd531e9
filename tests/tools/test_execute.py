"""`make run` and `make refresh`, on small notebooks of their own."""

import re

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools import collection, execute


def printed(path):
    """All that the cells of a notebook printed."""
    cells = collection.read(path).cells
    return "".join(output.get("text", "") for cell in cells for output in cell.get("outputs", []))


def run_before(path):
    """Give the cells the numbers of an earlier, longer session."""
    notebook = collection.read(path)
    for number, cell in enumerate(notebook.cells, start=40):
        cell.execution_count = number
    nbformat.write(notebook, path)


# make run


@pytest.fixture(scope="module")
def finished_run(tmp_path_factory, save):
    """One run over five notebooks, of which the first and the last two fail."""
    root = tmp_path_factory.mktemp("run")
    folder = root / "notebooks"
    save(folder, "01_fails", "x = 1", "1 / 0", "print('never')")
    save(folder, "02_has_a_size", ("size: int = 4  # rows", "parameters"), "print(size * 2)")
    save(folder, "03_looks_around", "import os; print(os.path.basename(os.getcwd()))")
    save(folder, "05_claims", "x = 1\nassert x == 2")
    save(folder, "04_dies", "x = 1", "import os; os._exit(1)", "print('never')")
    given = {"size": execute.parse("512")}
    chosen = collection.choose([], root)
    failures = execute.run(chosen, root / "build", given)
    return root, failures


def test_run_goes_on_after_a_failing_notebook(finished_run):
    root, failures = finished_run
    assert [path.stem for path, _ in failures] == ["01_fails", "04_dies", "05_claims"]
    assert printed(root / "build/02_has_a_size.ipynb") == "1024\n"
    assert "ZeroDivisionError" in (root / "build/01_fails.ipynb").read_text()
    assert "never" not in printed(root / "build/01_fails.ipynb")


def test_run_works_in_the_folder_of_the_notebooks(finished_run):
    root, _ = finished_run
    assert printed(root / "build/03_looks_around.ipynb") == "notebooks\n"


def test_run_leaves_the_notebooks_alone(finished_run):
    root, _ = finished_run
    assert "ZeroDivisionError" not in (root / "notebooks/01_fails.ipynb").read_text()


def test_run_lists_what_failed_and_why(finished_run, capsys):
    _, failures = finished_run
    assert execute.report(failures, 5) == 1
    message = capsys.readouterr().err
    assert "3 of 5 notebooks failed" in message
    assert "01_fails: cell 2: ZeroDivisionError: division by zero" in message
    assert "build/01_fails.ipynb" in message
    assert "04_dies: cell 2: DeadKernelError: Kernel died" in message
    assert "05_claims: cell 1: AssertionError: assert x == 2" in message


def test_nothing_is_reported_when_all_went_well(capsys):
    assert execute.report([], 3) == 0
    assert capsys.readouterr().err == ""


def test_run_refuses_a_parameter_that_no_notebook_has(tmp_path, capsys, save):
    save(tmp_path / "notebooks", "01_a", ("size: int = 4\nwidth: int = 8", "parameters"))
    save(tmp_path / "notebooks", "02_b", ("name: str = 'x'", "parameters"))
    assert execute.main(["run", "-p", "sise", "512"], root=tmp_path) == 2
    message = capsys.readouterr().err
    assert "no notebook has a parameter sise; there are: name, size, width" in message
    assert not (tmp_path / "build").exists()


def test_run_says_when_there_is_nothing_to_run(tmp_path, capsys):
    assert execute.main(["run"], root=tmp_path) == 2
    assert "there are no notebooks" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("text", "value"),
    [("512", 512), ("0.5", 0.5), ("True", True), ("None", None), ("gpt2", "gpt2"), ("-1", -1)],
)
def test_values_are_read_as_papermill_reads_them(text, value):
    assert execute.parse(text) == value


def test_an_unknown_notebook_is_refused(tmp_path, capsys, save):
    save(tmp_path / "notebooks", "01_a", "")
    assert execute.main(["run", "7"], root=tmp_path) == 2
    assert "there is no notebook 7; there are: 01_a" in capsys.readouterr().err


def test_a_forgotten_value_is_refused(tmp_path, capsys, save):
    save(tmp_path / "notebooks", "01_a", ("size: int = 4", "parameters"))
    with pytest.raises(SystemExit) as ended:
        execute.main(["run", "1", "-p", "size"], root=tmp_path)
    assert ended.value.code == 2
    assert "expected 2 arguments" in capsys.readouterr().err


# make refresh


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
    failures = execute.refresh(collection.choose([], root))
    return folder, before, {path.stem: reason for path, reason in failures}


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
    assert execute.refresh([tmp_path / "notebooks" / "01_one.ipynb"]) == []
    first, second = readme.read_text().splitlines()
    cost = re.fullmatch(r"(.+) (\d+) s \| ([\d.]+) GiB( \| \[Colab\]\(x\) \|)", first)
    assert rows[0] == f"{cost.group(1)} |{cost.group(4)}"
    assert int(cost.group(2)) >= 1 and float(cost.group(3)) >= 0.5
    assert second == rows[1]


def test_refresh_leaves_refused_notebooks_as_they_were(refreshed):
    folder, before, reasons = refreshed
    assert reasons == {
        "02_fails": "cell 2: KeyError: 'key'; left as it was",
        "05_dies": "cell 1: DeadKernelError: Kernel died; left as it was",
        "03_noisy": "cell 1 wrote to stderr: a warning; left as it was",
    }
    for name in reasons:
        assert (folder / f"{name}.ipynb").read_bytes() == before[name]
    assert sorted(path.suffix for path in folder.iterdir()) == [".ipynb"] * 5


def test_refresh_twice_writes_the_same_bytes(refreshed):
    folder, _, _ = refreshed
    path = folder / "01_good.ipynb"
    once = path.read_bytes()
    execute.refresh([path])
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
    assert execute.refresh([path]) == []
    assert [kept.name for kept in (tmp_path / "results").iterdir()] == ["sum.json"]
    assert not (tmp_path / "elsewhere").exists()


def test_a_refused_notebook_takes_nothing_away(tmp_path, save, result):
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "sum.json").write_text(result("sum", graph=0.2, XLA=0.1))
    path = save(tmp_path / "notebooks", "01_one", 'def record(name): 1 / 0\nrecord("sum")')
    assert len(execute.refresh([path])) == 1
    assert (tmp_path / "results" / "sum.json").exists()


def test_what_varies_between_machines_is_dropped():
    cell = new_code_cell("1", metadata={"tags": ["solution"], "execution": {}, "papermill": {}})
    info = {"name": "python", "version": "3.11.7"}
    kernel = {"name": "python3", "display_name": "Python 3"}
    metadata = {"kernelspec": kernel, "language_info": info, "papermill": {}, "widgets": {}}
    tidy = execute.tidy(new_notebook(cells=[new_markdown_cell("text"), cell], metadata=metadata))
    assert tidy.metadata == {"kernelspec": kernel, "language_info": {"name": "python"}}
    assert tidy.cells[1].metadata == {"tags": ["solution"]}
