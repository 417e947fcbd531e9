"""The instructor's guide: its text is guide.md.j2 and guesses.toml, its questions and costs come
from the notebooks and the README."""

import tomllib
from datetime import datetime, timedelta
from pathlib import Path

import jinja2
import nbformat
from markdown_it import MarkdownIt

from readme import costs

TOOLS = Path(__file__).parent
GUESS = "Guess before you run"
OTHERS = {
    "break": "break",
    "lunch": "lunch",
    "choice": "one of 05, 09, 10 and 11, by choice",
    "end": "everyone's verdict, and `make report`",
}
PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Instructor's guide</title><link rel="icon" href="data:,">
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 46rem;
  margin: 2rem auto; padding: 0 1rem; }}
blockquote {{ margin: 1.5rem 0 0.5rem; padding-left: 1rem; border-left: 4px solid #006BA4; }}
table {{ border-collapse: collapse; }}
th, td {{ text-align: left; padding: 0.2rem 1rem 0.2rem 0; border-bottom: 1px solid #8886; }}
pre {{ overflow-x: auto; }}
</style></head><body>{body}</body></html>
"""


def guide(root):
    """The guide as Markdown."""
    notebooks = costs(root)
    environment = jinja2.Environment(trim_blocks=True, lstrip_blocks=True)
    template = environment.from_string((TOOLS / "guide.md.j2").read_text())
    return template.render(
        notebooks=notebooks,
        guesses=guesses(root),
        machine=machine(root),
        plan=lambda blocks, start: plan(blocks, start, notebooks),
    )


def as_page(markdown):
    return PAGE.format(body=MarkdownIt("commonmark").enable("table").render(markdown))


def machine(root):
    """The line in which the first notebook names the machine that it ran on."""
    first = nbformat.read(min((root / "notebooks").glob("*.ipynb")), as_version=4)
    (cell,) = [cell for cell in first.cells if cell.id == "machine"]
    return cell.outputs[0].text.strip()


def questions(path):
    """Cell to question, for each guess of a notebook."""
    cells = nbformat.read(path, as_version=4).cells
    asking = [cell for cell in cells if cell.cell_type == "markdown" and GUESS in cell.source]
    return {
        cell.id: next(words for words in cell.source.split("\n\n") if GUESS in words)
        for cell in asking
    }


def advice():
    """Notebook to cell to what an instructor says there."""
    return tomllib.loads((TOOLS / "guesses.toml").read_text())


def guesses(root):
    said = advice()
    return {
        path.name[:2]: [
            {"question": question, "advice": said[path.stem][cell]}
            for cell, question in questions(path).items()
        ]
        for path in sorted((root / "notebooks").glob("*.ipynb"))
    }


def plan(blocks, start, notebooks):
    """A table of blocks, (number of a notebook or a word, minutes), with the time of day."""
    now = datetime.strptime(start, "%H:%M")
    lines = ["| time | minutes | what | cells run for |", "|---|---|---|---|"]
    for what, minutes in blocks:
        row = notebooks.get(what)
        title = f"{what} {row['title']}" if row else OTHERS[what]
        lines.append(
            f"| {now:%H:%M} | {minutes} | {title} | {row['seconds'] + ' s' if row else ''} |"
        )
        now += timedelta(minutes=minutes)
    return "\n".join([*lines, f"| {now:%H:%M} | | end | |"])
