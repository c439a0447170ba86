"""The log of runs that `python -m pipelines.evolve` makes: Dagster's lines go to a file, its events to
whoever shows the progress.

Dagster's own console log is a line an event, in colour, on standard error. Somebody who waits for a demo
wants one line per asset. This logger takes the place of the console's when a run's config names it; otherwise
it does nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dagster as dg

from evolake.visible import visible

Listener = Callable[[dg.DagsterEvent], None]
_listeners: list[Listener] = []


class _ToListeners(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        about = getattr(record, "dagster_meta", None)
        event = about.get("dagster_event") if about else None
        if event is not None:
            for listener in _listeners:
                listener(event)


class _Visible(logging.Formatter):
    """Makes hidden characters of a record visible; a traceback keeps its lines."""

    def format(self, record: logging.LogRecord) -> str:
        return visible(super().format(record))


@dg.logger(config_schema={"path": str}, description="Writes a run's log to a file; used by `evolake run`.")
def evolve_log(context: dg.InitLoggerContext) -> logging.Logger:
    """Return a separate logger for each file; its lines reach no other handler."""
    path = Path(context.logger_config["path"])
    logger = logging.Logger(f"evolake.run.{path.stem}", logging.DEBUG)
    path.parent.mkdir(parents=True, exist_ok=True)
    to_file = logging.FileHandler(path, delay=True)
    to_file.setFormatter(_Visible("%(asctime)s %(levelname)s %(message)s"))
    logger.addHandler(to_file)
    logger.addHandler(_ToListeners())
    return logger


def run_config(path: Path) -> dict[str, Any]:
    """Return the run config that sends a run's log to `path`."""
    return {"loggers": {"evolve": {"config": {"path": str(path)}}}}


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Call `listener` with every event of the runs of this process, as they happen."""
    _listeners.append(listener)
    try:
        yield
    finally:
        _listeners.remove(listener)
