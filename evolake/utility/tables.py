"""The tables of the utility study (declared in `tables.toml`), its arms' names, and the key of a partition.

A partition is a cell: one arm with one seed (`evolved-0`). All parts of one study bear its `study_sha`, so
that cells of an earlier one are never mixed into a table.
"""

from __future__ import annotations

from pathlib import Path

from evolake.cells import Cells
from evolake.errors import InputError
from evolake.lake.schemas import read_tables

LINE = "utility"
BASE = "base"
ARMS = {
    BASE: "the model as it is, not trained",
    "seeds": "trained on instances of seed families",
    "evolved": "trained on instances of evolved families",
    "mixed": "trained on both, half and half",
    "parents": "trained on the evolved families without their last operator: on the parents of each",
}
TRAINED = tuple(arm for arm in ARMS if arm != BASE)
LINEAGES = "held-out lineages"
"""The suite of problems whose families share no ancestor with any family that is trained on."""
TRAIN = "train"
MATCHINGS = ("steps", "instances", "tokens")

_tables = read_tables(Path(__file__).with_name("tables.toml"))
PROBLEMS = _tables["problems"]
STUDY = _tables["study"]
STEPS = _tables["steps"]
REPLIES = _tables["replies"]
SUMMARY = _tables["summary"]
COMPARISONS = _tables["comparisons"]
CURVES = _tables["curves"]
FIGURES = _tables["figures"]
TABLES = _tables.assets
"""Asset -> schema of every table that the study publishes under its own name, for SQL and for `evolake sql
--schema`."""
CELLS = Cells("utility", tuple(ARMS))
cell_of, parse_cell = CELLS.key, CELLS.parse


def pick_arms(text: str) -> list[str]:
    """Return the arms of a text like `base,seeds`, in the order of ARMS; all of `all`.

    Raises:
        InputError: an unknown name, or none.
    """
    names = (
        list(ARMS) if text.strip() == "all" else [name.strip() for name in text.split(",") if name.strip()]
    )
    if not names or set(names) - ARMS.keys():
        raise InputError(
            "these arms cannot be run",
            wanted=f"all, or some of {', '.join(ARMS)}",
            got=text or "none",
            do="name some of these",
        )
    return [arm for arm in ARMS if arm in names]
