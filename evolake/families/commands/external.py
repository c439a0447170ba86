"""`evolake families external`: instances of reasoning-gym's datasets next to our own."""

from __future__ import annotations

import json
from pathlib import Path

import click

from evolake import settings as settings_module
from evolake.commands import OrdinaryPath
from evolake.errors import InputError
from evolake.terminal import say


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
    from evolake.families.sandbox.external import GYM_PRELOAD, external_names, external_rows, require_library
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
