"""The `evolake` command: one file a group, every error a sentence and an exit code.

Exit codes: 0 success, 1 the thing judged is judged bad, 2 wrong usage or input, 3 the machinery failed.
"""

from __future__ import annotations

import os
import sys

import click

from evolake import __version__
from evolake.errors import EvolakeError

GROUPS = {
    "agents": ("guide",),
    "consensus": ("consensus",),
    "designs": ("designs",),
    "doctor": ("doctor",),
    "families": ("families",),
    "prompts": ("prompts",),
    "repair": ("repair",),
    "proof": ("proof",),
    "report": ("report", "champion"),
    "run": ("run", "status"),
    "solvers": ("solvers",),
    "sql": ("sql",),
}


class LazyGroup(click.Group):
    """Imports the file of a command only when that command is typed: `evolake --help` stays quick."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return sorted(name for names in GROUPS.values() for name in names)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        from importlib import import_module

        for module, names in GROUPS.items():
            if cmd_name in names:
                return getattr(import_module(f"evolake.cli.{module}"), cmd_name)
        return None


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
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
