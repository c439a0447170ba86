"""Edits of solver sources as data: declared options moved within their ranges, and structural patches at
named anchors.

outcomes = apply_edits(folder, adapter, edits)          # one typed outcome an edit; a missing anchor is an
                                                        outcome, never a guess
catalogue(adapter), tunables(folder, adapter)           # what can be edited in this base
"""

from evolake.solvers.edits.anchors import Tunable, tunables
from evolake.solvers.edits.apply import apply_edits, edited
from evolake.solvers.edits.catalogue import (
    EDITS_FILE,
    PATCHES,
    Edit,
    EditOutcome,
    Parameter,
    PatchSpec,
    Rewrite,
    catalogue,
    family_of,
    read_edit,
    read_edits,
    write_edits,
)

__all__ = [
    "EDITS_FILE",
    "PATCHES",
    "Edit",
    "EditOutcome",
    "Parameter",
    "PatchSpec",
    "Rewrite",
    "Tunable",
    "apply_edits",
    "catalogue",
    "edited",
    "family_of",
    "read_edit",
    "read_edits",
    "tunables",
    "write_edits",
]
