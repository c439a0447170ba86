"""`evolake golomb`: is this a Golomb ruler?"""

from __future__ import annotations

import click

from evolake.errors import InputError


@click.command()
@click.argument("marks", nargs=-1, required=True)
def golomb(marks: tuple[str, ...]) -> int:
    """Say whether MARKS, whole numbers, are a Golomb ruler. Exit code 1 where they are not."""
    from golomb.rulers import ruler_row, verdicts

    if not all(mark.isdecimal() for mark in marks):
        raise InputError("marks are whole numbers", wanted="for example 0 1 4 6", got=" ".join(marks))
    last = verdicts(ruler_row([int(mark) for mark in marks], "0000"), run_id="command")[-1]
    click.echo("a Golomb ruler" if last.outcome == "pass" else f"no Golomb ruler: {last.reason}")
    return int(last.outcome != "pass")
