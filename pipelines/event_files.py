"""Dagster's files of events, kept open while a run writes to them.

Dagster opens SQLite again for every event. Whoever is the last to close a database writes what its log of
changes holds into the file and removes the log, and waits for the disk each time (`benchmarks/events.py`).
Beside a connection that stays open and does nothing no event is the last.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

import dagster as dg

from resources.dagster_internals import sqlite_event_files


@contextmanager
def kept_open(instance: dg.DagsterInstance, run_id: str) -> Iterator[None]:
    """Until the end of this, the files of the run's events and of all runs' index stay open. Nothing is done
    where events are elsewhere."""
    import sqlite3

    with ExitStack() as stack:
        for file in sqlite_event_files(instance, run_id):
            connection = stack.enter_context(closing(sqlite3.connect(file)))
            connection.execute("PRAGMA journal_mode = WAL").fetchall()
            connection.execute("SELECT count(*) FROM sqlite_master").fetchall()
        yield
