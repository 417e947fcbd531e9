"""The README's picture, the site and the report: what they show, and that they fetch nothing."""

import os
import re
import runpy
import shutil
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import cards
import nbformat
import overview
import pytest
from bets import bets_of
from chains import chains, home_of
from folds import folded
from myst_parser.slugs import github_slugify
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output
from overview import plain
from races import LOOKS, LOSES, PAYS, SHORT, UNCLEAR, in_order, machines

import xla_decide as xd
import xla_helpers as xh
from tests import test_bench
from tests.contrast import ENOUGH, contrast
from xla_helpers.look.manual import ROWS
from xla_helpers.results import Recorded, Result, write
from xla_helpers.timing import Measurement

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FETCHING = {"src", "srcset", "data", "poster"}  # attributes that make a browser ask for something
CARDS = "docs/switch-on.svg", "docs/switch-on-tall.svg", "docs/machine-code.svg"
# The guesses that ask how many times as long or as fast: what came out is another number each time.
OF_TIMES = {
    *("02-guess-gain", "03-guess-generate", "06-guess-naive", "11-guess-many", "13-guess-cost"),
    *("15-guess-race", "15-guess-prompts", "17-leave-guess"),
}
HOSTILE = "<img src=x onerror=alert(1)> & <script>alert(2)</script>"


