"""The archive of the solvers line: what enters a cycle and what leaves it.

Rows of `variants` are added and their `state` changes (accepted: it lives, may be used as a parent, is
ranked; champion; blocked: a gate objected, or it was found unsound later; retired: it passed, and was
overtaken). None is removed, so the blocked and the retired stay, with their ancestors. Runs are carried for
the variants that live on, and for the holdout of those that have been champion; older ones stay in the
partitions of the cycles that made them.

Later cycles remember, in the archive's `state`, the newest contests between champion and challenger
(CONTESTS), with the verdict, its interval and the result by family of formulas, and what the line has tried
in all of its cycles: variants with their gain or block, and plans of which no variant came (FAILED_PLANS). No
formula of a contest has a name in a record, so no role can learn one.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import polars as pl

from evolake.agents.attempts import TriedIdea
from evolake.lake.population import Archive
from evolake.solvers.edits import Edit, read_edits
from evolake.solvers.measurement.duel import CHALLENGER, CHAMPION
from evolake.solvers.roles.models import SHORT_ID, Attempt, with_short_ids
from evolake.solvers.tables import ARCHIVE, LATE_GATES

LIVE = ("accepted", "champion")


@dataclass(frozen=True)
class Population(Archive):
    """The tables of the archive, each a frame of its schema in `ARCHIVE`."""

    schemas = ARCHIVE

    variants: pl.DataFrame
    runs: pl.DataFrame
    holdout: pl.DataFrame
    objectives: pl.DataFrame
    ranking: pl.DataFrame
    rule_proposals: pl.DataFrame
    findings: pl.DataFrame
    history: pl.DataFrame

    def live_ids(self) -> list[str]:
        """Return variants that are ranked and may be used as parents."""
        return [row["variant_id"] for row in self.rows(*LIVE)]

    def seeds(self) -> list[dict[str, Any]]:
        """Return the seeds that passed their gates, and so are what variants descend from; also one that was
        found unsound later and does not live."""
        return [
            row
            for row in self.rows()
            if row["operator"] == "seed" and (row["state"] != "blocked" or row["gate"] in LATE_GATES)
        ]

    def seed_of(self, base: str) -> dict[str, Any]:
        """Return the seed called `base`. Raises KeyError when there is none."""
        for row in self.seeds():
            if row["base"] == base:
                return row
        raise KeyError(base)

    def attempts(self) -> list[Attempt]:
        """Return the history as the planner reads it, with short ids, oldest first."""
        names = ("base", "changed", "outcome", "gate", "gain", "solved_gain")
        return [
            Attempt.model_validate(
                {name: row[name] for name in names}
                | {"variant_id": row["variant_id"][:SHORT_ID], "gate": row["gate"] or ""}
            )
            for row in self.history.to_dicts()
        ]

    def with_states(self, states: Mapping[str, str]) -> Population:
        """Return the archive with variants whose state changes: id -> state."""
        return self.with_tables(
            variants=[row | {"state": states.get(row["variant_id"], row["state"])} for row in self.rows()]
        )

    def keep_runs(self, ids: Sequence[str]) -> Population:
        """Without the runs of variants other than `ids`."""
        return replace(self, runs=self.runs.filter(pl.col("variant_id").is_in(list(ids))))


@dataclass(frozen=True)
class RankedCycle:
    """What a cycle has before its champion is decided: the population that entered, this cycle's rows of
    VARIANTS, and rows of RANKING."""

    population: Population
    variants: Sequence[Mapping[str, Any]]
    ranking: Sequence[Mapping[str, Any]]

    @property
    def rows(self) -> dict[str, Mapping[str, Any]]:
        """Return id -> row of VARIANTS, of all that entered or were made."""
        return {row["variant_id"]: row for row in [*self.population.rows(), *self.variants]}

    @property
    def order(self) -> list[str]:
        """Return the ids of the ranked, best first."""
        return [row["variant_id"] for row in sorted(self.ranking, key=lambda row: row["rank"])]


def empty_population() -> Population:
    """Return an archive without rows."""
    return Population.empty()


def population_of(tables: Mapping[str, pl.DataFrame]) -> Population:
    """Return the population from its published tables.

    Raises:
        InputError: a table does not fit its schema.
    """
    return Population.of(tables)


def edits_of_row(row: Mapping[str, Any]) -> tuple[Edit, ...] | None:
    """Return a variant's edits as values; None for one that was written as a diff."""
    return None if row["edits"] is None else tuple(read_edits(row["edits"]))


