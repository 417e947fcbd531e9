"""`make run` and `make refresh`: what is executed, where it lands, and how a failure is told."""

import os
import runpy
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import nbformat
import pytest
from nbformat.v4 import new_code_cell, new_notebook

ROOT = Path(__file__).parents[1]
KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}
PARAMETERS = "size: int = 4  # rows, at least 2\nplaces: list[str] = []  # folders"


def save(folder, name, *sources):
    cells = [new_code_cell(source, id=f"cell-{n}") for n, source in enumerate(sources)]
    if sources[0] == PARAMETERS:
        cells[0].metadata["tags"] = ["parameters"]
    path = folder / "notebooks" / f"{name}.ipynb"
    nbformat.write(new_notebook(cells=cells, metadata={"kernelspec": KERNEL}), path)
    return path


@pytest.fixture
def project(tmp_path):
    """Three notebooks: one has parameters, one fails at its second cell, one prints."""
    for name in ("notebooks", "tools", "results"):
        (tmp_path / name).mkdir()
    shutil.copy(ROOT / "tools/run.py", tmp_path / "tools")
    save(tmp_path, "01_a", PARAMETERS, 'assert size >= 2, "size: at least 2"\nprint(size, places)')
    save(tmp_path, "02_b", "1", "x = 1\nassert x == 2, (\n    f'\\x1b[31m{x} is no 2'\n)")
    save(tmp_path, "03_c", "import os\nprint(os.getcwd())\nprint(os.environ['XLA_RESULTS'])")
    return tmp_path


def command(project, *words, **variables):
    own = {"XLA_RESULTS": str(project / "build/results"), "PYTHONPATH": str(ROOT)} | variables
    words = [sys.executable, "tools/run.py", *words]
    return {"args": words, "cwd": project, "env": os.environ | own, "text": True}


def run(project, *words, **variables):
    return subprocess.run(capture_output=True, **command(project, *words, **variables))


def printed(path):
    cells = nbformat.read(path, as_version=4).cells
    return "".join(out.get("text", "") for cell in cells for out in cell.get("outputs", []))


def sources(project):
    return {path: path.read_bytes() for path in (project / "notebooks").iterdir()}


def test_a_failure_stops_no_other_and_is_told_in_the_end(project):
    before = sources(project)
    done = run(project)
    assert done.returncode == 1
    assert [line.split(" ... ")[0] for line in done.stdout.splitlines()] == [
        "[1/3] 01_a",
        "[2/3] 02_b",
        "[3/3] 03_c",
    ]
    assert done.stderr == "1 of 3 failed:\n  02_b, cell 2: AssertionError: 1 is no 2\n"
    folder, results = printed(project / "build/03_c.ipynb").splitlines()
    assert (folder, results) == (str(project / "notebooks"), str(project / "build/results"))
    assert sources(project) == before
    assert {path.name for path in (project / "build").iterdir()} == {
        "01_a.ipynb",
        "02_b.ipynb",
        "03_c.ipynb",
    }


def test_values_reach_the_notebooks_that_have_the_parameter(project):
    done = run(project, WORDS="-p size 7 -p places '[a b, $(touch ran)]'")
    assert (done.returncode, done.stdout.count("\n")) == (0, 1)
    assert printed(project / "build/01_a.ipynb") == "7 ['a b', '$(touch ran)']\n"
    assert not list(project.rglob("ran"))


@pytest.mark.parametrize(
    ("words", "said"),
    [
        ("-p size many", "size is 'many'; its cell says: int, rows, at least 2"),
        ("-p size [", "expected the node content"),
        ("-p places many", "places is 'many'; its cell says: list[str], folders"),
        ("-p sise 3", "none of these notebooks has a parameter sise"),
        ("3 -p size 3", "none of these notebooks has a parameter size"),
        ("4", "no notebook 4; there are 01_a, 02_b, 03_c"),
        ("-p size", "expected 2 arguments"),
        ("-p size 'a", "No closing quotation"),
        ("--decide missing.py:make", "no file"),
        ("--decide mine.py", "no file"),
        ("--decide ''", "no file"),
        ("--decide mine.py:make -p expcet XLA", "has a parameter expcet"),
    ],
)
def test_words_that_make_no_sense_run_nothing(project, capsys, monkeypatch, words, said):
    main = runpy.run_path(str(project / "tools/run.py"))["main"]
    monkeypatch.setenv("WORDS", words)
    with pytest.raises(SystemExit) as ended:
        main([])
    assert ended.value.code == 2 and said in capsys.readouterr().err.splitlines()[-1]
    assert not (project / "build").exists()


