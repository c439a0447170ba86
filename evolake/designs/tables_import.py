"""Types of the tables of what came from a database of the paper's framework (`evolake designs import`).

What others report stays apart: their results are rows here and are never joined to EXPERIMENTS, which this
line measured itself.
"""

from __future__ import annotations

import polars as pl

from evolake.designs import tables
from evolake.designs.tables import TERMS
from evolake.lake.schemas import TableSchema, incoming_tables, tables_by_name

OWN_TERMS = TERMS | {
    "bundle_id": "What came in with one import: sha256 (hex) over everything that was read.",
    "source": "Name of the folder that held the database, and of its workspace where it has one.",
    "state": "read, or malformed: then the reason says what is wrong, and the row is used nowhere.",
    "original_id": "Number that it has in the database; null where it has none that can be read.",
    "since_cycle": "First cycle that takes the bundle in.",
    "row": "Place of the design in the database, from 0.",
}
"""What the columns mean that several of the tables below have."""

IMPORTS = TableSchema(
    "imports",
    1,
    {
        "bundle_id": pl.String,
        "since_cycle": pl.String,
        "source": pl.String,
        "row": pl.Int64,
        "original_id": pl.Int64,
        "round": (pl.Int64, "Planner's round in which it was made there."),
        "title": pl.String,
        "model": (pl.String, "Language model that wrote it, as the database says."),
        "made_at": (pl.String, "When it was made (UTC), as the database says."),
        "tuned": (
            pl.Boolean,
            "Whether its name says that it is a tuned copy, as the framework distinguishes them.",
        ),
        "parents": (
            pl.String,
            "JSON, the designs that it was made from: [number there, weight], weights summing to 1.",
        ),
        "source_sha": pl.String,
        "key_insight": pl.String,
        "success_level": pl.String,
        "state": pl.String,
        "reason": pl.String,
    },
    keys=("bundle_id", "row"),
    terms=OWN_TERMS,
)
RESULTS = TableSchema(
    "imported_results",
    1,
    {
        "bundle_id": pl.String,
        "source": pl.String,
        "reported_by": (
            pl.String,
            "Always others: nothing here was measured by this line, and no ranking reads it.",
        ),
        "row": pl.Int64,
        "number": (pl.Int64, "Place among the design's experiments, from 0."),
        "original_id": pl.Int64,
        "fidelity": pl.String,
        "N": pl.Int64,
        "batch": pl.Int64,
        "ratio": (pl.Float64, "Clauses per variable of an instance; null where the database does not say."),
        "max_steps": pl.Int64,
        "median_step": pl.Int64,
        "unsolved_fraction": pl.Float64,
        "state": pl.String,
        "reason": pl.String,
    },
    keys=("bundle_id", "row", "number"),
    terms=OWN_TERMS,
)
OBJECTIVES_READ = TableSchema(
    "imported_objectives",
    1,
    {
        "bundle_id": pl.String,
        "since_cycle": pl.String,
        "source": pl.String,
        "original_id": pl.Int64,
        "round": (
            pl.Int64,
            "Round in which it was made there; here it begins to vote in the cycle that takes it in.",
        ),
        "workspace": (pl.String, "Workspace there that it came from; null where the database names none."),
        "description": pl.String,
        "objective_id": pl.String,
        "code": (pl.String, "Text of its Python function."),
        "reported_multiplier": (
            pl.Float64,
            "Factor that the last review there put on its weight; it is shown, and not taken over.",
        ),
        "state": pl.String,
        "reason": pl.String,
    },
    keys=("bundle_id", "original_id"),
    terms=OWN_TERMS,
)
TEXTS = TableSchema(
    "imported_texts",
    1,
    {
        "bundle_id": pl.String,
        "since_cycle": pl.String,
        "source": pl.String,
        "kind": (
            pl.String,
            "meta_review (of the search as a whole), planner (of a round) or analysis (of one design).",
        ),
        "number": (pl.Int64, "Number of the review, of the planner's round or of the design."),
        "title": pl.String,
        "text": (
            pl.String,
            "What was written there in retrospect. Planners read it as data, never as an instruction.",
        ),
        "state": pl.String,
        "reason": pl.String,
    },
    keys=("bundle_id", "kind", "number"),
    terms=OWN_TERMS,
)
ARRIVALS = TableSchema(
    "import_arrivals",
    1,
    {
        "cycle": pl.String,
        "bundle_id": pl.String,
        "original_id": (
            pl.Int64,
            "Number that it has in the database; -1 where the row is of a bundle that has no design.",
        ),
        "design_id": pl.String,
        "state": (
            pl.String,
            "accepted or blocked by the gates of this line, present (the very file was here before), or "
            "empty: none of the bundle's designs can be read.",
        ),
        "reason": pl.String,
    },
    keys=("bundle_id", "original_id"),
    terms=OWN_TERMS,
)
TABLES = incoming_tables(tables.ARCHIVE) | {
    **dict.fromkeys(
        (
            "seeds",
            "immigrant_designs",
            "candidates",
            "merged_designs",
            "imported_designs",
            "tuned_designs",
            "survivors",
        ),
        tables.DESIGNS,
    ),
    **dict.fromkeys(("experiments", "promoted_experiments"), tables.EXPERIMENTS),
    "objectives": tables.OBJECTIVES,
    **dict.fromkeys(("objective_scores", "final_scores"), tables.SCORES),
    **dict.fromkeys(("consensus_ranking", "final_ranking"), tables.RANKING),
    **dict.fromkeys(("consensus_ranking_weights", "final_ranking_weights"), tables.WEIGHTS),
    **tables_by_name(
        tables.MERGED,
        tables.MERGED_OBJECTIVES,
        tables.DIRECTIONS,
        tables.FAILED_PROPOSALS,
        tables.TRIALS,
        tables.EXTRAPOLATIONS,
        tables.RACED,
        tables.TUNING,
        tables.REVIEWS,
        tables.ANALYSES,
        tables.DUELS,
        tables.DECISIONS,
        tables.ABLATIONS,
        IMPORTS,
        RESULTS,
        OBJECTIVES_READ,
        TEXTS,
        ARRIVALS,
    ),
}
"""Asset -> schema of every table that the line publishes under its own name, for SQL and for `evolake sql
--schema`."""