CONTESTS = "contests"
MOST_CONTESTS = 40
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
    round, with its cost over the first one's on the same formulas; roles may not see costs in seconds. races:
    rows of RACES."""
    last = {row["variant_id"]: row for row in sorted(races, key=lambda row: row["rung"])}
    ended = sorted(last.values(), key=lambda row: (-row["rung"], row["place"]))
    first = {row["rung"]: row["par2"] for row in races if row["variant_id"] == ended[0]["variant_id"]}
    return [
        f"{row['variant_id'][:SHORT_ID]} ({titles.get(row['variant_id'], '')}): place {row['place']} "
        f"after {row['formulas']} formulas, solved {row['solved']:g}, "
        + (
            f"cost {row['par2'] / max(first[row['rung']], 1e-9):.3g} of the first one's on these, "
            if row["rung"] in first
            else ""
        )
        + f"{'continued to a contest' if row['survives'] else 'dropped out'}"
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
        -MOST_CONTESTS:
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
        f"Cycle {record['cycle']}: {sides[0]} against the champion {sides[1]}: {outcome}. Cost ratio "
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


FAILED_PLANS = "unmade_plans"
MOST_FAILED_PLANS = 200
_LONGEST = 400


def with_failed_plans(
    known: Sequence[Mapping[str, Any]],
    failed_proposals: Sequence[Mapping[str, Any]],
    plans: Sequence[Mapping[str, Any]],
) -> list[Mapping[str, Any]]:
    """Return the failed plans that are known and those of this cycle, the newest `MOST_KEPT`.

    Args:
        failed_proposals: rows of `FAILED_PROPOSALS`. plans: rows of PLANS of the same cycle.
    """
    by_id = {row["plan_id"]: row for row in plans}
    new = [
        {
            "plan_id": row["plan_id"],
            "cycle": row["cycle"],
            "parent_id": (by_id[row["plan_id"]]["parent_ids"] or [""])[0],
            "idea": by_id[row["plan_id"]]["hypothesis"][:_LONGEST],
            "reason": (row["reason"] or "")[:_LONGEST],
        }
        for row in failed_proposals
        if row["plan_id"] in by_id
    ]
    again = {entry["plan_id"] for entry in new}
    return [*(entry for entry in known if entry["plan_id"] not in again), *new][-MOST_FAILED_PLANS:]


def tried_ideas(population: Population) -> list[TriedIdea]:
    """Return every attempt of earlier cycles, the oldest first."""
    rows = {row["variant_id"]: row for row in population.rows()}
    contests = {record["challenger_id"]: record for record in population.value(CONTESTS, [])}
    ideas = [
        _idea_of(row, rows.get(row["variant_id"], {}), contests.get(row["variant_id"]))
        for row in population.history.to_dicts()
    ]
    ideas += [
        TriedIdea(
            entry["cycle"],
            "",
            entry["parent_id"][:SHORT_ID],
            entry["idea"],
            "unmade",
            reason=with_short_ids(entry["reason"]),
        )
        for entry in population.value(FAILED_PLANS, [])
    ]
    return sorted(ideas, key=lambda item: item.cycle)


def _idea_of(
    attempt: Mapping[str, Any], row: Mapping[str, Any], contest: Mapping[str, Any] | None
) -> TriedIdea:
    idea = " / ".join(filter(None, [row.get("title"), row.get("hypothesis")])) or ", ".join(
        attempt["changed"] or []
    )
    blocked = attempt["outcome"] == "blocked" or row.get("state") == "blocked"
    gain = [] if attempt["gain"] is None else [f"rank {attempt['gain']:+.2f}"]
    gain += [f"solved {attempt['solved_gain']:+g}"] if attempt["solved_gain"] else []
    gain += [contest_gain(contest)] if contest else []
    outcome, reason = row.get("state") or attempt["outcome"], ""
    if blocked:
        outcome, reason = "blocked", f"{row.get('gate') or attempt['gate'] or ''}: {row.get('reason') or ''}"
    elif contest and not contest["wins"]:
        outcome, reason = "not promoted", contest["reason"]
    parent = (row.get("parents") or [""])[0]
    return TriedIdea(
        attempt["cycle"],
        attempt["variant_id"][:SHORT_ID],
        parent[:SHORT_ID],
        idea,
        outcome,
        ", ".join(gain),
        with_short_ids(reason),
    )
