"""The instructor's guide: its text is guide.md.j2 and guesses.toml, its questions and costs come
from the notebooks and the README."""

import re
import textwrap
import tomllib
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from tools.address import current, name_of
from tools.collection import ROOT, number_of, paths, read, text_of
from tools.readme import costs
from tools.workshop.guesses import GUESS, asks
from xla_helpers.pages import page_of, render

ADVICE = Path(__file__).with_name("guesses.toml")
OTHERS = {
    "arrive": "arriving: open JupyterLab, meet a guess and a check",
    "break": "break",
    "lunch": "lunch",
    "choice": "one of 05, 07, 09, 10 and 11, by choice",
    "slack": "slack, for what took longer",
    "end": "all results on one page, and what to measure at home",
}
LEFT = {  # number of a notebook to the sections that the plans leave for home
    "02": [
        "Compile any method",
        "Count the programs",
        "Ask every layer",
        "Let the model grow",
    ],
    "03": ["Change an option", "Try other models"],
    "04": ["Choose the bucket"],
    "06": ["See how ten runs mislead", "Find where XLA loses"],
    "08": ["Bound what XLA must know", "Compare numbers that may differ"],
}
GUESSING, SECTION, FRAME = 4, 3, 16  # minutes: a guess, a section, and the rest of a notebook
SLOWER = 2  # how many times longer a laptop may take than the machine of the outputs
LINES, WIDE = 30, 96  # of an outcome that is shown


class Question(NamedTuple):
    """A guess: the paragraph that asks, the section it stands in, what came out, as Markdown, and
    what an instructor says."""

    question: str
    section: str
    outcome: str
    advice: str


def as_markdown(root=ROOT):
    """The guide as Markdown."""
    notebooks = costs(root)
    address = current(root)
    return render(
        "guide.md.j2",
        Path(__file__).parent,
        address=f"https://github.com/{address}",
        folder=name_of(address),
        notebooks=notebooks,
        guesses=guesses(root),
        left=LEFT,
        minutes={"guess": GUESSING, "section": SECTION, "rest": FRAME, "slower": SLOWER},
        machine=machine(root),
        plan=lambda blocks, start: plan(blocks, start, notebooks),
    )


def as_page(markdown):
    return page_of(markdown, "Instructor's guide")


def machine(root):
    """The line in which the first notebook names the machine that it ran on."""
    first = read(paths(root)[0])
    (cell,) = [cell for cell in first.cells if cell.id == "machine"]
    return cell.outputs[0].text.strip()


def guesses(root):
    """Number of a notebook to what is asked there."""
    return {number_of(path): list(questions(path).values()) for path in paths(root)}


def questions(path):
    """What is asked in a notebook: cell to `Question`."""
    cells, said = read(path).cells, entries()[path.stem]
    asked, section = {}, ""
    for position, cell in enumerate(cells):
        if cell.cell_type != "markdown":
            continue
        headings = re.findall(r"(?m)^#{2,3} (.+)$", cell.source)
        section = headings[-1] if headings else section
        words = [words for words in cell.source.split("\n\n") if GUESS in words]
        if words and cell.id not in said:
            raise ValueError(f"guesses.toml says nothing of {cell.id} in {path.stem}")
        if words:
            entry = said[cell.id]
            answer = outcome(below(cells[position + 1 :]), entry.get("answer"))
            asked[cell.id] = Question(words[0], section, answer, entry["say"])
    return asked


def below(cells):
    """The cells with code that stand below a question, before the next one or the next heading."""
    found = []
    for cell in cells:
        if asks(cell) or (cell.cell_type == "markdown" and cell.source.startswith("#")):
            break
        found += [cell] if cell.cell_type == "code" else []
    return found


def outcome(cells, named=None):
    """What the named cells put out, or the first text, as Markdown. cells: those below a question.

    Raises: ValueError when a named cell is not among them.
    """
    shown = {cell.id: shown_by(cell) for cell in cells}
    if named is None:
        return next((text for text in shown.values() if text.startswith("```")), "")
    for name in named:
        if name not in shown:
            raise ValueError(f"there is no cell {name} below the question")
    return "\n\n".join(filter(None, (shown[name] for name in named)))


def shown_by(cell):
    """The outputs of a cell as Markdown: texts as blocks, pictures inside the page."""
    parts = []
    for output in cell.outputs:
        data = output.get("data", {})
        if "image/png" in data:
            description = output.metadata["image/png"]["alt"].replace("\n", " ")
            parts.append(f"![{description}](data:image/png;base64,{data['image/png'].strip()})")
        elif text_of(output).strip():
            parts.append(f"```\n{shorten(text_of(output))}\n```")
    return "\n\n".join(parts)


def shorten(text):
    """A text that fits a page: a line of words goes on in a next one, that of a table is cut."""
    lines = []
    for line in text.strip("\n").splitlines():
        if len(line) > WIDE and "  " in line:  # columns stand two spaces apart
            lines.append(f"{line[: WIDE - 1]}…")
        else:
            lines += textwrap.wrap(line, WIDE) or [""]
    return "\n".join(lines[:LINES] + ["…"] * (len(lines) > LINES))


def entries():
    """Notebook to cell to what guesses.toml says of its question."""
    return tomllib.loads(ADVICE.read_text(encoding="utf-8"))


def advice():
    """Notebook to cell to what an instructor says there."""
    return {
        name: {cell: entry["say"] for cell, entry in cells.items()}
        for name, cells in entries().items()
    }


def needed(number, path, seconds):
    """The minutes that a notebook takes in a room, without what is left for home."""
    sections = lessons(path)
    for section in LEFT.get(number, ()):
        del sections[section]
    people = sum(GUESSING * guesses + SECTION for guesses in sections.values())
    return FRAME + people + SLOWER * seconds / 60


def lessons(path):
    """Section to how many guesses it asks, for the sections that teach."""
    found, section = {}, ""
    for cell in read(path).cells:
        if cell.cell_type == "markdown":
            heading = re.match(r"## (.+)", cell.source)
            section = heading[1] if heading else section
            found[section] = found.get(section, 0) + cell.source.count(GUESS)
    names = list(found)
    taught = names[names.index("Set up") + 1 : names.index("In practice")]
    return {name: found[name] for name in taught}


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
