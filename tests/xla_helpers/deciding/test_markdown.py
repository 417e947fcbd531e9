"""Names stay what they are, whatever is in them."""

import html
import re

import pytest

from xla_helpers.deciding.markdown import Markdown, embedded, fenced, image, plain, table
from xla_helpers.figures import Picture
from xla_helpers.pages import page_of

HOSTILE = [
    "my_model_2:make_it",
    "_x_ *y* **z** ~~w~~",
    "a | b",
    "<script>alert(1)</script>",
    "[click](http://example.org)",
    "![seen](http://example.org/x.png)",
    "`code` ``more",
    r"C:\models\[a]",
    "&lt;b&gt; &amp;",
    "$a$ and $b$",
    "# heading",
    "- item",
    "1. item",
    "10) item",
    "---",
    "+",
    "[name]: http://example.org",
    "<http://example.org>",
    "===",
    "two\n\nparagraphs\n# and more",
]


def body_of(markdown):
    return page_of(markdown, "x").split("<body>")[1].split("</body>")[0].strip()


def text_of(page):
    return html.unescape(re.sub(r"<[^>]*>", "", page)).strip()


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_is_shown_as_it_is(name):
    shown = body_of(plain(name))
    assert re.fullmatch("<p>[^<]*</p>", shown)
    assert text_of(shown) == " ".join(name.split())


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_fits_into_one_cell(name):
    shown = body_of(table(["a", "b"], [[name, "end"]]))
    cells = re.findall("<td[^>]*>([^<]*)</td>", shown)
    assert list(map(html.unescape, cells)) == [" ".join(name.split()), "end"]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_name_in_a_description_stays_in_it(name):
    shown = body_of(image("speed", Picture(b"", f"of {name} [1.2, 1.3]")))
    assert shown.count("<") == 3  # a paragraph with the picture, and nothing else
    described = re.search('alt="([^"]*)"', shown)[1]
    assert html.unescape(described) == f"of {' '.join(name.split())} [1.2, 1.3]"


def test_what_needs_no_sign_has_none():
    assert plain("float32[16, 10], 1.85x faster [1.71, 1.98]; 90 %, -1.5") == (
        "float32[16, 10], 1.85x faster [1.71, 1.98]; 90 %, -1.5"
    )


def test_numbers_stand_on_the_right_and_text_on_the_left():
    rows = [["a", "1,000", "1.5 ms", "1.85x faster"], ["b", "", "3 µs", "2"]]
    _, sides, *_ = table(["", "n", "time", "ratio"], rows).splitlines()
    assert sides == "| :--- | ---: | ---: | :--- |"


def test_a_table_without_rows_is_nothing():
    assert table(["a"], []) == ""


def test_code_cannot_end_its_own_block():
    code = "x = '''\n```\n'''\n````"
    assert text_of(body_of(fenced(code, "python"))) == code


def test_markdown_is_not_escaped_again():
    assert isinstance(plain("_"), Markdown) and isinstance(table(["a"], [["b"]]), Markdown)


def test_pictures_stand_in_the_text_itself():
    pictures = {"speed": Picture(b"png", "a line"), "limit": Picture(b"other", "a roof")}
    text = "\n\n".join(image(name, picture) for name, picture in pictures.items())
    page = body_of(embedded(text, pictures))
    assert page.count('src="data:image/png;base64,') == 2
    assert 'alt="a roof"' in page and ".png" not in page
