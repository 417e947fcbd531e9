"""Texts and pages from templates, and the look that they share."""

import re

from tools.pages import render
from xla_helpers.figures import COLOURS


def test_values_are_escaped_in_a_page():
    assert "<title>&lt;b&gt;</title>" in render("page.html.j2", title="<b>", body="")


def test_a_page_carries_its_style_and_asks_no_other_host():
    page = render("page.html.j2", title="A page", body="<p>Words.</p>")
    assert render("house.css.j2").strip() in page
    assert "<link rel=" not in page.replace('<link rel="icon" href="data:,">', "")
    assert not re.search(r"(src|href)=[\"']?https?:|@import|url\(", page)


def test_the_look_has_the_colours_of_the_modes_and_no_other():
    style = render("house.css.j2")
    assert all(f"--{mode.lower()}: {colour};" in style for mode, colour in COLOURS.items())
    assert set(re.findall(r"#[0-9A-Fa-f]{6}", style)) == set(COLOURS.values())


def test_a_page_is_light_on_paper_and_follows_the_system_on_a_screen():
    page = render("page.html.j2", title="A page", body="")
    assert "color-scheme: light dark" in page
    assert "@media screen and (prefers-color-scheme: dark)" in page
    on_paper = page.split("@media print")[1]
    assert "color-scheme: light;" in on_paper and "white-space: pre-wrap" in on_paper
