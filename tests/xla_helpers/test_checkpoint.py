"""The checkpoint that ships with the package, and those of others."""

import json
import sys
from types import SimpleNamespace

import pytest

import xla_helpers as xh


@pytest.fixture(autouse=True)
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


def test_a_folder_and_a_name_on_the_hub(tmp_path):
    (tmp_path / "config.json").touch()
    assert xh.find_checkpoint(str(tmp_path)) == xh.find_checkpoint("a/b") == tmp_path
