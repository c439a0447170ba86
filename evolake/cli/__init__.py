"""The `evolake` command: one file a group, every error a sentence and an exit code.

Exit codes: 0 success, 1 the thing judged is judged bad, 2 wrong usage or input, 3 the machinery failed.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping

import click

from evolake import __version__
from evolake.commands import LazyGroup
from evolake.errors import EvolakeError
from evolake.lines import lines

SHARED = {
    "champion": "evolake.cli.champion:champion", "consensus": "evolake.cli.consensus:consensus", "doctor": "evolake.cli.doctor:doctor",
    "guide": "evolake.cli.agents:guide", "lake": "evolake.cli.lake:lake", "report": "evolake.cli.report:report", "run": "evolake.cli.run:run",
    "sql": "evolake.cli.sql:sql", "status": "evolake.cli.run:status",
}
"""Commands that are of no line."""


class Root(LazyGroup):
    """The shared commands and those of every installed line. A line cannot take the name of a shared one."""

    def later(self) -> Mapping[str, str]:
        return {name: command for spec in lines().values() for name, command in spec.commands.items()} | SHARED


@click.group(cls=Root, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, prog_name="evolake")
def cli() -> None:
    """Evolve things whose worth can be checked."""


def main() -> None:
    """Entry point: runs the command and turns every expected error into a sentence and an exit code."""
    try:
        sys.exit(cli.main(standalone_mode=False) or 0)
    except click.exceptions.Abort:
        click.echo("interrupted; what was finished is kept, run the command again to go on", err=True)
        sys.exit(130)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except EvolakeError as error:
        click.echo(f"error: {error}", err=True)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if os.environ.get("EVOLAKE_TRACEBACK"):
            raise
        click.echo(f"error: {type(error).__name__}: {error}\n  next: this is a bug; set EVOLAKE_TRACEBACK=1, run again and report it", err=True)
        sys.exit(3)
