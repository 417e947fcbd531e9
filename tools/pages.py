"""Texts and pages from the templates that lie beside this file."""

from pathlib import Path

import jinja2

TEMPLATES = jinja2.Environment(
    loader=jinja2.FileSystemLoader(Path(__file__).parent),
    autoescape=jinja2.select_autoescape(["html.j2"]),
    trim_blocks=True,
    lstrip_blocks=True,
)


def render(template, **values):
    """The text of a template; in a page, values are escaped."""
    return TEMPLATES.get_template(template).render(values)
