"""The page of a decision: one text, as Markdown to paste and as HTML that stands alone."""

from collections.abc import Mapping
from pathlib import Path

from ..figures import Picture
from ..pages import page_of
from ..tables import counted
from ..writing import write_file
from . import resources, sameness, sections, speeds
from .findings import Findings
from .markdown import Markdown, embedded, fill, image
from .pictures import DRAW, draw_all, plain_style
from .verdict import judge

SECTIONS = {
    "Verdict": (),
    "What ran": (),
    "Same result?": (),
    "Refused": (),
    "Speed": ("speed",),
    "First calls": ("plan",),
    "Shapes and memory": ("memory",),
    "Where the time goes": ("layers", "limit"),
    "Reproduce": (),
}
"""The titles of the sections, in order, and the names of the pictures in each."""


def write_page(findings: Findings, races: Mapping, folder: Path) -> Path:
    """Write decision.md, its pictures as NAME.png, and decision.html, which holds all of it.

    races: number of a shape to its `Result`. folder: it exists. Each file is written complete or
    not at all, and pictures that were there before and have no data now are removed.

    Returns: the path of decision.html.
    """
    with plain_style():
        pictures = draw_all(findings, races)
    for name in DRAW:
        path = folder / f"{name}.png"
        write_file(path, pictures[name].png) if name in pictures else path.unlink(missing_ok=True)
    text = page(findings, races, pictures)
    html = page_of(embedded(text, pictures), f"Does XLA pay for {findings.name}?")
    write_file(folder / "decision.md", f"{text}\n")
    write_file(folder / "decision.html", html)
    return folder / "decision.html"


def page(findings: Findings, races: Mapping, pictures: Mapping[str, Picture]) -> Markdown:
    """The whole page as Markdown; pictures stand in files of their own."""
    plan = findings.plan
    return fill(
        "page",
        name=findings.name or "this model",
        subject=plan.subject if plan else "",
        calls=counted(findings.calls, "call"),
        day=findings.day,
        machine=" · ".join(findings.machine.values()),
        sections=[_section(findings, races, title, pictures) for title in SECTIONS],
    )


def section(findings: Findings, races: Mapping, title: str) -> str:
    """One section as Markdown that holds its own pictures.

    Raises: ValueError when there is no section of this title.
    """
    if title not in SECTIONS:
        raise ValueError(f"`title` is {title!r}: give one of {', '.join(SECTIONS)}")
    with plain_style():
        pictures = draw_all(findings, races, SECTIONS[title])
    return embedded(_section(findings, races, title, pictures), pictures)


def _section(findings, races, title, pictures):
    images = [
        image(name, pictures[name]) if name in pictures else Markdown() for name in SECTIONS[title]
    ]
    write = {
        "Verdict": lambda: sections.verdict(findings, judge(findings, races)),
        "What ran": lambda: sections.what_ran(findings, races),
        "Same result?": lambda: sameness.same(findings),
        "Refused": lambda: sections.refused(findings),
        "Speed": lambda: speeds.speed(findings, races, *images),
        "First calls": lambda: speeds.first_calls(findings, races, *images),
        "Shapes and memory": lambda: resources.shapes(findings, *images),
        "Where the time goes": lambda: resources.where(findings, *images),
        "Reproduce": lambda: sections.reproduce(findings),
    }
    return Markdown(f"## {title}\n\n{write[title]()}")
