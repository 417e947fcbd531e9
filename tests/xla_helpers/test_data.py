"""The checkpoint and the images that ship with the package, and checkpoints of others."""

import json
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import xla_helpers as xh


def test_the_bundled_checkpoint_is_a_small_gpt2_of_the_shapes_that_it_says():
    numpy = pytest.importorskip("safetensors.numpy")
    folder = xh.find_checkpoint()
    assert folder == xh.find_checkpoint("tiny-gpt2")
    config = json.loads((folder / "config.json").read_text())
    weights = numpy.load_file(folder / "model.safetensors")
    (embedding,) = [w for name, w in weights.items() if "wte" in name]
    assert config["model_type"] == "gpt2"
    assert embedding.shape == (config["vocab_size"], config["n_embd"])
    assert len(json.loads((folder / "vocab.json").read_text())) == config["vocab_size"]


def test_a_local_folder_is_taken_when_it_is_a_checkpoint(tmp_path):
    with pytest.raises(FileNotFoundError, match="holds no config.json: give the folder that"):
        xh.find_checkpoint(tmp_path)
    (tmp_path / "config.json").touch()
    assert xh.find_checkpoint(str(tmp_path)) == xh.find_checkpoint(tmp_path) == tmp_path


@pytest.fixture
def hub(monkeypatch):
    """Stands in for the client of the Hub; `answer` is what a download gives."""
    hub = SimpleNamespace(answer=None, asked=[])

    def snapshot_download(name, allow_patterns):
        hub.asked.append(name)
        if isinstance(hub.answer, Exception):
            raise hub.answer
        return hub.answer

    hub.snapshot_download = snapshot_download
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    return hub


def test_other_names_come_from_the_hub(hub, tmp_path):
    (tmp_path / "config.json").touch()
    hub.answer = str(tmp_path)
    assert xh.find_checkpoint("openai-community/gpt2") == tmp_path
    xh.find_checkpoint(), xh.find_checkpoint(tmp_path)
    assert hub.asked == ["openai-community/gpt2"]


@pytest.mark.parametrize("name", ["openai-community/gpt2", "", "\x1b[2J", "a\0b", "x" * 5000])
def test_what_is_no_checkpoint_is_said_in_one_line(hub, name):
    hub.answer = ConnectionError("line\n" * 1000)
    with pytest.raises(FileNotFoundError) as caught:
        xh.find_checkpoint(name)
    message = str(caught.value)
    assert "is no folder here, and the Hub's client raised ConnectionError: give" in message
    assert "or 'tiny-gpt2', which ships with this package" in message
    assert message.isprintable() and len(message) < 400
    assert caught.value.__context__ is None  # one traceback


def test_images_of_one_digit_look_alike():
    images, labels = xh.load_digits()
    assert images.shape == (len(labels), 8, 8) and images.dtype == labels.dtype == np.uint8
    assert images.max() == 16 and set(np.bincount(labels)) <= set(range(170, 190))
    means = np.stack([images[labels == digit].mean(axis=0) for digit in range(10)])
    distances = np.square(images[:, None] - means[None]).sum(axis=(2, 3))
    assert np.mean(distances.argmin(axis=1) == labels) > 0.85
