"""Which Python runs inside a jail, and from where: that of the supervisor."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import evolake


def interpreter() -> tuple[str, list[str]]:
    """Return the running interpreter's real path, and the folders that evolake and its dependencies are
    imported from."""
    package_parent = str(Path(evolake.__file__).resolve().parent.parent)
    folders = [
        package_parent,
        *(entry for entry in sys.path if Path(entry).name in {"site-packages", "dist-packages"}),
    ]
    return os.path.realpath(sys.executable), list(dict.fromkeys(folders))
