"""The instructor's guide: every question with its advice, the costs, the plans, and its page."""

import re

import pytest
from nbformat.v4 import new_code_cell, new_output
from tools.collection import ROOT, number_of, paths
from tools.readme import costs

from tools.workshop import guide


def test_every_guess_has_advice_and_no_advice_is_left_over():
    asked = {path.stem: set(guide.questions(path)) for path in paths()}
    assert {name: set(said) for name, said in guide.advice().items()} == asked


def test_the_guide_holds_every_question_and_what_each_notebook_costs():
    text = guide.as_markdown()
    for path in paths():
        for asked in guide.questions(path).values():
            assert f"> {asked.question}" in text and asked.section and asked.advice in text
            assert asked.outcome and asked.outcome in text, asked.question
    known = costs(ROOT)
    assert set(known) == {number_of(path) for path in paths()}
    for row in known.values():
        assert f"| {row['title']} | {row['seconds']} s | {row['memory']} |" in text


def cell(name, *outputs):
    return new_code_cell("run()", id=name, outputs=list(outputs))


def said(text):
    return new_output("stream", name="stdout", text=text)


def test_an_answer_is_the_first_text_or_what_the_named_cells_show():
    drawn = new_output(
        "display_data", {"image/png": "AAAA\n"}, metadata={"image/png": {"alt": "A"}}
    )
    cells = [
        cell("quiet"),
        cell("drawn", drawn),
        cell("one", said("1\n")),
        cell("two", said("2\n")),
    ]
    assert guide.outcome(cells) == "```\n1\n```"
    picture = "![A](data:image/png;base64,AAAA)"
    assert guide.outcome(cells, ["two", "drawn"]) == f"```\n2\n```\n\n{picture}"
    assert '<img src="data:image/png;base64,AAAA" alt="A"' in guide.as_page(picture)


def test_an_answer_that_is_not_below_its_question_is_an_error():
    with pytest.raises(ValueError, match="gone"):
        guide.outcome([cell("quiet"), cell("one", said("1"))], ["gone"])


def test_the_lines_of_a_table_are_cut_and_others_go_on():
    text = f"{'word ' * 30}\n{'name':<99}1"
    first, second, row = guide.shorten(text).splitlines()
    assert len(first) <= guide.WIDE and second.startswith("word")
    assert len(row) == guide.WIDE and row.endswith("…")
    assert guide.shorten("a\n" * 99).splitlines()[-2:] == ["a", "…"]


def test_the_plans_fill_half_a_day_and_a_day():
    text = guide.as_markdown()
    ends = re.findall(r"^\| (\d\d:\d\d) \| \| end \| \|$", text, re.MULTILINE)
    assert len(ends) == 2 and "16:00" < ends[0] <= "17:00" and ends[1] <= "17:30"
    assert text.count(guide.OTHERS["slack"]) == 2


def test_every_block_of_a_plan_has_room_for_what_it_holds():
    known, files = costs(ROOT), {number_of(path): path for path in paths()}
    blocks = re.findall(r"^\| \d\d:\d\d \| (\d+) \| (\d\d) ", guide.as_markdown(), re.MULTILINE)
    assert len(blocks) >= 9
    for minutes, number in blocks:
        needed = guide.needed(number, files[number], float(known[number]["seconds"]))
        assert needed <= int(minutes), f"{number} needs {needed:.0f} minutes"


def test_the_guide_is_a_page_of_its_own():
    page = guide.as_page("# Title\n\n| a |\n|---|\n| b |")
    assert "<h1>Title</h1>" in page and '<td class="nowrap">b</td>' in page
    assert not re.search(r"(src|href)=[\"']https?:", page)


def test_what_is_sent_out_does_not_run_over_the_edge():
    page = guide.as_page(guide.as_markdown())
    assert page.count('<code class="language-mail">') == 1
    assert re.search(r"\.language-mail \{[^}]*white-space: pre-wrap", page)


def test_numbers_stand_on_the_right():
    page = guide.as_page(guide.as_markdown())
    assert re.search(r'<td style="text-align:right" class="nowrap">\d+ s</td>', page)
    assert page.count("<table>") == page.count('<div class="wide"><table>') > 2


def test_what_is_left_for_home_are_sections():
    text = guide.as_markdown()
    for path in paths():
        left = guide.LEFT.get(number_of(path), [])
        assert set(left) <= set(guide.lessons(path))
        assert all(f'"{section}"' in text for section in left)
