"""The tables of the designs line, as `tables.toml` declares them.

Those in ARCHIVE are carried from cycle to cycle (`population.Population`); the others are what single assets
add. `N` keeps the name that the experiment contract gives it.
"""

from __future__ import annotations

from pathlib import Path

from evolake.lake.schemas import DERIVATIONS, STATE, TableSchema, incoming_tables, read_tables

_tables = read_tables(Path(__file__).with_name("tables.toml"))
DESIGNS = _tables["designs"]
EXPERIMENTS = _tables["experiments"]
OBJECTIVES = _tables["objectives"]
DIRECTIONS = _tables["directions"]
ANALYSES = _tables["analyses"]
SCORES = _tables["objective_scores"]
RANKING = _tables["consensus_ranking"]
TUNING = _tables["tuning"]
REVIEWS = _tables["meta_review"]
DUELS = _tables["champion_trials"]
DECISIONS = _tables["champion_decisions"]
ABLATIONS = _tables["champion_ablations"]
ARCHIVE: dict[str, TableSchema] = {
    "designs": DESIGNS,
    "derivations": DERIVATIONS,
    "experiments": EXPERIMENTS,
    "objectives": OBJECTIVES,
    "ranking": RANKING,
    "state": STATE,
}
MERGED = _tables["merged"]
MERGED_OBJECTIVES = _tables["merged_objectives"]
FAILED_PROPOSALS = _tables["unmade"]
TRIALS = _tables["trials"]
EXTRAPOLATIONS = _tables["extrapolations"]
RACED = _tables["raced"]
WEIGHTS = _tables["consensus_weights"]
IMPORTS = _tables["imports"]
OBJECTIVES_READ = _tables["imported_objectives"]
ARRIVALS = _tables["import_arrivals"]
TABLES = incoming_tables(ARCHIVE) | _tables.assets
"""Asset -> schema of every table that the line publishes under its own name, for SQL and for `evolake sql
--schema`."""
