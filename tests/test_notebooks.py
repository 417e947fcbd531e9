"""The anatomy of the notebooks: what each of them has, and what none may hold."""

import ast
import base64
import builtins
import functools
import json
import re
import symtable
import tomllib
from pathlib import Path

import nbformat
import pytest
from myst_parser.slugs import github_slugify
from papermill import inspect_notebook

import xla_decide as xd
import xla_helpers as xh

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SECTIONS = ["In practice", "Exercises", "Solutions", "Summary"]
PRIVATE_PATH = re.compile(r"/(root|home|Users|work|content|private)/\w|/tmp/\w")

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@functools.cache
def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(path):
    return [cell for cell in read(path).cells if cell.cell_type == "code"]


def tags(cell):
    return cell.metadata.get("tags", [])


def is_folded(cell):
    return bool(cell.metadata.get("jupyter", {}).get("source_hidden"))


def lines(cell):
    return [line for line in cell.source.splitlines() if line.strip()]


def prose(path):
    return "\n".join(cell.source for cell in read(path).cells if cell.cell_type == "markdown")


def global_names(source):
    """The global names that code takes, and those that it makes."""
    code = re.sub(r"(?m)^( *)%.*", r"\1pass", source)  # `%pip` is no Python
    tables, takes, makes = [symtable.symtable(code, "cells", "exec")], set(), set()
    for table in tables:
        tables += table.get_children()
        at_top = table.get_type() == "module"
        symbols = [symbol for symbol in table.get_symbols() if at_top or symbol.is_global()]
        takes |= {x.get_name() for x in symbols if x.is_referenced()}
        makes |= {x.get_name() for x in symbols if x.is_assigned() or x.is_imported()}
    return takes, makes


def test_notebooks_are_numbered_without_a_gap():
    names = {path.name for path in (ROOT / "notebooks").iterdir()} - {".ipynb_checkpoints"}
    assert names == {path.name for path in NOTEBOOKS}
    assert [int(path.name[:2]) for path in NOTEBOOKS] == list(range(1, len(NOTEBOOKS) + 1))


def test_all_begin_with_the_cell_for_colab():
    (first,) = {code_cells(path)[0].source for path in NOTEBOOKS}
    assert '"google.colab" in sys.modules' in first


