"""Lakes from before replies said what their verifier failed on and which tools were called, beside newer
cycles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from evolake.lake import Catalogue, Lake, TableSchema
from evolake.prompts.evolution.population import Population
from evolake.prompts.report.material import Material
from evolake.prompts.tables import EVALUATIONS, PROBLEMS
from evolake.utility import tables as utility
from evolake.utility.running import read_study

YOUNG = ("unverified", "scorer", "entry", "calls")


def older(schema: TableSchema) -> TableSchema:
    """The schema without the columns that came with verifiers and tools."""
    return TableSchema(
        schema.name,
        schema.version,
        {name: item for name, item in schema.described.items() if name not in YOUNG},
        keys=schema.keys,
    )


def publish(
    lake: Lake, line: str, asset: str, schema: TableSchema, cycle: str | None, row: dict[str, Any]
) -> None:
    lake.publish(line, asset, schema.frame([row]), cycle=cycle, run_id="run", schema=schema)


def test_evaluations_of_old_and_new_cycles_are_read_together(tmp_path: Path) -> None:
    lake, row = (
        Lake(tmp_path),
        {"arm": "espl", "iteration": 1, "prompt_id": "p", "problem_id": "q", "sample": 0, "correct": True},
    )
    publish(lake, "prompts", "heldout", older(EVALUATIONS), "0001", row | {"cycle": "0001"})
    publish(
        lake,
        "prompts",
        "heldout",
        EVALUATIONS,
        "0002",
        row | {"cycle": "0002", "unverified": "cpu", "calls": "[]"},
    )
    read = Material(lake, ["0001", "0002"], Population.empty()).table("heldout")
    assert (read["unverified"].to_list(), read["calls"].to_list()) == ([None, "cpu"], [None, "[]"])
    with Catalogue(lake, {("prompts", "heldout"): EVALUATIONS}) as catalogue:
        result = catalogue.query("SELECT cycle, unverified, calls FROM prompts.heldout ORDER BY cycle").rows
        assert result == [("0001", None, None), ("0002", "cpu", "[]")]


def test_problems_of_an_old_cycle_are_compared_as_they_were(tmp_path: Path) -> None:
    from assets.prompts.line import problems_of

    row = {
        "cycle": "0001",
        "problem_id": "q",
        "split": "train",
        "source": "shipped",
        "category": "c",
        "difficulty": 1,
        "text": "1 + 1?",
        "answer": "2",
        "case_sensitive": False,
        "family": "q",
    }
    [old] = problems_of(older(PROBLEMS).frame([row]), "train")
    assert (old.scorer, old.entry) == ("answer", None)
    [new] = problems_of(PROBLEMS.frame([row | {"scorer": "reasoning-gym", "entry": "{}"}]), "train")
    assert (new.scorer, new.entry) == ("reasoning-gym", "{}")


def test_cells_of_an_old_study_are_read_beside_newer_ones(tmp_path: Path) -> None:
    lake, reply = (
        Lake(tmp_path),
        {
            "seed": 0,
            "step": 0,
            "suite": "s",
            "problem_id": "q",
            "sample": 0,
            "correct": True,
            "study_sha": "sha",
        },
    )
    step = {"seed": 0, "step": 1, "study_sha": "sha"}
    publish(
        lake,
        "utility",
        "study",
        utility.STUDY,
        None,
        {"study_sha": "sha", "arms": ["base", "seeds"], "seeds": [0], "notes": []},
    )
    publish(
        lake,
        "utility",
        "problems",
        older(utility.PROBLEMS),
        None,
        {"problem_id": "q", "suite": "s", "arms": []},
    )
    for arm, schema in (("base", older(utility.REPLIES)), ("seeds", utility.REPLIES)):
        publish(lake, "utility", "steps", utility.STEPS, f"{arm}-0", step | {"arm": arm})
        publish(lake, "utility", "replies", schema, f"{arm}-0", reply | {"arm": arm})
    stored = read_study(lake)
    assert stored.replies["unverified"].to_list() == [None, None] and stored.missing == []
    assert stored.replies.schema["unverified"] == pl.String
