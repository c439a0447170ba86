"""`python -m pipelines.forget_cycle KEY`: remove a cycle that has not run from Dagster's partitions. `evolake
cycles forget` calls this."""

from __future__ import annotations

import sys

import click
import dagster as dg

from evolake import settings as settings_module
from evolake.cli.ending import end
from evolake.lake import Lake
from evolake.terminal import say
from pipelines.cycles import forget
from pipelines.home import home_from_environment
from pipelines.lines import built_lines


@click.command()
@click.argument("key")
@click.option("--line", "name", default=None)
def main(key: str, name: str | None) -> int:
    """Remove the cycle KEY."""
    lake = Lake(settings_module.load().require_lake())
    home_from_environment(lake)
    lines = [built.line for built in built_lines() if name in (None, built.line.name)]
    with dg.DagsterInstance.get() as instance:
        gone = forget(instance, lake, lines, key)
    say(f"cycle {key} is no partition of {', '.join(gone)} any more")
    return 0


if __name__ == "__main__":
    sys.exit(end(main))
