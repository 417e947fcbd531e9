"""The report as one page: pictures inside, foreign files named, nothing taken on trust."""

import os
import re

import pytest

from tools.report import build
from xla_helpers import read_published, record, results
from xla_helpers.subjects import Subject

HOSTILE = "<script>alert(1)</script>"
MODELS = {f.name: next(iter(f.models.values())) for f in read_published()}


@pytest.fixture
def recorded(tmp_path, monkeypatch):
    """Makes a folder with results of a machine."""

    def make(name, machine, eager=0.5, what="an image"):
        monkeypatch.setenv(results.FOLDER, str(tmp_path / name))
        monkeypatch.setattr(results, "machine_facts", lambda: {"processor": machine})
        keep("five-modes", what, {"eager": eager, "plain": 0.1, "True": 0.4, "False": 0.1})
        keep("generate", "eight tokens", {"eager": 0.4, "XLA": 0.003})
        return tmp_path / name

    def keep(name, what, seconds):
        subject = Subject(MODELS[name], "00000000", (), 0)
        monkeypatch.setattr(results, "subject_of", lambda functions: subject)
        record(name, seconds, what, about=print)

    return make


def file_of(folder, name):
    return next(folder.glob(f"{name}.*.json"))


def report(tmp_path, *places):
    out = tmp_path / "out" / "report.html"
    status = build.main([*map(str, places), "--out", str(out)])
    return status, out.read_text() if out.exists() else None


def test_one_page_holds_everything(recorded, tmp_path):
    status, page = report(tmp_path, recorded("own", "My processor"))
    assert status == 0
    assert "My processor" in page and "Kaggle GPU" in page and "Stack Overflow" in page
    assert page.count("data:image/png;base64,") == page.count("<img alt=") == 2
    assert not re.search(r"(src|href)=[\"']?https?:", page)
    assert "XLA is slower than the graph" in page and "holds, by its order alone: 4 times" in page
    assert "Skipped files" not in page


def test_a_class_is_counted(recorded, tmp_path):
    own = recorded("own", "My processor")
    laptops = [recorded(f"class/{n}", f"Laptop {n}", 0.05 + n) for n in range(3)]
    status, page = report(tmp_path, own, tmp_path / "class")
    assert status == 0
    assert "3 other results" in page
    assert all(f"Laptop {n}" in page for n in range(len(laptops)))
    assert "holds: 2<br>" in page and "does not hold: 1<br>" in page


def test_other_files_are_named_on_the_page_and_on_stderr(recorded, tmp_path, capsys):
    own = recorded("own", "My processor")
    (own / "broken.json").write_text("{")
    status, page = report(tmp_path, own)
    assert status == 0
    assert "broken.json: not JSON" in page
    assert "broken.json: not JSON" in capsys.readouterr().err


def test_words_from_a_file_are_no_html(recorded, tmp_path):
    status, page = report(tmp_path, recorded("own", HOSTILE), recorded("other", HOSTILE))
    assert status == 0
    assert HOSTILE not in page and "&lt;script&gt;" in page


def test_every_skipped_file_keeps_its_place(recorded, tmp_path):
    own = recorded("own", "My processor")
    for name in "abc":
        (tmp_path / "class" / name).mkdir(parents=True)
        (tmp_path / "class" / name / "five-modes.json").write_text("{")
    _, page = report(tmp_path, own, tmp_path / "class")
    assert all(f"class/{name}/five-modes.json: not JSON" in page for name in "abc")


def test_other_things_are_not_set_side_by_side(recorded, tmp_path):
    own, other = recorded("own", "Mine"), recorded("other", "Theirs", what="a large image")
    _, page = report(tmp_path, own, other)
    assert "because it is not known to be the same" in page
    assert page.count("1 other result<") == 2  # of generate alone: its table and its list


def test_what_only_others_recorded_is_named(recorded, tmp_path):
    own, other = recorded("own", "Mine"), recorded("other", "Theirs")
    file_of(own, "generate").unlink()
    _, page = report(tmp_path, own, other)
    assert "Recorded only elsewhere" in page and "generate: 1 result" in page


def test_an_empty_place_is_named(recorded, tmp_path, capsys):
    (tmp_path / "empty").mkdir()
    _, page = report(tmp_path, recorded("own", "Mine"), tmp_path / "empty")
    assert "empty: holds no result" in page and "holds no result" in capsys.readouterr().err


def test_a_file_counts_once(recorded, tmp_path, capsys):
    own = recorded("own", "Mine")
    report(tmp_path, own, own)
    assert "2 comparisons of this machine, 0 of others" in capsys.readouterr().out


def test_the_first_place_is_one_machine(recorded, tmp_path, capsys):
    for name in ("class/a", "class/b"):
        recorded(name, "A laptop")
    assert report(tmp_path, tmp_path / "class") == (2, None)
    assert "several results about the same, named five-modes" in capsys.readouterr().err


def test_results_of_several_machines_in_the_first_place_are_named(recorded, tmp_path, capsys):
    before, after = recorded("before", "A processor"), recorded("after", "A <GPU>")
    file_of(before, "generate").replace(file_of(after, "generate"))
    status, page = report(tmp_path, after)
    assert (
        "2 comparisons of this machine (which names itself in 2 ways), 0" in capsys.readouterr().out
    )
    opening = page[: page.index("<h2")]
    assert "A &lt;GPU&gt;: 1 comparison<" in opening and "A processor: 1 comparison<" in opening
    _, page = report(tmp_path, before)
    assert "not all measured on the same" not in page


