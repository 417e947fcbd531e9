"""The site as files: every notebook a page, every link and picture there, no other host asked."""

import errno
import inspect
import os
import re
from html.parser import HTMLParser
from urllib.parse import unquote, urlsplit

import pytest

import xla_helpers
from tools.collection import paths
from tools.site import build
from xla_helpers import writing
from xla_helpers.writing import was_written

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
    assert was_written(folder)
    return folder


@pytest.fixture(scope="module")
def pages(site):
    return {path.name: Page(path.read_text(encoding="utf-8")) for path in site.glob("*.html")}


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


# What else stands in the folder


@pytest.fixture
def small(monkeypatch, tmp_path, capsys):
    """Builds a site of two pages, named by their text, into the folder S or another."""
    monkeypatch.setattr(build, "gather", lambda root, source: None)

    def make(text, out=tmp_path / "S"):
        def write_pages(source, html, cache):
            html.mkdir()
            for name in ("index.html", "objects.inv"):
                (html / name).write_text(text)
            return True

        monkeypatch.setattr(build, "write_pages", write_pages)
        status = build.main(["--out", str(out)])
        return status, capsys.readouterr().err.splitlines()

    return make


def test_a_site_is_replaced_and_what_others_added_stays(small, tmp_path):
    assert small("1") == (0, [])
    (tmp_path / "S" / ".git").mkdir()
    for name in (".git/config", "mine.html"):
        (tmp_path / "S" / name).write_text("mine")
    assert small("2") == (0, [])
    assert (tmp_path / "S" / "index.html").read_text() == "2"
    assert (tmp_path / "S" / ".git" / "config").exists() and (tmp_path / "S" / "mine.html").exists()


def test_a_page_that_was_edited_stays_and_is_named(small, tmp_path):
    small("1")
    (tmp_path / "S" / "index.html").write_text("edited")
    status, (line,) = small("2")
    assert (status, (tmp_path / "S" / "index.html").read_text()) == (1, "edited")
    assert line.startswith(f"site: kept {tmp_path / 'S' / 'index.html'}: ")


@pytest.mark.parametrize("name", ["thesis.txt", "objects.inv", ".git"])
def test_a_folder_with_something_else_is_left_alone(small, tmp_path, name):
    (tmp_path / name).write_text("years of work")
    line = f"site: {tmp_path} holds files that no earlier site lists"
    assert small("1", tmp_path) == (2, [f"{line}; name another folder, or remove it"])
    assert [path.name for path in tmp_path.iterdir()] == [name]


def test_a_link_to_an_empty_folder_holds_the_site(small, tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "S").symlink_to("real")
    assert small("1") == small("2") == (0, [])
    assert (tmp_path / "S").is_symlink() and (tmp_path / "real" / "index.html").exists()


def test_where_no_folder_can_be_is_one_line(small, tmp_path):
    (tmp_path / "file").write_text("mine")
    (tmp_path / "dangling").symlink_to("absent")
    assert small("1", tmp_path / "file") == (1, [f"site: {tmp_path / 'file'}: Not a directory"])
    (line,) = small("1", tmp_path / "dangling")[1]
    assert line == f"site: {tmp_path / 'dangling'}: this link leads nowhere"
    assert (tmp_path / "file").read_text() == "mine" and not (tmp_path / "absent").exists()


@pytest.mark.parametrize(("number", "words"), [("ENOSPC", "No space left"), ("EACCES", "Permis")])
def test_what_the_disk_answers_is_one_line_and_the_old_site_is_whole(
    small, tmp_path, monkeypatch, number, words
):
    def fail(*arguments):
        raise OSError(getattr(errno, number), os.strerror(getattr(errno, number)))

    small("1")
    monkeypatch.setattr(writing.shutil, "copyfile", fail)
    status, (line,) = small("2")
    assert status == 1 and line.startswith(f"site: {tmp_path / 'S'}/") and words in line
    assert (tmp_path / "S" / "index.html").read_text() == "1"
    assert {path.name for path in (tmp_path / "S").iterdir()} == {
        *("index.html", "objects.inv", writing.MANIFEST)
    }


def test_an_interruption_leaves_the_old_site(small, tmp_path, monkeypatch, capsys):
    def interrupt(source, html, cache):
        raise KeyboardInterrupt

    small("1")
    monkeypatch.setattr(build, "write_pages", interrupt)
    assert build.main(["--out", str(tmp_path / "S")]) == 130
    assert capsys.readouterr().err == "site: interrupted\n"
    assert (tmp_path / "S" / "index.html").read_text() == "1"


def test_pages_that_cannot_be_made_replace_nothing(tmp_path, monkeypatch, capsys):
    def gather(root, source):
        source.mkdir()
        (source / "index.md").write_text("# One\n\n[nowhere](absent.md)\n")

    monkeypatch.setattr(build, "gather", gather)
    monkeypatch.setattr(build, "SETTINGS", {"extensions": ["myst_nb"]})
    assert build.main(["--out", str(tmp_path / "S")]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert "absent" in line and line.isprintable() and not (tmp_path / "S").exists()


# The reference


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