class Page(HTMLParser):
    """The tags of a page, what it would fetch from other hosts, and its undescribed pictures."""

    def __init__(self, path):
        super().__init__()
        self.text = path.read_text(encoding="utf-8")
        self.tags, self.others, self.undescribed = [], [], []
        self.feed(self.text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.append((tag, given))
        wanted = FETCHING | ({"href"} if tag == "link" else set())
        fetched = [url for name, url in attributes if name in wanted and url]
        self.others += [url for url in fetched if re.match(r"(https?:)?//", url)]
        beside_its_title = given.get("class") == "small"  # in a card, which a test below looks at
        if tag == "img" and not given.get("alt") and not beside_its_title:
            self.undescribed.append(given)


def test_the_readme_shows_what_was_recorded(tmp_path):
    """Made again from results/, the README is what it was."""
    for name in ("docs", "notebooks", "results", "tools"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "README.md", tmp_path)
    subprocess.run([sys.executable, tmp_path / "tools/overview.py"], check=True)
    pictures = [f"docs/{name}races{kind}.svg" for name in ("", "all-") for kind in overview.KINDS]
    for name in ("README.md", "docs/results.md", "docs/dial.svg", "docs/passes.svg", *pictures):
        assert (tmp_path / name).read_text() == (ROOT / name).read_text(), "make refresh"


@pytest.mark.parametrize(("look", "ground"), [("light", "#FFFFFF"), ("dark", "#0D1117")])
def test_letters_of_a_chart_stand_out_where_github_shows_it(look, ground):
    text, _, colours = LOOKS[look]
    assert min(contrast(colour, ground) for colour in [text, *colours]) >= ENOUGH


def test_the_readme_is_read_in_a_few_minutes_and_begins_with_a_result():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    shown = re.sub(r"(?s)<details>.*?</details>|<!--.*?-->|```.*?```|<[^>]+>|\]\(.*?\)", "", text)
    shown = re.sub(r"!\[[^\]]*", "", shown)
    assert len(re.findall(r"[^\s|#*-]+", shown)) <= 1000
    first = " times faster", "<picture>", "make lab", "make decide", "make test", "## "
    places = list(map(text.index, first))
    assert places == sorted(places)


def test_every_guess_has_bets_that_came_out_unless_its_answer_is_a_time():
    without = set()
    for path in NOTEBOOKS:
        cells = nbformat.read(path, 4).cells
        for cell in cells:
            found = bets_of(cell, cells)
            assert not found or cell.metadata.get("say")
            if "Guess before you run" in cell.source and not found:
                without.add(f"{path.stem[:2]}-{cell.id}")
    assert without == OF_TIMES


@pytest.mark.parametrize(
    "find, more, right",
    [
        (r"(\d[\d,]+) rows", {}, "1024"),
        (r"is (\w+)", {"choices": ["slower", "faster"]}, "faster"),
        (r"(1\.\d+)x|(\d+)x", {"choices": ["as long", "longer"]}, "longer"),
        (r"(\d+) columns", {}, "shows no"),
        (r"is (\w+)", {}, "is no answer"),
        (r"is (\w+)", {"choices": ["slower", "equal"]}, "is no answer"),
        (r"is (\w+)", {"choices": ["slower", "faster"], "flatters": ["fastest"]}, "cannot be bet"),
        (r"(\d[\d,]+) rows", {"flatters": "higher"}, "cannot be bet"),
    ],
)
def test_the_right_answer_of_a_bet_is_what_the_output_says(find, more, right):
    said = new_output("stream", text="1,024 rows: is faster, 7x")
    shown, bet = new_code_cell(id="shown", outputs=[said]), {"ask": "?", "cell": "shown"}
    guess = new_markdown_cell(metadata={"bet": [bet | {"find": find} | more]})
    if right in ("1024", "faster", "longer"):
        assert [bet.right for bet in bets_of(guess, [guess, shown])] == [right]
    else:
        with pytest.raises(ValueError, match=right):
            bets_of(guess, [guess, shown])


def test_every_race_has_a_name_for_pictures():
    found = chains(ROOT)
    groups, _ = machines(ROOT, found)
    assert {result.name for results in groups for result in results} <= set(SHORT)
    assert [race for race in SHORT if not home_of(race, found)] == []
    assert set(overview.FACE) <= set(SHORT) and max(map(len, SHORT.values())) < 36


def outputs(path):
    """All text that a notebook shows."""
    shown = [out for cell in nbformat.read(path, 4).cells for out in cell.get("outputs", [])]
    return "\n".join(o.get("text") or o.get("data", {}).get("text/plain", "") for o in shown)


def is_in(text, result, comparison):
    """Whether a text shows what one process found."""
    ratio = comparison.ratio(result.label, result.rival)
    medians = [xh.format_si(row.median, "s") for row in comparison.measurements.values()]
    words = str(ratio), ratio.against(result.rival)
    return any(x in text for x in words) or all(x in text for x in medians)


def test_notebooks_show_what_was_recorded():
    """Of each race that is recorded, the notebook shows one process: its medians, or a ratio."""
    results, skipped = xh.read_results(ROOT / "results")
    assert results and not skipped
    shown, found, is_shown = {path.stem: outputs(path) for path in NOTEBOOKS}, chains(ROOT), {}
    for result in results:
        home, version = home_of(result.name, found) or ("", 0)
        if result.version == version:
            here = any(is_in(shown[home], result, run.comparison) for run in result.runs)
            is_shown[result.name] = here or is_shown.get(result.name, False)
    assert is_shown and [name for name, is_there in is_shown.items() if not is_there] == []


def test_rows_of_the_table_keep_the_standard():
    """A rival that ran what it says, and a range; six processes of each, somewhere."""
    groups, _ = machines(ROOT, chains(ROOT))
    results = [result for found in groups for result in found]
    table = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    rows = [line for line in table.splitlines() if line.startswith("| [")]
    assert len(rows) >= 10
    for row in rows:
        same = [x for x in results if f" | {plain(x.what)} | " in row]
        assert all(x.as_labelled for x in same) and max(len(x.runs) for x in same) == 6


def test_a_result_in_bold_shows_an_interval_without_one():
    """The digits that are shown say why a number is bold, and why another is not."""
    table = (ROOT / "docs/results.md").read_text(encoding="utf-8")
    cell = r"\| (\*\*)?[\d.]+x (?:faster|slower)(?:\*\*)? \\\[([\d.]+), ([\d.]+)\\\](?= \|)"
    shown = re.findall(cell, table)
    assert len(shown) >= 50
    for bold, low, high in shown:
        assert bool(bold) != (float(low) <= 1 <= float(high)), (bold, low, high)


def test_the_page_of_the_bench_says_what_its_false_alarms_mean():
    text = test_bench.PAGE.read_text(encoding="utf-8")
    said = test_bench.false_alarms(test_bench.shown(text))
    assert said in text and ("7 were counted (every core loaded)" in said) == ("| 7 of 100" in text)
    asked = "a function against itself, called different"
    assert "6 were counted (quiet)" in test_bench.false_alarms({asked: {"quiet": "6 of 100"}})
    assert test_bench.false_alarms({asked: {"quiet": "5 of 100"}}) == ""


def test_a_link_that_is_shared_has_a_picture_where_there_is_an_address():
    conf = runpy.run_path(str(ROOT / "docs/conf.py"))
    assert conf["site_of"]("https://github.com/OWNER/xla") == ""
    site = conf["site_of"]("https://github.com/Some-One/xla")
    assert site == "https://some-one.github.io/xla/"
    assert f'"{site}_static/share.png"' in conf["head"](site) and "og:" not in conf["head"]("")
    png = (ROOT / "docs/site/share.png").read_bytes()
    assert [int.from_bytes(png[at : at + 4], "big") for at in (16, 20)] == [1280, 640]


def scripts_of_the_readme():
    return re.findall(r"(?s)```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"))


