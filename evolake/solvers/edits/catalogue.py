"""The catalogue of structural patches, ours, each with parameters, a slot and a form for every base family
whose anchors it knows.

One file a subject in `patches/`. Names and slots are stable: they are in `edits.json` of stored variants.
"""

from __future__ import annotations

import re
from typing import Any

from evolake.solvers.edits.model import PatchSpec
from evolake.solvers.edits.patches import (
    cadical,
    decisions,
    kissat,
    learning,
    mergesat,
    phases,
    reduction,
    restarts,
    scores,
)

PATCHES: dict[str, PatchSpec] = {
    spec.name: spec
    for module in (restarts, phases, reduction, scores, decisions, learning, cadical, kissat, mergesat)
    for spec in module.PATCHES
}


def family_of(adapter: Any) -> str:
    """Return the base family of an adapter: its name without the version, and without what
    `evolake solvers adapt` adds where a seed has the name (`minisat22`, `minisat22-own` -> `minisat`)."""
    return re.sub(r"[\d.]*(-own)?$", "", adapter.name)


def catalogue(adapter: Any) -> list[PatchSpec]:
    """Return the patches that have a form for this base, by name."""
    return [spec for name, spec in sorted(PATCHES.items()) if family_of(adapter) in spec.forms]
