"""Long work that survives a kill: jobs go to an executor, each result is appended to a file, and results that
are there are not made again."""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from pathlib import Path
from typing import Any, Protocol, TypeVar

from evolake.reading import DATA_BYTES, read_bytes

IN_FLIGHT = 256


class HasKey(Protocol):
    """A job knows what makes it the same work as another: `key` is plain data that JSON can write."""

    @property
    def key(self) -> Sequence[Any]:
        """Return the values that name the row."""
        ...


Work = TypeVar("Work", bound=HasKey)


def run_journaled(
    jobs: Sequence[Work],
    executor: Executor,
    run: Callable[[Work], Any],
    *,
    journal: Path | None = None,
    fits: Callable[[Any], bool] = lambda _: True,
    on_progress: Callable[[int, int, Any], None] | None = None,
) -> list[Any]:
    """Return results of `run` in the order of `jobs`.

    Args:
        run: a module's function of one job with a result that JSON can write. journal: file that results are
            appended to and taken from; its folder must exist. fits: whether what a journal holds is a result
            of this program's version; what does not fit is made again.
        on_progress: called with how many are done, how many there are, and each new result.

    Raises:
        What `run` raises, after pending jobs were cancelled. Results that were finished are in the journal.
    """
    names = [key_text(job) for job in jobs]
    done = {name: value for name, value in read_journal(journal).items() if fits(value)} if journal else {}
    results = {place: done[name] for place, name in enumerate(names) if name in done}
    pending: dict[Future[Any], int] = {}
    waiting = [place for place in reversed(range(len(jobs))) if place not in results]
    try:
        while waiting or pending:
            while waiting and len(pending) < IN_FLIGHT:
                place = waiting.pop()
                pending[executor.submit(run, jobs[place])] = place
            for future in wait(pending, return_when=FIRST_COMPLETED).done:
                place = pending.pop(future)
                results[place] = future.result()
                if journal:
                    append(journal, names[place], results[place])
                if on_progress:
                    on_progress(len(results), len(jobs), results[place])
    finally:
        for future in pending:
            future.cancel()
    return [results[place] for place in range(len(jobs))]


def key_text(job: HasKey) -> str:
    """Return the journal's name of a job."""
    return hashlib.sha256(json.dumps(list(job.key)).encode()).hexdigest()


def read_journal(path: Path) -> Mapping[str, Any]:
    """Return results by key. A last line that a kill tore is left out, and so is whatever is no line of a
    journal."""
    return dict(_entries(path)) if path.exists() else {}


def append(path: Path, key: str, value: Any) -> None:
    """Add one line and sync it; a torn line before it, left by a kill, is closed first."""
    line = json.dumps({"key": key, "value": value}).encode() + b"\n"
    with path.open("ab+") as file:
        if file.seek(0, os.SEEK_END):
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":
                line = b"\n" + line
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def _entries(path: Path) -> Iterator[tuple[str, Any]]:
    for line in read_bytes(path, DATA_BYTES).decode("utf-8", "replace").splitlines():
        try:
            entry = json.loads(line)
            yield str(entry["key"]), entry["value"]
        except (ValueError, TypeError, KeyError, RecursionError):
            continue
