"""What `make test-colab` makes of a notebook; its environment takes minutes and a network."""

from tools import colab
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
