"""The dumb search next to a cycle of variants: random options of the champion's seed, each setting on all
formulas that variants are bred on, in a share of the solver seconds that the cycle's new variants took there.

What variants gain beyond it is more than luck with options. Both figures are of formulas that decided which
one is shown, so both are higher than on unseen ones.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from concurrent.futures import Executor
from typing import Any

import numpy as np
import polars as pl

from evolake.errors import InputError
from evolake.seeds import child_seed
from evolake.solvers.evolution.cycle_benchmark import measuring_plan
from evolake.solvers.evolution.planning import LINE
from evolake.solvers.evolution.workspace import Workspace
from evolake.solvers.tables import CLOCK
from evolake.solvers.tuning.command_line import command_line
from evolake.solvers.tuning.search import CLIP, Field, Search, cost_of


def control_row(
    workspace: Workspace,
    champion: Mapping[str, Any],
    runs: pl.DataFrame,
    new: Collection[str],
    executor: Executor,
    *,
    cycle: str,
    before: Mapping[str, Any] | None,
    say: Callable[[str], None],
) -> dict[str, Any] | None:
    """Return the row of CONTROL of a cycle; None if no new variant was run, no control is wanted, or the
    seed names no options, which `say` gets.

    Args:
        champion: row of VARIANTS after the cycle's duels. runs: rows of RUNS that may be compared. new: ids
            of the cycle's variants. before: the row of the cycle before.
    """
    settings, solver = workspace.settings, str(champion["base"])
    line_s = float(runs.filter(pl.col("variant_id").is_in(list(new)))["cpu_s"].sum())
    seconds = settings.control_share * line_s
    if not seconds:
        return None
    seed = workspace.seed_rows[solver]
    program, suite = workspace.program(seed), workspace.suite("train")
    try:
        line = command_line(program)
    except InputError as error:
        say(f"no control: {error.what}")
        return None
    journal = workspace.journal("control", cycle)
    draw = child_seed(workspace.root_seed, LINE, cycle, "control")
    search = Search(Field(program, line, suite, measuring_plan(workspace, cycle), executor, journal, draw))
    search.spend_without_a_race(seconds)
    best = next(iter(search.best()), None)
    row = {
        "cycle": cycle,
        "solver": solver,
        "options": " ".join(line.words(best.setting)) if best else "",
        "ratio": best.ratio if best else 1.0,
        "found_in": cycle,
        "settings": len(search.tried),
        "formulas": len(search.formulas),
        "cpu_s": search.spent_s,
        "line_cpu_s": line_s,
        "share": settings.control_share,
        "champion_id": champion["variant_id"],
        "champion_ratio": _ratio(runs, seed["variant_id"], champion["variant_id"]),
        "total_settings": len(search.tried),
        "total_cpu_s": search.spent_s,
        "total_line_cpu_s": line_s,
    }
    if before is None or (before["solver"], before["formulas"]) != (solver, row["formulas"]):
        return row
    row |= {
        total: row[own] + before[total]
        for total, own in (
            ("total_settings", "settings"),
            ("total_cpu_s", "cpu_s"),
            ("total_line_cpu_s", "line_cpu_s"),
        )
    }
    if before["ratio"] >= row["ratio"]:
        row |= {name: before[name] for name in ("options", "ratio", "found_in")}
    return row


def _ratio(runs: pl.DataFrame, seed: str, variant: str) -> float | None:
    """Return the seed's cost over the variant's on the typical formula, as `Search` counts it; None without a
    formula that both ran."""
    costs: dict[str, dict[str, float]] = {seed: {}, variant: {}}
    for row in runs.filter(pl.col("status") != CLOCK).to_dicts():
        if row["variant_id"] in costs:
            costs[row["variant_id"]][row["instance"]] = cost_of(row)
    both = sorted(costs[seed].keys() & costs[variant].keys())
    if not both:
        return None
    logs = np.log([costs[seed][name] / costs[variant][name] for name in both])
    return float(np.exp(np.clip(logs, -CLIP, CLIP).mean()))
