"""The tables of the repair study, as `tables.toml` declares them, and the key of a partition.

A partition is a cell: one arm with one seed (`one_shot-0`). All parts of one study bear its `study_sha`:
cells of an earlier study with other problems or another budget can be distinguished, and are never mixed into
a table. Every table of what the study finds bears suite and variation, so that the main benchmark, its
perturbations and the transfer share them.
"""

from __future__ import annotations

from pathlib import Path

from evolake.cells import Cells
from evolake.lake.schemas import read_tables
from evolake.repair.names import KNOWN_ARMS

LINE = "repair"
VARIATIONS = ("none", "scale", "permute", "relabel")

_tables = read_tables(Path(__file__).with_name("tables.toml"))
PROBLEMS = _tables["problems"]
RESULTS = _tables["results"]
ATTEMPTS = _tables["attempts"]
STUDY = _tables["study"]
SUMMARY = _tables["summary"]
COMPARISONS = _tables["comparisons"]
CONVERGENCE = _tables["convergence"]
EFFORT = _tables["effort"]
FRONTIER = _tables["frontier"]
ROBUSTNESS = _tables["robustness"]
FIGURES = _tables["figures"]
TABLES = _tables.assets
"""Asset -> schema of every table that the study publishes under its own name, for SQL and for `evolake sql
--schema`."""
CELLS = Cells("repair", KNOWN_ARMS)
cell_of, parse_cell = CELLS.key, CELLS.parse
