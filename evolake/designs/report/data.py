"""What the report of a cycle of the designs line says: tables read from the lake, nothing computed that is
not there."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from evolake.designs.evolution.attempts import ConsensusWinner, consensus_winner
from evolake.designs.evolution.population import Population, read_population
from evolake.designs.tables import TABLES
from evolake.errors import InputError
from evolake.lake import Catalogue, Lake, following
from evolake.report.champion import ANCESTRY, Champion, champion_of
from evolake.report.status import known_line, sealed_cycles

LINE = "designs"


@dataclass(frozen=True)
class CycleReport:
    """Everything the page of one cycle shows. Frames are as they are printed. held: who is champion;
    champion: its row of DESIGNS.

    winner: the first by consensus, and why it is not the champion where it is not.
    """

    cycle: str
    profile: str
    backend: str
    population: Population
    held: Champion
    champion: dict[str, Any]
    winner: ConsensusWinner
    decisions: pl.DataFrame
    trials: pl.DataFrame
    top: pl.DataFrame
    objectives: pl.DataFrame
    funnel: pl.DataFrame
    blocked: pl.DataFrame
    yields: pl.DataFrame
    ancestry: pl.DataFrame
    consensus: pl.DataFrame


def read_report(root: Path, cycle: str | None = None) -> CycleReport:
    """Return the report of `cycle`, of the newest finished one by default.

    Raises:
        InputError: the lake has no such line or no such finished cycle.
    """
    known_line(root, LINE)
    lake = Lake(root)
    done = sealed_cycles(lake, LINE)
    if not done:
        raise InputError(f"no cycle of {LINE} is finished in {root}", do="run `evolake run --cycles 1`")
    chosen = cycle or done[-1]
    if chosen not in done:
        raise InputError(
            f"cycle {chosen!r} of {LINE} is not finished",
            wanted=f"one of {', '.join(done)}",
            do="run `evolake status`",
        )
    after = following(chosen)
    population = read_population(lake, after)
    with Catalogue(lake, {(LINE, name): schema for name, schema in TABLES.items()}) as catalogue:

        def ask(sql: str, **parameters: Any) -> pl.DataFrame:
            return catalogue.frame(sql, parameters)

        held = champion_of(lake, catalogue, LINE, chosen)
        assert held is not None, "a finished cycle has a champion"
        decisions = ask(f"SELECT * FROM {LINE}.champion_decisions WHERE cycle = $cycle", cycle=chosen)
        consensus = ask(f"SELECT * FROM {LINE}.final_ranking WHERE cycle <= $cycle", cycle=chosen)
        trials = ask(TRIALS, cycle=chosen)
        return CycleReport(
            cycle=chosen,
            profile=trials["profile"][0] if trials.height else "",
            backend=_backend(ask, chosen),
            population=population,
            held=held,
            champion=population.row(held.artifact_id),
            winner=consensus_winner(
                population,
                consensus.filter(pl.col("cycle") == chosen).to_dicts(),
                decisions.to_dicts(),
                held.artifact_id,
            ),
            decisions=decisions,
            trials=trials,
            top=ask(TOP, cycle=chosen),
            objectives=ask(OBJECTIVES, cycle=chosen),
            funnel=ask(FUNNEL, cycle=chosen),
            blocked=ask(BLOCKED, cycle=chosen),
            yields=ask(YIELDS, cycle=chosen),
            ancestry=ask(ANCESTRY, id=held.artifact_id),
            consensus=consensus,
        )


SHORTENED = r"regexp_replace({text}, '\b([0-9a-f]{{12}})[0-9a-f]{{52}}\b', '\1', 'g')"
"""A text whose ids are cut as those of a table are."""
TRIALS = f"""
SELECT t.*, known.title FROM {LINE}.champion_trials AS t LEFT JOIN known_artifacts AS known
  ON known.artifact_id = t.design_id
WHERE t.cycle = $cycle ORDER BY t.part, t.pair"""
FUNNEL = f"""
SELECT cycle, count(*) AS proposed, count(*) FILTER (state = 'blocked') AS blocked, count(*)
  FILTER (state = 'accepted') AS accepted
FROM {LINE}.candidates WHERE cycle <= $cycle GROUP BY cycle ORDER BY cycle"""
BLOCKED = f"""
SELECT gate, rule_id, count(*) AS blocked, any_value({SHORTENED.format(text="reason")}) AS example
  FROM verdicts
WHERE outcome = 'block' AND cycle <= $cycle AND artifact_id IN (SELECT artifact_id FROM artifacts
  WHERE line = '{LINE}')
GROUP BY ALL ORDER BY blocked DESC, gate"""
YIELDS = f"""
SELECT d.operator, count(*) AS proposed, count(*) FILTER (d.state = 'accepted') AS accepted,
  min(r.rank) AS best_rank
FROM {LINE}.candidates AS d LEFT JOIN {LINE}.final_ranking AS r ON r.design_id = d.design_id
  AND r.cycle = $cycle
WHERE d.cycle <= $cycle GROUP BY ALL
UNION ALL SELECT 'no usable reply', count(*), 0, NULL FROM {LINE}.unmade WHERE cycle <= $cycle
  HAVING count(*) > 0
ORDER BY best_rank NULLS LAST, operator"""
TOP = f"""
SELECT r.rank, round(r.consensus, 4) AS consensus, any_value(d.title) AS title,
  any_value(d.operator) AS operator, r.largest_solved AS largest_n,
  round(r.median_work, 1) AS work_there, r.median_step AS steps_there, r.fidelity,
  bool_or(d.tuned) AS tuned, r.design_id AS design
FROM {LINE}.final_ranking AS r JOIN {LINE}.survivors AS d ON d.design_id = r.design_id
WHERE r.cycle = $cycle GROUP BY ALL ORDER BY r.rank LIMIT 12"""
OBJECTIVES = f"""
SELECT round(weight, 4) AS weight, round(median_tau, 3) AS median_tau, round(multiplier, 3) AS multiplier,
  family, description
FROM {LINE}.final_ranking_weights WHERE cycle = $cycle ORDER BY weight DESC, objective_id"""


def _backend(ask: Any, cycle: str) -> str:
    result = ask(
        f"SELECT DISTINCT backend FROM calls WHERE line = '{LINE}' AND cycle = $cycle ORDER BY backend",
        cycle=cycle,
    )["backend"].to_list()
    return ", ".join(result) or "none"
