"""Whose a home of Dagster is. Two lakes in one home would be one to Dagster's UI: their cycles have the same
names.

    <home>/lake_id         the lake that came first. Runs, checks and logs of it are in the home itself
    <home>/lakes/<id>/     the home of any other lake that is used with it, with the same dagster.yaml
"""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from pathlib import Path

from evolake.lake import disk

OWNER, OTHERS = "lake_id", "lakes"


def owner(home: Path) -> str | None:
    """Return the id of the lake whose home it is; None if it is no lake's yet, or no folder."""
    try:
        return disk.read(home / OWNER).decode().strip()
    except (FileNotFoundError, NotADirectoryError):
        return None


def home_of(home: Path, lake_id: str | None) -> Path:
    """Return the home that a lake has if DAGSTER_HOME is `home`. lake_id: None of a lake without an id."""
    held = owner(home)
    return home if held is None or held == lake_id else home / OTHERS / (lake_id or "of-a-new-lake")


def claim(home: Path, lake_id: str) -> Path:
    """Make a home that is no lake's the home of this one; return the home that the lake has."""
    if owner(home) is None:
        mine = home / f".{OWNER}-{os.getpid()}-{threading.get_ident()}"
        disk.write_new(mine, f"{lake_id}\n".encode())
        with suppress(FileExistsError):
            os.link(mine, home / OWNER)
        mine.unlink()
    return home_of(home, lake_id)
