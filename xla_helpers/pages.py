"""Texts and pages from templates, all in one look."""

from functools import cache
from itertools import pairwise
from pathlib import Path

import jinja2
from markdown_it import MarkdownIt

from .figures import COLOURS

HOUSE = Path(__file__).parent / "data"
"""The look of all pages, house.css.j2 and page.html.j2, and the templates of this package."""

SHORT = 28  # characters of a cell that stays in one line


def render(template: str, folder: Path = HOUSE, /, **values) -> str:
    """The text of a template; in a page, values are escaped.

    folder: where the template lies; it may use those of the house as well.
    """
    return _templates(folder).get_template(template).render(values)


def page_of(markdown: str, title: str) -> str:
    """Markdown as a page that needs no other file.

    Tables scroll, and only a long text in a cell goes on in a next line. HTML in it stays text.
    """
    reader = MarkdownIt("commonmark", {"html": False}).enable("table")
    parts = reader.parse(markdown)
    for cell, inside in pairwise(parts):
        if cell.type == "td_open" and len(inside.content) <= SHORT:
            cell.attrSet("class", "nowrap")
    body = reader.renderer.render(parts, reader.options, {}).replace("</table>", "</table></div>")
    body = body.replace("<table>", '<div class="wide"><table>')
    return render("page.html.j2", title=title, body=body)


@cache
def _templates(folder):
    templates = jinja2.Environment(
        loader=jinja2.FileSystemLoader([folder, HOUSE]),
        autoescape=jinja2.select_autoescape(["html.j2"]),
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    templates.globals["colours"] = COLOURS  # of the modes, as in all pictures
    return templates
