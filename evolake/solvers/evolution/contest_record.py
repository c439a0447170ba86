"""Contests between champion and challenger as later cycles remember them: the verdict with its interval, and
the result by family of formulas.

No formula of a contest has a name in a record, so no role can learn one. The archive keeps the newest records
in its `state`, under CONTESTS.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import Any

from evolake.solvers.measurement.duel import CHALLENGER, CHAMPION
from evolake.solvers.roles.models import SHORT_ID

CONTESTS = "contests"
MOST_KEPT = 40
_NAMED_FORMULA = re.compile(r": (\d+%) of the differences are on the formula \S+")
_COPIED = (
    "cycle",
    "champion_id",
    "challenger_id",
    "ratio",
    "ratio_low",
    "ratio_high",
    "noise_floor",
    "verdict",
    "wins",
    "formulas",
    "pairs",
)


def contest_records(
    decisions: Sequence[Mapping[str, Any]],
    families: Sequence[Mapping[str, Any]],
    titles: Mapping[str, str],
    races: Sequence[Mapping[str, Any]] = (),
) -> list[dict[str, Any]]:
    """Return what is kept of the contests of one cycle.

    Args:
        decisions: rows of DECISIONS. families: rows of CONTEST_FAMILIES. titles: variant -> its title. races:
            rows of RACES, kept with the first.
    """
    result = []
    for row in decisions:
        parts = [
            part
            for part in families
            if part["challenger_id"] == row["challenger_id"] and part["champion_id"] == row["champion_id"]
        ]
        record = {name: _finite(row[name]) for name in _COPIED}
        result.append(
            record
            | {
                "champion": titles.get(row["champion_id"], ""),
                "challenger": titles.get(row["challenger_id"], ""),
                "solved": [row["solved_champion"], row["solved_challenger"]],
                "reason": _NAMED_FORMULA.sub(
                    r": \1 of the differences are on one formula", row["reason"] or ""
                ),
                "families": [
                    {
                        "family": part["family"],
                        "formulas": part["formulas"],
                        "solved": [part["solved_champion"], part["solved_challenger"]],
                        "ratio": _ratio(part["par2_champion"], part["par2_challenger"]),
                        "conflicts": _ratio(part["conflicts_champion"], part["conflicts_challenger"]),
                    }
                    for part in parts
                ],
            }
        )
    if result and races:
        result[0]["race"] = race_lines(races, titles)
    return result


def race_lines(races: Sequence[Mapping[str, Any]], titles: Mapping[str, str]) -> list[str]:
    """Return how each variant of the race before the contests ended, the best first: a line for its last
    round. races: rows of RACES."""
    last = {row["variant_id"]: row for row in sorted(races, key=lambda row: row["rung"])}
    ended = sorted(last.values(), key=lambda row: (-row["rung"], row["place"]))
    return [
        f"{row['variant_id'][:SHORT_ID]} ({titles.get(row['variant_id'], '')}): place {row['place']} "
        f"after {row['formulas']} formulas, solved {row['solved']:g}, PAR-2 {row['par2']:.3g} s, "
        f"{'continued to a contest' if row['survives'] else 'dropped out'}"
        + (f", stopped: {row['stopped']}" if row["stopped"] else "")
        for row in ended
    ]


def with_contests(
    known: Sequence[Mapping[str, Any]], new: Sequence[Mapping[str, Any]]
) -> list[Mapping[str, Any]]:
    """Return the records that are known and those of this cycle, the newest `MOST_KEPT`; a record made again
    replaces its first form."""
    again = {(record["cycle"], record["challenger_id"]) for record in new}
    return [*(record for record in known if (record["cycle"], record["challenger_id"]) not in again), *new][
        -MOST_KEPT:
    ]


def contest_texts(records: Sequence[Mapping[str, Any]]) -> list[str]:
    """Return each contest in words, the oldest first: verdict, ratio with its interval, and the result by
    family."""
    return [_contest_text(record) for record in records]


def contest_gain(record: Mapping[str, Any]) -> str:
    """Return the ratio of a contest with its interval, short."""
    high = record["ratio_high"]
    upper = "no upper end" if high is None else f"{high:.3g}"
    return f"contest {record['ratio']:.3g} ({record['ratio_low']:.3g} to {upper})"


def measurement_noise(records: Sequence[Mapping[str, Any]]) -> float | None:
    """Return the noise floor of the newest contest: the ratio of PAR-2 that repeated passes of one solver
    stay within."""
    floors = [record["noise_floor"] for record in records if record["noise_floor"]]
    return floors[-1] if floors else None


def _contest_text(record: Mapping[str, Any]) -> str:
    sides = [f"{record[f'{part}_id'][:SHORT_ID]} ({record[part]})" for part in (CHALLENGER, CHAMPION)]
    outcome = (
        "promoted"
        if record["wins"]
        else f"not promoted, {record['verdict'] or 'undecided'}: {record['reason']}"
    )
    champion, challenger = record["solved"]
    head = (
        f"Cycle {record['cycle']}: {sides[0]} against the champion {sides[1]}: {outcome}. PAR-2 ratio "
        f"{contest_gain(record).removeprefix('contest ')} on {record['formulas']} fresh formulas; solved "
        f"{challenger:g}, the champion {champion:g}; noise of repeated passes {record['noise_floor']:.3g}."
    )
    race = record.get("race", ())
    before = (
        [
            f"Cycle {record['cycle']}, race on fresh formulas before the contests:",
            *(f"  {line}" for line in race),
        ]
        if race
        else []
    )
    return "\n".join([*before, head, *(f"  {_family_text(part)}" for part in record["families"])])


def _family_text(part: Mapping[str, Any]) -> str:
    champion, challenger = part["solved"]
    parts = [f"solved {challenger:g}, champion {champion:g}"]
    parts += [f"PAR-2 ratio {part['ratio']:.3g}"] if part["ratio"] else []
    parts += [f"conflicts ratio {part['conflicts']:.3g}"] if part["conflicts"] else []
    return f"{part['family']} ({part['formulas']}): {', '.join(parts)}"


def _ratio(champion: float | None, challenger: float | None) -> float | None:
    return round(champion / challenger, 4) if champion and challenger else None


def _finite(value: Any) -> Any:
    """Return the value; None for an end of an interval that is infinite, which JSON has no word for."""
    return None if isinstance(value, float) and not math.isfinite(value) else value
