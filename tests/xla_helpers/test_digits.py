from importlib.resources import files

import numpy as np

from xla_helpers.digits import load_digits


def test_there_are_images_of_every_digit_and_labels_beside_them():
    images, labels = load_digits()
    assert images.shape == (len(labels), 8, 8) and images.dtype == labels.dtype == np.uint8
    assert images.max() == 16 and images.min() == 0
    assert set(np.bincount(labels)) <= set(range(170, 190)) and len(np.bincount(labels)) == 10


def test_images_of_one_digit_look_alike():
    images, labels = load_digits()
    means = np.stack([images[labels == digit].mean(axis=0) for digit in range(10)])
    distances = np.square(images[:, None] - means[None]).sum(axis=(2, 3))
    assert np.mean(distances.argmin(axis=1) == labels) > 0.85


def test_the_source_and_the_licence_stand_beside_them():
    said = files("xla_helpers").joinpath("data/digits/README.txt").read_text(encoding="utf-8")
    assert "https://doi.org/10.24432/C50P49" in said and "CC BY 4.0" in said
