"""The anatomy of the notebooks: what every one of them has, and what none of them may hold."""

import ast
import re
import statistics
from pathlib import Path

import nbformat
import pytest
from papermill import inspect_notebook

import xla_helpers

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
SECTIONS = ["In practice", "Exercises", "Solutions", "Summary"]
PRIVATE_PATH = re.compile(r"/(root|home|Users|work|content|private)/\w|/tmp/\w")

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path):
    return nbformat.read(path, as_version=4)


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def tags(cell):
    return cell.metadata.get("tags", [])


def is_check(cell):
    return re.fullmatch(r"check-\d", cell.id) is not None


def is_folded(cell):
    return bool(cell.metadata.get("jupyter", {}).get("source_hidden"))


def lines(cell):
    return [line for line in cell.source.splitlines() if line.strip()]


def prose(notebook):
    return "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


def headings(notebook):
    return re.findall(r"^## (.+)$", prose(notebook), re.MULTILINE)


def sections(notebook):
    """Heading to the code cells below it."""
    found, heading = {}, None
    for cell in notebook.cells:
        if cell.cell_type == "markdown" and cell.source.startswith("## "):
            heading = cell.source.splitlines()[0][3:]
            found[heading] = []
        elif cell.cell_type == "code" and heading:
            found[heading].append(cell)
    return found


def test_notebooks_are_numbered_without_a_gap():
    assert [path.name[:3] for path in NOTEBOOKS] == [
        f"{n:02}_" for n in range(1, len(NOTEBOOKS) + 1)
    ]
    others = {path.name for path in (ROOT / "notebooks").iterdir()} - {p.name for p in NOTEBOOKS}
    assert others <= {".ipynb_checkpoints"}


def test_the_first_cell_is_the_same_everywhere():
    assert len({code_cells(read(path))[0].source for path in NOTEBOOKS}) == 1
    assert '"google.colab" in sys.modules' in code_cells(read(NOTEBOOKS[0]))[0].source


@every_notebook
def test_format_and_ids(path):
    notebook = read(path)
    nbformat.validate(notebook)
    assert set(notebook.metadata) == {"kernelspec", "language_info"}
    for cell in notebook.cells:
        assert re.fullmatch(r"[a-z][a-z0-9-]*", cell.id), cell.id
        assert not re.fullmatch(r"[0-9a-f]{8}", cell.id), f"{cell.id}: an id that a tool made up"
        assert set(cell.metadata) <= {"tags", "jupyter", "slideshow", "say"}
    assert path.read_text().endswith("}\n")


@every_notebook
def test_opening_and_order_of_sections(path):
    notebook = read(path)
    opening = notebook.cells[0].source
    title = opening.splitlines()[0]
    assert title.startswith("# ") and title[2:].lower().replace(" ", "_") == path.stem[3:]
    for promise in ("**What you'll do.**", "**What you'll learn**", "**What you'll need.**"):
        assert promise in opening
    found = headings(notebook)
    assert found[0] == "Set up"
    assert found[-len(SECTIONS) :] == SECTIONS
    assert 3 <= len(found) - 1 - len(SECTIONS) <= 6
    assert 1 <= sum("Guess before you run" in cell.source for cell in notebook.cells) <= 4
    assert "**Next:**" in notebook.cells[-1].source


@every_notebook
def test_parameters_are_annotated(path):
    cells = [cell for cell in code_cells(read(path)) if "parameters" in tags(cell)]
    assert len(cells) == 1
    for line in lines(cells[0]):
        assert re.fullmatch(r"\w+: \w+(\[.+\])? = .+  # .+", line), line
    known = inspect_notebook(str(path))
    assert len(known) == len(lines(cells[0]))
    ranges = code_cells(read(path))[code_cells(read(path)).index(cells[0]) + 1].source
    for name, parameter in known.items():
        limited = re.search(r"at (least|most)", parameter["help"])
        assert not limited or re.search(rf"assert .*\b{name}\b", ranges), f"{name} has no range"


