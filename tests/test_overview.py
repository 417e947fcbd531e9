"""What was recorded is kept, whatever becomes of the notebooks, and what is left out is named."""

import shutil
from dataclasses import replace
from pathlib import Path

import nbformat
import overview
import pytest
from chains import ACCEPTED, accept, chains, changed
from nbformat.v4 import new_code_cell, new_notebook

import xla_helpers as xh
from xla_helpers.evidence import Evidence
from xla_helpers.results import Recorded, Result, write
from xla_helpers.timing import Measurement

ROOT = Path(__file__).parents[1]
RAN = {"graph": Evidence(graphs=1, programs=0), "XLA": Evidence(programs=1)}
SET_UP = "import xla_helpers as xh"
RACE = 'xh.record("sums", found, "the sums")'
NOTEBOOKS = {  # and the name of each race to how many times faster XLA is, on each machine
    "01_a": {"sums": [1.1, 1.2]},
    "02_b": {"generate": [3.0, 4.0], "keras-predict": [1.3, 1.2]},
    "03_c": {overview.IMAGE: [0.5, 0.4]},
}
NOTHING = "no results to draw: README, pages and pictures stay as they are\n"


@pytest.fixture
def project(tmp_path):
    """Pages to draw into, and notebooks with what two machines found."""
    (tmp_path / "docs/site").mkdir(parents=True)
    for name in ("README.md", "docs/results.md", "docs/passes.json"):
        shutil.copy(ROOT / name, tmp_path / name)
    for name, races in NOTEBOOKS.items():
        calls = [RACE.replace("sums", race) for race in races]
        save(tmp_path, SET_UP, *calls, name=name)
        for race, ratios in races.items():
            for number, ratio in enumerate(ratios):
                write(result(race, ratio, number), tmp_path / "results")
    accept(chains(tmp_path), tmp_path)
    return tmp_path


def save(folder, *sources, name="01_a"):
    """Write a notebook of these cells, all of its chain."""
    cells = [new_code_cell(source, metadata={"tags": ["run"]}) for source in sources]
    (folder / "notebooks").mkdir(exist_ok=True)
    nbformat.write(new_notebook(cells=cells), folder / f"notebooks/{name}.ipynb")


def result(race, ratio, number=0):
    """What a machine of this number found: in nine rounds XLA is so many times faster."""
    seconds = {"graph": ratio, "XLA": 1.0}
    rows = {label: Measurement(label, 2.0, (s,) * 9, 1) for label, s in seconds.items()}
    runs = (Recorded("2026-11-21", xh.Comparison(rows, {}, evidence=RAN)),)
    return Result(race, f"the {race}", {"processor": f"P{number}"}, runs)


def edit(project, old, new):
    """Replace text in the code of all notebooks."""
    for path in project.glob("notebooks/*.ipynb"):
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            cell.source = cell.source.replace(old, new)
        nbformat.write(notebook, path)


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def drawn(project, capsys):
    """What is printed, and the page; what was recorded is afterwards what it was before."""
    before = contents(project / "results")
    overview.main(project)
    assert contents(project / "results") == before
    return capsys.readouterr().out, (project / "docs/results.md").read_text(encoding="utf-8")


def readme(project):
    return (project / "README.md").read_text(encoding="utf-8")


def test_the_code_of_all_races_is_the_accepted_one():
    found = changed(chains(ROOT), ROOT)
    assert not found, "\n\n".join(found.values())


def test_each_race_is_recorded_by_one_notebook():
    names = [name for chain in chains(ROOT).values() for name in chain["races"]]
    assert names and len(names) == len(set(names))


@pytest.mark.parametrize(
    ("sources", "asks"),
    [
        ([f"# Set up\n{SET_UP}", f"\n{RACE}  # as of now"], False),
        ([SET_UP, "xh.record(\n    'sums',\n    found, 'the sums',\n)"], False),
        ([f"{SET_UP}\n{RACE}"], False),
        ([f"import time\n{SET_UP}", RACE], True),
        ([SET_UP, RACE.replace("found", "found_again")], True),
        ([SET_UP, RACE.replace("found,", "found, version=2, what=")], True),
        ([f"%pip list\n!ls\n{SET_UP}", RACE], True),
        (["%%time\n# a magic with a cell", SET_UP, RACE], True),
        ([], True),
    ],
)
def test_other_code_asks_for_a_version_or_to_be_accepted(tmp_path, sources, asks):
    """Comments, format and the limits of cells are no other code; magics are code."""
    save(tmp_path, SET_UP, RACE)
    assert list(changed(chains(tmp_path), tmp_path)) == ["01_a"]  # which is new
    accept(chains(tmp_path), tmp_path)
    assert (tmp_path / ACCEPTED).read_text().endswith('races."sums" = 1\n')
    assert changed(chains(tmp_path), tmp_path) == {}
    save(tmp_path, *sources)
    found = changed(chains(tmp_path), tmp_path)
    assert list(found) == (["01_a"] if asks else [])
    assert all("version=" in ask and "tools/chains.py" in ask for ask in found.values())
    accept(chains(tmp_path), tmp_path)
    assert changed(chains(tmp_path), tmp_path) == {}


@pytest.mark.parametrize("given", ["name, found, 'sums'", "'sums', found, 'x', version=number"])
def test_a_race_says_in_its_call_what_it_is(tmp_path, given):
    save(tmp_path, f"xh.record({given})")
    with pytest.raises(ValueError, match=r"01_a.ipynb: .*name and version"):
        chains(tmp_path)


