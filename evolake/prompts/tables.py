"""The tables of the prompts line, as `tables.toml` declares them.

Those in ARCHIVE are carried from cycle to cycle (`population`); single assets add the others.
"""

from __future__ import annotations

from pathlib import Path

from evolake.lake.schemas import DERIVATIONS, STATE, TableSchema, incoming_tables, read_tables

_tables = read_tables(Path(__file__).with_name("tables.toml"))
PROMPTS = _tables["prompts"]
ARCHIVE: dict[str, TableSchema] = {"prompts": PROMPTS, "derivations": DERIVATIONS, "state": STATE}
RATINGS = _tables["ratings"]
PROBLEMS = _tables["problems"]
FEED_READ = _tables["feed_read"]
FEED = _tables["feed"]
ROLLOUTS = _tables["rollouts"]
VALUES = _tables["values"]
EDITS = _tables["edits"]
FAILED_PROPOSALS = _tables["unmade"]
UPDATES = _tables["updates"]
EVALUATIONS = _tables["heldout"]
LEARNABILITY = _tables["learnability"]
DECISIONS = _tables["champion"]
JOURNAL = _tables["journal"]
GATED = _tables["accepted"]
TABLES = incoming_tables(ARCHIVE) | _tables.assets
"""Asset -> schema of every table that the line publishes under its own name, for SQL and for `evolake sql
--schema`."""
