"""The prompts line's part of the page: the champion and what it says, whether it or the weights gained
anything, matches, edits, figures."""

from __future__ import annotations

from pathlib import Path

import polars as pl

from evolake.lake import following
from evolake.prompts.evolution.population import Population
from evolake.prompts.model.prompt import from_json
from evolake.prompts.report.material import LINE, material_of
from evolake.prompts.report.story import base_evaluation, why_no_gain
from evolake.report.finished_cycle import questions, read_cycle
from evolake.report.pages import Section, section

PACKAGE = "evolake.prompts.report"


def prompts_section(root: Path, cycle: str) -> Section:
    """Return the section of one finished cycle."""
    report = read_cycle(root, LINE, cycle, questions(PACKAGE, "page.sql"))
    material, tables = material_of(report.lake, following(cycle)), report.tables
    population, heldout = material.population, report.lake.read(LINE, "heldout", cycle)
    champion = population.row(report.champion.artifact_id)
    return section(
        PACKAGE,
        report,
        material,
        champion=champion,
        no_gain=why_no_gain(champion["prompt_id"], report.rows("start")[0]),
        prompts=prompts_table(population),
        held=held_table(population, heldout, base_evaluation(report.lake)),
        principles=from_json(champion["principles"]).text(),
        editors=tables["editors"]["origin"].to_list(),
        policies=tables["policies"]["policy"].to_list(),
        arms=tables["policies"]["arm"].unique().to_list(),
        feed=bool(report.lake.record(LINE, "feed", cycle)),
    )


def held_table(population: Population, heldout: pl.DataFrame, base: pl.DataFrame) -> pl.DataFrame:
    """Return shares a prompt, of this cycle's evaluation and of the base model's."""
    rows = []
    for name, frame in (
        ("base model", base),
        ("now", heldout.filter(pl.col("iteration") == population.iteration)),
    ):
        for (prompt,), part in sorted(frame.group_by("prompt_id"), key=lambda item: str(item[0])):
            row = population.row(str(prompt))
            rows.append(
                {
                    "weights": name,
                    "prompt": row["prompt_id"][:12],
                    "what": "champion" if row["state"] == "champion" else row["operator"],
                    "problems": part["problem_id"].n_unique(),
                    "correct": _share(part, "correct"),
                    "in_form": _share(part, "formatted"),
                    "cut_off": _share(part, "truncated"),
                    "tokens": round(float(part["tokens"].mean() or 0), 1),  # pyright: ignore
                }
            )
    return pl.DataFrame(rows)


def prompts_table(population: Population) -> pl.DataFrame:
    """Return every prompt, best rated first."""
    rows = sorted(population.rows(), key=lambda row: (-row["mu"], row["number"]))
    return pl.DataFrame(
        [
            {
                "prompt": row["prompt_id"][:12],
                "state": row["state"],
                "operator": row["operator"],
                "born": row["cycle"],
                "principles": row["size"],
                "mu": round(row["mu"], 2),
                "sigma": round(row["sigma"], 2),
                "matches": row["rounds"],
                "parents": ", ".join(parent[:6] for parent in row["parents"]),
            }
            for row in rows
        ]
    )


def _share(frame: pl.DataFrame, column: str) -> str:
    return f"{float(frame[column].mean() or 0):.1%}"  # pyright: ignore[reportArgumentType]
