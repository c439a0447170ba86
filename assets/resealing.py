"""Seeds that change under a line that has begun: sealing them again voids every finished cycle, so it is done
only on an explicit request."""

from __future__ import annotations

from collections.abc import Mapping

import dagster as dg
import polars as pl

from assets.line import FIRST_CYCLE, Line
from evolake.lake import Lake, population_version
from evolake.lake.schemas import INCOMING

RESEAL_TAG = "evolake/reseal"
"""Tag of a run that may seal the seeds of a line again; its value is the line's name."""


def require_consent(
    context: dg.AssetExecutionContext, lake: Lake, line: Line, tables: Mapping[str, pl.DataFrame]
) -> None:
    """Nothing where these seeds void no finished cycle, or the run may do so.

    Raises:
        dg.Failure: not retried. Says what would be voided, and what to do instead.
    """
    from evolake.report.status import sealed_cycles

    done = sealed_cycles(lake, line.name)
    if not done or context.run.tags.get(RESEAL_TAG) == line.name:
        return
    sealed = lake.seals.read(line.name, FIRST_CYCLE)
    if sealed is not None and sealed.version == _version(line, tables):
        return
    cycles = (
        f"cycle {done[0]}" if len(done) == 1 else f"{len(done)} finished cycles ({done[0]} to {done[-1]})"
    )
    raise dg.Failure(
        f"these seeds of line {line.name!r} are not those of cycle {FIRST_CYCLE}: sealing them would void "
        f"{cycles}, which would have to run again. Nothing was sealed. New seeds need no sealing: they "
        f"enter the next cycle (evolake run --lines {line.name}). To start over all the same: evolake "
        f"seeds reseal {line.name}, or give the run the tag {RESEAL_TAG}: {line.name}.",
        allow_retries=False,
    )


def _version(line: Line, tables: Mapping[str, pl.DataFrame]) -> str:
    """Return the version that the tables would be sealed as."""
    from evolake.lake.hashing import content_hash

    hashes: dict[str, str] = {}
    for name, frame in tables.items():
        schema = line.population.get(name)
        hashes[f"{INCOMING}{name}"] = (
            content_hash(schema.validate(frame), schema.provenance) if schema else content_hash(frame)
        )
    return population_version(hashes)
