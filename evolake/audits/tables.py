"""The tables of the study `audits` (declared in `tables.toml`). A partition is one audit."""

from __future__ import annotations

from pathlib import Path

from evolake.lake.schemas import read_tables

LINE = "audits"
_tables = read_tables(Path(__file__).with_name("tables.toml"))
REQUESTED = _tables["requested"]
NOTES = _tables["notes"]
VERDICTS = _tables["verdicts"]
CANDIDATES = _tables["candidates"]
FINDINGS = _tables["findings"]
MEASUREMENTS = _tables["measurements"]
TABLES = _tables.assets
"""Asset -> schema of every table that the study publishes under its own name, for SQL and for `evolake sql
--schema`."""
