"""Learner copies and slides: nothing of the solutions, nothing missing, nothing from other hosts.

`make test-workshop` also executes every learner copy, before and after its answers are put in.
"""

import ast
import re
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

import build_workshop
import guide

ROOT = Path(__file__).parents[2]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
STUB = "answer = None"
SOLUTION = "parts = [40, 2]\nanswer = sum(parts)\n\n# Check\nprint(answer)\nassert answer == 42"

every_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def read(path):
    return nbformat.read(path, as_version=4)


def named(cell, name, **metadata):
    cell.id = name
    cell.metadata.update(metadata)
    return cell


@pytest.fixture
def small():
    """A notebook with one exercise, as the collection writes them."""
    return new_notebook(
        cells=[
            named(new_markdown_cell("# Add numbers\n\nWhat is the sum?"), "title"),
            named(new_code_cell("import xla_helpers as xh"), "set-up"),
            named(new_markdown_cell("**Guess before you run.** How many?"), "guess"),
            named(new_markdown_cell("## Exercises\n\n**1.** Add."), "exercises"),
            named(new_code_cell(STUB), "exercise-1"),
            named(new_markdown_cell("## Solutions"), "solutions"),
            named(new_code_cell(SOLUTION, execution_count=3), "solution-1", tags=["solution"]),
            named(new_markdown_cell("A sum is a sum."), "solution-1-read"),
        ]
    )


def answered(notebook, original):
    """The learner copy with each answer below what its exercise gives."""
    solutions = {cell.id: cell.source for cell in original.cells}
    for cell in notebook.cells:
        if cell.id.startswith("exercise-") and cell.cell_type == "code":
            solution = solutions[cell.id.replace("exercise", "solution")]
            cell.source += f"\n\n{build_workshop.split(solution)[0]}"
    return notebook


def execute(notebook):
    """Run it, and return what each check printed last."""
    NotebookClient(notebook, kernel_name="python3", timeout=1800).execute()
    return {
        cell.id: "".join(output.get("text", "") for output in cell.outputs).splitlines()[-1]
        for cell in notebook.cells
        if re.fullmatch(r"check-\d+", cell.id)
    }


def test_a_learner_copy_has_checks_in_place_of_solutions(small):
    cells = {cell.id: cell for cell in build_workshop.learner_copy(small).cells}
    assert list(cells) == ["title", "set-up", "guess", "exercises", "exercise-1", "check-1"]
    assert cells["exercise-1"].source == STUB
    assert "sum(parts)" not in "".join(cell.source for cell in cells.values())
    assert cells["check-1"].source == (
        "with xh.not_yet():\n    print(answer)\n    assert answer == 42"
    )


def test_checks_say_not_yet_and_then_right(small):
    learner = build_workshop.learner_copy(small)
    assert execute(learner) == {"check-1": "Not yet: assert answer == 42"}
    assert execute(answered(learner, small)) == {"check-1": "Right."}


def test_a_solution_without_a_check_is_an_error():
    with pytest.raises(ValueError):
        build_workshop.split("answer = 42")


def names(source, context):
    """Names that code reads (`ast.Load`) or gives (`ast.Store`)."""
    nodes = list(ast.walk(ast.parse(source)))
    found = {n.id for n in nodes if isinstance(n, ast.Name) and isinstance(n.ctx, context)}
    if context is ast.Store:
        found |= {n.name for n in nodes if isinstance(n, ast.FunctionDef)}
    return found


@every_notebook
def test_a_check_asks_only_for_names_that_its_exercise_shows(path):
    cells = {cell.id: cell.source for cell in read(path).cells if cell.cell_type == "code"}
    for name in [name for name in cells if name.startswith("solution-")]:
        answer, check = build_workshop.split(cells[name])
        asked = names(check, ast.Load) - names(check, ast.Store)
        shown = names(cells[name.replace("solution", "exercise")], ast.Store)
        assert asked & shown, f"{name}: its check looks at nothing that the exercise shows"
        hidden = asked & names(answer, ast.Store) - shown
        assert not hidden, f"{name}: the exercise does not show {hidden}"
        assert "assert" in check


def test_a_slide_ends_where_its_code_would_run_over():
    code = "\n".join(["x = 1"] * 9)
    cells = [new_markdown_cell("## Title"), *(new_code_cell(code) for _ in range(5))]
    shown = build_workshop.turn_pages([build_workshop.marked(cell, "-") for cell in cells])
    kinds = [cell.metadata["slideshow"]["slide_type"] for cell in shown]
    assert kinds == ["-", "-", "-", "subslide", "-", "subslide"]


def test_headings_questions_and_tables_of_prose_are_on_slides():
    prose = "## Title\n\nWords.\n\n**Guess before you run.** How many?\n\n| a |\n|---|\n| b |"
    *shown, notes = build_workshop.slide_cells(named(new_markdown_cell(prose), "text"), "Say this.")
    assert [cell.source.split("\n")[0] for cell in shown] == [
        *("## Title", "> **Guess before you run.** How many?", "| a |")
    ]
    assert notes.source == "Say this.\n\nWords."


