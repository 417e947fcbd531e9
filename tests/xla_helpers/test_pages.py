"""Texts and pages from templates, and the look that they share."""

import re

import pytest
from jinja2 import UndefinedError

from xla_helpers.figures import COLOURS
from xla_helpers.pages import page_of, render


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


def test_a_folder_has_templates_of_its_own_and_those_of_the_house(tmp_path):
    own = tmp_path / "own.html.j2"
    own.write_text('{% extends "page.html.j2" %}{% block body %}{{ what }}{% endblock %}')
    page = render("own.html.j2", tmp_path, title="A page", what="<i>")
    assert "&lt;i&gt;" in page and "--graph" in page


def test_a_value_that_a_template_misses_is_an_error():
    with pytest.raises(UndefinedError):
        render("page.html.j2", body="")


def test_markdown_becomes_a_page_whose_tables_scroll():
    page = page_of("| a | n |\n|---|---:|\n| b | 2 |\n", "A page")
    assert '<div class="wide"><table>' in page and "</table></div>" in page
    assert '<td style="text-align:right" class="nowrap">2</td>' in page


def test_only_a_long_text_in_a_cell_goes_on_in_a_next_line():
    long = "a sentence that is longer than a cell should be"
    page = page_of(f"| a |\n|---|\n| short |\n| {long} |\n", "A page")
    assert '<td class="nowrap">short</td>' in page and f"<td>{long}</td>" in page


def test_html_in_markdown_stays_text():
    page = page_of("<script>alert(1)</script>\n\nA <b>word</b>.", "A page")
    assert "<script>" not in page and "&lt;b&gt;word" in page
