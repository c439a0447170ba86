"""`evolake families show`: a family with its idea and its verdicts, or every attempt at one."""

from __future__ import annotations

import click

from evolake import settings as settings_module
from evolake.errors import InputError
from evolake.terminal import say, say_json


@click.command(short_help="Show a family, its idea and verdicts, or all attempts.")
@click.argument("family", metavar="[ID]", required=False)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else.")
def show(family: str | None, as_json: bool) -> int:
    """Show a family: its idea, its state, its parents and what the gates said. Without ID: every attempt of
    all cycles with its idea and outcome.

    ID: its id or the first eight or more digits of it.
    """
    from evolake.families.report.showing import attempt_lines, attempts, family_lines, family_report
    from evolake.lake import Lake

    lake = Lake(settings_module.load().require_lake())
    if family is None:
        rows = attempts(lake)
        if as_json:
            say_json({"attempts": rows})
        else:
            say(
                *(
                    attempt_lines(rows)
                    or ["no family was proposed yet: `evolake run --lines families --cycles 1` proposes some"]
                )
            )
        return 0
    report = family_report(lake, family)
    if report is None:
        raise InputError(
            f"no family {family!r} is in the lake",
            wanted="the id of one family, or its first eight or more digits",
            got=repr(family),
            do="`evolake families show` lists all attempts with their ids",
        )
    if as_json:
        say_json({"verdict": "found"} | report)
    else:
        say(*family_lines(report))
    return 0
