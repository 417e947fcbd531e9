"""The command line of `make run` and `make refresh`."""

import pytest

from tools import execute
from tools.alone import alone
from tools.collection import UsageError
from tools.kernels import Refused

SIZE = ("size: int = 4  # rows, at least 2", "parameters")


@pytest.fixture
def collection(tmp_path, save, monkeypatch):
    """Three notebooks, of which the first two have parameters, and no GPU that nobody sees."""
    save(tmp_path / "notebooks", "01_a", (f"{SIZE[0]}\nwidth: int = 8  # at least 8", SIZE[1]))
    save(tmp_path / "notebooks", "02_b", ("name: str = 'x'  # any", "parameters"))
    save(tmp_path / "notebooks", "03_c", "1")
    monkeypatch.setattr(execute, "unseen_accelerator", lambda: "")
    return tmp_path


@pytest.fixture
def ran(collection, monkeypatch):
    """What would have run, and with what; nothing is executed."""
    found = {}

    def note(path, build, values, started):
        assert build == collection / "build"
        found[path.stem] = values

    monkeypatch.setattr(execute, "run_one", note)
    monkeypatch.setattr(execute, "refresh_one", lambda path, started: found.update({path.stem: 0}))
    return found


def refused(capsys, root, *words):
    """The exit code and the line on stderr."""
    code = execute.main(list(words), root=root)
    out, said = capsys.readouterr()
    assert out == "" and said.count("\n") == 1
    return code, said.strip()


# Which notebooks, with what


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], {"01_a": {}, "02_b": {}, "03_c": {}}),
        (["3", "01_a"], {"01_a": {}, "03_c": {}}),
        (["-p", "size", "3"], {"01_a": {"size": 3}}),
        (["-p", "size", "3", "-p", "name", "3"], {"01_a": {"size": 3}, "02_b": {"name": "3"}}),
        (["1", "3", "-p", "size", "3"], {"01_a": {"size": 3}, "03_c": {}}),
    ],
)
def test_without_names_those_run_that_have_a_given_parameter(collection, ran, words, expected):
    assert execute.main(["run", *words], root=collection) == 0
    assert ran == expected


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["1", "-p", "size"], "run: size needs a value, as in: -p size VALUE"),
        (["-p", "size"], "run: size needs a value, as in: -p size VALUE"),
        (["-p", "size", "1"], "run: 01_a: size is 1; its cell says: rows, at least 2"),
        (["-p", "size", "01_a"], "run: 01_a: size is '01_a' and no whole number; its cell says: r"),
        (["-p", "size", "2", "1"], "run: 01_a: size takes one value, and not 2; notebooks are na"),
        (["-p", "size", "-1"], "run: 01_a: size is -1; its cell says: rows, at least 2"),
        (
            ["-p", "sise", "2"],
            "run: none of the notebooks to run has a parameter 'sise'; they have: ",
        ),
        (["3", "-p", "size", "2"], "run: none of the notebooks to run has a parameter 'size'"),
        (["7"], "run: there is no notebook 7; there are: 01_a, 02_b, 03_c"),
    ],
)
def test_words_that_make_no_sense_run_nothing(collection, ran, capsys, words, message):
    code, said = refused(capsys, collection, "run", *words)
    assert code == 2 and said.startswith(message)
    assert ran == {} and not (collection / "build").exists()


def test_a_single_text_is_read_as_a_shell_reads_words(collection, ran):
    assert execute.main(["run 2 -p name '/a  b $(touch x)'"], root=collection) == 0
    assert ran == {"02_b": {"name": "/a  b $(touch x)"}}


def test_a_text_without_its_second_quote_is_refused(collection, ran, capsys):
    with pytest.raises(SystemExit) as ended:
        execute.main(["run 2 -p name 'x"], root=collection)
    assert ended.value.code == 2 and ran == {}
    assert "cannot be read: No closing quotation" in capsys.readouterr().err


def test_it_is_said_when_there_is_nothing_to_run(tmp_path, capsys):
    assert refused(capsys, tmp_path, "run")[0] == 2


# How a command ends


@pytest.mark.parametrize("kind", ["file", "link"])
def test_a_folder_that_cannot_be_made_is_one_line(collection, ran, capsys, kind):
    build = collection / "build"
    build.write_text("") if kind == "file" else build.symlink_to("nowhere")
    code, said = refused(capsys, collection, "run")
    assert code == 1 and said.startswith(f"run: {build}: ")
    assert ran == {}


