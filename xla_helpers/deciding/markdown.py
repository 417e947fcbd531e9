"""Markdown in which every name is what it is: nothing in it becomes bold, a link or HTML."""

import base64
import re
from collections.abc import Iterable, Mapping, Sequence
from functools import cache

import jinja2

from ..figures import Picture
from ..pages import HOUSE

SIGNS = re.compile(r"[\\`*_<>|&~#$]|(?<=\])[(:]|^[-+=](?=[-+=\s]|$)")
"""What means something in Markdown, in a line or at its beginning; a bracket alone does not."""

ITEM = re.compile(r"^(\d+)([.)])(?=\s|$)")
"""What makes a line an item of a numbered list."""

BRACKETS = re.compile(r"[\\`*_<>|&~#$\[\]]")
"""What means something in the description of a picture."""

QUANTITY = re.compile(r"[-+]?[\d.,]+(e[-+]?\d+)?( (%|[nµmkMGT]?(s|B|FLOP)(/s)?))?")
"""A number with its unit: such columns stand on the right."""


class Markdown(str):
    """Text that is Markdown already. Any other text is escaped where a template shows it."""


def plain(text: str) -> Markdown:
    """Text in one line, as it is."""
    line = SIGNS.sub(r"\\\g<0>", " ".join(str(text).split()))
    return Markdown(ITEM.sub(r"\1\\\2", line))


def table(heads: Sequence[str], rows: Iterable[Sequence]) -> Markdown:
    """A table; columns in which every cell is a number, or empty, stand on the right, others on the
    left, which is said too, because not every notebook takes it for granted.

    heads: the names of its columns. rows: for each a cell for every column. "" without rows.
    """
    rows = [[str(cell) for cell in row] for row in rows]
    if not rows:
        return Markdown()
    sides = ["---:" if _numeric(column) else ":---" for column in zip(*rows, strict=True)]
    lines = [map(plain, heads), sides, *(map(plain, row) for row in rows)]
    return Markdown("\n".join(f"| {' | '.join(line)} |" for line in lines))


def fenced(text: str, language: str = "") -> Markdown:
    """Code, as it is; the fence is longer than any in it."""
    ticks = max(map(len, re.findall("`+", text)), default=0)
    fence = "`" * max(3, ticks + 1)
    return Markdown(f"{fence}{language}\n{text}\n{fence}")


def image(name: str, picture: Picture) -> Markdown:
    """A picture in the file NAME.png, with its description."""
    alt = BRACKETS.sub(r"\\\g<0>", " ".join(picture.alt.split()))
    return Markdown(f"![{alt}]({name}.png)")


def embedded(markdown: str, pictures: Mapping[str, Picture]) -> str:
    """The same with the pictures inside of the text, in place of their files.

    pictures: name to `Picture`.
    """
    for name, picture in pictures.items():
        data = base64.b64encode(picture.png).decode()
        markdown = markdown.replace(f"]({name}.png)", f"](data:image/png;base64,{data})")
    return markdown


def fill(template: str, **values) -> Markdown:
    """A template in data/decision/ with its values; what is no `Markdown` is escaped."""
    text = _templates().get_template(f"{template}.md.j2").render(values)
    return Markdown(re.sub(r"\n{3,}", "\n\n", text).strip())


@cache
def _templates():
    return jinja2.Environment(
        loader=jinja2.FileSystemLoader(HOUSE / "decision"),
        finalize=lambda value: value if isinstance(value, Markdown) else plain(value),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )


def _numeric(cells):
    shown = [cell for cell in cells if cell]
    return bool(shown) and all(map(QUANTITY.fullmatch, shown))
