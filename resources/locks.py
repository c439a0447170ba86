"""The lock of a line: one run at a time works on it, for as long as the run lives.

Runs that the daemon starts queue up behind the line's pool. Runs made in process (`evolake run`, a notebook)
bypass that queue, so every run also takes the line's lock in the lake: at the first asset that opens, writes
or seals anything of the line, until the run ends. The lock is the operating system's, so it goes with the
process that held it. The table of held locks belongs to the process, not to a resource object: the opening
asset, the IO manager and the sealing asset of one run each see their own copy of the lake resource. Line jobs
run on the in-process executor, hence one process per run.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path

from evolake.errors import PartitionBusy
from evolake.lake import Lake


@dataclass(frozen=True)
class _Held:
    run_id: str
    lock: AbstractContextManager


_held: dict[tuple[Path, str], _Held] = {}


def hold_line(lake: Lake, line: str, run_id: str) -> None:
    """Take the lock of `line` for `run_id`; a run that holds it already continues.

    Raises:
        PartitionBusy: another run holds it. Nothing was changed.
    """
    key = (Path(lake.root).resolve(), line)
    held = _held.get(key)
    if held is not None:
        if held.run_id == run_id:
            return
        raise PartitionBusy(
            f"line {line!r} is being worked on by another run of this process",
            wanted="the lock of the line",
            got=f"run {held.run_id} holds it",
            do="wait until it has ended, then start again",
        )
    lock = lake.line_lock(line, run_id=run_id)
    lock.__enter__()
    _held[key] = _Held(run_id, lock)


def release_lines(run_id: str) -> None:
    """Give back every line that `run_id` holds. Not holding any is fine."""
    for key in [key for key, held in _held.items() if held.run_id == run_id]:
        _held.pop(key).lock.__exit__(None, None, None)


_lived: dict[str, AbstractContextManager[None]] = {}


def live_as(lake: Lake, run_id: str) -> None:
    """Hold the lock of `run_id` (`evolake.lake.locks`) until this process ends: a run's last word is said
    after its last step. A process that continues to another run gives back the locks of those before.

    Raises:
        PartitionBusy: another process holds it.
    """
    for earlier in [earlier for earlier in _lived if earlier != run_id]:
        _lived.pop(earlier).__exit__(None, None, None)
    if run_id not in _lived:
        lock = lake.run_locks.live(run_id)
        lock.__enter__()
        _lived[run_id] = lock