def test_the_script_of_the_readme_shows_that_xla_ran_and_how_fast():
    script = scripts_of_the_readme()[0]
    assert script.count("\n") <= 17
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True)
    assert done.stderr.count("Compiled cluster using XLA!") == 1, done.stderr
    assert len(re.findall(r"(?m)^XLA is \d+\.\d\d times as fast as the graph$", done.stdout)) == 3


def test_the_model_of_the_readme_can_be_decided_about(tf):
    names = {}
    exec(scripts_of_the_readme()[1], names)
    model, examples = names["make"]()
    found = xd.decide(model, examples, calls=1, budget=0.05)
    assert found.choice == "graph" and list(found.findings[0].shapes)  # a single call


def title_of(path):
    """The title of a notebook."""
    return nbformat.read(path, 4).cells[0].source.splitlines()[0].removeprefix("# ")


def test_the_cards_name_notebooks_by_their_titles():
    titles = {path.stem[:2]: title_of(path).lower() for path in NOTEBOOKS}
    texts = re.findall(r">([^<>]+)<", "".join(p.read_text() for p in map(ROOT.joinpath, CARDS)))
    named = [title for text in texts for title in re.findall(r"(\d\d) ([A-Z][\w ]+)", text)]
    assert len(named) >= 10
    assert {number: title.lower() for number, title in named}.items() <= titles.items()
    assert {n for text in texts for n in re.findall(r"\b\d\d\b", text)} <= set(titles)


def headings(page, level):
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    return list(map(github_slugify, re.findall(rf"(?m)^{level} (.+)", text)))


def test_each_row_of_the_manual_runs_and_is_proved_or_names_its_source():
    _, *rows = (ROOT / "docs/messages.md").read_text(encoding="utf-8").split("\n### ")
    assert len(rows) == 62
    for row in rows:
        documented = "documented, not run" in row
        assert ("](https://github.com/" if documented else "](../notebooks/") in row, row
        assert documented or ("seen in 2." in row and row.count("```python") == 2), row


def test_the_manual_begins_with_a_list_of_its_rows():
    text = (ROOT / "docs/messages.md").read_text(encoding="utf-8")
    listed, _ = text.split("\n## ", 1)
    assert re.findall(r"\]\(#([^)]+)\)", listed) == headings("messages.md", "###")


def test_the_manual_has_the_words_that_public_reports_use():
    """Whoever searches the page for them finds a row."""
    text = (ROOT / "docs/messages.md").read_text(encoding="utf-8")
    for words in (
        "JIT compilation failed",
        "tf2xla conversion failed",
        "DNN library initialization failed",
        "is taking a while",
        "unsupported type (PerReplica) to a Tensor",
        "No registered '_Arg' OpKernel",
        "No registered '_Retval' OpKernel",
        "not invertible",
        "where(p < 0, abs(p), p)",
    ):
        assert words in text, words


def test_every_lead_ends_at_a_row_or_a_word_and_every_word_is_linked():
    helpers = "".join(path.read_text() for path in ROOT.glob("xla_helpers/**/*.py"))
    leads = {*ROWS.values(), *re.findall(r'see\("([\w-]+)"\)', helpers)}
    assert len(leads) > 6 and leads <= {*headings("messages.md", "###")}
    lessons = "".join(path.read_text(encoding="utf-8") for path in NOTEBOOKS)
    assert {*re.findall(r"glossary\.md#([\w-]+)", lessons)} == {*headings("glossary.md", "##")}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("a site")
    command = [sys.executable, "-m", "sphinx", "-qW", "-j", "auto", "-c", "docs"]
    command += ["-d", str(folder / "doctrees"), ".", str(folder / "site")]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return folder / "site"


