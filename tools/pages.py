"""Texts and pages from the templates here and in the folders below, all in one look."""

from pathlib import Path

import jinja2

from xla_helpers.figures import COLOURS

TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent),
    autoescape=jinja2.select_autoescape(["html.j2"]),
    trim_blocks=True,
    lstrip_blocks=True,
)
TEMPLATES.globals["colours"] = COLOURS  # of the modes, as in all pictures


def render(template, **values):
    """The text of a template; in a page, values are escaped."""
    return TEMPLATES.get_template(template).render(values)
