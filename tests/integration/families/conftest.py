"""One warm jail pool for the tests of each file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from evolake.families.sandbox.running import PRELOAD
from evolake.jail import open_pool


@pytest.fixture(scope="module")
def pool() -> Iterator[Any]:
    with open_pool(workers=1, preload=PRELOAD) as opened:
        yield opened
