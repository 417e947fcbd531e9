"""Sections as text, and as a notebook takes them."""

import base64

from xla_helpers.deciding.markdown import embedded, image
from xla_helpers.deciding.section import Section
from xla_helpers.figures import Picture

PICTURES = {
    "speed": Picture(b"\x89PNG one", "XLA [fast] * beside the graph"),
    "plan": Picture(b"\x89PNG two", "The plan"),
}


def section():
    speed, plan = (image(name, one) for name, one in PICTURES.items())
    return Section(embedded(f"## Speed\n\nBefore.\n\n{speed}\n\nBetween.\n\n{plan}", PICTURES))


def test_text_says_what_a_picture_shows():
    assert repr(section()) == (
        "## Speed\n\nBefore.\n\n[Picture: XLA [fast] * beside the graph]\n\nBetween.\n\n"
        "[Picture: The plan]"
    )


def test_a_notebook_gets_texts_and_pictures_in_order(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda one, raw=False: shown.append(one))
    section()._ipython_display_()
    assert [type(one).__name__ for one in shown] == ["dict", "Picture", "dict", "Picture"]
    assert shown[0]["text/markdown"] == "## Speed\n\nBefore."
    assert [(one.png, one.alt) for one in shown[1::2]] == [
        (one.png, one.alt) for one in PICTURES.values()
    ]


def test_a_section_without_pictures_is_one_text():
    assert list(Section("## Refused\n\nNothing.")._parts()) == ["## Refused\n\nNothing."]


def test_text_in_brackets_is_no_picture():
    data = base64.b64encode(b"x").decode()
    text = f"a [link](x.png), ![a file](speed.png), \\![no](data:text/plain;base64,{data})"
    assert repr(Section(text)) == text
