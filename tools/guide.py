"""The instructor's guide: its text is guide.md.j2 and guesses.toml, its questions and costs come
from the notebooks and the README."""

import tomllib
from datetime import datetime, timedelta
from pathlib import Path

import nbformat
from markdown_it import MarkdownIt

from pages import render
from readme import costs

ADVICE = Path(__file__).with_name("guesses.toml")
GUESS = "Guess before you run"
OTHERS = {
    "break": "break",
    "lunch": "lunch",
    "choice": "one of 05, 09, 10 and 11, by choice",
    "end": "everyone's verdict, and `make report`",
}


def guide(root):
    """The guide as Markdown."""
    notebooks = costs(root)
    return render(
        "guide.md.j2",
        notebooks=notebooks,
        guesses=guesses(root),
        machine=machine(root),
        plan=lambda blocks, start: plan(blocks, start, notebooks),
    )


def as_page(markdown):
    body = MarkdownIt("commonmark").enable("table").render(markdown)
    return render("page.html.j2", title="Instructor's guide", body=body)


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
    return tomllib.loads(ADVICE.read_text())


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
