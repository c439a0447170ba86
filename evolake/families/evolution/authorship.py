"""Who wrote which program of a family, and from what: rows that say whether the votes on a label come from
authors that did not know each other."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Sequence
from typing import Any

from evolake.families.evolution.validator_pool import Written
from evolake.families.model.contract import Family

PRIMARY, OPERATORS = "primary", "operators"


def authorship_rows(
    family: Family, written: Iterable[Written], *, author: str, saw: Sequence[str], cycle: str
) -> list[dict[str, Any]]:
    """Return rows of VALIDATOR_AUTHORS of one family, one per voter.

    Args:
        written: validators that others were asked for. author, saw: who wrote all else, and what it was
            shown.
    """
    others = {item.name: item for item in written}
    rows = []
    for voter, source in family.voters().items():
        other = others.get(voter)
        shown = list(other.saw if other else saw)
        rows.append(
            {
                "family_id": family.family_id,
                "cycle": cycle,
                "voter": voter,
                "author": other.author if other else author,
                "saw": shown,
                "algorithm": other.algorithm if other else None,
                "source_sha": hashlib.sha256(source.encode()).hexdigest(),
                "independent": None
                if author == OPERATORS or voter == PRIMARY
                else other is not None and PRIMARY not in shown,
            }
        )
    return rows
