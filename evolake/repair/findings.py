"""Everything that the study finds, from its result rows alone: one call, one table per question.

Main benchmark, perturbations and transfer are distinguished by (suite, variation). Arms are compared by tests
on the main benchmark only; the transfer is descriptive.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from evolake.errors import InputError
from evolake.lake import TableSchema
from evolake.repair.statistics import (
    compare_arms,
    convergence_rows,
    effort_rows,
    frontier_rows,
    groups,
    robustness_rows,
    summary_rows,
)
from evolake.repair.tables import COMPARISONS, CONVERGENCE, EFFORT, FRONTIER, RESULTS, ROBUSTNESS, SUMMARY

MAIN = {"suite": "lia", "variation": "none"}
FOUND = {schema.name: schema for schema in (SUMMARY, COMPARISONS, CONVERGENCE, EFFORT, FRONTIER, ROBUSTNESS)}


@dataclass(frozen=True)
class Findings:
    """The tables of `evolake.repair.tables`, each a frame under its schema."""

    summary: pl.DataFrame
    comparisons: pl.DataFrame
    convergence: pl.DataFrame
    effort: pl.DataFrame
    frontier: pl.DataFrame
    robustness: pl.DataFrame

    def tables(self) -> dict[str, pl.DataFrame]:
        """Return name -> frame, in the order in which a reader wants them."""
        return {
            name: getattr(self, name)
            for name in ("summary", "comparisons", "frontier", "convergence", "effort", "robustness")
        }

    def of(
        self, table: str, *, suite: str = MAIN["suite"], variation: str = MAIN["variation"]
    ) -> pl.DataFrame:
        """Return the rows of one table that belong to a suite and a variation."""
        return getattr(self, table).filter((pl.col("suite") == suite) & (pl.col("variation") == variation))


def analyse(
    results: pl.DataFrame, problems: pl.DataFrame, *, candidates: int, rounds: int, root_seed: int
) -> Findings:
    """Return the findings of one study.

    Args:
        results: rows of RESULTS, of any suites and variations. problems: rows of PROBLEMS, at least those
            that results name.
        candidates, rounds: K and R of the study. root_seed: of the bootstrap's generators.

    Raises:
        InputError: the rows are not those of one complete study; says what is amiss.
    """
    require_one_study(results, problems)
    study = {"candidates": candidates, "rounds": rounds, "root_seed": root_seed}
    return Findings(**{name: found(schema, results, problems, study) for name, schema in FOUND.items()})


def found(
    schema: TableSchema, results: pl.DataFrame, problems: pl.DataFrame, study: Mapping[str, Any]
) -> pl.DataFrame:
    """Return one table of the findings of a complete study. study: its row of STUDY."""
    seed, main = study["root_seed"], main_of(results)
    rows: dict[str, Callable[[], Iterable[Mapping[str, Any]]]] = {
        "summary": lambda: summary_rows(
            results, dict(problems.select("problem_id", "label").iter_rows()), seed
        ),
        "comparisons": lambda: compare_arms(main, seed),
        "convergence": lambda: convergence_rows(results, study["rounds"], seed),
        "effort": lambda: effort_rows(results, study["candidates"] * study["rounds"]),
        "frontier": lambda: frontier_rows(results),
        "robustness": lambda: robustness_rows(main, perturbed_of(results), origins(problems), seed),
    }
    return schema.frame(rows[schema.name]())


def main_of(results: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of the main benchmark."""
    return results.filter([pl.col(name) == value for name, value in MAIN.items()])


def perturbed_of(rows: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of perturbed problems."""
    return rows.filter(pl.col("variation") != MAIN["variation"])


def origins(problems: pl.DataFrame) -> dict[str, str]:
    """Return perturbed problem -> the problem it was made from."""
    return dict(perturbed_of(problems).select("problem_id", "base_id").iter_rows())


def require_one_study(results: pl.DataFrame, problems: pl.DataFrame) -> None:
    """Refuse rows that cannot be compared: no main benchmark, a repeated key, two studies or models in one
    table, arms with different runs.

    Raises:
        InputError: naming what is amiss.
    """
    if main_of(results).is_empty():
        raise InputError("the study has no results on the main benchmark", do="run it: evolake repair run")
    if (repeated := RESULTS.repeated_keys(results)).height:
        raise InputError(
            "a run is there more than once",
            got=str(repeated.select(RESULTS.keys).row(0)),
            wanted="one row per arm, seed and problem",
        )
    for name in ("backend", "model", "study_sha"):
        if (result := results[name].unique().sort()).len() > 1:
            raise InputError(
                f"the results differ in {name}",
                wanted="one",
                got=", ".join(map(str, result)),
                do="run the study again, whole",
            )
    if unknown := sorted(set(results["problem_id"]) - set(problems["problem_id"])):
        raise InputError(
            f"a result names a problem that is not there: {unknown[0]}", do="run the study again, whole"
        )
    for (suite, variation), rows in groups(results, "suite", "variation"):
        runs = {
            arm: set(matches.select("problem_id", "seed").iter_rows())
            for (arm,), matches in groups(rows, "arm")
        }
        if len({frozenset(pairs) for pairs in runs.values()}) > 1:
            sizes = ", ".join(f"{arm} {len(pairs)}" for arm, pairs in runs.items())
            what = f"the arms have not run the same problems and seeds (suite {suite}, variation {variation})"
            raise InputError(
                what, wanted="the same for each", got=sizes, do="run the missing cells: evolake repair run"
            )
