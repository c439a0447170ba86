"""A folder in which the workers of one run of the tests leave each other what is made once."""

import os
from pathlib import Path

SHARED = "PYTEST_SHARED_FOLDER"
"""The variable that names it; conftest.py makes it before the workers start, and removes it after them."""


def shared_folder() -> Path:
    """The folder of this run."""
    return Path(os.environ[SHARED])
