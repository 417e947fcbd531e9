"""The README's picture, its tables and its links are held against what is there."""

import ast
import re
from types import SimpleNamespace

import pytest

from tools import readme
from tools.collection import (
    ROOT,
    UsageError,
    names_recorded,
    number_of,
    paths,
    read,
    read_all,
    recorders,
    text_of,
    title_of,
)
from tools.recorded import results

README = (ROOT / "README.md").read_text()
NOTEBOOKS = read_all()
RESULTS = {result.name: result for result in results(ROOT)}


def test_the_tables_list_every_notebook_by_its_title():
    rows = re.findall(r"^\| (\d\d) \| \[(.+?)\]\(notebooks/(.+?)\) \|", README, re.MULTILINE)
    assert rows == [(number_of(p), title_of(n), p.name) for p, n in NOTEBOOKS.items()]


def test_five_are_learned_in_order_and_the_others_by_interest():
    in_order, by_interest = README.split("## The notebooks")[1].split("Then by interest:")
    assert re.findall(r"^\| (\d\d) \|", in_order, re.MULTILINE) == ["01", "02", "03", "04", "05"]
    assert re.findall(r"^\| (\d\d) \|", by_interest, re.MULTILINE)[0] == "06"


def test_every_notebook_can_be_opened_on_colab():
    opened = re.findall(r"colab\.research\.google\.com/github/\S+/blob/main/(\S+?)\)", README)
    assert set(opened) == {f"notebooks/{path.name}" for path in NOTEBOOKS}


# The picture


def test_the_words_on_the_picture_are_those_of_the_results():
    assert RESULTS, "run make refresh"
    shown = README.split(readme.START)[1].split(readme.END)[0]
    assert shown == readme.opening(RESULTS.values(), ROOT), "run make refresh"


def test_the_example_of_a_measurement_is_a_recorded_one():
    shown = README.split(readme.EXAMPLE)[1].split(readme.END)[0]
    assert shown == readme.example(RESULTS.values()), "run make refresh"
    for term in ("ran", "first call", "median", "spread", "against eager"):
        assert f"**{term}**" in README and term in shown


def nodes(notebook):
    code = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "code")
    return list(ast.walk(ast.parse(re.sub(r"(?m)^( *)[%!].*$", r"\1pass", code))))


def records(notebook):
    """Calls of `record` with a name in words: name to comparison, words and, if any, folder."""
    found = {}
    for node in nodes(notebook):
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "xh.record":
            folder = [keyword.value for keyword in node.keywords if keyword.arg == "folder"]
            name, *others = [*node.args, *folder]
            if isinstance(name, ast.Constant):
                found[name.value] = others
    return found


def test_what_is_recorded_is_kept_and_nothing_else():
    calls = [call for n in NOTEBOOKS.values() for call in records(n).items()]
    always = {name for name, (_, _, *folder) in calls if not folder}
    assert always <= set(RESULTS) <= {name for name, _ in calls}, "run make refresh"


def words_recorded(notebook, name):
    """What a notebook says that it measured, as patterns: where a value goes, anything does."""
    what = records(notebook)[name][1]
    if isinstance(what, ast.Name):
        given = [n for n in nodes(notebook) if isinstance(n, ast.Assign)]
        return [pattern(n.value) for n in given if ast.unparse(n.targets[0]) == what.id]
    return [pattern(what)]


def pattern(text):
    parts = text.values if isinstance(text, ast.JoinedStr) else [text]
    return "".join(
        re.escape(part.value) if isinstance(part, ast.Constant) else ".+" for part in parts
    )


def is_said(notebook, name, what):
    return any(re.fullmatch(words, what) for words in words_recorded(notebook, name))


@pytest.mark.parametrize("name", sorted(RESULTS))
def test_a_result_is_of_what_its_notebook_measures(name):
    assert is_said(NOTEBOOKS[recorders(NOTEBOOKS)[name]], name, RESULTS[name].what)


def test_what_a_notebook_says_it_measures_is_understood(save, tmp_path):
    code = """
what = f"a sum of {size}"
xh.record("sum", found, what)
xh.record("mean", found, "a mean", folder)"""
    notebook = read(save(tmp_path, "01_a", code))
    assert set(records(notebook)) == set(names_recorded(notebook)) == {"sum", "mean"}
    assert is_said(notebook, "sum", "a sum of 4") and is_said(notebook, "mean", "a mean")
    assert not is_said(notebook, "sum", "a mean of 4")


@pytest.mark.parametrize("name", sorted(RESULTS))
def test_a_result_is_of_the_machine_that_its_notebook_names(name):
    notebook = NOTEBOOKS[recorders(NOTEBOOKS)[name]]
    said = [text_of(output) for cell in notebook.cells for output in cell.get("outputs", [])]
    assert any(RESULTS[name].title in text for text in said), "run make refresh"


# What `make refresh` writes


@pytest.fixture
def project(tmp_path, save, result):
    save(tmp_path / "notebooks", "01_one", 'record("fused-sum", found)\nrecord("mean", found)')
    (tmp_path / "results").mkdir()
    for name, seconds in (("fused-sum", 0.1), ("mean", 0.4)):
        text = result(name, f"{name} of x * y | z", graph=0.2, XLA=seconds)
        (tmp_path / "results" / f"{name}.json").write_text(text)
    places = "\n".join(f"{start}\nold\n{readme.END}" for start in (readme.START, readme.EXAMPLE))
    (tmp_path / "README.md").write_text(f"# Title\n\n{places}\n\nMore.\n")
    return tmp_path


