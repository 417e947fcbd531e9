import json
import sys
from types import SimpleNamespace

import pytest

from xla_helpers.checkpoints import find_checkpoint

MEGABYTE = 1e6


def test_the_bundled_checkpoint_is_a_small_gpt2():
    folder = find_checkpoint()
    assert json.loads((folder / "config.json").read_text())["model_type"] == "gpt2"
    assert sum(path.stat().st_size for path in folder.iterdir()) <= 4 * MEGABYTE


def test_the_bundled_checkpoint_has_the_shapes_that_its_configuration_says():
    numpy = pytest.importorskip("safetensors.numpy")
    folder = find_checkpoint("tiny-gpt2")
    config = json.loads((folder / "config.json").read_text())
    weights = numpy.load_file(folder / "model.safetensors")
    (embedding,) = [w for name, w in weights.items() if "wte" in name]
    assert embedding.shape == (config["vocab_size"], config["n_embd"])
    assert len(json.loads((folder / "vocab.json").read_text())) == config["vocab_size"]


def test_a_local_folder_is_taken_as_it_is(tmp_path):
    assert find_checkpoint(str(tmp_path)) == tmp_path


@pytest.fixture
def hub(monkeypatch):
    """Stands in for the client of the Hub; `answer` is what a download gives."""
    hub = SimpleNamespace(answer=None, asked=[])

    def snapshot_download(name, **options):
        hub.asked.append((name, options))
        if isinstance(hub.answer, Exception):
            raise hub.answer
        return hub.answer

    hub.snapshot_download = snapshot_download
    monkeypatch.setitem(sys.modules, "huggingface_hub", hub)
    return hub


def test_other_names_come_from_the_hub(hub, tmp_path):
    hub.answer = str(tmp_path)
    assert find_checkpoint("openai-community/gpt2") == tmp_path
    [(name, options)] = hub.asked
    assert name == "openai-community/gpt2"
    assert not any("pytorch" in pattern for pattern in options["allow_patterns"])


@pytest.mark.parametrize("error", [ConnectionError("no route"), ValueError("offline"), OSError(5)])
def test_a_hub_that_cannot_be_reached_is_said_with_the_mend(hub, error):
    hub.answer = error
    with pytest.raises(FileNotFoundError) as caught:
        find_checkpoint("openai-community/gpt2")
    message = str(caught.value)
    assert "'openai-community/gpt2' could not be fetched from the Hugging Face Hub" in message
    assert type(error).__name__ in message
    assert "or use 'tiny-gpt2', which ships with this package" in message


def test_the_bundled_checkpoint_asks_no_hub(hub):
    find_checkpoint()
    assert hub.asked == []


def test_an_empty_name_is_refused():
    with pytest.raises(ValueError, match="`name` is empty: give a folder"):
        find_checkpoint("")
