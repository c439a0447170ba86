"""`python -m pipelines.reseal LINE`: seal the seeds of a line again, though cycles are based on them.
`evolake seeds reseal` asks, then calls this."""

from __future__ import annotations

import sys
import warnings

import click
import dagster as dg

from assets.cycle import RESEAL_TAG
from evolake import settings as settings_module
from evolake.errors import EvolakeError
from evolake.lake import Lake
from evolake.terminal import say_error, say_text, visible_console
from pipelines.burial import bury_dead_runs
from pipelines.home import home_from_environment
from pipelines.one_line import Stage, run
from pipelines.outcome import Outcome
from pipelines.progress import Progress
from pipelines.schedules import leave_bad_cron_out


def reseal(name: str) -> Outcome:
    """Materialize the group `<line>_seeds` with leave to void what is based on it.

    Raises:
        InputError: no such line, or DAGSTER_HOME is not set.
    """
    leave_bad_cron_out()
    from pipelines.definitions import defs, lines
    from pipelines.evolve import choose

    settings = settings_module.load()
    lake = Lake(settings.require_lake())
    home = home_from_environment(lake)
    [line] = choose(name, [built.line for built in lines])
    outcome = Outcome({line.name: []})
    with (
        warnings.catch_warnings(),
        dg.DagsterInstance.get() as instance,
        Progress(visible_console(), [line.name]) as progress,
    ):
        warnings.simplefilter("ignore", dg.PreviewWarning)
        stage = Stage(defs, instance, home, lake, settings.profile, progress.show)
        bury_dead_runs(instance, stage.lake, [line])
        run(stage, line, None, "seeds", 0, outcome, {RESEAL_TAG: line.name})
    return outcome


@click.command()
@click.argument("line")
def main(line: str) -> int:
    """Seal the seeds of LINE again."""
    outcome = reseal(line)
    if outcome.exit_code:
        say_text(outcome.reason, err=True)
    return outcome.exit_code


if __name__ == "__main__":
    try:
        sys.exit(main(standalone_mode=False) or 0)
    except EvolakeError as error:
        say_error(error)
        sys.exit(error.exit_code)
