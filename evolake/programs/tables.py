"""The tables of the programs line, as `tables.toml` declares them.

Those in ARCHIVE are carried from cycle to cycle (`population`); single assets add the others.

Projects are rows side by side in one partition per cycle, distinguished by `project`: a second partition
dimension would make a backfill of 50 projects 50 times the partitions, each with its own chain of seals,
while one query now ranks them all.
"""

from __future__ import annotations

from pathlib import Path

from evolake.lake.schemas import DERIVATIONS, STATE, TableSchema, incoming_tables, read_tables

_tables = read_tables(Path(__file__).with_name("tables.toml"))
PROGRAMS = _tables["programs"]
ARCHIVE: dict[str, TableSchema] = {"programs": PROGRAMS, "derivations": DERIVATIONS, "state": STATE}
PROJECTS, ENTRY_AUDITS = _tables["projects"], _tables["entry_audits"]
PINNED = "projects"
"""State: project -> cycle it entered in, sha of its files, blob with them, its initial program."""
JOURNAL, WORK_NOTES = _tables["journal"], _tables["work_notes"]
MEASURED = _tables["measured"]
FAILED_PROPOSALS = _tables["unmade"]
GATED = _tables["accepted"]
DECISIONS = _tables["champion"]
BLAME = _tables["blame"]
BASELINE = _tables["baseline"]
SIMPLIFIED = _tables["simplified"]
TABLES = incoming_tables(ARCHIVE) | _tables.assets
"""Asset -> schema of every table that the line publishes under its own name, for SQL and for `evolake sql
--schema`."""