def test_the_site_has_every_page_and_fetches_nothing(site):
    pages = {str(path.relative_to(site)): Page(path) for path in site.rglob("*.html")}
    notebooks = {f"notebooks/{path.stem}.html" for path in NOTEBOOKS}
    docs = {f"docs/{path.stem}.html" for path in ROOT.glob("docs/*.[mr]*")}
    assert notebooks | docs | {"README.html", "search.html"} <= set(pages)
    assert {name: page.others for name, page in pages.items() if page.others} == {}
    assert {name for name, page in pages.items() if page.undescribed} == set()
    for name, page in pages.items():
        links = [given.get("href", "").partition("#")[0] for tag, given in page.tags if tag == "a"]
        targets = [site / name / ".." / link for link in links if not re.match(r"\w+:|$", link)]
        assert targets and all(target.resolve().exists() for target in targets), name


def test_the_side_bar_holds_the_parts_of_the_readme_and_numbers(site):
    text = (site / "README.html").read_text()
    parts = re.findall(r"(?m)^\| \| \*\*(.+?)\*\*", (ROOT / "README.md").read_text())
    listed = re.findall(r'caption-text">([^<]+)|class="toctree-l1"><a [^>]+>(\d\d)? ?', text)
    assert len(parts) == 5 and [part for part, _ in listed if part][:5] == parts
    numbers = [number for _, number in listed if number]
    assert sorted(numbers) == [path.stem[:2] for path in NOTEBOOKS]
    for last, added in (("10", "19"), ("07", "20")):  # a part grows, and nothing is renumbered
        assert numbers.index(added) == numbers.index(last) + 1


def test_the_first_page_has_a_card_for_each_notebook(site):
    """Its picture, number and title, a question, what it needs, and minutes."""
    text, size = (site / "README.html").read_text(), 0
    shown = re.findall(r'(?s)<div class="card docutils container">(.*?)</div>', text)
    assert text.count('class="small"') == len(shown) == len(NOTEBOOKS)
    shown.sort(key=lambda card: card[card.index("notebooks/") :])
    for path, card in zip(NOTEBOOKS, shown, strict=True):
        picture, *words = re.split(r"</?p>\n?(?:<p>)?", card.strip())
        title, question, needs, minutes, _ = (re.sub("<.+?>", "", part) for part in words)
        assert title == f"{path.stem[:2]} {title_of(path)}" and f"/{path.stem}.html" in words[0]
        assert question.endswith("?") and re.match(r"Needs \w.+\.$", needs)
        assert re.fullmatch(r"[A-Z].+ to read, .+ to run\.", minutes)
        size += (site / re.search('src="(.+?)"', picture)[1]).stat().st_size
        assert 'alt="" loading="lazy"' in picture
    assert size < 300_000
    assert "the question it answers" not in text and 'class="try ' in text


def test_each_notebook_needs_earlier_ones_and_stands_once_in_the_picture():
    found = cards.parts((ROOT / "README.md").read_text(encoding="utf-8"), ROOT / "notebooks")
    every = {card.number: card for part in found.values() for card in part}
    assert sorted(every) == [path.stem[:2] for path in NOTEBOOKS]
    above = {}
    for card in every.values():
        assert {*card.after} <= {*every} and all(other < card.number for other in card.after)
    for number, card in sorted(every.items()):
        above[number] = {*card.after}.union(*(above[other] for other in card.after))
    tree, path, shown = cards.tree([every[number] for number in sorted(every)]), [], []
    for line in tree:
        depth = line.index("-") // 2
        number, *also = re.findall(r"\b(\d\d)\b(?!_)", line)
        path[depth:] = [number]
        shown.append(number)
        reached = {*path[:-1], *also}.union(*(above[other] for other in also))
        assert reached == above[number], line
    assert sorted(shown) == sorted(every)


