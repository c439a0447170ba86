"""Ten thousand changed archives: each is refused in words or laid out below its folder, and nothing else
happens."""

import shutil

import numpy as np
import pytest
from solver_archives import fuzz

pytestmark = pytest.mark.attack
COUNT = 10_000


def test_changed_archives_never_end_otherwise(tmp_path):
    rng = np.random.default_rng(12)
    refused = 0
    for _ in range(20):
        refused += fuzz(rng, COUNT // 20, tmp_path / "box")
        shutil.rmtree(tmp_path / "box")
    print(f"{refused} of {COUNT} refused")
    assert not list(tmp_path.iterdir())