@every_notebook
def test_cells_are_short_and_prose_is_long(path):
    notebook = read(path)
    cells = [cell for cell in code_cells(notebook) if not is_check(cell)]
    words = len(prose(notebook).split())
    assert statistics.median(len(lines(cell)) for cell in cells) <= 4
    assert max(len(lines(cell)) for cell in cells) <= 15
    assert words / sum(len(lines(cell)) for cell in cells if not is_folded(cell)) > 9


@every_notebook
def test_cells_that_only_assert_are_folded(path):
    for cell in code_cells(read(path)):
        if cell.source.startswith("assert") and only_asserts(cell):
            assert is_folded(cell), cell.id


def only_asserts(cell):
    return all(isinstance(statement, ast.Assert) for statement in ast.parse(cell.source).body)


@every_notebook
def test_cells_use_public_names_alone(path):
    for cell in code_cells(read(path)):
        for name in re.findall(r"\bxh\.(\w+)", cell.source):
            assert name in xla_helpers.__all__, f"{cell.id}: xh.{name} is not public"
        assert not re.search(r"from xla_helpers|import xla_helpers\.", cell.source), cell.id


@every_notebook
def test_pictures_are_in_the_style(path):
    code = "\n".join(cell.source for cell in code_cells(read(path)))
    assert ("plt." in code) == ('plt.style.use("xla_helpers.xla")' in code)
    assert not re.search(r"""["']#[0-9a-fA-F]{3,6}["']|rcParams""", code)


@every_notebook
def test_every_lesson_can_fail(path):
    lessons = sections(read(path))
    for heading, cells in lessons.items():
        if heading in ("Set up", *SECTIONS):
            continue
        assert any("assert" in cell.source for cell in cells), f"nothing can fail in {heading!r}"


@every_notebook
def test_every_exercise_has_a_check_that_its_solution_calls(path):
    cells = code_cells(read(path))
    numbers = [c.id.removeprefix("exercise-") for c in cells if c.id.startswith("exercise-")]
    solutions = [cell for cell in cells if "solution" in tags(cell)]
    checks = [cell for cell in cells if is_check(cell)]
    assert 2 <= len(numbers) <= 3
    for number, check, solution in zip(numbers, checks, solutions, strict=True):
        assert (check.id, solution.id) == (f"check-{number}", f"solution-{number}")
        assert cells[cells.index(check) - 1].id == f"exercise-{number}"
        assert check.source.startswith(f"def check_{number}():\n") and "assert" in check.source
        assert re.search(rf"\nwith xh.not_yet\(.+\):\n    check_{number}\(\)$", check.source)
        assert solution.source.endswith(f"\ncheck_{number}()")
        assert all(cell.metadata["jupyter"]["source_hidden"] for cell in (check, solution))


@every_notebook
def test_outputs_are_there_and_quiet(path):
    cells = [cell for cell in code_cells(read(path)) if lines(cell)]
    assert [cell.execution_count for cell in cells] == list(range(1, len(cells) + 1))
    for cell in cells:
        assert "raises-exception" not in tags(cell)
        for output in cell.outputs:
            assert output.output_type != "error", cell.id
            assert output.get("name") != "stderr", cell.id
        if "nbval-check-output" in tags(cell):
            assert cell.outputs, f"{cell.id} has no output to compare"


@every_notebook
def test_every_picture_is_described(path):
    for cell in code_cells(read(path)):
        for output in cell.outputs:
            if "image/png" in output.get("data", {}):
                description = output.metadata["image/png"]["alt"]
                assert len(description.split()) > 5
                assert not re.search(r"\d", description), f"{cell.id}: it may not hold elsewhere"


@every_notebook
def test_no_path_of_the_machine_it_ran_on(path):
    assert not PRIVATE_PATH.search(re.sub(r'"image/png": "[^"]+"', "", path.read_text()))


@every_notebook
def test_links_between_notebooks_lead_to_a_file_and_a_heading(path):
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", prose(read(path))):
        other = path.parent / target if target else path
        assert other.exists(), target
        if anchor:
            found = re.findall(r"^#+ (.+)$", prose(read(other)), re.MULTILINE)
            assert anchor in {heading.replace(" ", "-") for heading in found}, anchor
