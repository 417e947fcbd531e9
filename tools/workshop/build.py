"""Build what a workshop needs from the notebooks, in build/workshop: learner copies, slides and
the instructor's guide.

Learner copies have no outputs and no solutions; after each exercise stands its check, which says
"Not yet" until the answer is right. Slides show headings, questions, code and outputs; the prose
is in their speaker notes (press S). Nothing is executed, and the slides ask no other host.
"""

import argparse
import copy
import re
import shutil
import sys
import textwrap
from importlib.util import find_spec
from pathlib import Path

import nbformat
from nbconvert import SlidesExporter
from nbformat.v4 import new_code_cell, new_markdown_cell
from traitlets.config import Config

import guide
from lessons import is_for_colab, read_all, shows_picture, text_of, title_of

ROOT = Path(__file__).resolve().parents[1]
CHECK = "\n# Check\n"  # in a solution: what stands below it checks what stands above
EXPLANATION = (
    "Below each exercise stands its check, folded. "
    'Run it: it says "Not yet" until the answer is right.'
)
HELP = "folder to write; earlier slides in it are replaced (default build/workshop)"
ROOM = 22  # lines of code and output that a slide shows without scrolling
DRAWING = "drawing"  # tag of a cell whose code a slide leaves out
SLIDES = Path(__file__).with_name("slides")  # the template


def main(arguments=None):
    parser = argparse.ArgumentParser(prog="build_workshop.py", description=__doc__)
    parser.add_argument("--out", type=Path, default=ROOT / "build" / "workshop", help=HELP)
    out = parser.parse_args(arguments).out
    learners, slides = out / "notebooks", out / "slides"
    if slides.exists() and not (slides / "reveal").is_dir():
        print(f"workshop: {slides} holds something else; name another folder", file=sys.stderr)
        return 1
    learners.mkdir(parents=True, exist_ok=True)
    shutil.rmtree(slides, ignore_errors=True)
    shutil.copytree(player(), slides / "reveal")
    said = guide.advice()
    for path, notebook in read_all(ROOT).items():
        hand_out(learner_copy(notebook), learners / path.name)
        (slides / f"{path.stem}.html").write_text(slides_of(notebook, said[path.stem]))
    (out / "guide.html").write_text(guide.as_page(guide.guide(ROOT)))
    print(f"{len(list(learners.glob('*.ipynb')))} notebooks for learners in {learners}")
    print(f"their slides in {slides}, the instructor's guide is {out / 'guide.html'}")
    return 0


# Learner copies


def hand_out(made, path):
    """Write a learner copy, but never over one that somebody has worked in."""
    if path.exists() and sources(nbformat.read(path, as_version=4)) != sources(made):
        print(f"kept {path}, which was changed; remove it for a new one")
    else:
        nbformat.write(made, path)


def sources(notebook):
    return [cell.source for cell in notebook.cells]


def learner_copy(notebook):
    """The notebook without outputs and solutions, each exercise followed by its check."""
    checks = {
        cell.id.replace("solution", "exercise"): split(cell.source)[1]
        for cell in notebook.cells
        if is_solution(cell) and cell.cell_type == "code"
    }
    cells = []
    for cell in without_outputs(notebook.cells):
        if is_solution(cell):
            continue
        cells.append(cell)
        if cell.source.startswith("## Exercises"):
            cell.source += f"\n\n{EXPLANATION}"
        if cell.id in checks:
            cells.append(check_cell(cell.id.replace("exercise", "check"), checks[cell.id]))
    return nbformat.v4.new_notebook(metadata=notebook.metadata, cells=cells)


def is_solution(cell):
    return cell.id.startswith("solution")


def split(solution):
    """A solution's answer and its check."""
    answer, check = f"\n{solution}".split(CHECK)
    return answer.strip("\n"), check.strip("\n")