# What stands where the page is to be


def test_an_earlier_report_is_replaced(recorded, tmp_path):
    own = recorded("own", "My processor")
    report(tmp_path, own)
    assert report(tmp_path, own, recorded("other", "Theirs"))[0] == 0
    assert "Theirs" in (tmp_path / "out" / "report.html").read_text()


def test_nothing_but_a_report_is_replaced(recorded, tmp_path, capsys):
    own = recorded("own", "My processor")
    (tmp_path / "README.md").write_text("# Mine")
    (tmp_path / "guide.html").write_text("\n<!DOCTYPE html>\n<html><title>Guide</title></html>")
    for out in (tmp_path / "README.md", tmp_path / "guide.html", file_of(own, "generate")):
        before = out.read_bytes()
        assert build.main([str(own), "--out", str(out)]) == 2
        line = f"report: {out} is no earlier report; name another file, or remove it\n"
        assert (capsys.readouterr().err, out.read_bytes()) == (line, before)


def test_a_link_to_an_input_is_refused_and_one_to_nothing_is_written(recorded, tmp_path, capsys):
    own = recorded("own", "My processor")
    (tmp_path / "link").symlink_to(file_of(own, "generate"))
    assert build.main([str(own), "--out", str(tmp_path / "link")]) == 2
    (tmp_path / "dangling").symlink_to("report.html")
    assert build.main([str(own), "--out", str(tmp_path / "dangling")]) == 0
    assert "My processor" in (tmp_path / "report.html").read_text()


def test_an_empty_file_is_filled(recorded, tmp_path):
    (tmp_path / "new.html").touch()
    assert build.main([str(recorded("own", "Mine")), "--out", str(tmp_path / "new.html")]) == 0
    assert "Mine" in (tmp_path / "new.html").read_text()


@pytest.mark.parametrize(
    ("out", "words"),
    [("", "Is a directory"), ("file/report.html", "File exists"), ("pipe", "not a regular file")],
)
def test_a_page_that_cannot_be_written_is_one_line(recorded, tmp_path, capsys, out, words):
    (tmp_path / "file").write_text("mine")
    os.mkfifo(tmp_path / "pipe")
    assert build.main([str(recorded("own", "Mine")), "--out", str(tmp_path / out)]) == 1
    place = tmp_path / out if words != "File exists" else tmp_path / "file"
    assert capsys.readouterr().err == f"report: {place}: {words}\n"


# Odd words and places


def test_odd_characters_stop_nobody(recorded, tmp_path):
    own, other = recorded("own", "Mine"), recorded("other", "Half a \\ud800 character")
    path = file_of(other, "five-modes")
    path.write_text(path.read_text().replace("\\\\ud800", "\\ud800").replace("eager", "$\\\\frac$"))
    status, page = report(tmp_path, own, other)
    assert status == 0 and "Half a ? character" in page


@pytest.mark.parametrize("exists", [True, False])
def test_without_results_it_says_how_to_get_them(tmp_path, capsys, exists):
    place = tmp_path / "results"
    if exists:
        place.mkdir()
    status, page = report(tmp_path, place)
    assert (status, page) == (2, None)
    assert "`make run`" in capsys.readouterr().err


def test_a_place_that_is_not_there_is_an_error(recorded, tmp_path, capsys):
    status, page = report(tmp_path, recorded("own", "My processor"), tmp_path / "absent")
    assert (status, page) == (2, None)
    assert "there is no" in capsys.readouterr().err


@pytest.fixture
def places(recorded, tmp_path, monkeypatch):
    """Two machines' folders, and the working directory from which they are named."""
    recorded("my own", "Mine")
    recorded("class/01", "Theirs")
    monkeypatch.chdir(tmp_path)
    return monkeypatch


def made(tmp_path, *arguments):
    status = build.main([*arguments, "--out", str(tmp_path / "report.html")])
    return status, (tmp_path / "report.html").read_text()


@pytest.mark.parametrize("words", ["'my own' class", '"my own" cla*', "my\\ own class/01"])
def test_places_in_a_variable_are_read_as_words(places, tmp_path, words):
    places.setenv("RESULTS", words)
    status, page = made(tmp_path)
    assert status == 0 and "Mine" in page and "Theirs" in page


def test_nothing_in_a_place_is_run(places, tmp_path):
    (tmp_path / "my own").rename(tmp_path / "$(touch run)")
    places.setenv("RESULTS", "'$(touch run)' class")
    status, page = made(tmp_path)
    assert status == 0 and "Mine" in page and not (tmp_path / "run").exists()


def test_an_open_quote_is_an_error(places, tmp_path, capsys):
    places.setenv("RESULTS", "'my own class")
    assert build.main([]) == 2
    assert "RESULTS cannot be read" in capsys.readouterr().err


def test_arguments_come_before_the_variable_and_the_usual_place_comes_last(places, tmp_path):
    places.setenv("XLA_RESULTS", "class/01")
    assert "Theirs" in made(tmp_path)[1]
    places.setenv("RESULTS", "'my own'")
    assert "Mine" in made(tmp_path)[1]
    assert "Theirs" in made(tmp_path, "class")[1]
