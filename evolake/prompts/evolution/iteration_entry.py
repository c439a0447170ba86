"""What one iteration did, as blobs: rows of the line's tables and the population after it; calls of roles;
the policy's checkpoint.

After every iteration the blob is noted in the lake. A cycle that was killed reads the notes back and
continues after the last iteration whose key is still the same: the key stands for everything the iterations
depend on. So nothing that was sampled, paid for or learnt is done twice.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from evolake.canonical_json import canonical_json
from evolake.prompts.evolution.iteration import TABLES, Iterations
from evolake.prompts.evolution.population import population_of
from evolake.prompts.tables import ARCHIVE


def entry_bytes(done: Iterations) -> bytes:
    """Return an iteration as canonical JSON; `read_entry` reads it back to the same values."""
    return canonical_json(
        {
            "rows": {name: done.rows[name] for name in TABLES},
            "population": {name: frame.to_dicts() for name, frame in done.population.frames().items()},
        }
    ).encode()


def read_entry(data: bytes) -> Iterations:
    """Return the iteration that `entry_bytes` wrote."""
    value = json.loads(data)
    return Iterations(
        population_of({name: schema.frame(value["population"][name]) for name, schema in ARCHIVE.items()}),
        value["rows"],
    )


def calls_bytes(calls: Sequence[Mapping[str, Any]]) -> bytes:
    """Return rows of AGENT_CALLS as canonical JSON; `json.loads` reads them back."""
    return canonical_json(list(calls)).encode()
