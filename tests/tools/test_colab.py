"""What `make test-colab` makes of a notebook; its environment takes minutes and a network."""

from nbclient.exceptions import CellExecutionError

from tools import colab
from tools.alone import alone
from tools.collection import ROOT, paths


def test_a_notebook_takes_this_checkout_and_checks_the_versions():
    pretend, first, check, *_ = [
        cell.source for cell in colab.on_colab(paths()[0]).cells if cell.cell_type == "code"
    ]
    assert "google.colab" in pretend and str(ROOT) in first and "git+https" not in first
    assert "'tensorflow': '" in check and "transformers" not in check


def test_a_notebook_that_is_not_there_is_named(capsys):
    assert colab.main(["99"]) == 2
    assert "colab: there is no notebook 99" in capsys.readouterr().err


def test_without_a_python_nothing_is_installed(monkeypatch, capsys):
    monkeypatch.setattr(colab, "version_of", lambda python: "")
    assert colab.main(["1"]) == 1
    assert "none of python3.13, python3.12, python3.11 is installed" in capsys.readouterr().err


def test_a_second_run_does_not_touch_the_environment_of_the_first(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(colab, "ROOT", tmp_path)
    monkeypatch.setattr(colab, "version_of", lambda python: "3.13")
    (tmp_path / "build" / "colab").mkdir(parents=True)
    with alone(tmp_path / "build" / ".colab.lock"):
        assert colab.main(["1"]) == 1
    said = capsys.readouterr().err
    assert said.startswith(f"colab: {tmp_path}/build/colab: in use by another run, process ")


def test_of_what_setuptools_left_this_project_alone_is_removed(monkeypatch, tmp_path):
    monkeypatch.setattr(colab, "ROOT", tmp_path)
    for name in ("make", "install", "call"):
        monkeypatch.setattr(colab.environments, name, lambda *words: None)
    for name in ("xla_helpers", "mine"):
        (tmp_path / "build" / "lib" / name).mkdir(parents=True)
    colab.make_environment("python3", tmp_path / "build" / "colab")
    assert [path.name for path in (tmp_path / "build" / "lib").iterdir()] == ["mine"]


def test_what_a_cell_says_does_not_steer_the_terminal(monkeypatch, capsys):
    def fail(notebook, **settings):
        raise CellExecutionError("", "Error\x1b[2J", "\x1b]0;title\x07 words")

    monkeypatch.setattr(colab, "NotebookClient", fail)
    assert not colab.runs(paths()[0])
    said = capsys.readouterr().out.rstrip("\n")
    assert said.isprintable() and said.endswith("words")
    colab.sorry("no environment: \x1b[2J")
    assert capsys.readouterr().err.rstrip("\n").isprintable()
