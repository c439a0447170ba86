"""What every figure must be."""

import io

import numpy as np


def pixels(png: bytes) -> np.ndarray:
    """(height, width, 3) float in [0, 1]."""
    from matplotlib.image import imread

    return imread(io.BytesIO(png), format="png")[..., :3]


def assert_drawn(png: bytes) -> None:
    """A picture of some size in which something is drawn and nothing cut off."""
    image = pixels(png)
    assert image.shape[0] >= 400
    assert image.shape[1] >= 600
    assert image.min() < 0.6
    assert min(image[0].min(), image[-1].min(), image[:, 0].min(), image[:, -1].min()) == 1.0