def test_a_comment_changes_nothing(project, capsys):
    drawn(project, capsys)
    before = contents(project / "docs")
    edit(project, SET_UP, f"# What all of them need\n{SET_UP}")
    assert drawn(project, capsys)[0] == "" and contents(project / "docs") == before


def test_an_import_in_all_set_ups_asks_and_takes_nothing_out_of_the_tables(project, capsys):
    _, before = drawn(project, capsys)
    edit(project, SET_UP, f"import time\n{SET_UP}")
    said, table = drawn(project, capsys)
    assert said.count("tools/chains.py") == said.count("\n") == len(NOTEBOOKS)
    assert table == before


def test_results_of_an_older_version_are_kept_and_named_once(project, capsys):
    edit(project, '"the keras-predict"', '"the keras-predict", version=2')
    said, table = drawn(project, capsys)
    words = "keras-predict, version 1, of which 02_b records version 2 (2 results)"
    assert said.count(f"left out: {words}\n") == said.count("left out") == 1
    assert table.count(overview.plain(words)) == table.count("keras-predict") == 1
    assert "the generate" in table  # the other race of its notebook
    assert "Keras predict" not in readme(project)
    write(replace(result("keras-predict", 1.5), version=2), project / "results")
    said, table = drawn(project, capsys)
    assert "the keras-predict | graph | **1.50x faster**" in table and words in said
    assert "Keras predict (one machine): 1.50x faster" in readme(project)


def test_results_of_a_later_version_are_left_out(project, capsys):
    write(replace(result("sums", 9.0), version=7), project / "results")
    said, table = drawn(project, capsys)
    assert "left out: sums, version 7, of which 01_a records version 1 (1 result)\n" in said
    assert "9.00x" not in table and "1.10x faster" in table


@pytest.mark.parametrize("kind", ["removed", "renamed"])
def test_a_notebook_may_go_and_its_results_stay(project, capsys, kind):
    """Also the first one, whose outputs say which machine is the first."""
    for name in ("01_a", "02_b"):
        path = project / f"notebooks/{name}.ipynb"
        path.unlink() if kind == "removed" else path.rename(path.with_stem(f"{name}_anew"))
    said, table = drawn(project, capsys)
    gone = "left out: generate, version 1, which no notebook records (2 results)\n"
    assert said.count(gone) == (kind == "removed")
    assert ("[02](../notebooks/02_b_anew.ipynb)" in table) == (kind == "renamed")


def test_what_says_nothing_is_named_too(project, capsys):
    wide = result("sums", 2.0, number=7)
    (run,) = wide.runs
    rows = run.comparison.measurements
    unlike = rows | {"graph": replace(rows["graph"], samples=(1.0, 9.0) * 4 + (1.0,))}
    run = replace(run, comparison=replace(run.comparison, measurements=unlike))
    write(replace(wide, runs=(run,)), project / "results")
    (project / "results/cut.json").write_text("{")
    said, table = drawn(project, capsys)
    assert "left out: sums, version 1, whose range says nothing (1 result)\n" in said
    assert "left out: results/cut.json, not a result" in said
    assert "P7" not in table and "cut.json" in table


@pytest.mark.parametrize("there", ["no folder", "no file", "no race", "no result"])
def test_without_results_it_says_so_and_leaves_the_pages(project, capsys, there):
    files = [*(project / "results").rglob("*.json")]
    for path in files:
        path.write_text("{") if there == "no result" else path.unlink()
    if there == "no race":
        write(result("another", 2.0), project / "results")
    if there == "no folder":
        shutil.rmtree(project / "results")
    before = contents(project / "docs") | {"README": readme(project)}
    said, _ = drawn(project, capsys)
    assert said.endswith(NOTHING)
    assert said.count("left out: ") == {"no race": 1, "no result": len(files)}.get(there, 0)
    assert contents(project / "docs") | {"README": readme(project)} == before


@pytest.mark.parametrize(
    ("kept", "promise"),
    [
        (["generate"], "it made a toy of it 3.0 to 4.0 times faster, and kept silent"),
        ([overview.IMAGE, "sums"], "it made an image model 2.0 to 2.5 times slower, and kept"),
        (["sums"], "without a GPU, it kept silent"),
    ],
)
def test_races_that_no_machine_has_leave_no_hole(project, capsys, kept, promise):
    for path in (project / "results").rglob("*.json"):
        if path.stem not in kept:
            path.unlink()
    said, table = drawn(project, capsys)
    assert said == "" and table.count("| [") == len(kept)
    assert promise in readme(project)


def test_one_machine_is_enough(project, capsys):
    shutil.rmtree(project / "results/p1")
    said, table = drawn(project, capsys)
    assert said == "" and "machine 1 |" in table and "machine 2" not in table
    assert "**On one machine, " in readme(project)


@pytest.mark.parametrize(
    ("ratios", "words"),
    [
        ([2.0, 3.0], "2.0 to 3.0 times faster"),
        ([0.5, 0.25], "2.0 to 4.0 times slower"),
        ([0.5, 3.0], "2.0 times slower to 3.0 times faster"),
    ],
)
def test_machines_may_disagree_in_the_sentence(ratios, words):
    assert overview.change(ratios) == words
