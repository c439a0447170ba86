"""`python -m pipelines.rules_apply LINE ...`: make again what edited rules ask for, cycle by cycle, until
nothing is left of it. `evolake rules apply` shows what comes, asks, and calls this; so does the job
`apply_rules` of the UI.

Nothing notes how far it is: what is left follows from the seals (cycles that were finished and are not on the
chain any more) and from the rules by which each asset was made (`rules_preview`). So the next call continues
one that was killed, a second edit is applied on top of the first, and an edit is taken back by editing the
file back.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path

import click
import dagster as dg

from assets.line import Line
from assets.story import RULES_APPLIED, rules_applied
from evolake import settings as settings_module
from evolake.cli.ending import end
from evolake.errors import MachineryError
from evolake.lake import Lake
from evolake.report.rules_preview import Work
from evolake.report.status import sealed_cycles
from evolake.terminal import say, say_text, visible_console
from pipelines.burial import bury_dead_runs
from pipelines.events import SEEDS
from pipelines.home import home_from_environment
from pipelines.line_state import next_cycle
from pipelines.one_line import Stage, run
from pipelines.outcome import Outcome, together
from pipelines.progress import Progress
from pipelines.rules_preview import PAGE, previews
from pipelines.schedules import leave_bad_cron_out

Step = tuple[str | None, tuple[str, ...]]
"""A cycle (None: of no cycle) and its assets that are made again; no assets: the whole cycle, or seeds."""


def steps(work: Work) -> Iterator[Step]:
    """Yield what a preview asks for, in order."""
    for cycle in work.cycles:
        yield cycle.cycle, () if cycle.whole else cycle.assets
    if work.once:
        yield None, work.once


def next_step(stage: Stage, line: Line, rules: Path) -> Step | None:
    """Return what comes next; None where the rules are applied."""
    seals = stage.lake.seals
    if seals.whole_up_to(line.name) < max(map(int, seals.cycles(line.name)), default=0):
        return next_cycle(stage.lake, line), ()
    [text] = previews(stage.lake, rules, [line.name], stage.instance)
    return next(steps(text.work), None)


def apply(stage: Stage, line: Line, rules: Path) -> Outcome:
    """Make everything again that the rules of a line ask for; stops at the first run that fails.

    Raises:
        MachineryError: what was made again is still to be made again, as after an edit in between.
    """
    outcome, done = Outcome({line.name: []}), set[Step]()
    bury_dead_runs(stage.instance, stage.lake, [line])
    while step := next_step(stage, line, rules):
        cycle, assets = step
        if step in done:
            raise MachineryError(
                f"the rules of {line.name} do not come to rest",
                wanted="nothing of a cycle that was made again to be stale",
                got=f"cycle {cycle} is",
                do="if a rule was edited meanwhile, call it again; else see evolake rules preview",
            )
        done.add(step)
        if cycle is None:
            succeeded = run(stage, line, None, ", ".join(assets) or SEEDS, 0, outcome, assets=assets)
        else:
            what = f"cycle {cycle}" + (f": {', '.join(assets)}" if assets else "")
            succeeded = run(stage, line, cycle, what, 0, outcome, assets=assets)
        if not succeeded:
            break
        outcome.sealed[line.name] += [cycle] if cycle else []
        tell_in_stories(stage, line, sealed_cycles(stage.lake, line.name)[-1:])
    tell_in_stories(stage, line, sealed_cycles(stage.lake, line.name))
    return outcome


def tell_in_stories(stage: Stage, line: Line, cycles: Sequence[str]) -> None:
    """Show in the pages of finished cycles how far the rules are applied now. A page that says so already is
    left; of any other everything else stays."""
    if not cycles:
        return
    now = rules_applied(stage.lake, line)
    pages = dg.AssetRecordsFilter(asset_key=line.story.key, asset_partitions=list(cycles))
    records = stage.instance.fetch_materializations(pages, limit=PAGE).records
    newest = {made.partition: made for record in reversed(records) if (made := record.asset_materialization)}
    for page in newest.values():
        if page.metadata.get(RULES_APPLIED) != now.get(RULES_APPLIED):
            others = {name: value for name, value in page.metadata.items() if name != RULES_APPLIED}
            stage.instance.report_runless_asset_event(page.with_metadata(others | now))


@click.command()
@click.argument("names", nargs=-1, required=True)
def main(names: tuple[str, ...]) -> int:
    """Apply the rules of lines."""
    leave_bad_cron_out()
    from pipelines.definitions import defs, lines

    settings = settings_module.load()
    lake = Lake(settings.require_lake())
    home = home_from_environment(lake)
    rules = settings.seeds / "rules"
    with (
        warnings.catch_warnings(),
        dg.DagsterInstance.get() as instance,
        Progress(visible_console(), list(names)) as progress,
    ):
        warnings.simplefilter("ignore", dg.PreviewWarning)
        stage = Stage(defs, instance, home, lake, settings.profile, progress.show)
        outcome = together([apply(stage, built.line, rules) for built in lines if built.line.name in names])
    for line, cycles in outcome.sealed.items():
        if not outcome.exit_code:
            say(f"{line}: the rules are applied; made again: {', '.join(cycles) or 'nothing'}")
    if outcome.exit_code:
        say_text(outcome.reason, err=True)
    return outcome.exit_code


if __name__ == "__main__":
    sys.exit(end(main))
