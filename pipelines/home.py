"""DAGSTER_HOME: where Dagster keeps runs, events and partitions of a lake. By convention the project's
`.dagster`, made from deploy/sqlite/dagster.yaml; see `evolake.project.home` and `evolake.lake.homes`.

    python -m pipelines.home HOME ...    what `evolake doctor` asks: whether Dagster can use them, as JSON
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

from evolake.cli.ending import NEW_HOME
from evolake.errors import InputError
from evolake.jail.protocol import one_line
from evolake.lake import Lake
from evolake.lake.homes import claim
from evolake.lake.locks import require_locks
from evolake.project import BROUGHT
from evolake.terminal import say_json

LONGEST_CAUSE, SQLITE = 400, "DagsterSqliteStorage"
DATABASES = ("history/runs.db", "history/runs/index.db", "schedules/schedules.db")
TEMPLATE = BROUGHT / "deploy" / "sqlite" / "dagster.yaml"


def ensure_home(path: Path, template: Path = TEMPLATE) -> Path:
    """Make `path` a DAGSTER_HOME: the folder, and a dagster.yaml if there is none. One that is there is never
    touched.

    Raises:
        InputError: `path` is relative (Dagster refuses that late and less clearly), has a question mark
            (Dagster writes its databases where the mark is, outside of the folder) or is a file, or its
            dagster.yaml cannot be used. LakeError: its file system has no locks, which SQLite needs.
    """
    if "?" in str(path):
        raise InputError(
            "Dagster cannot use this home",
            wanted="a path without a question mark, which ends the path of a database to it",
            got=str(path),
            do="export DAGSTER_HOME=/another/folder; the lake may stay where it is",
        )
    if not path.is_absolute():
        raise InputError(
            "DAGSTER_HOME must be an absolute path",
            got=str(path),
            do=f"export DAGSTER_HOME={path.absolute()}",
        )
    if path.exists() and not path.is_dir():
        raise InputError("DAGSTER_HOME is not a folder", got=str(path), do="point it to a folder")
    path.mkdir(parents=True, exist_ok=True)
    if not (path / "dagster.yaml").exists():
        part = path / f".dagster.yaml-{os.getpid()}"
        shutil.copyfile(template, part)
        part.replace(path / "dagster.yaml")
    require_locks(path)
    require_configuration(path)
    return path


def require_configuration(home: Path) -> None:
    """Check a home's dagster.yaml, that what it names can be loaded, that a database server answers, and that
    SQLite's databases begin as such.

    Raises:
        InputError: Dagster would refuse it.
    """
    from resources.dagster_internals import InstanceRef

    try:
        ref = InstanceRef.from_dir(str(home))
        _ = ref.run_coordinator, ref.run_launcher, ref.scheduler, ref.compute_log_manager
        if ref.storage_data is not None and ref.storage_data.class_name != SQLITE:
            _ = ref.storage
    except Exception as error:  # a class that the file names may raise whatever it likes
        raise InputError(
            f"{home / 'dagster.yaml'} cannot be used",
            wanted="a configuration that Dagster accepts, and a database that answers",
            got=one_line(f"{type(error).__name__}: {_cause(error)}", LONGEST_CAUSE),
            do="correct the file, or move it away: evolake run then writes its own",
        ) from None
    for name in DATABASES:
        try:
            if (home / name).exists():
                with closing(sqlite3.connect(home / name)) as database, suppress(sqlite3.OperationalError):
                    database.execute("SELECT count(*) FROM sqlite_schema")
        except sqlite3.DatabaseError as error:
            raise InputError(f"{home / name} is damaged", got=str(error), do=NEW_HOME) from None


def checks(homes: Sequence[Path]) -> list[dict[str, Any]]:
    """Return fields of `evolake.cli.doctor.Check`: of each home, and of the schedule of nights."""
    from pipelines.schedules import TWO_IN_THE_NIGHT, cron_or, time_zone

    result = []
    for home in homes:
        made = (home / "dagster.yaml").exists()
        found, mend = str(home) if made else f"{home}: not made yet", ""
        try:
            if not home.is_absolute() or "?" in str(home) or (home.exists() and not home.is_dir()):
                ensure_home(home)
            elif made:
                require_configuration(home)
        except InputError as error:
            found, mend = str(error), error.do or ""
        result.append(
            {"name": "Dagster's home", "ok": not mend, "detail": found, "mend": mend, "needed": True}
        )
    try:
        found, mend = f"{cron_or(TWO_IN_THE_NIGHT)} ({time_zone()})", ""
    except InputError as error:
        found, mend = f"{error.what}: {error.got}", error.do or ""
    skips = "the UI, the daemon and their nights; evolake run needs no schedule" if mend else ""
    result.append({"name": "nightly schedule", "ok": not mend, "detail": found, "skips": skips, "mend": mend})
    return result


def _cause(error: Exception) -> str:
    """Return what Dagster says without its listing of all fields, and without a stack."""
    text = str(error).partition("Stack Trace")[0]
    return text[max(text.find("Error 1:"), 0) :] + (f": {error.__cause__}" if error.__cause__ else "")


def home_from_environment(lake: Lake) -> Path:
    """Return the home that the lake has under the DAGSTER_HOME that is set, made ready; DAGSTER_HOME names it
    from now on.

    Raises:
        InputError: it is not set. LakeError: the lake's id cannot be read or written.
    """
    value = os.environ.get("DAGSTER_HOME")
    if not value:
        raise InputError(
            "DAGSTER_HOME is not set",
            wanted="the folder where Dagster keeps its runs",
            do="use `evolake run`, which sets it, or: export DAGSTER_HOME=/path/of/the/project/.dagster",
        )
    home = ensure_home(Path(value))
    own = ensure_home(claim(home, lake.id), home / "dagster.yaml")
    os.environ["DAGSTER_HOME"] = str(own)
    return own


if __name__ == "__main__":
    say_json(checks([Path(home) for home in sys.argv[1:]]))