@every_notebook
def test_format_and_ids(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    for cell in notebook.cells:
        assert re.fullmatch(r"[a-z][a-z0-9-]*", cell.id), cell.id
        assert not re.fullmatch(r"[0-9a-f]{8}", cell.id), f"{cell.id}: an id that a tool made up"
        assert set(cell.metadata) <= {"tags", "jupyter", "cellView", "say", "bet", "quotes"}
        folds = cell.metadata.get("cellView") == "form"  # in Colab
        assert folds == is_folded(cell), cell.id
    text = path.read_text(encoding="utf-8")  # JupyterLab would save it so
    assert text == json.dumps(json.loads(text), ensure_ascii=False, indent=1, sort_keys=True) + "\n"


@every_notebook
def test_opening_and_order_of_sections(path):
    cells = read(path).cells
    title, *opening = cells[0].source.splitlines()
    is_renamed = path.stem == "04_avoid_retracing"  # links to the file stay
    named = "avoid_recompiling" if is_renamed else path.stem[3:]
    assert title.removeprefix("# ").lower().replace(" ", "_") == named
    for promise in ("**What you'll do.**", "**What you'll learn**", "**What you'll need.**"):
        assert promise in "\n".join(opening)
    found = re.findall(r"^## (.+)$", prose(path), re.MULTILINE)
    assert found[0] == "Set up" and found[-len(SECTIONS) :] == SECTIONS
    assert 3 <= len(found) - 1 - len(SECTIONS) <= 6
    assert 1 <= sum("Guess before you run" in cell.source for cell in cells) <= 4
    assert "**Next:**" in cells[-1].source


@every_notebook
def test_parameters_are_annotated(path):
    cells = code_cells(path)
    (cell,) = [cell for cell in cells if "parameters" in tags(cell)]
    assert all(re.fullmatch(r"\w+: \w+(\[.+\])? = .+  # .+", line) for line in lines(cell))
    known = inspect_notebook(str(path))
    assert len(known) == len(lines(cell))
    ranges = cells[cells.index(cell) + 1].source
    for name, parameter in known.items():
        limited = re.search(r"at (least|most)", parameter["help"])
        assert not limited or re.search(rf"assert .*\b{name}\b", ranges), f"{name} has no range"


@every_notebook
def test_cells_are_short_and_prose_is_long(path):
    cells = [cell for cell in code_cells(path) if not re.fullmatch(r"check-\d", cell.id)]
    named = [is_folded(cell) and "run" not in tags(cell) for cell in cells]  # no code
    lengths = [len(lines(cell)) - name for cell, name in zip(cells, named, strict=True)]
    assert max(lengths) <= 15
    in_sight = sum(len(lines(cell)) for cell in cells if not is_folded(cell))
    assert len(prose(path).split()) / in_sight > 9


@every_notebook
def test_cells_that_only_assert_are_folded(path):
    for cell in code_cells(path):
        if cell.source.startswith("assert"):
            kinds = {type(statement) for statement in ast.parse(cell.source).body}
            assert is_folded(cell) or kinds != {ast.Assert}, cell.id


@every_notebook
def test_the_line_in_sight_of_a_folded_cell_says_what_it_holds(path):
    for cell in filter(is_folded, code_cells(path)):
        assert "run" in tags(cell) or re.fullmatch("# [A-Z].{9,70}", lines(cell)[0]), cell.id


@every_notebook
def test_cells_use_public_names_alone(path):
    for cell in code_cells(path):
        for short, package in {"xh": xh, "xd": xd}.items():
            used = set(re.findall(rf"\b{short}\.([A-Za-z]\w*)", cell.source))
            assert used <= set(package.__all__), cell.id
        assert not re.search(r"from xla_(helpers|decide)|import xla_\w+\.", cell.source), cell.id


@every_notebook
def test_pictures_are_in_the_style(path):
    code = "\n".join(cell.source for cell in code_cells(path))
    assert ("plt." in code) == ('plt.style.use("xla_helpers.xla")' in code)
    assert not re.search(r"""["']#[0-9a-fA-F]{3,6}["']|rcParams""", code)


@every_notebook
def test_every_lesson_can_fail(path):
    can_fail, heading = {}, "Set up"
    for cell in read(path).cells:
        if cell.cell_type == "markdown" and cell.source.startswith("## "):
            heading = cell.source.splitlines()[0][3:]
        elif cell.cell_type == "code":
            holds = re.search(r"\bassert |claim\w*\(", cell.source)
            can_fail[heading] = can_fail.get(heading, False) or bool(holds)
    lessons = set(can_fail) - {"Set up", *SECTIONS}
    assert len(lessons) >= 3 and {lesson for lesson in lessons if not can_fail[lesson]} == set()


@every_notebook
def test_every_exercise_has_a_check_that_its_solution_calls(path):
    cells = code_cells(path)
    numbers = [c.id.removeprefix("exercise-") for c in cells if c.id.startswith("exercise-")]
    solutions = [cell for cell in cells if "solution" in tags(cell)]
    checks = [cell for cell in cells if re.fullmatch(r"check-\d", cell.id)]
    assert 2 <= len(numbers) <= 3
    for number, check, solution in zip(numbers, checks, solutions, strict=True):
        assert (check.id, solution.id) == (f"check-{number}", f"solution-{number}")
        assert cells[cells.index(check) - 1].id == f"exercise-{number}"
        assert check.source.startswith(f"# Check of exercise {number}\ndef check_{number}():\n")
        assert "assert" in check.source and solution.source.startswith(f"# Solution {number}\n")
        assert check.source.endswith(f"\nxh.exercise(check_{number})")
        assert solution.source.endswith(f"\ncheck_{number}()")
        assert is_folded(check) and is_folded(solution)


@every_notebook
def test_a_chain_of_cells_defines_what_it_uses_and_records(path):
    """So it can run alone, and what is recorded outside of it has no six processes."""
    chain = [cell.source for cell in code_cells(path) if "run" in tags(cell)]
    everything = "\n".join(cell.source for cell in code_cells(path) if not is_folded(cell))
    assert everything.count("xh.record(") == "\n".join(chain).count("xh.record(")
    takes, makes = global_names("\n".join(chain))
    assert takes <= makes | set(dir(builtins)), takes - makes


@every_notebook
def test_learner_copies_take_no_name_from_a_cell_that_they_lack(path):
    """Neither from the one for Colab nor from a solution."""
    cells = [(c.id == "colab" or "solution" in tags(c), c) for c in code_cells(path)]
    dropped = set().union(*(global_names(cell.source)[1] for gone, cell in cells if gone))
    made, lost = set(), {}
    for cell in (cell for gone, cell in cells if not gone):
        takes, makes = global_names(cell.source)
        made |= makes
        lost[cell.id] = takes & dropped - made
    assert {id: names for id, names in lost.items() if names} == {}


@every_notebook
def test_outputs_are_there_and_quiet(path):
    cells = [cell for cell in code_cells(path) if lines(cell)]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        assert "raises-exception" not in tags(cell)
        assert "nbval-check-output" not in tags(cell) or cell.outputs, f"{cell.id}: no output"
        for output in cell.outputs:
            assert output.output_type != "error" and output.get("name") != "stderr", cell.id


@every_notebook
def test_every_picture_is_described(path):
    for cell in code_cells(path):
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                alt = output.metadata["image/png"]["alt"]
                assert len(alt.split()) > 5 and not re.search(r"\d", alt), cell.id


@every_notebook
def test_every_picture_is_sharp_at_twice_its_size(path):
    for cell in code_cells(path):
        for output in cell.outputs:
            if png := output.get("data", {}).get("image/png"):
                width = int.from_bytes(base64.b64decode(png)[16:20], "big")  # of its header
                assert width > 1.9 * output.metadata["image/png"]["width"], cell.id


@every_notebook
def test_no_path_of_the_machine_it_ran_on(path):
    text = path.read_text(encoding="utf-8")
    assert not PRIVATE_PATH.search(re.sub(r'"image/png": "[^"]+"', "", text))


@every_notebook
def test_links_between_notebooks_lead_to_a_file_and_a_heading(path):
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", prose(path)):
        other = (path.parent / target).resolve() if target else path
        assert other.exists(), target
        is_page = other.suffix == ".md"  # where GitHub names the headings, and not JupyterLab
        if anchor:
            text = other.read_text(encoding="utf-8") if is_page else prose(other)
            found = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
            named = github_slugify if is_page else lambda heading: heading.replace(" ", "-")
            assert anchor in set(map(named, found)), anchor


def test_every_entry_of_the_table_is_of_a_notebook():
    names = tomllib.loads((ROOT / "tests/parameters.toml").read_text())
    assert names and names.keys() <= {path.stem for path in NOTEBOOKS}
