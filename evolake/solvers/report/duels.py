"""Duels in words: figures with their unit, on how many formulas and shuffles they rest, and why the
best-ranked variant is not champion."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from evolake.contest import LEAST_FORMULAS, LEVEL
from evolake.report.gain import BOUNDS, counted, figures, interval
from evolake.stats import Interval

Row = Mapping[str, Any]


def interval_of(duel: Row) -> Interval:
    """Return the ratio of a duel with its interval."""
    return Interval(duel["ratio"], duel["ratio_low"], duel["ratio_high"], LEVEL)


def bound_of(duel: Row) -> str:
    """Return "estimate" if a run of either side ended without an answer, else "".

    Such a run counts twice its limit. What it would have taken may be less or more, so that the ratio is
    neither a lower nor an upper bound.
    """
    return "estimate" if min(duel["solved_champion"], duel["solved_challenger"]) < duel["instances"] else ""


def sample_of(duel: Row) -> str:
    """Return the PAR-2 of both sides in seconds and what they rest on: `PAR-2 0.14 s against 0.42 s on 9
    formulas × 2 shuffles, 2 pairs each`."""
    costs = duel["par2_challenger"], duel["par2_champion"]
    seconds = (
        f"PAR-2 {figures(costs[0])} s against {figures(costs[1])} s" if None not in costs else "no PAR-2"
    )
    return f"{seconds} on {formulas_in_words(duel)}, {counted(duel['pairs'], 'pair')} each"


def formulas_in_words(duel: Row) -> str:
    """Return the number of independent formulas, and of shuffles if there are more instances."""
    instances, formulas = duel["instances"], duel["formulas"]
    if instances == formulas:
        return counted(formulas, "formula")
    if instances % formulas == 0:
        return f"{counted(formulas, 'formula')} × {instances // formulas} shuffles"
    return f"{counted(formulas, 'formula')} in {instances} shuffles"


def measured(duel: Row) -> str:
    """Return all figures of a duel: ratio with interval, PAR-2 of both sides, formulas, pairs and noise
    floor."""
    result = interval_of(duel)
    if duel["formulas"] < LEAST_FORMULAS:
        ratio = figures(result.estimate)
    elif math.isfinite(result.high):
        ratio = interval(result.estimate, result.low, result.high, 100 * result.level)
    else:
        ratio = (
            f"{figures(result.estimate)} ({100 * result.level:g}% interval from {figures(result.low)} "
            "upwards)"
        )
    return (
        f"ratio {BOUNDS.get(bound_of(duel), '')}{ratio}, {sample_of(duel)}, noise floor "
        f"{figures(duel['noise_floor'])}"
    )


def outcome(duel: Row) -> str:
    """Return the reason and the figures of a duel."""
    return f"{duel['reason']}; {measured(duel)}"


def families_in(families: Sequence[Row], duel: Row) -> list[Row]:
    """Return the rows of CONTEST_FAMILIES of one duel, by family."""
    names = ("cycle", "champion_id", "challenger_id")
    return sorted(
        (row for row in families if all(row[name] == duel[name] for name in names)),
        key=lambda row: row["family"],
    )


def why_not_champion(best: Row, champion_id: str, champion: str, duels: Sequence[Row], cycle: str) -> str:
    """Return why the best-ranked variant is not champion, in one sentence; "" if it is.

    Args:
        best: variant_id and title of rank 1. duels: rows of DECISIONS up to the cycle, in any order.
    """
    name, title = best["variant_id"], best["title"]
    if name == champion_id:
        return ""
    now = [duel for duel in duels if duel["cycle"] == cycle]
    own = [duel for duel in now if duel["challenger_id"] == name]
    if own and own[-1]["wins"]:
        return (
            f"{title} did not become champion: it won its duel too, by less than {champion}; "
            f"{measured(own[-1])}"
        )
    if own:
        more = (
            f" ({counted(len(now), 'challenger')} in all, none won)"
            if len(now) > 1 and not any(duel["wins"] for duel in now)
            else ""
        )
        return f"{title} did not become champion: {outcome(own[-1])}{more}"
    lost = [duel for duel in duels if duel["wins"] and duel["champion_id"] == name]
    if lost:
        newest = max(lost, key=lambda duel: duel["cycle"])
        return f"{title} is champion no more: it lost the duel of cycle {newest['cycle']}"
    earlier = [duel for duel in duels if duel["challenger_id"] == name and duel["champion_id"] == champion_id]
    if earlier:
        newest = max(earlier, key=lambda duel: duel["cycle"])
        return (
            f"{title} did not become champion: it did not win against {champion} in cycle "
            f"{newest['cycle']}, and has no second duel"
        )
    if any(duel["wins"] for duel in now):
        return f"{title} did not become champion: it had no duel in this cycle, and {champion} won one"
    return f"{title} did not become champion: it had no duel in this cycle"