def refreshed(project):
    """What the README and its picture hold after a refresh; the picture is None without one."""
    found = readme.refreshed("01_one.ipynb", 61.5, 2**30, results(project), project)
    return found[project / "README.md"], found.get(project / "README.png")


def test_the_picture_is_drawn_and_what_is_said_of_it_replaced(project):
    before = (project / "README.md").read_text()
    text, picture = refreshed(project)
    assert picture.startswith(b"\x89PNG")
    assert (project / "README.md").read_text() == before and not (project / "README.png").exists()
    assert text.startswith("# Title\n") and text.endswith("\n\nMore.\n") and "old" not in text
    assert "*Measured on A processor.*" in text
    rows = re.findall(r"(?m)^\| (.+) of x \\\* y \\\| z \| (.+) \| \[01\]\((.+)\) \|$", text)
    assert [(name, file) for name, _, file in rows] == [
        ("mean", "notebooks/01_one.ipynb"),
        ("fused-sum", "notebooks/01_one.ipynb"),
    ]
    assert rows[0][1].startswith("2.00x slower") and rows[1][1].startswith("2.00x faster")


def test_a_readme_without_a_place_for_the_example_gets_the_rest(project):
    path = project / "README.md"
    path.write_text(path.read_text().replace(readme.EXAMPLE, "Once an example."))
    text, _ = refreshed(project)
    assert "*Measured on A processor.*" in text and "Once an example.\nold\n" in text


def test_without_its_comparison_the_example_stays(project):
    (project / "results" / "fused-sum.json").unlink()
    text, _ = refreshed(project)
    assert "*Measured on A processor.*" in text and f"{readme.EXAMPLE}\nold\n" in text


NO_END = f"start\n{readme.EXAMPLE}\n{readme.END}"  # the end mark is that of another


@pytest.mark.parametrize(
    "text", ["", "start\n", f"{readme.END}\nstart", f"start\nstart\n{readme.END}", NO_END]
)
def test_a_readme_without_its_marks_is_refused(text):
    with pytest.raises(UsageError, match="must hold once.+: start"):
        readme.between(text, "start", "new")


def test_of_two_examples_the_newest_is_shown():
    days = ("2026-11-20", "2026-11-22", "2026-11-21")
    found = [SimpleNamespace(name="fused-sum", day=day, comparison=day) for day in days]
    assert readme.example(found) == "\n```\n2026-11-22\n```\n"


@pytest.mark.parametrize("start", [readme.START, readme.EXAMPLE])
def test_a_mark_that_is_there_twice_is_refused_beforehand(project, start):
    readme.check(project)
    with (project / "README.md").open("a") as file:
        file.write(start)
    with pytest.raises(UsageError, match="must hold once"):
        readme.check(project)


def test_writing_twice_changes_nothing(project):
    once, _ = refreshed(project)
    (project / "README.md").write_text(once)
    assert refreshed(project)[0] == once


def test_a_readme_without_the_place_gets_no_picture(project):
    (project / "README.md").write_text("# Title\n")
    readme.check(project)
    assert refreshed(project) == ("# Title\n", None)


def test_without_results_the_words_stay(project):
    for path in (project / "results").iterdir():
        path.unlink()
    assert refreshed(project) == ((project / "README.md").read_text(), None)


def test_without_a_readme_nothing_is_said(project):
    (project / "README.md").unlink()
    readme.check(project)
    assert readme.refreshed("01_one.ipynb", 1.0, 1, results(project), project) == {}


# Links


def sections(path):
    cells = NOTEBOOKS[path].cells
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    return {name.replace(" ", "-") for name in re.findall(r"^##+ (.+)$", prose, re.MULTILINE)}


def test_the_index_of_topics_leads_to_sections():
    index = README.split("## Index of topics")[1].split("\n## ")[0]
    rows = re.findall(r"^\| (?!topic|---)(.+) \| (.+) \|$", index, re.MULTILINE)
    assert rows
    used = set()
    for topic, places in rows:
        links = re.findall(r"(\d\d) \[(.+?)\]\(notebooks/((\d\d)_\w+\.ipynb)#(\S+?)\)", places)
        assert links, topic
        for number, words, name, its_number, anchor in links:
            assert number == its_number
            assert anchor == words.replace(" ", "-")
            assert anchor in sections(ROOT / "notebooks" / name), f"{name} has no {words!r}"
            used.add(name)
    assert used == {path.name for path in paths()}, "a notebook without a topic"


def test_links_to_files_lead_somewhere():
    targets = re.findall(r"\]\((?!https?:|#)([^)]+)\)", README)
    assert targets
    for target in targets:
        file, _, anchor = target.partition("#")
        assert (ROOT / file).exists(), target
        assert not anchor or anchor in sections(ROOT / file), target


def test_the_table_of_commands_is_that_of_the_makefile():
    described = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    listed = re.findall(r"^\| `make ([a-z-]+)", README, re.MULTILINE)
    assert set(listed) == set(described) - {"help"}
