"""The README's picture, the site and the report: what they show, and that they fetch nothing."""

import json
import os
import re
import shutil
import subprocess
import sys
from html import unescape
from html.parser import HTMLParser
from pathlib import Path

import nbformat
import pytest

import xla_helpers as xh
from tools.overview import notebook_of

ROOT = Path(__file__).parents[1]
NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
FETCHING = {"src", "srcset", "data", "poster"}  # attributes that make a browser ask for something
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
        if tag == "img" and not given.get("alt"):
            self.undescribed.append(given)


def test_the_readme_shows_what_was_recorded(tmp_path):
    """Made again from results/, the README is what it was."""
    for name in ("notebooks", "results", "tools"):
        shutil.copytree(ROOT / name, tmp_path / name)
    shutil.copy(ROOT / "README.md", tmp_path)
    subprocess.run([sys.executable, tmp_path / "tools/overview.py"], check=True)
    assert (tmp_path / "README.md").read_text() == (ROOT / "README.md").read_text(), "make refresh"
    assert (tmp_path / "README.png").exists()


def outputs(path):
    """All text that a notebook shows."""
    shown = [out for cell in nbformat.read(path, 4).cells for out in cell.get("outputs", [])]
    return "\n".join(o.get("text") or o.get("data", {}).get("text/plain", "") for o in shown)


def test_notebooks_show_what_was_recorded():
    """Each its own medians or a ratio of them, and 12 both ends of the README's picture."""
    results, skipped = xh.read_results(ROOT / "results")
    assert results and not skipped
    for result in results:
        found, shown = result.comparison, outputs(notebook_of(result))
        pairs = [(found.ratio(label), found.baseline) for label in list(found.measurements)[1:]]
        pairs += [(result.xla_against_graph, "graph")] if result.xla_against_graph else []
        ratios = [text for ratio, rival in pairs for text in (str(ratio), ratio.against(rival))]
        medians = [xh.format_si(row.median, "s") for row in found.measurements.values()]
        assert all(text in shown for text in medians) or any(text in shown for text in ratios)
    ratios = [(result.xla_against_graph, result.what) for result in results]
    ends = sorted([pair for pair in ratios if pair[0]], key=lambda pair: pair[0].value)
    for ratio, what in (ends[0], ends[-1]):
        assert f"{ratio} ({what})" in outputs(NOTEBOOKS[11])


def test_the_cards_name_notebooks_by_their_titles():
    titles = {path.stem[:2]: path.stem[3:].replace("_", " ") for path in NOTEBOOKS}
    texts = re.findall(r">([^<>]+)<", "".join(p.read_text() for p in ROOT.glob("docs/*.svg")))
    named = [title for text in texts for title in re.findall(r"(\d\d) ([A-Z][\w ]+)", text)]
    assert len(named) >= 10
    assert {number: title.lower() for number, title in named}.items() <= titles.items()
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
    notebooks = {f"notebooks/{path.stem}.html" for path in NOTEBOOKS}
    docs = {f"docs/{path.stem}.html" for path in ROOT.glob("docs/*.[mr]*")}
    assert notebooks | docs | {"README.html", "search.html"} <= set(pages)
    assert {name: page.others for name, page in pages.items() if page.others} == {}
    assert {name for name, page in pages.items() if page.undescribed} == set()
    for name, page in pages.items():
        links = [given.get("href", "").partition("#")[0] for tag, given in page.tags if tag == "a"]
        targets = [site / name / ".." / link for link in links if not re.match(r"\w+:|$", link)]
        assert targets and all(target.resolve().exists() for target in targets), name


def test_a_notebook_keeps_its_folds_and_the_reference_holds_every_public_name(site):
    text = (site / "notebooks/01_fuse_a_computation.html").read_text()
    assert "google.colab" not in text and "hide-input" in text
    assert 'id="Set-up"' in text  # an anchor as JupyterLab and GitHub make it
    text = (site / "docs/reference.html").read_text()
    assert set(re.findall(r'id="xla_helpers\.(\w+)"', text)) == set(xh.__all__)


def report(folder, *places):
    """The report, made as the Makefile does, from a copy of what it needs."""
    shutil.copytree(ROOT / "tools", folder / "tools")
    shutil.copy(ROOT / "Makefile", folder)
    (folder / ".venv").symlink_to(sys.prefix)
    own = os.environ | {"RESULTS": " ".join(places), "MAKEFLAGS": ""}
    command = ["make", "--old-file=set-up", "report"]
    return subprocess.run(command, cwd=folder, env=own, capture_output=True, text=True)


def test_a_report_sets_results_side_by_side_and_runs_nothing_of_a_file(tmp_path):
    folder = tmp_path / "d$(touch ran)y {a,b}"
    shutil.copytree(ROOT / "results", folder / "own")
    (folder / "class").mkdir()
    content = json.loads((folder / "own/fused-sum.json").read_text())
    content["what"] = content["machine"]["processor"] = HOSTILE
    for place in ("own", "class"):
        (folder / place / "fused-sum.json").write_text(json.dumps(content))
    (folder / "class" / f"{HOSTILE.replace('/', '')}.json").write_text("{")
    done = report(folder, "own", "'class'")
    assert done.returncode == 0, done.stderr
    page = Page(folder / "build/report.html")
    assert page.others == page.undescribed == [] and "img" in dict(page.tags)
    assert "here class" in " ".join(re.findall(r"<td[^>]*>(here|class)", page.text))
    assert HOSTILE in unescape(page.text) and "import xla_helpers" not in page.text
    assert not [given for _, given in page.tags if "onerror" in given]
    assert "alert(2)</script>" not in page.text
    assert not list(tmp_path.rglob("ran"))


def test_a_report_without_results_is_one_line(tmp_path):
    done = report(tmp_path, "nowhere")
    assert done.returncode == 2 and "no results in nowhere" in done.stderr
    assert not (tmp_path / "build/report.html").exists()