def test_a_notebook_that_hides_its_minutes_is_told():
    said = "**What you'll need.** [One](01_one.ipynb). No GPU. Ten minutes to read, one to run."
    assert cards.needs(said) == ("[One](01_one.ipynb)", "Ten minutes to read, one to run")
    with pytest.raises(ValueError, match="no sentence on needs"):
        cards.needs(said.replace(" to run", ""))


def test_titles_carry_their_numbers(site):
    for path in NOTEBOOKS:
        text, title = (site / f"notebooks/{path.stem}.html").read_text(), title_of(path)
        assert f"<title>{path.stem[:2]} {title} - " in text
        assert f"<h1>{path.stem[:2]} {title}<" in text
    assert (
        '<div class="title">02 Compile a Keras model</div>'
        in (site / f"notebooks/{NOTEBOOKS[0].stem}.html").read_text()
    )


class InSight(HTMLParser):
    """The guesses of a page, and what came out below each before the next heading, unfolded."""

    def __init__(self, path):
        super().__init__()
        self.guesses, self.shown, self.is_guessing, self.folds = 0, [], False, []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        if tag == "details":
            self.folds.append(given.get("class") == "came-out")
        self.is_guessing = self.is_guessing and tag not in ("h1", "h2", "h3")
        came_out = tag == "img" or "cell_output" in (given.get("class") or "").split()
        if self.is_guessing and came_out and not any(self.folds):
            self.shown.append((self.guesses, tag, given))

    def handle_endtag(self, tag):
        if tag == "details":
            self.folds.pop()

    def handle_data(self, data):
        if data == "Guess before you run.":
            self.guesses, self.is_guessing = self.guesses + 1, True


def test_nothing_answers_a_guess_in_plain_sight(site):
    guesses = 0
    for path in NOTEBOOKS:
        page = InSight(site / f"notebooks/{path.stem}.html")
        assert page.shown == [], path
        guesses += page.guesses
    assert guesses > 40


def test_a_notebook_names_its_folds(site):
    for path in NOTEBOOKS:
        text = (site / f"notebooks/{path.stem}.html").read_text()
        assert "google.colab" not in text and 'id="set-up"' in text
        assert {"Check of exercise 1", "Solution 2"} <= set(re.findall("<summary>(.+?)</", text))


def test_the_reference_holds_every_public_name_and_lists_it(site):
    text = (site / "docs/reference.html").read_text()
    for package in (xh, xd):
        name, names = package.__name__, set(package.__all__)
        assert set(re.findall(rf'id="{name}\.(\w+)"', text)) == names
        assert set(re.findall(rf'<td><p><a [^>]+#{name}\.(\w+)"', text)) >= names


def report(folder, *places):
    """The report, made as the Makefile does, from a copy of what it needs."""
    shutil.copytree(ROOT / "tools", folder / "tools")
    shutil.copy(ROOT / "Makefile", folder)
    (folder / ".venv").symlink_to(sys.prefix)
    own = os.environ | {"RESULTS": " ".join(places), "MAKEFLAGS": ""}
    command = ["make", "--old-file=set-up", "report"]
    return subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True)