def check_cell(name, check):
    cell = new_code_cell(f"with xh.not_yet():\n{textwrap.indent(check, ' ' * 4)}")
    cell.id = name
    cell.metadata["jupyter"] = {"source_hidden": True}
    return cell


def without_outputs(cells):
    cells = copy.deepcopy(cells)
    for cell in cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    return cells


# Slides


def slides_of(notebook, said):
    """One page of slides, from the headings, questions, code and outputs of a notebook.

    said: cell to what an instructor says there, for the speaker notes.
    """
    exporter = SlidesExporter(
        template_name=SLIDES.name,
        extra_template_basedirs=[str(SLIDES.parent)],
        reveal_url_prefix="reveal",
        reveal_theme="white",  # others ask for fonts elsewhere
        config=Config(TagRemovePreprocessor={"enabled": True, "remove_input_tags": {DRAWING}}),
    )
    cells = [
        part
        for cell in notebook.cells
        if is_shown(cell)
        for part in slide_cells(cell, said.get(cell.id))
    ]
    metadata = notebook.metadata | {"title": title_of(notebook)}
    shown = nbformat.v4.new_notebook(metadata=metadata, cells=turn_pages(cells))
    return exporter.from_notebook_node(shown)[0]


def is_shown(cell):
    return not (is_solution(cell) or is_for_colab(cell))


def slide_cells(cell, said=None):
    """The cells that a cell becomes, each marked for the slide that it stands on."""
    if cell.cell_type == "code":
        return [without_drawing(marked(cell, "subslide" if cell.outputs else "-"))]
    prose = re.sub(r"(?<=\]\()(\w+)\.ipynb", r"\1.html", cell.source)
    parts = on_screen(cell.id, prose)
    for text, _ in parts:
        prose = prose.replace(text.removeprefix("> "), "")
    notes = "\n\n".join(filter(None, [said, prose.strip()]))
    cells = [marked(new_markdown_cell(text), kind) for text, kind in parts]
    return cells + ([marked(new_markdown_cell(notes), "notes")] if notes else [])


def on_screen(name, prose):
    """What of a cell of prose is on slides: each text, and which kind of slide it starts."""
    paragraphs = prose.split("\n\n")
    if prose.startswith("# "):
        return [("\n\n".join(paragraphs[:2]), "slide")]
    if prose.startswith(("## In practice", "## Exercises", "## Summary")):
        return [(prose, "slide")]
    if name.startswith("exercise"):
        return [(prose, "-")]
    heading = [(paragraphs[0], "slide")] if prose.startswith("#") else []
    questions = [(f"> {words}", "subslide") for words in paragraphs if guide.GUESS in words]
    tables = [(words, "subslide") for words in paragraphs if words.startswith("|")]
    return heading + questions + tables


def without_drawing(cell):
    """A slide shows a picture, not the code that draws it."""
    if shows_picture(cell):
        cell.metadata["tags"] = [DRAWING]
    return cell


def turn_pages(cells):
    """Start a slide where the code on one would grow longer than it shows."""
    used = 0
    for cell in cells:
        place = cell.metadata["slideshow"]
        if place["slide_type"] == "notes":
            continue
        if place["slide_type"] == "-" and used + height(cell) > ROOM:
            place["slide_type"] = "subslide"
        used = height(cell) + (used if place["slide_type"] == "-" else 0)
    return cells


def height(cell):
    """Lines that a cell takes on a slide, with one for its frame; a picture takes all."""
    if shows_picture(cell):
        return ROOM
    texts = [cell.source, *map(text_of, cell.get("outputs", []))]
    return 1 + sum(len(text.splitlines()) for text in texts)


def marked(cell, kind):
    cell = copy.deepcopy(cell)
    cell.metadata["slideshow"] = {"slide_type": kind}
    return cell


def player():
    """The folder of reveal.js, which a package for Sphinx brings along."""
    return Path(find_spec("sphinx_revealjs").origin).parent / "_static" / "revealjs"


if __name__ == "__main__":
    sys.exit(main())
