"""Notebooks in kernels, and what is said of one that stopped."""

import os
import signal

import pytest
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from tools.kernels import READ, Refused, end_of, execute, message_of


def notebook(*sources):
    return new_notebook(cells=[new_code_cell(source) for source in sources])


def stopped(folder, *sources, **environment):
    """Why a notebook of these cells was refused."""
    with pytest.raises(Refused) as refused:
        execute(notebook(*sources), folder, os.environ | environment)
    return str(refused.value)


def test_a_notebook_runs_in_its_folder_and_shows_its_cells(tmp_path):
    seen = []
    book = notebook("import os; os.path.basename(os.getcwd())", "", "os.environ['GIVEN']")
    book.cells.insert(1, new_markdown_cell("text"))
    execute(book, tmp_path, os.environ | {"GIVEN": "this"}, lambda *cell: seen.append(cell))
    first, *_, last = book.cells
    assert first.outputs[0].data["text/plain"] == repr(tmp_path.name)
    assert last.outputs[0].data["text/plain"] == "'this'"
    assert [first.execution_count, last.execution_count] == [1, 2]
    assert seen == [(1, 2), (2, 2)]
    assert book.metadata.language_info["name"] == "python"


def test_an_error_is_named_with_its_cell(tmp_path, capfd):
    reason = stopped(tmp_path, "x = 1", "raise ValueError('\\x1b[1mbold\\x1b[0m\\nmore')")
    assert reason == "cell 2: ValueError: bold"
    assert capfd.readouterr() == ("", "")


def test_the_variables_are_named_that_end_a_process(tmp_path):
    reason = stopped(tmp_path, "import os; os._exit(3)", XLA_FLAGS="--no_such", TF_XLA_FLAGS="")
    assert reason == "cell 1: DeadKernelError: Kernel died; exit code 3; XLA_FLAGS is '--no_such'"


def test_the_signal_is_named_that_ended_a_kernel(tmp_path, capfd):
    reason = stopped(tmp_path, "import os, signal", "os.kill(os.getpid(), signal.SIGKILL)")
    words = f"{signal.strsignal(signal.SIGKILL)}, as when memory runs out"
    assert reason == f"cell 2: DeadKernelError: Kernel died; {words}"
    assert capfd.readouterr() == ("", "")


def test_a_kernel_that_cannot_start_says_why(tmp_path):
    (tmp_path / "ipykernel_launcher.py").write_text("raise OSError('not on this machine')")
    reason = stopped(tmp_path, "1", PYTHONPATH=str(tmp_path))
    assert reason.startswith("RuntimeError: Kernel died before replying")
    assert reason.endswith("; OSError: not on this machine")


@pytest.mark.parametrize("size", [0, 7, 10**9])
def test_of_what_a_kernel_printed_only_the_end_is_read(tmp_path, size):
    with (tmp_path / "said").open("wb+") as said:
        said.truncate(size)
        said.seek(size)
        said.write(b"the end")
        text = end_of(said)
    assert text.endswith("the end") and len(text) == min(size + len("the end"), READ)


def test_an_assertion_without_words_shows_its_line():
    error = AssertionError()
    error.evalue, error.traceback = "", ["\x1b[31m----> 1\x1b[0m assert x == 2"]
    assert message_of(error) == "assert x == 2"
    assert message_of(ValueError("one\ntwo")) == "one"
    assert message_of(ValueError()) == "no message"
