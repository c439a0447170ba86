"""What commands are made of: groups that import a command's file only when that command is typed, paths that
are checked before they are used, and the options that several of them have."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from evolake.lazy import Lazy
from evolake.reading import Unreadable
from evolake.reading.files import require_ordinary


class LazyGroup(click.Group):
    """Build a click group whose further commands are imported when they are called."""

    def __init__(self, *args: Any, later: Mapping[str, Lazy[click.Command]] | None = None, **options: Any):
        """later: name of a command -> the command."""
        super().__init__(*args, **options)
        self._later = dict(later or {})

    def later(self) -> Mapping[str, Lazy[click.Command]]:
        """Return the commands that are imported when typed."""
        return self._later

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the names of all commands, those that are not imported included."""
        return sorted({*super().list_commands(ctx), *self.later()})

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Return the command of that name, imported now, or None."""
        if cmd_name in self.later():
            return self.later()[cmd_name].load()
        return super().get_command(ctx, cmd_name)


def materialize(root: Path, study: str, key: str) -> int:
    """Make a partition of a study in another process, through Dagster; return how that ended. root: of the
    lake."""
    from evolake import project, settings

    environment = os.environ | {
        "EVOLAKE_LAKE": str(root),
        "DAGSTER_HOME": str(project.home(root)),
        settings.WARNED: "1",
    }
    command = [*project.command("pipelines.asked"), study, key]
    # Ctrl-C is for this process: what Dagster starts would print tracebacks of it. It dies with this one.
    with subprocess.Popen(command, env=environment, start_new_session=True) as child:
        try:
            return child.wait()
        except BaseException:
            child.kill()
            raise


class OrdinaryPath(click.Path):
    """A path on a command line: a file, a folder, or one that is yet to be made.

    Named pipes, devices and sockets are refused here for every command, because reading one can wait or
    continue for ever. What a folder holds is checked where it is read (`evolake.reading`).
    """

    def __init__(self, *, exists: bool = False, file_okay: bool = True, dir_okay: bool = True):
        super().__init__(exists=exists, file_okay=file_okay, dir_okay=dir_okay, path_type=Path)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the path. Raises an error of click if it names a pipe or a device."""
        try:
            require_ordinary(Path(value))
        except Unreadable:
            raise
        except (OSError, ValueError):  # a missing path is the command's to name
            pass
        return super().convert(value, param, ctx)


AS_JSON = click.option(
    "--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else."
)
LAKE = click.option(
    "--lake",
    "root",
    type=OrdinaryPath(file_okay=False, exists=True),
    help="The lake's folder (default: EVOLAKE_LAKE).",
)
MINUTES = click.option(
    "--minutes",
    type=click.FloatRange(min=0, min_open=True),
    help="Minutes after which to stop, at the end of a step; the same command continues (default: no limit).",
)
PROFILE = click.option(
    "--profile", help="Sizes and limits (default: EVOLAKE_PROFILE, else the lake's, else laptop)."
)
REPLAY_ONLY = click.option(
    "--replay-only", is_flag=True, help="Model backend: use the call cache alone, make no new call."
)
SEEDS_PER_ARM = click.option(
    "--seeds", type=click.IntRange(min=1), help="Seeds per arm (default: the profile's)."
)
