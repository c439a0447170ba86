"""`evolake families export`: the instances of all finished cycles as a data set to train on, with its card
and its reward."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import cast

import click

from evolake import settings as settings_module
from evolake.commands import OrdinaryPath
from evolake.terminal import say, say_json


@click.command(short_help="Write a data set of accepted instances for training.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "trl", "verl"]),
    required=True,
    help="jsonl holds the families too.",
)
@click.option(
    "--out",
    type=OrdinaryPath(file_okay=False),
    required=True,
    help="Folder to write; removes an earlier export in it.",
)
@click.option(
    "--cycle",
    type=click.IntRange(min=1),
    default=None,
    help="The last cycle to take; default: the newest that is finished.",
)
@click.option(
    "--test-share",
    type=click.FloatRange(0, 0.9),
    default=0.0,
    show_default=True,
    help="Share of lineages and engines in a `test` split.",
)
@click.option(
    "--independent", is_flag=True, help="Only what another than its author solved from the text alone."
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else.")
def export(
    form: str, out: Path, cycle: int | None, test_share: float, independent: bool, as_json: bool
) -> int:
    """Write a data set: questions, labels, a card that names seeds, rules and counts, and for trl and verl
    the reward function."""
    from evolake.families.dataset.datasets import load_families, read_dataset
    from evolake.families.dataset.export import (
        NEITHER,
        Form,
        described,
        shared_text,
        split_rows,
        write_dataset,
    )
    from evolake.families.independence import LEVELS
    from evolake.families.model.contract import to_record
    from evolake.lake import Lake

    lake = Lake(settings_module.load().require_lake())
    data = read_dataset(lake, finished(lake, cycle))
    data = data.independent() if independent else data
    records = [
        to_record(family)
        | {
            "family_id": row["family_id"],
            **described(row),
            "independent": data.independence[row["family_id"]].to_json(),
        }
        for row, family in zip(data.families, load_families(lake, data.families), strict=True)
    ]
    counts = write_dataset(
        cast(Form, form), data.instances, records, out, data.made_by, test_share=test_share, units=data.units
    )
    shared = shared_text(split_rows(data.instances, test_share, data.units)[0]) if test_share else ""
    if as_json:
        details = {
            "verdict": "exported",
            "reasons": [],
            "format": form,
            "folder": str(out),
            "splits": counts,
            "families": len(data.families),
        }
        details |= {"shared": shared} if shared else {}
        levels = Counter(data.independence[row["family_id"]].level for row in data.families)
        details |= {"independent": {level: levels[level] for level in LEVELS}}
        say_json(details | {"cycles": list(data.made_by.cycles)})
        return 0
    neither = counts.pop(NEITHER, 0)
    say(
        f"{sum(counts.values())} instances of {len(data.families)} families, cycles "
        f"{data.made_by.cycles[0]} to {data.made_by.cycles[-1]}"
    )
    if len(counts) > 1:
        shares = " and ".join(f"{count} in {split}" for split, count in counts.items())
        say(f"{shares}: no family of one side shares an ancestor, an engine or code with one of the other")
        say(shared)
    if neither:
        say(
            f"{neither} further instances are in neither split: their families have ancestors or engines "
            "of both"
        )
    for path in sorted(out.iterdir()):
        say(f"  {path}")
    return 0


def finished(lake: object, last: int | None) -> list[str]:
    """Return the finished cycles of the line up to `last`. Raises InputError where that one is not among
    them."""
    from evolake.errors import InputError
    from evolake.families.dataset.datasets import LINE
    from evolake.lake import Lake
    from evolake.report.status import sealed_cycles

    assert isinstance(lake, Lake)
    done = sealed_cycles(lake, LINE)
    if last is not None and f"{last:04d}" not in done:
        raise InputError(
            f"cycle {last:04d} of {LINE} is not finished",
            wanted=f"one of {', '.join(done) or '(none)'}",
            do="see `evolake status`",
        )
    return done if last is None else [cycle for cycle in done if cycle <= f"{last:04d}"]
