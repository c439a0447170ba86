"""A tuning as rows: what was asked, which is kept so that a partition can be made again, and what came of it.

A tuning is run by the command, which shows its progress. Its rows are made by Dagster from the journal of
runs in the lake's cache, so that they cost nothing twice; without that journal it is run again.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolake.canonical_json import canonical_json
from evolake.errors import InputError
from evolake.lake import Lake
from evolake.lazy import Lazy
from evolake.report.artifacts import Exhibit, LineArtifacts
from evolake.report.numbers import counted
from evolake.report.standing import Ask
from evolake.solvers.evolution.planning import LINE as SOLVERS
from evolake.solvers.tables import CONTROL
from evolake.solvers.tuning.page import tried_rows
from evolake.solvers.tuning.tables import LINE, REQUESTED, VERDICTS

if TYPE_CHECKING:
    from collections.abc import Callable

    import polars as pl

    from evolake.solvers.tuning.tuning import Tuned

ARTIFACTS = LineArtifacts(
    crowns_none=(
        "it is a study of tunings: `FROM tunings.verdicts` in SQL has them; `evolake solvers tune` makes one"
    ),
    gained=Lazy("evolake.solvers.tuning.rows:gained"),
    exhibit=Lazy("evolake.solvers.tuning.rows:exhibit"),
)
Row = dict[str, Any]
SHOWN = 10
"""Tunings that the report names."""
LONGEST_NAME, DIGITS = 40, 16
RAN = ("instance", "status", "solved", "cpu_s")
"""What a run of the duel has in RUNS."""


def write_request(lake: Lake, result: Tuned, asked: Mapping[str, Any]) -> str:
    """Keep what was tuned; return its partition.

    Args:
        asked: `tune`'s arguments as JSON values, by which it can be run again: solver, adapter, suite,
            instances, statuses, timeout_s, processes, minutes, unseen, control, draw and profile.
    """
    plain = re.sub("[^a-z0-9_]+", "_", result.solver.lower()).strip("_")[:LONGEST_NAME]
    slug = plain if plain[:1].isalpha() else f"solver_{plain}".rstrip("_")
    key = f"{slug}-{result.question[:DIGITS]}"
    words = {**asked, "question": result.question}
    row = {
        "tuning": key,
        "solver": str(asked["solver"]),
        "formulas_path": str(asked["suite"]),
        "request_sha": lake.blobs.put(canonical_json(words, ascii_only=True).encode()),
        "asked_at": datetime.now(UTC),
    }
    lake.publish(
        LINE, REQUESTED.name, REQUESTED.frame([row]), cycle=key, run_id="evolake-tune", schema=REQUESTED
    )
    return key


def tuned(lake: Lake, key: str, say: Callable[[str], None]) -> Tuned:
    """Return what came of the tuning of a partition.

    Raises:
        InputError: none was asked for there, or solver or formulas are no longer what they were.
    """
    from evolake.solvers.measurement.benchmark import MeasuringOptions
    from evolake.solvers.measurement.repositories import SuiteChoice
    from evolake.solvers.tuning.tuning import TuneOptions, tune

    if lake.record(LINE, REQUESTED.name, key) is None:
        raise InputError(
            f"no tuning {key!r} was asked for",
            wanted="a partition of tunings",
            do="evolake solvers tune SOLVER --formulas FOLDER",
        )
    asked = json.loads(lake.blobs.get(lake.read(LINE, REQUESTED.name, key)["request_sha"][0]))
    statuses = Path(asked["statuses"]) if asked["statuses"] else None
    result = tune(
        asked["solver"],
        SuiteChoice(asked["suite"], asked["instances"], statuses),
        MeasuringOptions(asked["timeout_s"], workers=asked["processes"], profile=asked["profile"]),
        TuneOptions(asked["minutes"], asked["unseen"], asked["control"], asked["draw"]),
        adapter=asked["adapter"],
        say=say,
    )
    if result.question != asked["question"]:
        raise InputError(
            f"the tuning {key} cannot be made again",
            wanted="the solver and the formulas that it was made with",
            got=f"others at {asked['solver']} and {asked['suite']}",
            do="evolake solvers tune makes a new one of them",
        )
    return result


def verdict_row(lake: Lake, key: str, result: Tuned) -> Row:
    """Return the row of VERDICTS of a tuning."""
    decision, asked = result.decision, lake.read(LINE, REQUESTED.name, key).to_dicts()[0]
    high = decision.ratio_high if decision else math.inf
    return {
        **{name: asked[name] for name in ("tuning", "solver", "formulas_path")},
        "verdict": result.verdict,
        "options": list(result.words),
        "kinds": result.kinds,
        "settings": len(result.tried),
        "formulas": result.formulas,
        "unseen": result.unseen,
        "race_ratio": result.race.ratio if result.race else None,
        "ratio": decision.ratio if decision else None,
        "ratio_low": decision.ratio_low if decision else None,
        "ratio_high": high if math.isfinite(high) else None,
        "solved_default": decision.solved_champion if decision else None,
        "solved_tuned": decision.solved_challenger if decision else None,
        **{name: getattr(result, name) for name in ("timeout_s", "default_s", "race_s", "duel_s")},
        "settings_sha": _kept(lake, [{"tuning": key, **row} for row in tried_rows(result)]),
        "runs_sha": _kept(
            lake,
            [
                {
                    "tuning": key,
                    "number": number,
                    "options": row["variant_id"],
                    **{name: row[name] for name in RAN},
                }
                for number, row in enumerate(result.trials.to_dicts())
            ],
        ),
    }


def rows_of(lake: Lake, verdicts: pl.DataFrame, column: str) -> list[Row]:
    """Return the rows of another table that a tuning's row of VERDICTS names by a blob."""
    return json.loads(lake.blobs.get(verdicts[column][0]))


