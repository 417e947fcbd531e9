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
    (tmp_path / "config.json").touch()
    assert find_checkpoint(str(tmp_path)) == find_checkpoint(tmp_path) == tmp_path


def test_a_folder_without_a_configuration_is_no_checkpoint(tmp_path):
    with pytest.raises(FileNotFoundError) as caught:
        find_checkpoint(tmp_path)
    message = str(caught.value)
    assert message.startswith(f"{str(tmp_path)!r} holds no config.json, so it is no checkpoint: ")
    assert "\n" not in message and len(message) < 400


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
    assert message.startswith("'openai-community/gpt2' is no folder here, and could not be fetched")
    assert type(error).__name__ in message
    assert "or use 'tiny-gpt2', which ships with this package" in message
    assert caught.value.__cause__ is None and caught.value.__context__ is None  # one traceback


def test_the_bundled_checkpoint_asks_no_hub(hub):
    find_checkpoint()
    assert hub.asked == []


def test_an_empty_name_is_refused():
    with pytest.raises(ValueError, match="`name` is empty: give a folder"):
        find_checkpoint("")


@pytest.mark.parametrize("name", ["/no/such", "\x1b[2J", "a\0b", "\ud800", "x" * 5000, "a\nb"])
def test_whatever_is_no_checkpoint_is_said_in_one_line(hub, name):
    hub.answer = ValueError("line\n" * 1000)
    with pytest.raises(FileNotFoundError) as caught:
        find_checkpoint(name)
    assert str(caught.value).isprintable() and len(str(caught.value)) < 450


@pytest.mark.parametrize("name", [3, b"tiny-gpt2", ["tiny-gpt2"]])
def test_what_is_no_name_is_refused(hub, name):
    with pytest.raises(TypeError, match="`name` is .*: give a folder, or a model on the Hub, as"):
        find_checkpoint(name)
    assert hub.asked == []
