"""Whether a lake can be worked in, before any work: it can be written to, and every manifest can be
believed."""

from __future__ import annotations

import os
import secrets
from collections.abc import Container
from pathlib import Path

from evolake.errors import LakeError
from evolake.lake import disk
from evolake.lake.chained import VERIFY
from evolake.lake.inventory import take_inventory
from evolake.lake.store import Lake

PROBE_BYTES = 1 << 16


def damaged_tables(root: Path) -> dict[str, LakeError]:
    """Return `<line>.<asset>` -> why, of each table whose manifest cannot be believed. A table that is being
    published now is none."""
    return {f"{line}.{asset}": error for (line, asset), error in take_inventory(Lake(root)).damaged.items()}


def check_ready(root: Path, lines: Container[str] | None = None) -> None:
    """Raise unless cycles of some lines (None: of any) can be run in the lake.

    Raises:
        InputError: the lake is of another format, or no folder. LakeError: it cannot be written to, or a
            table of the lines is damaged.
    """
    Lake(root)
    check_writable(root)
    damaged = {
        table: error
        for table, error in damaged_tables(root).items()
        if lines is None or table.partition(".")[0] in lines
    }
    if damaged:
        table, error = next(iter(damaged.items()))
        more = f", and {len(damaged) - 1} more tables" if len(damaged) > 1 else ""
        raise LakeError(
            f"the table {table} of the lake is damaged{more}: {error.what}",
            wanted=error.wanted,
            got=error.got,
            do=VERIFY,
        )


def check_writable(root: Path) -> None:
    """Raise unless a file can be written at the lake's root, which is made if it is missing. Raises
    LakeError."""
    probe = root / f".tmp-{os.getpid()}-{secrets.token_hex(4)}-probe"
    with disk.as_lake_error(
        f"the lake {root} cannot be written to", "a folder that this user may write to, with space"
    ):
        disk.make_folder(root)
        try:
            disk.write_new(probe, bytes(PROBE_BYTES))
        finally:
            disk.discard(probe)
