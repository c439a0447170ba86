"""How a command ends: the one place where what it raised becomes sentences, an exit code and, with `--json`,
an object on standard output.

    EvolakeError            its own sentences and exit code
    click's errors          2: wrong usage
    OSError                 2 if a path that was named cannot be what it was named for, 3 if the machine
                            refuses (space, permissions, limits)
    MemoryError             3
    SQLite's DatabaseError  3: Dagster's home, its disk or its permissions
    Ctrl-C, SIGTERM         130 and 143, one sentence
    a closed pipe           141, as of a program that SIGPIPE ended: the reader of the output had enough
                            before all was said
    anything else           3: a bug of ours, and it says so

A candidate's failure is no exception and never comes here.
"""

from __future__ import annotations

import errno
import os
import signal
import sqlite3
import sys
import threading
from collections.abc import Sequence
from contextlib import suppress
from itertools import pairwise
from pathlib import Path
from types import FrameType

import click

import evolake
from evolake.errors import EvolakeError, InputError, MachineryError
from evolake.project import expand_homes
from evolake.terminal import forget_warnings, say_error, say_json, say_usage

KEPT = "what was finished is kept, run the command again to continue"
PIPE_CLOSED = 128 + signal.SIGPIPE

_OF_THE_PATH = {
    errno.ENOENT,
    errno.ENOTDIR,
    errno.EISDIR,
    errno.EEXIST,
    errno.ENAMETOOLONG,
    errno.ELOOP,
    errno.ENOTEMPTY,
    errno.EINVAL,
    errno.ENODEV,
}
"""What says that a path is not what it was named for. The rest says what the machine refuses."""
NEW_HOME = "move the home away: the next run makes a new one, and cycles continue, as the lake has them"
_NO_ROOM = {errno.ENOSPC, errno.EDQUOT}
"""What a write into an open file says, which has no name then."""
LITTLE = 1 << 16
"""Bytes; a file system with fewer left is full."""


class Stopped(BaseException):
    """SIGTERM came. No Exception: nothing on the way may take it for its own failure."""


def end(command: click.Command, arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit code; print whatever it raises. arguments: by default those of the
    process."""
    given, printed = list(sys.argv[1:] if arguments is None else arguments), sys.stdout
    expand_homes()
    forget_warnings()
    try:
        code = int(command.main(args=given, standalone_mode=False) or 0)
        sys.stdout.flush()
        return code
    except SystemExit as leaving:
        if (
            sys.stdout is not printed
        ):  # click wraps a stream whose reader is gone, and ends with 1, which is a verdict here
            return PIPE_CLOSED
        if isinstance(leaving.code, int):
            return leaving.code
        if leaving.code is None:
            return 0
        return 1
    except (click.Abort, KeyboardInterrupt):
        return _tell(MachineryError(f"interrupted; {KEPT}"), 130, given, prefix="")
    except Stopped:
        return _tell(MachineryError(f"stopped by SIGTERM; {KEPT}"), 143, given, prefix="")
    except click.ClickException as error:
        if not asks_json(given):
            say_usage(error)
            return error.exit_code
        return _tell(InputError(error.format_message(), do="see --help"), error.exit_code, given)
    except BrokenPipeError:
        _drop_unwritten()
        return PIPE_CLOSED
    except Exception as error:
        if os.environ.get("EVOLAKE_TRACEBACK"):
            raise
        summary = expected(error, given) or unforeseen(error)
        return _tell(summary, summary.exit_code, given)


def _drop_unwritten() -> None:
    """Drop what standard output does not take: Python would try again as it ends, and end with 120."""
    try:
        sys.stdout.flush()
    except OSError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def expected(error: BaseException, arguments: Sequence[str] = ()) -> EvolakeError | None:
    """Return the error that a user is shown for what was raised; None where it can only be a bug. arguments:
    of the command, where it names no file."""
    if isinstance(error, EvolakeError):
        return error
    if isinstance(error, MemoryError):
        return MachineryError(
            "not enough memory",
            got=str(error) or None,
            do="ask for less in one command, or use a machine with more memory",
        )
    if isinstance(cause := getattr(error, "orig", error), sqlite3.DatabaseError):
        return MachineryError(
            f"a database of Dagster in {os.environ.get('DAGSTER_HOME')} cannot be used",
            got=str(cause),
            do=f"see that the disk has space and the files can be written; of a damaged one, {NEW_HOME}",
        )
    if isinstance(error, OSError) and error.errno is not None and not _is_ours(error):
        place = error.filename or (_full(arguments) if error.errno in _NO_ROOM else None)
        where = f"{place}: " if place else ""
        why = error.strerror or str(error)
        if error.errno in _OF_THE_PATH:
            return (
                InputError(
                    f"{where}{why}", wanted="a path that can be what it was named for", do="check the path"
                )
                if where
                else None
            )
        do = "fix the machine (space, permissions, limits) and run it again; what was finished is kept"
        return MachineryError(f"{where}{why}", wanted="a machine that lets this user do it", do=do)
    return None


def unforeseen(error: BaseException) -> MachineryError:
    """Return what a user is shown for a bug."""
    return MachineryError(
        f"{type(error).__name__}: {error}",
        do="this is a bug; set EVOLAKE_TRACEBACK=1, run again and report it",
    )


def asks_json(arguments: Sequence[str]) -> bool:
    """Return whether a command line asks for one JSON object, by --json or --format json."""
    words = list(arguments)[: list(arguments).index("--")] if "--" in arguments else list(arguments)
    return "--json" in words or "--format=json" in words or ("--format", "json") in pairwise(words)


def stop_on_sigterm() -> None:
    """From now on SIGTERM ends the process as Ctrl-C does: by an exception, so that what is half-written is
    cleared away."""

    def handler(number: int, frame: FrameType | None) -> None:
        raise Stopped(number)

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGTERM, handler)


def _full(arguments: Sequence[str]) -> str | None:
    """Return where the first path is that a command was given on a file system with no room left: itself, or
    the folder that it was to be made in."""
    for word in (word.partition("=")[2] if word.startswith("--") else word for word in arguments):
        with suppress(OSError, ValueError):
            path = Path(word)
            place = path if path.exists() else path.parent
            if word and (space := os.statvfs(place)).f_bavail * space.f_frsize < LITTLE:
                return str(place.absolute())
    return None


def _is_ours(error: OSError) -> bool:
    """Return whether it is about a file of this package: one that is missing there is no fault of the
    user's."""
    package = Path(evolake.__file__).parent
    return isinstance(error.filename, str) and package in Path(error.filename).absolute().parents


def _tell(error: EvolakeError, code: int, arguments: Sequence[str], *, prefix: str = "error: ") -> int:
    with suppress(OSError):
        say_error(error, prefix=prefix)
        if asks_json(arguments):
            say_json({"verdict": "error", "message": str(error), "exit_code": code} | error.to_json())
    _drop_unwritten()
    return code
