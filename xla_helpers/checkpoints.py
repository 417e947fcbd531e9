"""Where model weights are: the small GPT-2 in this package, or a model on the Hugging Face Hub."""

import os
from importlib.resources import files
from pathlib import Path

from .tables import cut

BUNDLED = "tiny-gpt2"
"""The GPT-2 that ships with this package: two layers, trained on the `corpus.txt` beside it."""

CONFIG = "config.json"  # in the folder of each checkpoint
SHOWN = 100  # characters of a name that is no checkpoint
FILES = ["*.json", "*.txt", "*.model", "tf_model.h5", "model.safetensors"]


def find_checkpoint(name: str = BUNDLED) -> Path:
    """The folder of a checkpoint, ready for `from_pretrained`.

    name: `tiny-gpt2` for the one in this package, a local folder, or a model on the Hub such as
    `openai-community/gpt2`, which is downloaded unless the Hub's cache holds it. Introduced in
    notebook 03.

    Raises: FileNotFoundError when it is none of these or the Hub cannot be reached, ValueError
    when it is empty, TypeError when it is no name.
    """
    if name == BUNDLED:
        return Path(str(files(__package__))) / "data" / BUNDLED
    if name is None or name == "":
        raise ValueError(f"`name` is empty: give a folder, a model on the Hub, or {BUNDLED!r}")
    if not isinstance(name, (str, Path)):
        raise TypeError(f"`name` is {name!r}: give a folder, or a model on the Hub, as text")
    if os.path.isdir(name):
        return _checked(Path(name))
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(str(name), allow_patterns=FILES))
    except Exception as error:  # the Hub's client raises many types, for one reason: no files
        kind = type(error).__name__
    raise FileNotFoundError(
        f"{_shown(name)} is no folder here, and could not be fetched from the Hugging Face Hub "
        f"({kind}); the Hub's cache on this machine does not hold it. Check the name and the "
        f"network, give a local folder, or use {BUNDLED!r}, which ships with this package."
    )


def _checked(folder):
    """A folder that Transformers would not tell in a page of text to be none of its own."""
    if not (folder / CONFIG).is_file():
        raise FileNotFoundError(
            f"{_shown(folder)} holds no {CONFIG}, so it is no checkpoint: give the folder that "
            f"`save_pretrained` wrote, or {BUNDLED!r}, which ships with this package."
        )
    return folder


def _shown(name):
    return cut(repr(str(name)), SHOWN)
