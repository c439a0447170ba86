"""The lake: published tables, blobs, seals and the SQL catalogue over them.

lake = Lake(root)
lake.publish("designs", "candidates", frame, cycle="0001", run_id=run)
lake.read("designs", "candidates", "0001")
with Catalogue(lake) as catalogue:
catalogue.query("SELECT * FROM ancestors($id)", {"id": champion})
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evolake.lake.blobs import BlobStore
from evolake.lake.manifest_lines import Record
from evolake.lake.schemas import (
    AGENT_CALLS,
    ARTIFACTS,
    CHAMPIONS,
    CHECKS,
    CONTEST_SEEDS,
    DERIVATIONS,
    EVALUATIONS,
    RULES,
    SESSION_TURNS,
    SHARED,
    VERDICTS,
    TableSchema,
    incoming_tables,
    read_tables,
    side_table,
)
from evolake.lake.seals import Seal, Seals, explain_broken, following, population_version, preceding
from evolake.lake.store import Lake

if TYPE_CHECKING:
    from evolake.lake.catalogue import Catalogue

__all__ = [
    "AGENT_CALLS",
    "ARTIFACTS",
    "CHAMPIONS",
    "CHECKS",
    "CONTEST_SEEDS",
    "DERIVATIONS",
    "EVALUATIONS",
    "RULES",
    "SESSION_TURNS",
    "SHARED",
    "VERDICTS",
    "BlobStore",
    "Catalogue",
    "Lake",
    "Record",
    "Seal",
    "Seals",
    "TableSchema",
    "explain_broken",
    "following",
    "incoming_tables",
    "population_version",
    "preceding",
    "read_tables",
    "side_table",
]


def __getattr__(name: str) -> object:
    """`Catalogue` brings DuckDB and pyarrow with it; it is imported when it is first asked for."""
    if name == "Catalogue":
        from evolake.lake.catalogue import Catalogue

        return Catalogue
    raise AttributeError(name)
