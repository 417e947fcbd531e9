"""Real images that ship with this package."""

from importlib.resources import files

import numpy as np

FILE = "data/digits/digits.npz"


def load_digits() -> tuple[np.ndarray, np.ndarray]:
    """Images of digits that people wrote by hand, and the digits; `data/digits` says by whom.

    Introduced in notebook 07.

    Returns: images ``[1797, 8, 8]`` of bytes from 0 to 16, and labels ``[1797]`` from 0 to 9.

    >>> images, labels = load_digits()
    >>> images.shape, labels[:5].tolist()
    ((1797, 8, 8), [0, 1, 2, 3, 4])
    """
    with files(__package__).joinpath(FILE).open("rb") as file, np.load(file) as arrays:
        return arrays["images"], arrays["labels"]
