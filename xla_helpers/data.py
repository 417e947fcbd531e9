"""What lessons work on: the weights of a language model, and images."""

import os
from importlib.resources import files
from pathlib import Path

import numpy as np

from .tables import cut

BUNDLED = "tiny-gpt2"
"""The GPT-2 that ships with this package: two layers, trained on the `corpus.txt` beside it."""

# Of a checkpoint. Most files called model.safetensors hold PyTorch's names, and the TensorFlow
# classes of Transformers prefer them, but cannot read them (huggingface/transformers#40028).
FILES = ["*.json", "*.txt", "*.model", "tf_model.h5"]


def find_checkpoint(name: str = BUNDLED) -> Path:
    """The folder of a checkpoint, ready for `from_pretrained`.

    name: `tiny-gpt2` for the one in this package, a local folder, or a model on the Hub such as
    `openai-community/gpt2`, which is downloaded unless the Hub's cache holds it. Introduced in
    notebook 03.

    Raises: FileNotFoundError when it is none of these or the Hub cannot be reached.
    """
    if name == BUNDLED:
        return _data() / BUNDLED
    folder, why = Path(name), "holds no config.json"
    if not os.path.isdir(name):
        from huggingface_hub import snapshot_download

        try:
            folder = Path(snapshot_download(str(name), allow_patterns=FILES))
        except Exception as error:  # the client raises many types, for one reason: no files
            folder = None
            why = f"is no folder here, and the Hub's client raised {type(error).__name__}"
    if folder is None or not (folder / "config.json").is_file():
        raise FileNotFoundError(
            f"{cut(repr(str(name)), 100)} {why}: give the folder that `save_pretrained` wrote, the "
            f"name of a model on the Hugging Face Hub, or {BUNDLED!r}, which ships with this "
            "package."
        )
    return folder


def load_digits() -> tuple[np.ndarray, np.ndarray]:
    """Images of digits that people wrote by hand, and the digits; `data/digits` says by whom.

    Introduced in notebook 07.

    Returns: images ``[1797, 8, 8]`` of bytes from 0 to 16, and labels ``[1797]`` from 0 to 9.

    >>> images, labels = load_digits()
    >>> images.shape, labels[:5].tolist()
    ((1797, 8, 8), [0, 1, 2, 3, 4])
    """
    with np.load(_data() / "digits" / "digits.npz") as arrays:
        return arrays["images"], arrays["labels"]


def _data():
    return Path(str(files(__package__))) / "data"
