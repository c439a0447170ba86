"""A pull: the lake becomes what the newest snapshot says; until it is intact, no process opens it."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from evolake.errors import InputError, LakeError
from evolake.lake import disk
from evolake.lake.layout import PULLING
from evolake.lake.mirror import local
from evolake.lake.mirror.push import AT_ONCE
from evolake.lake.mirror.remote import Remote, way_out
from evolake.lake.store import Lake
from evolake.lake.verify import Shas

Files = Mapping[str, tuple[str, int]]


@dataclass(frozen=True)
class Pulled:
    """What a pull did. number: the snapshot that the lake is now. fetched, fetched_bytes: files written.
    removed: files that the snapshot has not."""

    number: int
    files: int
    fetched: int
    fetched_bytes: int
    removed: int


def pull(root: Path, url: str) -> Pulled:
    """Make the lake at `root` (missing, empty, or a mirror's lake of earlier) what the newest snapshot of
    `url` says.

    Raises:
        InputError: the address names no mirror, there is nothing in it, or the lake holds what the mirror
            does not know.
        PartitionBusy: a line of the lake is running. LakeError: the store fails, or an object in it is
            damaged.
    """
    remote = Remote(url)
    newest = remote.newest()
    if newest is None:
        raise InputError(
            f"there is no snapshot in {remote.url}",
            wanted="a mirror that was pushed to",
            do=f"evolake lake push {url}",
        )
    with ExitStack() as stack:
        if not (root / PULLING).exists() and root.exists():
            stack.enter_context(Lake(root).all_lines_lock(run_id="pull"))
        there = _there(root)
        wanted = {path: summary for path, summary in newest.files.items() if there.get(path) != summary}
        strays = [path for path in there if path not in newest.files]
        number = local.noted(root, remote.url)
        if wanted or strays:
            if not (root / PULLING).exists():
                _refuse_changed(
                    root, remote.url, there, newest.files, remote.snapshot(number).files if number else {}
                )
            _begin(root, remote.url)
            fetched = _fetch(root, remote, wanted)
            for path in strays:
                disk.remove(root / path)
        else:
            fetched = 0
        local.note(root, remote.url, newest.number)
        disk.remove(root / PULLING)
    return Pulled(newest.number, len(newest.files), len(wanted), fetched, len(strays))


def _there(root: Path) -> dict[str, tuple[str, int]]:
    shas = Shas()
    with (
        disk.as_lake_error(f"the lake {root} cannot be read", "its files"),
        ThreadPoolExecutor(AT_ONCE) as pool,
    ):
        names = list(local.files(root))
        return dict(
            zip(
                names,
                pool.map(lambda name: (shas.of(root / name), (root / name).stat().st_size), names),
                strict=True,
            )
        )


def _refuse_changed(root: Path, url: str, there: Files, wanted: Files, base: Files) -> None:
    """Raise if a pull would replace what was made here. It puts nothing in the place of what was made here:
    each file is as the lake was last mirrored, or as the snapshot has it."""
    for path, summary in there.items():
        if summary not in (base.get(path), wanted.get(path)):
            raise InputError(
                f"the lake {root} has changed since it was mirrored, or is another",
                wanted=f"{path} as the mirror has it",
                got=f"sha256 {summary[0][:16]}",
                do=way_out(url),
            )


def _begin(root: Path, url: str) -> None:
    """From here to the end every process that opens the lake refuses it."""
    with disk.as_lake_error(f"{root} cannot be written to", "a folder for the lake"):
        disk.make_folder(root)
        disk.write_atomic(root / PULLING, json.dumps({"url": url}).encode() + b"\n", tag=str(os.getpid()))


def _fetch(root: Path, remote: Remote, wanted: Files) -> int:
    """Write each file whole, and return their size in bytes."""

    def fetch_file(path: str) -> int:
        sha, size = wanted[path]
        data = remote.get(sha, size)
        if len(data) != size:
            raise LakeError(
                f"the snapshot of {remote.url} does not fit its objects",
                wanted=f"{size} bytes of {path}",
                got=str(len(data)),
            )
        target = local.checked(root, path)
        with disk.as_lake_error(f"{target} cannot be written", f"{size} bytes of the mirror"):
            disk.write_atomic(target, data, tag=f"pull-{os.getpid()}")
        return size

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return sum(pool.map(fetch_file, wanted))