def test_nothing_stands_below_a_picture():
    picture = new_code_cell("draw()", outputs=[new_output("display_data", {"image/png": ""})])
    cells = [build_workshop.marked(cell, "-") for cell in (picture, new_code_cell("x = 1"))]
    kinds = [c.metadata["slideshow"]["slide_type"] for c in build_workshop.turn_pages(cells)]
    assert kinds == ["-", "subslide"]


@every_notebook
def test_slides_show_questions_and_pictures_and_ask_no_other_host(path):
    notebook = read(path)
    page = build_workshop.slides_of(notebook, guide.advice()[path.stem])
    pictures = sum(
        "image/png" in o.get("data", {}) for c in notebook.cells for o in c.get("outputs", [])
    )
    questions = sum(cell.source.count("Guess before you run") for cell in notebook.cells)
    assert page.count('src="data:image/png') == pictures
    on_slides = re.sub(r"(?s)<aside class=.notes.>.*?</aside>", "", page)
    assert on_slides.count("Guess before you run") == questions
    assert page.count("<img") == len(re.findall(r'<img[^>]+alt="[^"]+"', page))
    assert not re.search(r"""(?:src=|<link[^>]+href=|@import\s+(?:url\()?)["']?https?:""", page)
    assert "# Check" not in page


def test_the_workshop_is_written_in_one_folder(tmp_path, capsys):
    build_workshop.main(["--out", str(tmp_path / "kit")])
    written = {path.name for path in (tmp_path / "kit" / "notebooks").iterdir()}
    assert written == {path.name for path in NOTEBOOKS}
    slides = tmp_path / "kit" / "slides"
    assert (slides / "reveal" / "dist" / "reveal.js").is_file()
    for page in slides.glob("*.html"):
        for used in re.findall(r'"(reveal/[^"]+)"', page.read_text()):
            assert (slides / used).is_file()


def test_a_copy_that_was_worked_in_is_kept(small, tmp_path, capsys):
    path = tmp_path / "copy.ipynb"
    build_workshop.hand_out(build_workshop.learner_copy(small), path)
    worked_in = read(path)
    next(cell for cell in worked_in.cells if cell.id == "exercise-1").source = "answer = 41"
    nbformat.write(worked_in, path)
    build_workshop.hand_out(build_workshop.learner_copy(small), path)
    assert "answer = 41" in path.read_text()
    assert f"kept {path}" in capsys.readouterr().out


def test_a_copy_that_was_only_run_is_written_anew(small, tmp_path, capsys):
    path = tmp_path / "copy.ipynb"
    only_run = build_workshop.learner_copy(small)
    only_run.cells[1].outputs = [new_output("stream", text="old")]
    nbformat.write(only_run, path)
    build_workshop.hand_out(build_workshop.learner_copy(small), path)
    assert read(path).cells[1].outputs == []
    assert capsys.readouterr().out == ""


def test_a_folder_of_somebody_s_slides_is_left_alone(tmp_path, capsys):
    (tmp_path / "slides").mkdir()
    (tmp_path / "slides" / "talk.html").write_text("mine")
    assert build_workshop.main(["--out", str(tmp_path)]) == 1
    assert (tmp_path / "slides" / "talk.html").exists()
    assert "holds something else" in capsys.readouterr().err


@pytest.mark.workshop
@every_notebook
def test_learner_copies_run_open_and_answered(path):
    learner = build_workshop.learner_copy(read(path))
    assert all(said.startswith("Not yet") for said in execute(learner).values())
    assert set(execute(answered(learner, read(path))).values()) == {"Right."}


def test_every_guess_has_advice_and_no_advice_is_left_over():
    asked = {path.stem: set(guide.questions(path)) for path in NOTEBOOKS}
    assert {name: set(said) for name, said in guide.advice().items()} == asked


def test_the_guide_holds_every_question_and_what_each_notebook_costs():
    text = guide.guide(ROOT)
    for path in NOTEBOOKS:
        for asked in guide.questions(path).values():
            assert f"> {asked.question}" in text and asked.section and asked.outcome in text
    costs = guide.costs(ROOT)
    assert set(costs) == {path.name[:2] for path in NOTEBOOKS}
    for row in costs.values():
        assert f"| {row['title']} | {row['seconds']} s | {row['memory']} |" in text


def test_the_plans_fill_half_a_day_and_a_day():
    text = guide.guide(ROOT)
    ends = re.findall(r"^\| (\d\d:\d\d) \| \| end \| \|$", text, re.MULTILINE)
    assert len(ends) == 2 and "16:00" < ends[0] <= "17:00" and ends[1] <= "17:30"


def test_the_guide_is_a_page_of_its_own():
    page = guide.as_page("# Title\n\n| a |\n|---|\n| b |")
    assert "<h1>Title</h1>" in page and "<td>b</td>" in page
    assert not re.search(r"(src|href)=[\"']https?:", page)
