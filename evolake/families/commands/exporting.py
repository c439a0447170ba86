"""`evolake families export` (the instances of all finished cycles as a data set to train on, with its card
and its reward), `external` (instances of reasoning-gym's datasets next to our own) and `show` (a family with
its idea and its verdicts, or every attempt at one)."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from evolake import settings as settings_module
from evolake.commands import AS_JSON, OrdinaryPath
from evolake.errors import InputError
from evolake.report.numbers import counted
from evolake.terminal import say, say_json

if TYPE_CHECKING:
    from evolake.families.model.similarity import Fingerprint
    from evolake.settings import Settings


@click.command(short_help="Write a data set of accepted instances for training.")
@click.option(
    "--format",
    "form",
    type=click.Choice(["jsonl", "trl", "verl", "verifiers", "reasoning-gym"]),
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
@click.option(
    "--unreviewed",
    is_flag=True,
    help="Also families of a user or a model that no reader of their text alone has solved.",
)
@click.option(
    "--difficulty",
    metavar="LOW:HIGH",
    default=None,
    help="Only families and levels of which --solver answers this share right, as 0.3:0.7 (default: all).",
)
@click.option(
    "--solver",
    default=None,
    help="Whose share it is: one that `families difficulty` has measured, as pool (default: none).",
)
@AS_JSON
def export(
    form: str,
    out: Path,
    cycle: int | None,
    test_share: float,
    independent: bool,
    unreviewed: bool,
    difficulty: str | None,
    solver: str | None,
    as_json: bool,
) -> int:
    """Write a data set: questions, labels, a card that names seeds, rules and counts, and the reward
    function. jsonl has none; verifiers and reasoning-gym are packages to install.

    With --difficulty, a family and level is left out too if its share was measured with a 95% interval that
    is wider than the band: ask more questions then.
    """
    from evolake.families.dataset.datasets import load_families, read_dataset
    from evolake.families.dataset.exports import (
        NEITHER,
        Form,
        described,
        shared_text,
        split_rows,
        write_dataset,
    )
    from evolake.families.dataset.solver_rates import rates_of, read_band
    from evolake.families.independence import LEVELS
    from evolake.families.model.contract import to_record
    from evolake.lake import Lake

    if difficulty is None and solver is not None:
        raise click.UsageError("--solver needs --difficulty")
    band = None if difficulty is None else read_band(difficulty, solver)
    lake = Lake(settings_module.load().require_lake())
    data = read_dataset(lake, finished(lake, cycle))
    left_out = [] if unreviewed else data.unreviewed()
    data = data.reviewed() if left_out else data
    data = data.independent() if independent else data
    data = data if band is None else data.in_band(band, rates_of(lake, band.solver))
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
        details |= {"difficulty": data.made_by.difficulty} if band else {}
        levels = Counter(data.independence[row["family_id"]].level for row in data.families)
        details |= {"independent": {level: levels[level] for level in LEVELS}}
        details |= {"unreviewed_left_out": len(left_out)}
        say_json(details | {"cycles": list(data.made_by.cycles)})
        return 0
    neither = counts.pop(NEITHER, 0)
    say(
        f"{sum(counts.values())} instances of {len(data.families)} families, cycles "
        f"{data.made_by.cycles[0]} to {data.made_by.cycles[-1]}"
    )
    if band:
        say(f"difficulty {data.made_by.difficulty}")
    if len(counts) > 1:
        shares = " and ".join(f"{count} in {split}" for split, count in counts.items())
        say(f"{shares}: no family of one side shares an ancestor, an engine or code with one of the other")
        say(shared)
    if neither:
        say(
            f"{neither} further instances are in neither split: their families have ancestors or engines "
            "of both"
        )
    if left_out:
        say(
            f"left out: {counted(len(left_out), 'unreviewed family', 'unreviewed families')} of a user or a "
            "model, which no reader of the text alone has solved (evolake families check --readers model, or "
            "families review-sheet); --unreviewed exports them"
        )
    for path in sorted(out.iterdir()):
        say(f"  {path}")
    return 0


def finished(lake: object, last: int | None) -> list[str]:
    """Return the finished cycles of the line up to `last`. Raises InputError where that one is not among
    them."""
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


@click.command(short_help="Write instances of reasoning-gym datasets as JSONL.")
@click.argument("names", nargs=-1)
@click.option(
    "--each",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    help="Instances per dataset, difficulties 1 to 10 in turn.",
)
@click.option(
    "--out",
    type=OrdinaryPath(dir_okay=False),
    default=None,
    help="The JSONL to write (default: list the datasets).",
)
def external(names: tuple[str, ...], each: int, out: Path | None) -> int:
    """Write instances of the reasoning-gym datasets NAMES (all by default): text, answer, difficulty, seed,
    and whose verifier judges replies.

    They are generated and verified only, never mutated, and stay outside the lake: no validators have voted
    on their answers.
    """
    from evolake.families.sandbox.foreign import GYM_PRELOAD, external_names, external_rows, require_library
    from evolake.jail import open_pool

    require_library()
    settings = settings_module.load()
    with open_pool(workers=1, preload=GYM_PRELOAD, mode=settings.jail) as pool:
        known = external_names(pool)
        if unknown := sorted(set(names) - set(known)):
            raise InputError(
                f"no dataset {unknown[0]!r}",
                wanted="one of those that `evolake families external` lists",
                do="check the name",
            )
        if out is None:
            say(*(names or known))
            return 0
        rows = external_rows(list(names or known), each, pool=pool, root_seed=settings.seed)
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8")
    say(f"{len(rows)} instances of {len({row['dataset'] for row in rows})} datasets in {out}")
    return 0


UNKNOWN = (
    "no evidence is shipped for Python {python} and these sizes, and no finished cycle of this lake has "
    "accepted it"
)
NAMED = 6
"""Seeds that are named for one reason; of more than these the others are counted."""


@dataclass(frozen=True)
class Relatives:
    """Fingerprints, and how many families they are of. left_out: folder of a seed that a family is not
    compared with -> why."""

    fingerprints: tuple[Fingerprint, ...]
    seeds: int
    left_out: Mapping[str, str]
    lake: int

    def sentence(self) -> str:
        """Return what a family was compared with."""
        missing = f" (not with {len(self.left_out)} more)" if self.left_out else ""
        return (
            f"compared with {counted(self.seeds, 'seed')}{missing} and {self.lake} more "
            f"{'family' if self.lake == 1 else 'families'} of the lake"
        )

    def lines(self) -> list[str]:
        """Return the sentence, then what a family was not compared with, by reason."""
        parts = [self.sentence()]
        for reason in dict.fromkeys(self.left_out.values()):
            names = [name for name, why in self.left_out.items() if why == reason]
            more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
            parts.append(
                f"  not with {counted(len(names), 'seed')} ({', '.join(names[:NAMED])}{more}): {reason}"
            )
        return parts

    def to_json(self) -> dict[str, Any]:
        """Return the same for a program."""
        return {"seeds": self.seeds, "lake": self.lake, "left_out": dict(self.left_out)}


def relatives(settings: Settings, without: str = "") -> Relatives:
    """Return the relatives among the shipped seeds and in the lake in force. without: a family that is not to
    be its own relative.

    Raises InputError if that is no lake, or the shipped evidence is damaged.
    """
    from evolake.families.evolution.shipped_seeds import FILE, evidence_key, read_entries
    from evolake.families.model.contract import GENERATOR
    from evolake.families.model.family_files import read_family
    from evolake.families.model.similarity import Fingerprint
    from evolake.families.settings import FamiliesSettings

    entries, sizes = read_entries(settings.seeds / FILE), settings.of(FamiliesSettings)
    of_lake = {item.family_id: item for item in _of_lake(settings) if item.family_id != without}
    result: dict[str, Fingerprint] = {}
    left_out: dict[str, str] = {}
    folders = [
        path.parent
        for place in settings.seed_folders
        for path in sorted((place / "families").glob(f"*/{GENERATOR}"))
    ]
    for folder in folders:
        try:
            family = read_family(folder)
        except InputError as error:  # half a family that somebody drops just now is compared with nothing
            left_out[folder.name] = str(error).partition("\n")[0].replace(str(folder), folder.name)
            continue
        entry = entries.get(evidence_key(family, sizes, settings.seed))
        if family.family_id == without:
            continue
        if entry and entry.fingerprint:
            result[family.family_id] = Fingerprint.from_json(entry.fingerprint)
        elif family.family_id not in of_lake:
            left_out[folder.name] = UNKNOWN.format(python=".".join(map(str, sys.version_info[:2])))
    seeds = len(result)
    result |= {name: item for name, item in of_lake.items() if name not in result}
    return Relatives(tuple(result.values()), seeds, left_out, len(result) - seeds)


def _of_lake(settings: Settings) -> list[Fingerprint]:
    """Return what the last finished cycle handed on; nothing if there is no lake, or none of this line's
    cycles in it."""
    from evolake.families.dataset.datasets import LINE, archive_after
    from evolake.lake import Lake, following

    if not settings.require_lake().exists():
        return []
    lake = Lake(settings.require_lake())
    done = [
        cycle
        for cycle in finished(lake, None)
        if lake.record(LINE, "incoming_families", following(cycle)) is not None
    ]
    return archive_after(lake, done[-1]).known() if done else []


@click.command(short_help="Show a family, its idea and verdicts, or all attempts.")
@click.argument("family", metavar="[ID]", required=False)
@AS_JSON
def show(family: str | None, as_json: bool) -> int:
    """Show a family: its idea, its state, its parents and what the gates said. Without ID: every attempt of
    all cycles with its idea and outcome.

    ID: its id or the first eight or more digits of it.
    """
    from evolake.families.report.story import attempt_lines, attempts, family_lines, family_report
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
