"""Where model weights are: the small GPT-2 in this package, or a model on the Hugging Face Hub."""

from importlib.resources import files
from pathlib import Path

BUNDLED = "tiny-gpt2"
"""The GPT-2 that ships with this package: two layers, trained on the `corpus.txt` beside it."""

FILES = ["*.json", "*.txt", "*.model", "tf_model.h5", "model.safetensors"]


def find_checkpoint(name: str = BUNDLED) -> Path:
    """The folder of a checkpoint, ready for `from_pretrained`.

    name: `tiny-gpt2` for the one in this package, a local folder, or a model on the Hub such as
    `openai-community/gpt2`, which is downloaded unless the Hub's cache holds it. Introduced in
    notebook 03.

    Raises: FileNotFoundError when it is none of these or the Hub cannot be reached, ValueError
    when it is empty.
    """
    if name == BUNDLED:
        return Path(str(files(__package__))) / "data" / BUNDLED
    if not name:
        raise ValueError(f"`name` is empty: give a folder, a model on the Hub, or {BUNDLED!r}")
    if Path(name).is_dir():
        return Path(name)
    from huggingface_hub import snapshot_download

    try:
        return Path(snapshot_download(name, allow_patterns=FILES))
    except Exception as error:  # the Hub's client raises many types, for one reason: no files
        raise FileNotFoundError(
            f"{name!r} could not be fetched from the Hugging Face Hub ({type(error).__name__}), "
            "and the Hub's cache on this machine does not hold it. Check the name and the network, "
            f"give a local folder, or use {BUNDLED!r}, which ships with this package."
        ) from error
