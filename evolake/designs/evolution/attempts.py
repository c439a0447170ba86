"""What decided about the designs so far, as roles are sent it: contests with their intervals, gains over the
parent, what was tried, and why the first by consensus differs from the champion: objectives judge from
results at hand, the duel from fresh seeds. Seconds are counted, never measured, so that a cycle that is run
again asks the same questions."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evolake.agents.attempts import TriedIdea
from evolake.contest import paired
from evolake.designs.engines.counted import counted_s
from evolake.designs.evolution.extrapolation import extrapolate
from evolake.designs.evolution.population import Population
from evolake.designs.evolution.schedule import is_solved, latest_levels
from evolake.designs.model.instances import KINDS
from evolake.designs.roles.models import SHORT_ID
from evolake.designs.work.rows import median_work, per_step

LONGEST_IDEA = 240
KEPT_DECISIONS, SHOWN_DECISIONS, KEPT_FAILED, KEPT_TUNINGS = 12, 4, 60, 4
Row = Mapping[str, Any]


def idea_of(text: str | None) -> str:
    """Return the first sentence of what an author wrote, shortened.

    >>> idea_of("Damp v by -k*v. It costs 0.2 % a step.")
    'Damp v by -k*v.'
    """
    line = " ".join((text or "").split())
    end = line.find(". ")
    line = line[: end + 1] if end > 0 else line
    return line if len(line) <= LONGEST_IDEA else line[: LONGEST_IDEA - 3] + "..."


def ratio_text(gains: Sequence[float], unit: str) -> str:
    """Return a ratio of work with its 95% interval. gains: log ratios of pairs, above 0 where less work is
    needed. unit: what a pair is."""
    if not gains:
        return ""
    contest = paired(gains, np.random.default_rng(0))
    less = contest.effect >= 0
    ends = (contest.low, contest.high) if less else (-contest.high, -contest.low)
    low, high = (
        f"{math.exp(value):.2f}" if math.isfinite(value) and value < 700 else "unknown" for value in ends
    )
    return (
        f"{math.exp(abs(contest.effect)):.2f} times {'less' if less else 'more'} work (95% interval {low} to "
        f"{high}, {contest.pairs} {unit})"
    )


def against_parent(population: Population, design_id: str) -> str:
    """Return the ratio of its main parent's work to its own, over the sizes that both solved on the same
    instances; "" if there is none."""
    edges = [(weight, parent) for child, parent, weight in population.edges() if child == design_id]
    if not edges:
        return ""
    parent = max(edges)[1]
    return _ratio_of(population.experiment_rows([design_id]), population.experiment_rows([parent]))


def scaling_text(design_id: str, rows: Sequence[Row], n: int) -> str:
    """Return the work that a power law through its sizes expects at `n` variables, with its interval; ""
    where too few sizes were solved."""
    result = extrapolate(design_id, rows, n)
    if result.work is None or result.low is None or result.high is None:
        return ""
    return (
        f"work of {result.work:.4g} expected at N={n} (95% interval {result.low:.4g} to "
        f"{result.high:.4g}, {result.levels} sizes)"
    )


def counted_seconds(rows: Sequence[Row]) -> float | None:
    """Return the counted seconds of a core that experiments took; None for none."""
    if not rows:
        return None
    return round(
        math.fsum(
            counted_s(int(row["steps_run"]), row["engine"], int(row["batch"]) * int(row["N"]), per_step(row))
            for row in rows
        ),
        2,
    )


def decision_note(row: Row) -> dict[str, Any]:
    """Return what the archive remembers of a row of DECISIONS."""
    names = ("cycle", "comparison", "challenger_id", "incumbent_id", "wins", "reason")
    return {name: row[name] for name in names}


def contest_outcomes(population: Population) -> list[str]:
    """Return who is champion, why the first by consensus is not, and the last contests, as sentences; none
    before the first."""
    lines = []
    if population.champion_id is not None:
        row = population.row(population.champion_id)
        lines.append(f"Champion: {row['design_id'][:SHORT_ID]} ({row['title']}).")
    if note := population.value("first_by_consensus", ""):
        lines.append(str(note))
    decisions = population.value("decisions", [])
    met = {
        (item["cycle"], item["challenger_id"], item["incumbent_id"])
        for item in decisions
        if item["comparison"] == "incumbent"
    }
    for item in decisions[-SHOWN_DECISIONS:]:
        pair = (item["cycle"], item["challenger_id"], item["incumbent_id"])
        if item["comparison"] == "baseline" and pair in met:
            continue
        sides = (
            f"{item['challenger_id'][:SHORT_ID]} against the {item['comparison']} "
            f"{item['incumbent_id'][:SHORT_ID]}"
        )
        lines.append(f"Cycle {item['cycle']}: {sides}: {item['reason']}")
    return lines


def tuning_note(population: Population, rows: Sequence[Row]) -> str:
    """Return what tuning came to in a sentence: which values moved and how the consensus did, or why there is
    no tuned copy; "" without trials.

    rows: of TUNING, of one design; trial 0 is the design as it is.
    """
    if not rows:
        return ""
    first, best = (
        rows[0],
        min(rows, key=lambda row: (row["consensus"] is None, row["consensus"] or 0.0, row["trial"])),
    )
    name = (
        f"Tuning of {first['design_id'][:SHORT_ID]} ({population.row(first['design_id'])['title']}) in "
        f"cycle {first['cycle']}"
    )
    if first["consensus"] is None:
        return f"{name}: {first['reason'] or 'no trial was scored'}."
    reasons = sorted({row["reason"] for row in rows if row["status"] == "blocked" and row["reason"]})
    lost = (
        f"; {sum(row['status'] == 'blocked' for row in rows)} were blocked, e.g. {reasons[0]}"
        if reasons
        else ""
    )
    if best is first or best["consensus"] >= first["consensus"]:
        return f"{name}: none of {len(rows) - 1} trials beat its own values{lost}."
    before, after = (json.loads(row["hyper_values"]) for row in (first, best))
    moved = ", ".join(
        f"{key} {before[key]} -> {after[key]}" for key in sorted(after) if after[key] != before.get(key)
    )
    return f"{name}: {moved}; consensus {first['consensus']:.3f} -> {best['consensus']:.3f}{lost}."


def tried_designs(population: Population) -> list[TriedIdea]:
    """Return every attempt of all cycles but seeds, the oldest first: accepted, blocked and never made."""
    edges: dict[str, list[tuple[float, str]]] = {}
    for child, parent, weight in population.edges():
        edges.setdefault(child, []).append((weight, parent))
    experiments: dict[str, list[Row]] = {}
    for row in population.experiment_rows():
        experiments.setdefault(row["design_id"], []).append(row)
    duels = {
        item["challenger_id"]: item
        for item in population.value("decisions", [])
        if item["comparison"] == "incumbent"
    }
    failed_proposals = list(population.value("unmade", []))
    tried = [
        _tried(row, max(edges.get(row["design_id"], [(0.0, "")]))[1], experiments, duels)
        for row in population.designs.to_dicts()
        if row["operator"] != "seed"
    ]
    tried += [
        TriedIdea(item["cycle"], "", "", item["idea"] or "", "unmade", reason=item["reason"] or "")
        for item in failed_proposals
    ]
    return sorted(tried, key=lambda item: item.cycle)


def _tried(
    row: Row, parent: str, experiments: Mapping[str, Sequence[Row]], duels: Mapping[str, Row]
) -> TriedIdea:
    design_id, duel = row["design_id"], duels.get(row["design_id"])
    rows = experiments.get(design_id, ())
    lost = f"no new champion: {duel['reason']}" if duel and not duel["wins"] else ""
    return TriedIdea(
        cycle=row["cycle"],
        candidate=design_id[:SHORT_ID],
        parent=parent[:SHORT_ID],
        idea=row["idea"] or row["title"],
        outcome=row["state"],
        gain=_ratio_of(rows, experiments.get(parent, ())),
        reason=row["reason"] or lost,
        seconds=counted_seconds(rows),
    )


def _ratio_of(ours: Sequence[Row], theirs: Sequence[Row]) -> str:
    gains = []
    for kind in KINDS:
        known = {row["N"]: row for row in latest_levels(theirs, kind) if is_solved(row)}
        gains += [
            math.log(max(1.0, median_work(known[row["N"]])) / max(1.0, median_work(row)))
            for row in latest_levels(ours, kind)
            if is_solved(row) and row["N"] in known
        ]
    return ratio_text(gains, "sizes")


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
