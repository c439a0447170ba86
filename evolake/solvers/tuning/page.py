"""The page of a tuned solver: what to run, what it gained, and what was tried."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import polars as pl

from evolake.lake import disk

if TYPE_CHECKING:
    from evolake.solvers.measurement.duel import Decision
    from evolake.solvers.tuning.tuning import Tuned

PAGE = "tune.md"
SHOWN = 25


def command_of(result: Tuned) -> str:
    """Return the solver's command line with the options that were found."""
    return " ".join([result.solver, *result.words])


def standing(result: Tuned) -> str:
    """Return how much was tried, and for what."""
    whole = sum(not item.left for item in result.tried)
    return (
        f"tried: {len(result.tried)} settings, {whole} of them on all {result.formulas} formulas of the "
        f"race; processor seconds of the solver: default {result.default_s:.0f}, race {result.race_s:.0f}, "
        f"duels {result.duel_s:.0f}"
    )


def words(result: Tuned) -> list[str]:
    """Return what was found, for people."""
    lines = []
    if result.decision is None or result.race is None:
        lines.append(
            f"No setting of {len(result.tried)} is ahead of the default on {result.formulas} formulas and "
            "their copies: nothing was tried on the unseen ones."
        )
    else:
        decision = result.decision
        lines += [
            {
                "better": f"Run: {command_of(result)}",
                "worse": f"The best of the race is worse on unseen formulas: {command_of(result)}",
                "undecided": f"Not shown to be better on unseen formulas: {command_of(result)}",
            }[result.verdict],
            f"  {decision.ratio:.3g} times lower cost than the default ({interval(decision)}) on "
            f"{decision.formulas} unseen formulas; {decision.reason}",
            f"  solved {decision.solved_challenger:g} (default: {decision.solved_champion:g}); "
            f"on the formulas of the race {result.race.ratio:.3g} times",
        ]
    if (preset := result.preset) is not None:
        lines.append(
            f"  best setting that the solver names, in the race: {preset.setting.preset}, "
            f"{preset.ratio:.3g} times"
        )
    if result.control is not None and result.against_control is not None:
        lines.append(
            f"  random settings for as long: best {result.control.ratio:.3g} times in its runs; on unseen "
            f"formulas the setting above costs {result.against_control.ratio:.3g} times less than it "
            f"({interval(result.against_control)})"
        )
    lines.append(f"  {standing(result)}")
    return lines


def interval(decision: Decision) -> str:
    """Return the 95 % interval of a duel's ratio, in words."""
    high = "no upper end" if math.isinf(decision.ratio_high) else f"{decision.ratio_high:.3g}"
    return f"95 % {decision.ratio_low:.3g} to {high}"


def tried_rows(result: Tuned) -> list[dict[str, Any]]:
    """Return what was tried, in the order in which it entered the race: number, options, origin, formulas
    that it ran, ratio to the default on these (None without any), seconds, why it left ("" if it ran all)."""
    return [
        {
            "number": number,
            "options": list(result.line.words(item.setting)),
            "origin": item.origin,
            "formulas": len(item.gains),
            "ratio": item.ratio if item.gains else None,
            "seconds": item.seconds,
            "left_because": item.left,
        }
        for number, item in enumerate(result.tried)
    ]


def write_page(result: Tuned, folder: Path) -> Path:
    """Write the page, two figures (if there was a duel), all settings and the duel's runs; gives the page."""
    disk.make_folder(folder)
    schema = {"ratio": pl.Float64, "seconds": pl.Float64}
    tried = pl.DataFrame(tried_rows(result), schema_overrides=schema, infer_schema_length=None)
    tried = tried.drop("number").with_columns(pl.col("options").list.join(" "))
    parquet = io.BytesIO()
    result.trials.write_parquet(parquet)
    disk.write_atomic(folder / "tried.csv", tried.write_csv().encode(), tag="page")
    disk.write_atomic(folder / "unseen.parquet", parquet.getvalue(), tag="page")
    lines = [
        f"# {result.solver}: options for {result.formulas + result.unseen} formulas",
        "",
        result.kinds,
        "",
    ]
    lines += [f"- {line.strip()}" for line in words(result)]
    if not result.trials.is_empty():
        for name, data in _figures(result).items():
            disk.write_atomic(folder / name, data, tag="page")
            lines += ["", f"![{name.partition('.')[0]} of the unseen formulas]({name})"]
    best = tried.filter(pl.col("ratio").is_not_null()).sort("formulas", "ratio", descending=True).head(SHOWN)
    lines += ["", "| options | origin | formulas | times cheaper than the default | left the race |"]
    lines += ["| --- | --- | ---: | ---: | --- |"]
    lines += [
        f"| `{row['options'] or 'default'}` | {row['origin']} | {row['formulas']} | {row['ratio']:.3g} | "
        f"{row['left_because'] or 'ran all formulas'} |"
        for row in best.to_dicts()
    ]
    disk.write_atomic(folder / PAGE, ("\n".join(lines) + "\n").encode(), tag="page")
    return folder / PAGE


def _figures(result: Tuned) -> dict[str, bytes]:
    default, tuned = (
        result.trials.filter(pl.col("part") == part).to_dicts() for part in ("champion", "challenger")
    )
    return figures_of(default, tuned, command_of(result), result.timeout_s)


def figures_of(
    default: list[dict[str, Any]], tuned: list[dict[str, Any]], command: str, timeout_s: float
) -> dict[str, bytes]:
    """Return file -> PNG of a duel. default, tuned: rows of runs with instance, status, solved and cpu_s, one
    for each formula. timeout_s: of a run; may be infinite."""
    from evolake.solvers.report.plots import Meeting, SolverTimes, cactus, scatter

    sides = [sorted(rows, key=lambda row: row["instance"]) for rows in (default, tuned)]
    seconds = [[row["cpu_s"] if row["solved"] else None for row in rows] for rows in sides]
    meetings = [
        Meeting(
            row["instance"], first, second, {"sat": "SAT", "unsat": "UNSAT"}.get(row["status"], "unknown")
        )
        for row, first, second in zip(sides[1], *seconds, strict=True)
    ]
    times = [
        SolverTimes(name, [value for value in values if value is not None], kind)
        for name, values, kind in zip(("default", command), seconds, ("seed", "champion"), strict=True)
    ]
    longest = max((value for values in seconds for value in values if value is not None), default=math.nan)
    limit = timeout_s if math.isfinite(timeout_s) else longest
    return {
        "scatter.png": scatter(meetings, limit, "default", command, "Unseen formulas"),
        "cactus.png": cactus(times, limit, "Unseen formulas"),
    }
