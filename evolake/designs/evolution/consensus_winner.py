"""The first by consensus next to the champion, and why they differ: objectives judge from results at hand,
the duel from fresh seeds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evolake.designs.evolution.population import Population

Row = Mapping[str, Any]


@dataclass(frozen=True)
class ConsensusWinner:
    """The first by consensus of a cycle. same: it is the champion, too. reason: a sentence on why it is, or
    is not."""

    design_id: str
    title: str
    same: bool
    reason: str


def consensus_winner(
    population: Population, ranking: Sequence[Row], decisions: Sequence[Row], champion_id: str
) -> ConsensusWinner:
    """Return who is first in a cycle's ranking, held against the champion.

    Args:
        population: the archive in which both are, with states as they are now. ranking, decisions: the
            cycle's rows of RANKING and DECISIONS.
    """
    places = {row["design_id"]: int(row["rank"]) for row in ranking}
    first = min(places, key=lambda name: places[name])
    design = population.row(first)
    if first == champion_id:
        return ConsensusWinner(first, design["title"], True, "The consensus has the champion first.")
    duel = next(
        (row for row in decisions if row["comparison"] == "incumbent" and row["challenger_id"] == first), None
    )
    parts = [_of_duel(duel)]
    if design["state"] == "blocked":
        parts.append(f"It is blocked now: {(design['reason'] or 'no reason is given').rstrip('.')}")
    if champion_id in places:
        parts.append(f"The consensus has the champion at place {places[champion_id]} of {len(places)}")
    return ConsensusWinner(first, design["title"], False, ". ".join(parts) + ".")


def _of_duel(duel: Row | None) -> str:
    if duel is None:
        return "It has not met the champion on fresh seeds in this cycle"
    if duel["wins"]:
        return f"It won its duel and has lost the title since: {duel['reason']}"
    if duel["ratio"] is None:
        return f"Nothing was decided: {duel['reason']}"
    if duel["ratio_high"] < 1:
        return f"It lost the duel: {duel['reason']}"
    return f"The duel did not tell them apart beyond the noise, and the champion stays: {duel['reason']}"
