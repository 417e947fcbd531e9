"""The instructor's guide: its text is guide.md.j2 and guesses.toml, its questions and costs come
from the notebooks and the README."""

import re
import tomllib
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from markdown_it import MarkdownIt

from tools.address import current, name_of
from tools.collection import ROOT, number_of, paths, read, text_of
from tools.pages import render
from tools.readme import costs

ADVICE = Path(__file__).with_name("guesses.toml")
GUESS = "Guess before you run"
OTHERS = {
    "arrive": "arriving: open JupyterLab, meet a guess and a check",
    "break": "break",
    "lunch": "lunch",
    "choice": "one of 05, 09, 10 and 11, by choice",
    "end": "all results on one page, and what to measure at home",
}
LINES, WIDE = 12, 96  # of an outcome that is shown


class Question(NamedTuple):
    """A guess: the paragraph that asks, the section it stands in, and what came out."""

    question: str
    section: str
    outcome: str


def as_markdown(root=ROOT):
    """The guide as Markdown."""
    notebooks = costs(root)
    address = current(root)
    return render(
        "workshop/guide.md.j2",
        address=f"https://github.com/{address}",
        folder=name_of(address),
        notebooks=notebooks,
        guesses=guesses(root),
        machine=machine(root),
        plan=lambda blocks, start: plan(blocks, start, notebooks),
    )


def as_page(markdown):
    reader = MarkdownIt("commonmark").enable("table")
    body = reader.render(markdown).replace("</table>", "</table></div>")
    body = body.replace("<table>", '<div class="wide"><table>')
    return render("page.html.j2", title="Instructor's guide", body=body)


def machine(root):
    """The line in which the first notebook names the machine that it ran on."""
    first = read(paths(root)[0])
    (cell,) = [cell for cell in first.cells if cell.id == "machine"]
    return cell.outputs[0].text.strip()


def questions(path):
    """What is asked in a notebook: cell to `Question`."""
    cells = read(path).cells
    asked, section = {}, ""
    for position, cell in enumerate(cells):
        if cell.cell_type != "markdown":
            continue
        headings = re.findall(r"(?m)^#{2,3} (.+)$", cell.source)
        section = headings[-1] if headings else section
        words = [words for words in cell.source.split("\n\n") if GUESS in words]
        if words:
            asked[cell.id] = Question(words[0], section, outcome(cells[position + 1 :]))
    return asked


def outcome(cells):
    """The first text that the cells after a question put out, before the next question."""
    for cell in cells:
        if cell.cell_type == "markdown" and (GUESS in cell.source or cell.source.startswith("#")):
            break
        for output in cell.get("outputs", []):
            text = text_of(output)
            if text and not text.startswith("Picture:"):
                return shorten(text)
    return ""


def shorten(text):
    lines = [line if len(line) <= WIDE else f"{line[: WIDE - 1]}…" for line in text.splitlines()]
    return "\n".join(lines[:LINES] + ["…"] * (len(lines) > LINES))


def advice():
    """Notebook to cell to what an instructor says there."""
    return tomllib.loads(ADVICE.read_text())


def guesses(root):
    said = advice()
    return {
        number_of(path): [
            question._asdict() | {"advice": said[path.stem][cell]}
            for cell, question in questions(path).items()
        ]
        for path in paths(root)
    }


def plan(blocks, start, notebooks):
    """A table of blocks, (number of a notebook or a word, minutes), with the time of day."""
    now = datetime.strptime(start, "%H:%M")
    lines = ["| time | minutes | what | cells run for |", "|---|---:|---|---:|"]
    for what, minutes in blocks:
        row = notebooks.get(what)
        title = f"{what} {row['title']}" if row else OTHERS[what]
        lines.append(
            f"| {now:%H:%M} | {minutes} | {title} | {row['seconds'] + ' s' if row else ''} |"
        )
        now += timedelta(minutes=minutes)
    return "\n".join([*lines, f"| {now:%H:%M} | | end | |"])
