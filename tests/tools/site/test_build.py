"""The site as files: every notebook a page, every link and picture there, no other host asked."""

import inspect
import re
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest

import xla_helpers
from tools.collection import paths
from tools.site import build

NOTEBOOKS = paths()


class Page(HTMLParser):
    """What a page links to, loads and shows."""

    def __init__(self, text):
        super().__init__()
        self.links, self.loads, self.ids, self.pictures = [], [], set(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        given = dict(attributes)
        self.ids.add(given.get("id"))
        if tag == "a":
            self.links.append(given.get("href", ""))
        elif tag == "link":
            self.loads.append(given["href"])
        elif "src" in given:
            self.loads.append(given["src"])
        if tag == "img":
            self.pictures.append(given.get("alt", ""))


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("site") / "html"
    assert build.main(["--out", str(folder)]) == 0
    assert [path.name for path in folder.parent.iterdir()] == ["html"]
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path.name: Page(path.read_text()) for path in site.glob("*.html")}


def test_every_notebook_is_a_page(pages):
    wanted = {"index.html", "contributing.html", "reference.html", "search.html"}
    assert set(pages) == wanted | {f"{path.stem}.html" for path in NOTEBOOKS}


def test_nothing_is_loaded_from_another_host(site, pages):
    for name, page in pages.items():
        assert [address for address in page.loads if urlsplit(address).netloc] == [], name
    for path in site.rglob("*.css"):
        assert not re.search(r"(url\(|@import)\s*[\"']?(https?:)?//", path.read_text()), path


def test_every_link_and_every_file_is_there(site, pages):
    for name, page in pages.items():
        for address in page.links + page.loads:
            target = urlsplit(address)
            if target.scheme:
                continue
            file = unquote(target.path) or name
            assert (site / file).is_file(), f"{name}: {address}"
            if target.fragment and file in pages:
                assert unquote(target.fragment) in pages[file].ids, f"{name}: {address}"


def test_every_picture_is_described(pages):
    for name, page in pages.items():
        assert all(len(alt.split()) > 1 for alt in page.pictures), name
    assert sum(len(page.pictures) for page in pages.values()) > len(NOTEBOOKS)


def test_pages_follow_each_other(site):
    for before, after in zip(NOTEBOOKS, NOTEBOOKS[1:], strict=False):
        page = (site / f"{before.stem}.html").read_text()
        assert re.search(rf'<link rel="next"[^>]+href="{after.stem}.html"', page)


def test_words_of_a_notebook_can_be_found(site):
    assert "fuse_a_computation" in (site / "searchindex.js").read_text()


def test_the_cell_for_colab_is_left_out(site):
    assert all("google.colab" not in (site / f"{p.stem}.html").read_text() for p in NOTEBOOKS)


def test_a_folder_with_something_else_is_left_alone(tmp_path, capsys):
    (tmp_path / "thesis.txt").write_text("years of work")
    assert build.main(["--out", str(tmp_path)]) == 1
    assert (tmp_path / "thesis.txt").exists()
    assert "holds something else" in capsys.readouterr().err


def test_the_reference_explains_each_name_and_can_be_reached(pages):
    for name in xla_helpers.__all__:
        thing = getattr(xla_helpers, name)
        anchor = f"module-xla_helpers.{name}" if inspect.ismodule(thing) else f"xla_helpers.{name}"
        assert anchor in pages["reference.html"].ids
    assert {"xla_helpers.figures.new_axes", "xla_helpers.Ratio.clear"} <= pages[
        "reference.html"
    ].ids
    for page in ("index.html", f"{NOTEBOOKS[0].stem}.html"):
        assert "reference.html" in pages[page].links


def test_pages_carry_the_colours_of_the_modes(site):
    style = (site / "_static" / "house.css").read_text()
    assert all(colour in style for colour in xla_helpers.figures.COLOURS.values())
    assert 'href="_static/house.css' in (site / "index.html").read_text()
