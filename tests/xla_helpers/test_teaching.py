"""What a lesson needs: expected errors, exercises with their checks, and checkpoints."""

import json
import subprocess
import sys
from types import SimpleNamespace

import pytest
from IPython.core.interactiveshell import InteractiveShell
from traitlets.config import Config

import xla_helpers as xh


def test_an_expected_error_is_shown_in_one_line_and_kept(capsys):
    with xh.expect_error(ArithmeticError, "first", "third") as caught:
        raise ZeroDivisionError("first\x1b[2J line\n\n  third line ")
    assert capsys.readouterr().out == "ZeroDivisionError: first [2J line\n"
    assert isinstance(caught.error, ZeroDivisionError)


@pytest.mark.parametrize(
    ("raised", "error"),
    [(None, AssertionError), (KeyError("x"), KeyError), (ValueError("dtype"), AssertionError)],
)
def test_any_other_outcome_is_an_error(raised, error):
    with pytest.raises(error), xh.expect_error(ValueError, "shape"):
        if raised:
            raise raised


@pytest.mark.parametrize(
    ("block", "told"),
    [
        ("pass", "this should have raised ValueError"),
        ("x = [1]", "this should have raised ValueError"),
        ("raise ValueError('dtype')", "does not contain ['shape']"),
    ],
)
def test_it_is_expected_of_an_optimising_python_too(block, told):
    """`python -O` drops asserts."""
    code = f"import xla_helpers as xh\nwith xh.expect_error(ValueError, 'shape'):\n    {block}\n"
    command = [sys.executable, "-O", "-c", code]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 1 and told in done.stderr and done.stdout == ""


def test_an_answer_is_judged_by_its_value_alone_whatever_failed_before(capsys):
    InteractiveShell.clear_instance()
    shell = InteractiveShell.instance(config=Config(HistoryAccessor={"enabled": False}))
    shell.user_ns["exercise"] = xh.exercise
    hint = 'assert gain == 42, "add them up\\nand more"'
    shell.run_cell(f"def check():\n    print('because')\n    {hint}")

    def say(check):
        capsys.readouterr()
        shell.run_cell(f"exercise({check})", store_history=True)
        return capsys.readouterr().out

    assert say("check").startswith("Not yet: ")
    for value, said in ((41, "Not yet: add them up\n"), (42, "Right.\nbecause\n")):
        shell.run_cell(f"gain = {value}", store_history=True)
        shell.run_cell("again = 1 / 0  # against gain", store_history=True)
        assert say("check") == say("check") == said
    shell.run_cell("def bare():\n    assert gain > 42")
    assert say("bare") == "Not yet: assert gain > 42\n"
    InteractiveShell.clear_instance()


@pytest.fixture
def hub(monkeypatch, tmp_path):
    """Stands in for the client of the Hugging Face Hub, which has one model."""
    hub = SimpleNamespace(snapshot_download=lambda name, **_: {"a/b": str(tmp_path)}[name])
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)


def test_the_bundled_checkpoint_has_the_shapes_of_its_configuration():
    numpy = pytest.importorskip("safetensors.numpy")
    folder = xh.find_checkpoint()
    config = json.loads((folder / "config.json").read_text())
    weights = numpy.load_file(folder / "model.safetensors")
    (embedding,) = [w for name, w in weights.items() if "wte" in name]
    assert embedding.shape == (config["vocab_size"], config["n_embd"])
    assert len(json.loads((folder / "vocab.json").read_text())) == config["vocab_size"]


def test_a_folder_and_a_name_on_the_hub(hub, tmp_path):
    (tmp_path / "config.json").touch()
    assert xh.find_checkpoint(str(tmp_path)) == xh.find_checkpoint("a/b") == tmp_path
