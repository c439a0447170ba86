"""`evolake cycles`: the cycles that Dagster's UI offers as partitions."""

from __future__ import annotations

import os
import subprocess

import click

from evolake import project
from evolake import settings as settings_module
from evolake.errors import InputError
from evolake.lines import lines


@click.group(short_help="Remove a mistyped cycle from the UI.")
def cycles() -> None:
    """Remove a mistyped cycle from those that the UI offers. Those that have run, and the next one, are
    registered without a command.

    \b
    Example:
      evolake cycles forget 0312
    """


@cycles.command(short_help="Remove a cycle that has not run from the UI.")
@click.argument("key")
@click.option("--line", "name", default=None, help="One line only (default: every line that has it).")
def forget(key: str, name: str | None) -> int:
    """Remove the cycle KEY from the partitions that Dagster's UI shows, with the failures that it counts
    there. The lake is not changed.

    A cycle that has run, and the one that is next, cannot be removed.
    """
    from evolake.lake import Lake

    evolving = [known for known, spec in lines().items() if spec.gates]
    if name is not None and name not in evolving:
        raise InputError(
            f"no line {name!r} has cycles", wanted=f"one of {', '.join(evolving)}", got=repr(name)
        )
    Lake(settings_module.load().require_lake())
    if not project.home().is_dir():
        raise InputError(
            "no cycle was ever registered here",
            wanted="a DAGSTER_HOME",
            got=str(project.home()),
            do="evolake run, or make dev",
        )
    os.environ["DAGSTER_HOME"] = str(project.home())
    options = ["--line", name] if name else []
    return subprocess.run(
        [*project.command("pipelines.forget_cycle"), *options, "--", key], check=False
    ).returncode
