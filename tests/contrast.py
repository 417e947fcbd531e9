"""How well letters stand out from what lies behind them, by WCAG: at least 4.5 can be read."""

import io

import matplotlib.pyplot as plt
import numpy as np
from matplotlib.colors import to_rgb

ENOUGH = 4.5


def contrast(one, other):
    """The contrast of two colours, or of arrays of them."""
    dark, light = np.sort(np.broadcast_arrays(luminance(one), luminance(other)), axis=0)
    return (light + 0.05) / (dark + 0.05)


def luminance(colour):
    """Of a name, or of an array whose last axis is red, green and blue."""
    parts = np.asarray(to_rgb(colour) if isinstance(colour, str) else colour)
    linear = np.where(parts <= 0.04045, parts / 12.92, ((parts + 0.055) / 1.055) ** 2.4)
    return linear @ [0.2126, 0.7152, 0.0722]


def letters(png):
    """The ground of a picture, and what stands out at its edges: names and words.

    The ground is the commonest colour. A line of letters is as clear as the clearest of its pixels.

    Returns: the ground, and the contrast of each line.
    """
    pixels = plt.imread(io.BytesIO(png))[..., :3]
    colours, counts = np.unique(pixels.reshape(-1, 3), axis=0, return_counts=True)
    ground = colours[counts.argmax()]
    found, quarter = [], pixels.shape[1] // 4
    for edge in (pixels[:, :quarter], pixels[:, -quarter:]):
        rows = contrast(edge, ground).max(axis=1)
        starts = np.flatnonzero(np.diff(rows > 1.1)) + 1
        found += [line.max() for line in np.split(rows, starts) if line.max() > 1.1]
    return ground, found
