"""Types of the tables of the repair study, and the key of a partition.

A partition is a cell: one arm with one seed (`one_shot-0`). All parts of one study bear its `study_sha`:
cells of an earlier study with other problems or another budget can be distinguished, and are never mixed into
a table.
"""

from __future__ import annotations

import polars as pl

from evolake.cells import Cells
from evolake.lake.schemas import TableSchema
from evolake.repair.names import ARMS, KNOWN_ARMS, OPT_IN_ARMS

TERMS = {
    "arm": (
        f"Way to spend the budget: {', '.join(ARMS[:-1])} or {ARMS[-1]}; opt-in: {' and '.join(OPT_IN_ARMS)}."
    ),
    "backend": "Who proposes: operators (classical search, no model) or model (an endpoint).",
    "bootstrap_high": "Upper end of the 95% interval of the rate, problems resampled with all their runs.",
    "bootstrap_low": "Lower end of the 95% interval of the rate, problems resampled with all their runs.",
    "budget_exceeded": "Whether more calls were made than the arm may; must never be.",
    "calls": "How often a candidate was asked for.",
    "claim": "What the candidate says: sat (with an assignment) or unsat; null where it says neither.",
    "input_tokens": "Tokens sent to the model, over all calls.",
    "json": "The problem itself, as JSON.",
    "label": "Whether the problem is sat or unsat.",
    "output_tokens": "Tokens of the model's replies, over all calls.",
    "pairs": "How many pairs of runs are compared.",
    "parse_failures": "Replies that could not be read.",
    "problem_id": "What is to be solved, by its name in the suite.",
    "problems": "How many different ones, whatever the seeds.",
    "rate": "Share of the runs that were solved, from 0 to 1.",
    "round": "Round of proposals, from 1.",
    "runs": "Runs of one problem with one seed each.",
    "seed": "Seed of the cell: which repetition of the arm it is.",
    "seeds": "How many seeds each problem was run with.",
    "solved": "Runs that ended with a certified answer.",
    "solver_calls": "How often the certifying solver was asked about a candidate.",
    "study_sha": "sha256 (hex) over problems, budget and proposer; cells of different studies are never mixed.",  # noqa: E501
    "suite": "Set of problems, lia is the main benchmark.",
    "variation": "Re-encoding of the problem: none, scale, permute or relabel.",
    "wilson_high": "Upper end of the 95% interval of the rate (Wilson).",
    "wilson_low": "Lower end of the 95% interval of the rate (Wilson).",
}
"""What the columns mean that several of the tables below have; see `TableSchema`."""

LINE = "repair"
VARIATIONS = ("none", "scale", "permute", "relabel")

PROBLEMS = TableSchema(
    "problems",
    1,
    {
        "problem_id": pl.String,
        "suite": pl.String,
        "variation": pl.String,
        "base_id": (pl.String, "Problem that it is a re-encoding of; its own name for none."),
        "k": (pl.Int64, "Variables of the problem."),
        "m": (pl.Int64, "Constraints of the problem."),
        "label": pl.String,
        "certified_by": (pl.List(pl.String), "Methods that agree on the label."),
        "core_size": (
            pl.Int64,
            "Constraints in a minimal conflict of an unsat problem, bounds not counted; 0 for a sat one.",
        ),
        "seed": (pl.Int64, "Seed that the generator drew it with."),
        "json": pl.String,
    },
    keys=("problem_id",),
    terms=TERMS,
)
RESULTS = TableSchema(
    "results",
    1,
    {
        "arm": pl.String,
        "seed": pl.Int64,
        "problem_id": pl.String,
        "suite": pl.String,
        "variation": pl.String,
        "backend": pl.String,
        "model": pl.String,
        "solved": (pl.Boolean, "Whether it ended with a certified answer."),
        "claim": (
            pl.String,
            "Status that was certified, else that of the last readable candidate; null for neither.",
        ),
        "certified_status": (pl.String, "What was certified: sat or unsat; null for nothing."),
        "calls": pl.Int64,
        "solver_calls": pl.Int64,
        "rounds": (pl.Int64, "Rounds of proposals that were begun."),
        "first_certified_call": (
            pl.Int64,
            "Number of the call whose answer was certified, from 1; null if none was.",
        ),
        "budget_exceeded": pl.Boolean,
        "parse_failures": pl.Int64,
        "latency_s": (pl.Float64, "Elapsed time of the whole run, in seconds."),
        "cpu_s": pl.Float64,
        "input_tokens": pl.Int64,
        "output_tokens": pl.Int64,
        "study_sha": pl.String,
    },
    keys=("arm", "seed", "problem_id"),
    provenance=("latency_s", "cpu_s"),
    terms=TERMS,
)
ATTEMPTS = TableSchema(
    "attempts",
    1,
    {
        "arm": pl.String,
        "seed": pl.Int64,
        "problem_id": pl.String,
        "round": pl.Int64,
        "candidate": (pl.Int64, "Place of the candidate within its round, from 1."),
        "rank": (pl.Int64, "Place in the order of certifying within the round, from 1."),
        "prompt_sha": pl.String,
        "reply_sha": (pl.String, "sha256 (hex) of the reply's text; null without one."),
        "parsed": (pl.Boolean, "Whether the reply could be read."),
        "claim": pl.String,
        "verdict": (
            pl.String,
            "certified, refuted, unknown or malformed; null where a better ranked one of the round was "
            "certified first.",
        ),
        "core": (
            pl.String,
            "JSON list, the minimal conflict that refutes it; of a whole conflict with its values, e.g. "
            "x1=4.",
        ),
        "violated": (
            pl.String,
            "JSON list of all that the assignment breaks; for the record, no arm sees it.",
        ),
        "solver_calls": pl.Int64,
    },
    keys=("arm", "seed", "problem_id", "round", "candidate"),
    terms=TERMS,
)
STUDY = TableSchema(
    "study",
    1,
    {
        "study_sha": pl.String,
        "problems_sha": (pl.String, "sha256 (hex) over all problems."),
        "problems": pl.Int64,
        "candidates": (pl.Int64, "Proposals per round (K)."),
        "rounds": (pl.Int64, "Rounds that an arm may take (R)."),
        "solver_timeout_ms": (
            pl.Int64,
            "Limit of the certifying solver for one check: milliseconds of 1,000 of its steps each.",
        ),
        "backend": pl.String,
        "model": pl.String,
        "root_seed": (pl.Int64, "Seed that all other seeds come from."),
        "arms": (pl.List(pl.String), "Ways to spend the budget that are compared."),
        "seeds": (pl.List(pl.Int64), "Repetitions of each arm, by seed."),
    },
    keys=("study_sha",),
    terms=TERMS,
)


CELLS = Cells("repair", KNOWN_ARMS)
cell_of, parse_cell = CELLS.key, CELLS.parse
