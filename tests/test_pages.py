"""The README's picture, the site and the report: what they show, and that they fetch nothing."""

import json
import os
import re
import shutil
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest

import xla_helpers as xh
from tools.overview import notebook_of
from xla_helpers.tables import format_seconds

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FETCHING = {"src", "srcset", "data", "poster"}  # attributes that make a browser ask for something
HOSTILE = "<img src=x onerror=alert(1)> & <script>alert(2)</script>"


class Page(HTMLParser):
    """What a page would fetch by itself, its pictures without a description, and its tags."""

    def __init__(self, path):
        super().__init__()
        self.fetched, self.undescribed, self.tags = [], [], []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.tags.append((tag, given))
        wanted = FETCHING | ({"href"} if tag == "link" else set())
        self.fetched += [value for name, value in attributes if name in wanted and value]
        if tag == "img" and not given.get("alt"):
            self.undescribed.append(given)

    def others(self):
        return [url for url in self.fetched if re.match(r"(https?:)?//", url)]


def test_the_readme_shows_what_was_recorded(tmp_path):
    """Made again from results/, the README is what it was."""
    for name in ("notebooks", "results"):
        shutil.copytree(ROOT / name, tmp_path / name)
    (tmp_path / "tools").mkdir()
    shutil.copy(ROOT / "tools/overview.py", tmp_path / "tools")
    shutil.copy(ROOT / "README.md", tmp_path)
    subprocess.run([sys.executable, tmp_path / "tools/overview.py"], check=True)
    assert (tmp_path / "README.md").read_text() == (ROOT / "README.md").read_text(), "make refresh"
    assert (tmp_path / "README.png").exists()


def outputs(path):
    """All text that a notebook shows."""
    cells = nbformat.read(path, as_version=4).cells
    shown = [output for cell in cells for output in cell.get("outputs", [])]
    return "\n".join(o.get("text") or o.get("data", {}).get("text/plain", "") for o in shown)


def test_notebooks_show_what_was_recorded():
    """Each its own medians or a ratio of them, and 12 both ends of the README's picture."""
    results, skipped = xh.read_results(ROOT / "results")
    assert results and not skipped
    for result in results:
        shown = outputs(notebook_of(result))
        found = result.comparison
        first, *others = found.measurements
        ratios = [(found.ratio(label, first), first) for label in others]
        ratios += [(result.xla_against_graph, "graph")] if result.xla_against_graph else []
        medians = [format_seconds(row.median) for row in found.measurements.values()]
        words = [text for ratio, rival in ratios for text in (repr(ratio), ratio.against(rival))]
        assert all(x in shown for x in medians) or any(text in shown for text in words)
    ratios = {result.what: result.xla_against_graph for result in results}
    ends = sorted((ratio.value, repr(ratio), what) for what, ratio in ratios.items() if ratio)
    for _, ratio, what in (ends[0], ends[-1]):
        assert f"{ratio} ({what})" in outputs(NOTEBOOKS[11])


def test_the_cards_name_notebooks_by_their_titles():
    titles = {path.stem[:2]: path.stem[3:].replace("_", " ") for path in NOTEBOOKS}
    texts = re.findall(r">([^<>]+)<", "".join(p.read_text() for p in ROOT.glob("docs/*.svg")))
    named = [title for text in texts for title in re.findall(r"(\d\d) ([A-Z][\w ]+)", text)]
    assert len(named) >= 10
    for number, title in named:
        assert title.lower() == titles[number]
    assert {n for text in texts for n in re.findall(r"\b\d\d\b", text)} <= set(titles)


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
    notebooks = {f"notebooks/{path.stem}.html" for path in ROOT.glob("notebooks/*.ipynb")}
    docs = {f"docs/{path.stem}.html" for path in ROOT.glob("docs/*.[mr]*")}
    assert notebooks | docs | {"README.html", "search.html"} <= set(pages)
    assert {name: page.others() for name, page in pages.items() if page.others()} == {}
    assert {name for name, page in pages.items() if page.undescribed} == set()


def test_a_page_of_the_site_folds_what_is_folded_and_leaves_out_colab(site):
    text = (site / "notebooks/01_fuse_a_computation.html").read_text()
    assert "google.colab" not in text and "hide-input" in text
    assert 'id="Set-up"' in text  # an anchor as JupyterLab and GitHub make it


def test_links_on_the_site_lead_somewhere(site):
    for path in site.rglob("*.html"):
        for tag, given in Page(path).tags:
            target = given.get("href", "").partition("#")[0] if tag == "a" else ""
            if target and not re.match(r"\w+:", target):
                assert (path.parent / target).exists(), f"{path.name}: {target}"


def report(folder, *places, **variables):
    """The report, made as the Makefile does, from a copy of what it needs."""
    (folder / "tools").mkdir(exist_ok=True)
    (folder / "notebooks").mkdir(exist_ok=True)
    shutil.copytree(ROOT / "tools/page", folder / "tools/page", dirs_exist_ok=True)
    for name in ("run.py", "report.ipynb"):
        shutil.copy(ROOT / "tools" / name, folder / "tools")
    shutil.copy(ROOT / "Makefile", folder)
    if not (folder / ".venv/bin").exists():
        (folder / ".venv/bin").mkdir(parents=True)
        for name in ("python", "jupyter"):
            wrapper = folder / ".venv/bin" / name
            wrapper.write_text(f'#!/bin/sh\nexec "{Path(sys.executable).parent}/{name}" "$@"\n')
            wrapper.chmod(0o755)
    own = os.environ | {"RESULTS": " ".join(places), "MAKEFLAGS": ""} | variables
    command = ["make", "--old-file=set-up", "report"]
    return subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True)


def test_a_report_describes_its_pictures_and_runs_nothing_of_a_file(tmp_path):
    folder = tmp_path / "d$(touch ran)y {a,b}"
    shutil.copytree(ROOT / "results", folder / "own")
    (folder / "class").mkdir()
    for path in (folder / "own").glob("fused-sum*.json"):
        content = json.loads(path.read_text())
        content["what"] = HOSTILE
        content["machine"]["processor"] = HOSTILE
        path.write_text(json.dumps(content))
        shutil.copy(path, folder / "class")
    (folder / "class" / f"{HOSTILE.replace('/', '')}.json").write_text("{")
    done = report(folder, "own", "'class'")
    assert done.returncode == 0, done.stderr
    page = Page(folder / "build/report.html")
    assert page.others() == [] and page.undescribed == []
    assert sum(tag == "img" for tag, _ in page.tags) > len(list((ROOT / "results").glob("*.json")))
    assert not [given for _, given in page.tags if "onerror" in given]
    text = (folder / "build/report.html").read_text()
    assert "&lt;img src=x onerror=alert(1)&gt;" in text and "alert(2)</script>" not in text
    assert "import xla_helpers" not in text
    assert not list(tmp_path.rglob("ran"))


def test_a_report_without_results_is_one_line(tmp_path):
    done = report(tmp_path, "nowhere")
    assert done.returncode == 2
    assert "report, cell 1: AssertionError: no results in nowhere" in done.stderr
    assert not (tmp_path / "build/report.html").exists()