BEST = """
SELECT *, (SELECT count(*)::INTEGER FROM tunings.runs AS r WHERE r.cycle = v.cycle) AS runs
FROM tunings.verdicts AS v WHERE verdict = 'better' ORDER BY ratio_low DESC LIMIT 1"""
RUNS = "SELECT * FROM tunings.runs WHERE tuning = $tuning ORDER BY number"


def gained(_lake: Lake, ask: Ask) -> str:
    """Return the tuning with the surest gain in one sentence; "" if none has one."""
    return next((_sentence(row) for row in ask(BEST)), "")


def exhibit(_lake: Lake, ask: Ask) -> Exhibit:
    """Return that tuning's scatter plot of the unseen formulas."""
    from evolake.solvers.tuning.page import figures_of

    row = ask(BEST)[0]
    runs = ask(RUNS, tuning=row["tuning"])
    tuned = " ".join(row["options"])
    default, other = ([run for run in runs if (run["options"] == tuned) == side] for side in (False, True))
    limit = math.inf if all(run["solved"] for run in runs) else row["timeout_s"]
    drawn = figures_of(default, other, f"{row['solver']} {tuned}", limit)["scatter.png"]
    return Exhibit({f"{row['unseen']} unseen formulas: {row['solver']} with its default and tuned": drawn})


def _sentence(row: Row) -> str:
    high = f"{row['ratio_high']:.3g}" if row["ratio_high"] else "no upper end"
    return (
        f"{row['solver']} {' '.join(row['options'])}: {row['ratio']:.3g} times lower cost than its "
        f"default (95 % {row['ratio_low']:.3g} to {high}) on {row['unseen']} unseen formulas"
    )


def option_knowledge(lake: Lake, solvers: Collection[str]) -> list[str]:
    """Return what tunings of these seeds and the last control of the solvers line found about options, in
    sentences for a planner; none without one."""
    rows = [lake.read(LINE, VERDICTS.name, key).to_dicts()[0] for key in lake.cycles(LINE, VERDICTS.name)]
    said = []
    for row in [row for row in rows if row["solver"] in solvers][-SHOWN:]:
        where = f"{Path(row['formulas_path']).name} ({row['kinds']})"
        if row["verdict"] == "better":
            said.append(f"A race of {row['settings']} settings on {where}: {_sentence(row)}.")
        else:
            said.append(
                f"A race of {row['settings']} settings of {row['solver']} on {where} found none that is "
                "better on unseen formulas."
            )
    for cycle in lake.cycles(SOLVERS, CONTROL.name)[-1:]:
        said += [_control_sentence(row) for row in lake.read(SOLVERS, CONTROL.name, cycle).to_dicts()]
    return said


def _control_sentence(row: Row) -> str:
    found = f"best `{row['options']}`, {row['ratio']:.3g} times lower cost" if row["options"] else "no gain"
    return (
        f"{row['total_settings']} random settings of {row['solver']}: {found} on the {row['formulas']} "
        "formulas that chose it. A change has to gain more than this."
    )


def _kept(lake: Lake, rows: list[Row]) -> str:
    return lake.blobs.put(canonical_json(rows, ascii_only=True).encode())


def sentences(root: Path) -> list[str]:
    """Return what the report says of the tunings of a lake; none if there is none."""
    lake = Lake(root)
    keys = lake.cycles(LINE, VERDICTS.name)
    rows = [lake.read(LINE, VERDICTS.name, key).to_dicts()[0] for key in keys]
    if not rows:
        return []
    better = [row for row in rows if row["verdict"] == "better"]
    said = [f"{counted(len(rows), 'tuning')}, {len(better)} with a gain on unseen formulas."]
    said += [f"{_sentence(row)}." for row in better[:SHOWN]]
    return said
