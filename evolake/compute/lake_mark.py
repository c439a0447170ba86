"""Whether two hosts see the same lake: its mark is a random word in a file, which is made once and read by
each host that says that it sees the lake."""

from __future__ import annotations

import os
import secrets
import tempfile
from pathlib import Path

from evolake.lake import disk

PLACE = Path("work", "compute", "lake")


def mark_lake(root: Path) -> str:
    """Return the lake's mark; made if there is none. Of two that make it at the same time, one wins."""
    path = root / PLACE
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".lake-{os.getpid()}-{secrets.token_hex(4)}")
        beside.write_text(secrets.token_hex(16))
        try:
            os.link(beside, path)
        except FileExistsError:
            pass
        finally:
            disk.discard(beside)
    return path.read_text()


def lake_problem(root: Path, mark: str) -> str | None:
    """Return why this host cannot work on the lake at `root` that has `mark`; None where it can."""
    try:
        result = (root / PLACE).read_text()
        with tempfile.TemporaryFile(dir=root / PLACE.parent) as probe:
            probe.write(b"seen")
    except OSError as error:
        return f"{root}: {error.strerror}"
    return None if result == mark else f"{root} is another lake here"
