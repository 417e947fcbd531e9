"""The instructor's guide: every question with its advice, the costs, the plans, and its page."""

import re

from tools.collection import ROOT, number_of, paths, read
from tools.readme import costs
from tools.workshop import guide


def test_every_guess_has_advice_and_no_advice_is_left_over():
    asked = {path.stem: set(guide.questions(path)) for path in paths()}
    assert {name: set(said) for name, said in guide.advice().items()} == asked


def test_the_guide_holds_every_question_and_what_each_notebook_costs():
    text = guide.as_markdown()
    for path in paths():
        for asked in guide.questions(path).values():
            assert f"> {asked.question}" in text and asked.section and asked.outcome in text
    known = costs(ROOT)
    assert set(known) == {number_of(path) for path in paths()}
    for row in known.values():
        assert f"| {row['title']} | {row['seconds']} s | {row['memory']} |" in text


def test_the_plans_fill_half_a_day_and_a_day():
    text = guide.as_markdown()
    ends = re.findall(r"^\| (\d\d:\d\d) \| \| end \| \|$", text, re.MULTILINE)
    assert len(ends) == 2 and "16:00" < ends[0] <= "17:00" and ends[1] <= "17:30"


def test_the_guide_is_a_page_of_its_own():
    page = guide.as_page("# Title\n\n| a |\n|---|\n| b |")
    assert "<h1>Title</h1>" in page and "<td>b</td>" in page
    assert not re.search(r"(src|href)=[\"']https?:", page)


def test_what_is_sent_out_does_not_run_over_the_edge():
    page = guide.as_page(guide.as_markdown())
    assert page.count('<code class="language-mail">') == 1
    assert re.search(r"\.language-mail \{[^}]*white-space: pre-wrap", page)


def test_numbers_stand_on_the_right():
    page = guide.as_page(guide.as_markdown())
    assert re.search(r'<td style="text-align:right">\d+ s</td>', page)
    assert page.count("<table>") == page.count('<div class="wide"><table>') > 2


def test_what_is_left_for_home_are_sections():
    said = re.search(r"Leave for home: (.+?)\. To jump", guide.as_markdown())[1]
    prose = [cell.source for path in paths() for cell in read(path).cells]
    headings = set(re.findall(r"(?m)^#{2,3} (.+)$", "\n".join(prose)))
    assert set(re.findall('"(.+?)"', said)) <= headings