def result(
    ratio, processor="P", name="sums", rival="graph", *, processes=1, spread=(1,), version=1
):
    """What processes found in which one row is so many times faster, as the rounds spread."""
    samples = {rival: [ratio * x for x in spread] * (9 // len(spread)), "XLA": [1.0] * 9}
    rows = {label: Measurement(label, 1.0, tuple(s), 1, 0.0) for label, s in samples.items()}
    runs = (Recorded("2026-11-21", xh.Comparison(rows, {})),) * processes
    machine, told = {"processor": processor}, {"rival": rival, "version": version}
    return Result(name, f"the {name}", machine, runs, **told)


def recorded(folder, *found, **about):
    """Write a result into a folder."""
    write(result(*found, **about), folder)


def race(*ratios):
    """One race, and what so many machines found, each with an interval of a tenth around it."""
    spread = 0.95, 1, 1.05
    (found,) = in_order([result(x, f"P{n}", spread=spread)] for n, x in enumerate(ratios))
    return found


@pytest.mark.parametrize(
    ("ratios", "group", "words"),
    [
        ([2.0], PAYS, "2.00x faster"),
        ([2.0, 12.34], PAYS, "2.00 to 12.34x faster"),
        ([0.5, 0.1], LOSES, "2.00 to 10.00x slower"),
        ([0.8, 1.5], UNCLEAR, "1.25x slower to 1.50x faster"),
        ([2.0, 1.01], UNCLEAR, "1.01 to 2.00x faster"),  # not clear on each of them
    ],
)
def test_a_race_is_put_into_words(ratios, group, words):
    found = race(*ratios)
    assert (found.group, found.words) == (group, words)


def test_a_report_sets_four_folders_side_by_side_and_runs_nothing_of_a_file(tmp_path):
    folder = tmp_path / "d$(touch ran)y {a,b}"
    recorded(folder / "own", 2.0, processes=6)
    recorded(folder / "own", 8.0, name="alone")
    recorded(folder / "class/ada", 3.0, processor=HOSTILE)
    recorded(folder / "class/bob", 5.0, rival="graph, fixed")
    recorded(folder / "class/eve", 7.0)
    (folder / "class" / f"{HOSTILE.replace('/', '')}.json").write_text("{")
    done = report(folder, "own", "'class'")
    assert done.returncode == 0, done.stderr
    page = Page(folder / "build/report.html")
    assert page.others == page.undescribed == [] and "img" in dict(page.tags)
    _, contents, *parts = re.split(r"<ol>|<h2", page.text)
    assert contents.count('href="#race-') == len(parts) == 3 and 'id="race-1"' in parts[1]
    alone, bob, sums = ([x.strip() for x in re.findall(r"<td[^>]*>(.*?)</td>", y)] for y in parts)
    assert alone[:3] == ["1", "8.00x faster than graph [8.00, 8.00]", "1"]
    assert bob[0] == "3" and bob[1].startswith("5.00x faster than graph, fixed")
    assert [sums[n] for n in (0, 3, 6)] == ["1", "2", "4"]  # two of one description, apart
    assert sums[1:3] == ["2.00x faster than graph [2.00, 2.00]", "6"] and "None" not in page.text
    assert "XLA pays on each machine that ran it: 3 of 3 races." in page.text
    assert HOSTILE in unescape(page.text) and "import xla_helpers" not in page.text
    assert not [given for _, given in page.tags if "onerror" in given]
    assert "alert(2)</script>" not in page.text
    assert not list(tmp_path.rglob("ran"))


def test_a_report_shows_the_latest_version_of_a_race_and_names_the_others(tmp_path):
    recorded(tmp_path / "mine", 3.0, version=2)
    recorded(tmp_path / "yours", 8.0)
    recorded(tmp_path / "yours", 5.0, name="alone")
    done = report(tmp_path, "mine", "yours")
    assert done.returncode == 0, done.stderr
    text = (tmp_path / "build/report.html").read_text()
    assert "3.00x faster" in text and "5.00x faster" in text and "8.00x" not in text
    assert re.search(r"yours/p/sums\.json</td>\s*<td[^>]*>\s*version 1; there is version 2", text)


def test_a_report_without_results_is_one_line(tmp_path):
    done = report(tmp_path, "nowhere")
    assert done.returncode == 2 and "no results in nowhere" in done.stderr
    assert not (tmp_path / "build/report.html").exists()


def test_a_row_says_which_way_and_of_how_many_processes():
    """The interval reads in the direction of the words, and a single process is named."""
    slower = overview.said(result(0.5, spread=(0.8, 1, 1.25)))
    assert slower == r"**2.00x slower** \[1.60, 2.50\], one process"
    assert overview.said(result(2.0, processes=6)) == r"**2.00x faster** \[2.00, 2.00\]"


def test_a_fold_shows_the_words_of_a_comment_as_they_stand():
    hidden = {"jupyter": {"source_hidden": True}}
    cell = nbformat.v4.new_code_cell(f"# {HOSTILE}\n1 + 1", metadata=hidden)
    opens, *_ = folded([cell])
    assert unescape(opens["source"]) == f"<details class='code'><summary>{HOSTILE}</summary>"
    assert "<img" not in opens["source"] and "<script" not in opens["source"]
