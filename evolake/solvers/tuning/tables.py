"""The tables of the study `tunings` (declared in `tables.toml`). A partition is one tuning."""

from __future__ import annotations

from pathlib import Path

from evolake.lake.schemas import read_tables

LINE = "tunings"
_tables = read_tables(Path(__file__).with_name("tables.toml"))
REQUESTED = _tables["requested"]
VERDICTS = _tables["verdicts"]
SETTINGS = _tables["settings"]
RUNS = _tables["runs"]
TABLES = _tables.assets
"""Asset -> schema of every table that the study publishes under its own name, for SQL and for `evolake sql
--schema`."""
