"""`evolake consensus`: rank designs by many objectives, from files that any program can
write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evolake.commands import AS_JSON, OrdinaryPath
from evolake.errors import InputError
from evolake.reading import parse_json, read_text, reason, unique_keys
from evolake.terminal import say, say_json
from evolake.visible import in_a_cell

if TYPE_CHECKING:
    import polars as pl

    from evolake.objectives.long_consensus import LongConsensus


LATEST = 10**9
"""Largest number that is taken for a round."""


@click.group(short_help="Rank designs by the consensus of many objectives.")
def consensus() -> None:
    """Rank designs by the consensus of many objectives.

    \b
    Example:
      evolake consensus rank scores.parquet --created created.json --round 3
    """


@consensus.command(short_help="Rank the designs of SCORES, a Parquet file.")
@click.argument("scores", type=OrdinaryPath())
@click.option(
    "--created",
    "created_file",
    required=True,
    type=OrdinaryPath(),
    help="JSON: objective id -> creation round.",
)
@click.option(
    "--round",
    "now",
    required=True,
    type=click.IntRange(-LATEST, LATEST),
    help="The current round; older objectives weigh less.",
)
@click.option(
    "--multipliers",
    "multipliers_file",
    type=OrdinaryPath(),
    help="JSON: objective id -> multiplier (default: 1 for each).",
)
@AS_JSON
def rank(scores: Path, created_file: Path, now: int, multipliers_file: Path | None, as_json: bool) -> None:
    """Rank the designs of SCORES, a Parquet file with columns objective_id, design_id and score (lower is
    better).

    A null, NaN or absent score means that the objective could not judge the design: it counts as the worst.
    """
    from evolake.objectives.long_consensus import rank_long

    table = _read_scores(scores)
    created = _read_json(created_file, "creation rounds", '{"objective id": round, ...}')
    multipliers = (
        _read_json(multipliers_file, "multipliers", '{"objective id": multiplier, ...}')
        if multipliers_file
        else None
    )
    ranking = rank_long(table, created, now, multipliers=multipliers)
    if as_json:
        say_json(ranking.to_json(), allow_nan=False)
    else:
        say(*_as_lines(ranking))


def _read_scores(path: Path) -> pl.DataFrame:
    import polars as pl

    _must_be_file(path, "score table")
    try:
        return pl.read_parquet(path, glob=False, hive_partitioning=False)
    except (pl.exceptions.PolarsError, OSError) as error:
        raise InputError(
            f"{path} cannot be read",
            wanted="a Parquet file",
            got=str(error).splitlines()[0][:200],
            do="write the scores with any Parquet writer",
        ) from None


def _read_json(path: Path, what: str, form: str) -> dict[str, Any]:
    _must_be_file(path, f"file of {what}")
    try:
        value = parse_json(read_text(path), name=str(path), pairs=unique_keys)
    except (ValueError, OSError) as error:
        raise InputError(
            f"the {what} in {path} cannot be read", wanted=f"JSON of the form {form}", got=reason(error)[:200]
        ) from None
    if not isinstance(value, dict):
        raise InputError(
            f"the {what} in {path} are not an object",
            wanted=f"JSON of the form {form}",
            got=f"a {type(value).__name__}",
        )
    return value


def _must_be_file(path: Path, what: str) -> None:
    if not path.is_file():
        raise InputError(
            f"there is no {what} at {path}",
            wanted="a file",
            got="a folder" if path.is_dir() else "nothing",
            do="check the path",
        )


def _as_lines(ranking: LongConsensus) -> list[str]:
    result = ranking.result
    value = dict(zip(ranking.design_ids, result.consensus, strict=True))
    width = max(len("design"), *(len(in_a_cell(name)) for name in ranking.design_ids))
    lines = [f"{'place':>5}  {'design':<{width}}  consensus"]
    lines += [
        f"{place:>5}  {in_a_cell(name):<{width}}  {value[name]:.6f}"
        for place, name in enumerate(ranking.order, start=1)
    ]
    width = max(len("objective"), *(len(in_a_cell(name)) for name in ranking.objective_ids))
    lines += ["", f"{'objective':<{width}}  weight    median tau"]
    lines += [
        f"{in_a_cell(name):<{width}}  {weight:.6f}  {tau:+.6f}"
        for name, weight, tau in zip(ranking.objective_ids, result.weights, result.median_tau, strict=True)
    ]
    return lines