def failing(path, *rest):
    if path.stem == "01_a":
        raise Refused("cell 2: \x1b[1mbad\x1b[0m\n    see there")
    if path.stem == "02_b":
        raise OSError(28, "No space left on device", str(path.name))


def test_a_failure_stops_no_other_and_is_told_in_the_end(collection, capsys, monkeypatch):
    monkeypatch.setattr(execute, "run_one", failing)
    assert execute.main(["run"], root=collection) == 1
    out, said = capsys.readouterr()
    assert out.splitlines() == [
        "[1/3] 01_a ... 0 s FAILED",
        "[2/3] 02_b ... 0 s FAILED",
        "[3/3] 03_c ... 0 s",
    ]
    assert "\x1b" not in said
    said = said.splitlines()
    assert said[:2] == ["", "2 of 3 notebooks failed:"]
    assert said[2].startswith("  01_a: cell 2: ") and "bad" in said[2]
    assert said[3:] == ["    see there", "  02_b: 02_b.ipynb: No space left on device"]


def interrupted(path, *rest):
    if path.stem == "01_a":
        raise UsageError("no notebook")
    raise KeyboardInterrupt


@pytest.mark.parametrize("command", ["run", "refresh"])
def test_ctrl_c_ends_it_and_what_failed_before_is_told(collection, capsys, monkeypatch, command):
    monkeypatch.setattr(execute, f"{command}_one", interrupted)
    assert execute.main([command], root=collection) == 130
    out, said = capsys.readouterr()
    assert out == "[1/3] 01_a ... 0 s FAILED\n[2/3] 02_b ... \n"
    assert said.splitlines()[-2:] == ["  01_a: no notebook", f"{command}: interrupted"]


def test_ctrl_c_says_where_the_copy_is(collection, capsys, monkeypatch):
    def stopped(*rest):
        raise KeyboardInterrupt("see \x1bbuild")

    monkeypatch.setattr(execute, "run_one", stopped)
    assert execute.main(["run"], root=collection) == 130
    assert capsys.readouterr().err == "see  build\nrun: interrupted\n"


def test_a_terminal_shows_the_cell_that_runs(collection, capsys, monkeypatch):
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    monkeypatch.setattr(execute, "run_one", lambda path, build, values, started: started(2, 9))
    assert execute.main(["run", "3"], root=collection) == 0
    assert capsys.readouterr().out == "\r[1/1] 03_c: cell 2 of 9\x1b[K\r[1/1] 03_c 0 s\x1b[K\n"


def test_one_refresh_at_a_time_writes_the_readme(collection, ran, capsys):
    (collection / "build").mkdir()
    with alone(collection / "build" / ".refresh.lock"):
        code, said = refused(capsys, collection, "refresh", "1")
    assert code == 1 and said.startswith("refresh: another one is under way, process ")
    assert execute.main(["refresh", "1"], root=collection) == 0
    assert list(ran) == ["01_a"]


def test_a_refresh_says_what_it_left_in_the_folder_of_results(collection, ran, capsys):
    (collection / "results").mkdir()
    (collection / "results" / "annas-\x1blaptop.json").write_text("{}")
    assert execute.main(["refresh", "1"], root=collection) == 0
    said = "these stay in results/, as no refresh wrote them: annas- laptop.json"
    assert capsys.readouterr().err == f"refresh: {said}\n"


# A GPU that TensorFlow does not see


@pytest.fixture
def unseen(monkeypatch, collection):
    monkeypatch.setattr(execute, "unseen_accelerator", lambda: "There is a device.")


def test_a_run_without_the_gpu_fails_unless_told_to_go_on(collection, ran, unseen, capsys):
    assert execute.main(["run"], root=collection) == 1
    assert ran == {}
    assert capsys.readouterr().err.splitlines() == [
        "run: There is a device.",
        "run: to go on without it, add --without-gpu to PARAMS",
    ]
    assert execute.main(["run", "3", "--without-gpu", "-p", "size", "2", "1"], root=collection) == 2
    assert execute.main(["run", "--without-gpu"], root=collection) == 0
    assert len(ran) == 3
    assert "run: There is a device." in capsys.readouterr().err


def test_a_refresh_says_that_it_runs_without_the_gpu(collection, ran, unseen, capsys):
    assert execute.main(["refresh", "3"], root=collection) == 0
    assert capsys.readouterr().err == "refresh: There is a device.\n"
