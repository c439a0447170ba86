"""Types of the tables of what came from files of the paper's framework (`evolake designs import`), and all
tables of the line by name."""

from __future__ import annotations

import polars as pl

from evolake.designs import tables
from evolake.designs.tables import TERMS
from evolake.lake.schemas import TableSchema, incoming_tables, tables_by_name

OWN_TERMS = TERMS | {
    "bundle_id": "What came in with one import: sha256 (hex) over everything that was read.",
    "source": "Name of the folder that held the files, and of its workspace if it has one.",
    "state": "read, or malformed: then the reason says what is wrong, and the row is used nowhere.",
    "original_id": "Number that its file has there.",
    "since_cycle": "First cycle that takes the bundle in.",
}
"""What the columns mean that several of the tables below have."""

IMPORTS = TableSchema(
    "imports",
    2,
    {
        "bundle_id": pl.String,
        "since_cycle": pl.String,
        "source": pl.String,
        "original_id": pl.Int64,
        "source_sha": pl.String,
        "state": pl.String,
        "reason": pl.String,
    },
    keys=("bundle_id", "original_id"),
    terms=OWN_TERMS,
)
OBJECTIVES_READ = TableSchema(
    "imported_objectives",
    2,
    {
        "bundle_id": pl.String,
        "since_cycle": pl.String,
        "source": pl.String,
        "original_id": pl.Int64,
        "description": pl.String,
        "objective_id": pl.String,
        "code": (pl.String, "Text of its Python function."),
        "state": pl.String,
        "reason": pl.String,
    },
    keys=("bundle_id", "original_id"),
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
            "Number that its file has there; -1 if the row is of a bundle without a design.",
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
        OBJECTIVES_READ,
        ARRIVALS,
    ),
}
"""Asset -> schema of every table that the line publishes under its own name, for SQL and for `evolake sql
--schema`."""
