"""Types of the tables of the repair study, the names of its arms, and the key of a partition.

A partition is a cell: one arm with one seed (`one_shot-0`). All parts of one study bear its `study_sha`: cells of an earlier study with other
problems or another budget can be told apart, and are never mixed into a table.
"""

from __future__ import annotations

import polars as pl

from evolake.errors import InputError
from evolake.lake.schemas import TableSchema

LINE = "repair"
ARMS = ("one_shot", "multi_no_feedback", "multi_generic_feedback", "multi_unsat_core_feedback", "cd_vgs_core_rank")
MATCHED_ARMS = ARMS[1:]
VARIATIONS = ("none", "scale", "permute", "relabel")
MAX_SEED = 9999

PROBLEMS = TableSchema(
    "problems", 1,
    {
        "problem_id": pl.String, "suite": pl.String, "variation": pl.String, "base_id": pl.String, "k": pl.Int64, "m": pl.Int64,
        "label": pl.String, "certified_by": pl.List(pl.String), "core_size": pl.Int64, "seed": pl.Int64, "json": pl.String,
    },
    keys=("problem_id",),
)
RESULTS = TableSchema(
    "results", 1,
    {
        "arm": pl.String, "seed": pl.Int64, "problem_id": pl.String, "suite": pl.String, "variation": pl.String, "backend": pl.String,
        "model": pl.String, "solved": pl.Boolean, "claim": pl.String, "certified_status": pl.String, "calls": pl.Int64,
        "solver_calls": pl.Int64, "rounds": pl.Int64, "first_certified_call": pl.Int64, "budget_exceeded": pl.Boolean,
        "parse_failures": pl.Int64, "latency_s": pl.Float64, "cpu_s": pl.Float64, "input_tokens": pl.Int64, "output_tokens": pl.Int64,
        "study_sha": pl.String,
    },
    keys=("arm", "seed", "problem_id"), provenance=("latency_s", "cpu_s"),
)
ATTEMPTS = TableSchema(
    "attempts", 1,
    {
        "arm": pl.String, "seed": pl.Int64, "problem_id": pl.String, "round": pl.Int64, "candidate": pl.Int64, "rank": pl.Int64,
        "prompt_sha": pl.String, "reply_sha": pl.String, "parsed": pl.Boolean, "claim": pl.String, "verdict": pl.String, "core": pl.String,
        "violated": pl.String, "solver_calls": pl.Int64,
    },
    keys=("arm", "seed", "problem_id", "round", "candidate"),
)
STUDY = TableSchema(
    "study", 1,
    {
        "study_sha": pl.String, "problems_sha": pl.String, "problems": pl.Int64, "candidates": pl.Int64, "rounds": pl.Int64,
        "solver_timeout_ms": pl.Int64, "backend": pl.String, "model": pl.String, "root_seed": pl.Int64, "arms": pl.List(pl.String),
        "seeds": pl.List(pl.Int64),
    },
    keys=("study_sha",),
)


def cell_of(arm: str, seed: int) -> str:
    """The partition of one arm with one seed.

    >>> cell_of("cd_vgs_core_rank", 2)
    'cd_vgs_core_rank-2'

    Raises:
        InputError: no such arm, or a seed outside 0..9999.
    """
    if arm not in ARMS:
        raise InputError(f"there is no arm {arm!r}", wanted=f"one of {', '.join(ARMS)}", do="name one of these")
    if not 0 <= seed <= MAX_SEED:
        raise InputError("a study's seed is out of range", wanted=f"0..{MAX_SEED}", got=str(seed), do="give a number in that range")
    return f"{arm}-{seed}"


def parse_cell(cell: str) -> tuple[str, int]:
    """(arm, seed) of a partition: the inverse of `cell_of`.

    Raises:
        InputError: not such a key.
    """
    arm, mark, seed = cell.rpartition("-")
    if not (mark and seed.isdecimal() and cell == cell_of(arm, int(seed))):
        raise InputError(f"{cell!r} is no cell of the repair study", wanted="an arm and a seed, e.g. one_shot-0", do="name such a cell")
    return arm, int(seed)
