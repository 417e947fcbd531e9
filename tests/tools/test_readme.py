"""The README's list of notebooks, its picture and its links are held against what is there."""

import base64
import re
from pathlib import Path

import nbformat

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))


def test_the_table_lists_every_notebook_by_its_title():
    rows = re.findall(r"^\| (\d\d) \| \[(.+?)\]\(notebooks/(.+?)\) \|", README, re.MULTILINE)
    expected = []
    for path in NOTEBOOKS:
        title = nbformat.read(path, as_version=4).cells[0].source.splitlines()[0]
        expected.append((path.name[:2], title.removeprefix("# "), path.name))
    assert rows == expected


def test_every_notebook_can_be_opened_on_colab():
    opened = re.findall(r"colab\.research\.google\.com/github/\S+/blob/main/(\S+?)\)", README)
    assert set(opened) == {f"notebooks/{path.name}" for path in NOTEBOOKS}


def test_the_picture_is_the_one_that_a_notebook_shows():
    cells = [c for path in NOTEBOOKS for c in nbformat.read(path, as_version=4).cells]
    tagged = [c for c in cells if "readme-picture" in c.metadata.get("tags", [])]
    assert len(tagged) == 1
    shown = base64.b64decode(tagged[0].outputs[0].data["image/png"])
    assert (ROOT / "README.png").read_bytes() == shown


def sections(path):
    notebook = nbformat.read(path, as_version=4)
    prose = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
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
    assert used == {path.name for path in NOTEBOOKS}, "a notebook without a topic"


def test_links_to_files_lead_somewhere():
    targets = re.findall(r"\]\((?!https?:|#)([^)]+)\)", README)
    assert targets
    for target in targets:
        assert (ROOT / target.split("#")[0]).exists(), target


def test_the_table_of_commands_is_that_of_the_makefile():
    described = re.findall(r"^([a-z-]+):.*## ", (ROOT / "Makefile").read_text(), re.MULTILINE)
    listed = re.findall(r"^\| `make ([a-z-]+)", README, re.MULTILINE)
    assert set(listed) == set(described) - {"help", "set-up"}