def test_a_value_out_of_range_is_refused_by_the_notebook(project):
    done = run(project, WORDS="1 -p size 1")
    assert done.returncode == 1
    assert done.stderr.endswith("01_a, cell 3: AssertionError: size: at least 2\n")


def test_in_place_a_notebook_holds_its_outputs_and_no_mark_of_a_tool(project):
    before = sources(project)
    done = run(project, "--in-place", XLA_RESULTS=str(project / "results"))
    assert done.returncode == 1
    after = sources(project)
    changed = {path.stem for path in after if after[path] != before[path]}
    assert changed == {"01_a", "03_c"}  # what failed is left as it was
    text = (project / "notebooks/03_c.ipynb").read_text()
    assert str(project / "results") in text and text.endswith("}\n")
    assert "papermill" not in text and '"tags"' not in text and "iopub" not in text


def heed_ctrl_c():
    """What a shell starts in the background ignores it, tests and their children included."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_ctrl_c_ends_it_with_130_and_keeps_the_earlier_copy(project):
    (project / "build").mkdir()
    earlier = project / "build/01_a.ipynb"
    earlier.write_text("of an earlier run")
    save(project, "01_a", "open('started', 'w').close()\nimport time\ntime.sleep(60)")
    process = subprocess.Popen(
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
        preexec_fn=heed_ctrl_c,
        **command(project),
    )
    while not (project / "notebooks/started").exists():
        assert process.poll() is None, process.communicate()
        time.sleep(0.1)
    os.killpg(process.pid, signal.SIGINT)
    out, said = process.communicate(timeout=300)
    assert process.returncode == 130 and "Traceback" not in said
    assert [path.name for path in (project / "build").iterdir()] == ["01_a.ipynb"]
    assert earlier.read_text() == "of an earlier run"


def test_a_kernel_that_dies_and_a_file_that_is_no_notebook_stop_no_other(project):
    save(project, "01_a", "import os\nos._exit(1)")
    (project / "notebooks/02_b.ipynb").write_text("{")
    done = run(project)
    assert done.stderr.splitlines()[:2] == [
        "2 of 3 failed:",
        "  01_a, DeadKernelError: Kernel died",
    ]
    assert done.stderr.splitlines()[2].startswith("  02_b, ") and done.stderr.count("\n") == 3
    assert printed(project / "build/03_c.ipynb")


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_folder_that_cannot_be_made_is_one_line(project, kind):
    build = project / "build"
    build.write_text("") if kind == "file" else build.symlink_to("nowhere")
    done = run(project)
    assert done.returncode == 1 and done.stderr.startswith("run: ")
    assert done.stderr.count("\n") == 1 and "build" in done.stderr


@pytest.fixture
def deciding(project):
    """The notebook that decides has a lesson, and what is left without it."""
    shutil.copytree(ROOT / "tools/page", project / "tools/page")
    (project / "mine.py").write_text("")
    path = save(
        project,
        "04_decide_for_your_model",
        'model: str = ""  # yours\nexpect: str = ""  # the verdict',
        "raise SystemExit('the lesson ran')",
        "print('XLA for', model)",
        "assert not expect, f'{expect} was expected'",
    )
    notebook = nbformat.read(path, as_version=4)
    notebook.cells[0].metadata["tags"] = ["parameters"]
    notebook.cells[1].metadata["tags"] = ["lesson"]
    notebook.cells[2].id = "verdict"
    nbformat.write(notebook, path)
    return project


def test_a_decision_is_a_page_of_a_notebook_without_its_lesson(deciding):
    done = run(deciding, "--decide", "mine.py:make")
    assert done.returncode == 0, done.stderr
    verdict = f"XLA for {deciding}/mine.py:make"
    page = (deciding / "build/decide/mine-make.html").read_text()
    assert done.stdout == f"{verdict}\nopen build/decide/mine-make.html\n"
    assert verdict in page and "lesson" not in page.partition("<body")[2]
    assert {path.suffix for path in (deciding / "build/decide").iterdir()} == {".html", ".ipynb"}


def test_another_verdict_than_expected_leaves_the_page_and_fails(deciding):
    done = run(deciding, "--decide", "mine.py:make", "-p", "expect", "graph")
    assert done.returncode == 1
    assert done.stderr == "decide: cell 4: AssertionError: graph was expected\n"
    assert "XLA for" in done.stdout and (deciding / "build/decide/mine-make.html").exists()
