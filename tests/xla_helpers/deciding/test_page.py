"""The page of a decision: one text in two forms, and what it must never say."""

import html
import re
from dataclasses import fields, replace

import pytest
from markdown_it import MarkdownIt
from matplotlib.figure import Figure

from tests.xla_helpers.deciding.cases import CASES, HOSTILE, usual
from tests.xla_helpers.deciding.examples import findings
from xla_helpers.deciding.findings import Findings
from xla_helpers.deciding.page import SECTIONS, page, section, write_page

every_kind = pytest.mark.parametrize("kind", CASES)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """Kind to what was written for it: Markdown, HTML and the names of all files.

    Pictures are made, with all that they say, and not rendered; `test_pictures` renders each.
    """
    pages = {}

    def write(kind):
        if kind not in pages:
            folder = tmp_path_factory.mktemp(kind)
            with pytest.MonkeyPatch.context() as patch:
                patch.setattr(Figure, "savefig", lambda figure, file, **_: file.write(b"PNG"))
                path = write_page(*CASES[kind](), folder)
            names = {file.name for file in folder.iterdir()}
            pages[kind] = (folder / "decision.md").read_text(), path.read_text(), names
        return pages[kind]

    return write


def text_of(page):
    """What a reader sees of a page."""
    body = page.split("<body>")[1]
    return html.unescape(re.sub(r"<[^>]*>", "", body))


def parts(markdown):
    """Title of a section to its text."""
    titles = [*SECTIONS, None]
    found = re.split(r"(?m)^## (.+)$", markdown)
    assert found[1::2] == titles[:-1]
    return dict(zip(found[1::2], found[2::2], strict=True))


@every_kind
def test_all_sections_are_there_and_none_is_blank(written, kind):
    markdown, _, _ = written(kind)
    assert all(text.strip() for text in parts(markdown).values())
    assert "None" not in markdown and "nan" not in markdown and "inf" not in markdown.split()


@every_kind
def test_both_forms_say_the_same(written, kind):
    markdown, html_page, _ = written(kind)
    seen = MarkdownIt("commonmark").enable("table").render(markdown)
    assert text_of(f"<body>{seen}").split() == text_of(html_page).split()


@every_kind
def test_the_page_stands_alone(written, kind):
    _, html_page, names = written(kind)
    assert not re.search(
        r"<[^>]*(src|href)=[\"']?(https?:|\w+\.png)|@import|url\(|<script", html_page
    )
    pictures = {name for name in names if name.endswith(".png")}
    assert html_page.count('src="data:image/png;base64,') == len(pictures)
    assert names == {"decision.md", "decision.html", *pictures}


@every_kind
def test_every_picture_stands_in_the_text(written, kind):
    markdown, _, names = written(kind)
    shown = set(re.findall(r"\]\((\w+\.png)\)", markdown))
    assert shown == {name for name in names if name.endswith(".png")}


@every_kind
def test_no_number_of_calls_stands_without_an_interval(written, kind):
    markdown, _, _ = written(kind)
    assert not re.search(r"repaid after [\d,]+ calls?\b(?! \\?\[)", markdown)
    assert not re.search(r"\d\.\d\dx (faster|slower) than the graph(?! \\?\[)", markdown)


@every_kind
def test_nothing_that_is_not_known_is_zero(written, kind):
    markdown, _, _ = written(kind)
    where = parts(markdown)["Where the time goes"]
    assert "| 0 % " not in where and "| 0 s " not in where


@every_kind
def test_three_modes_are_three(written, kind):
    markdown, _, _ = written(kind)
    for check in re.split(r"(?m)^\*\*", parts(markdown)["Same result?"]):
        if "three modes" in check and "| :--- |" in check:
            assert {"| eager |", "| graph |", "| XLA |"} <= set(re.findall(r"\| \w+ \|", check))


def test_a_hostile_name_is_text_everywhere(written):
    _, html_page, _ = written("hostile")
    body = html_page.split("<body>")[1]
    assert "<b>" not in body and "<i>" not in body and "<em>" not in body and "<a " not in body
    assert "example.org" in body and "<code>y</code>" not in body
    assert HOSTILE in html.unescape(body)


def test_a_page_that_is_not_finished_says_so(written):
    markdown, _, _ = written("interrupted")
    found = parts(markdown)
    assert "**Not finished.**" in found["Verdict"]
    assert "float32\\[" in markdown or "float32[16, 10]" in found["What ran"]
    for title in ("Same result?", "Refused", "Speed", "Where the time goes"):
        assert "had not ended when this page was written" in found[title]


def test_the_finished_page_does_not(written):
    assert "Not finished" not in written("usual")[0]


def test_a_part_that_died_is_named_where_its_numbers_would_be(written):
    found = parts(written("died")[0])
    assert 'part "first calls, XLA" was stopped when its 40 s were over' in found["Refused"]
    assert 'The part "work" was left out' in found["Where the time goes"]


def test_pictures_without_data_are_removed(tmp_path):
    write_page(*usual(), tmp_path)
    assert (tmp_path / "limit.png").exists()
    write_page(findings(works=()), usual()[1], tmp_path)
    assert not (tmp_path / "limit.png").exists() and not list(tmp_path.glob("*.new"))


@pytest.mark.parametrize("name", [field.name for field in fields(Findings)])
def test_what_is_not_known_costs_its_own_section_only(name):
    known, found = usual()
    unknown = replace(known, **{name: getattr(Findings(), name)})
    for raced in (found, {}):
        assert all(text.strip() for text in parts(page(unknown, raced, {})).values())


def test_a_section_holds_its_own_pictures():
    text = section(*usual(), "Speed")
    assert text.startswith("## Speed\n") and "](data:image/png;base64," in text
    assert ".png" not in text


def test_a_section_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="`title` is 'Speeds': give one of Verdict, What ran"):
        section(*usual(), "Speeds")
