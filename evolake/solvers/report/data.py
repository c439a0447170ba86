"""What the report of a cycle of the solvers line says: tables read from the lake, up to the cycle and no
further."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import polars as pl

from evolake.lake import Catalogue, Lake, following
from evolake.report.champion import ANCESTRY, Champion, champion_of
from evolake.report.status import finished
from evolake.solvers.evolution.population import Population, population_of
from evolake.solvers.gates.specs import GATE_NAMES
from evolake.solvers.measurement.claims import UNCHECKED, UNPROVED, UNSAT, UNSOUND, VERIFIED, counted
from evolake.solvers.tables import ARCHIVE, CONTEST_FAMILIES

LINE = "solvers"
RUN_TABLES = {
    "smoke": "gate smoke",
    "correctness": "gate correctness",
    "stability_runs": "gate stability",
    "benchmark_runs": "suite train",
    "champion_trials": "duels",
    "holdout_runs": "suite holdout",
}
"""Every table that holds runs, each run in one of them (`gate_runs` holds copies), with what it is called on
the page."""

COUNTS = ("runs", "unsat", "verified", "unproved", "unchecked", "unsound")
"""Of runs: all, UNSAT answers, and of those the ones with a verified proof, without one though it was asked
for, outside the checked share; last, answers of either kind that are refuted (see `measurement.claims`)."""


@dataclass(frozen=True)
class SolversReport:
    """Everything the section of one cycle shows. `population` leaves the cycle. Frames hold what is printed,
    or rows of the line's tables.

    base: row of VARIANTS, the seed that the champion descends from. parent: the first parent's row, None for
    a seed. diff: against the parent. decisions: rows of DECISIONS of the cycle. families: rows of
    CONTEST_FAMILIES of it. held: since when the champion holds the
    title, and with which gain. champion: its row of VARIANTS. runs: one row per table and state of variant:
    part, state, and COUNTS. state: accepted (retired ones and champions too) or blocked.
    """

    cycle: str
    backend: str
    population: Population
    held: Champion
    champion: dict[str, Any]
    base: dict[str, Any]
    parent: dict[str, Any] | None
    diff: str
    decisions: list[dict[str, Any]]
    families: list[dict[str, Any]]
    metrics: pl.DataFrame
    runs: pl.DataFrame
    top: pl.DataFrame
    funnel: pl.DataFrame
    blocked: pl.DataFrame
    proposals: pl.DataFrame
    rule_metrics: pl.DataFrame
    kills: pl.DataFrame
    findings: pl.DataFrame
    yields: pl.DataFrame
    builds: pl.DataFrame
    ancestry: pl.DataFrame


def read_report(root: Path, cycle: str) -> SolversReport:
    """Return the report of `cycle`.

    Raises:
        InputError: the lake has no such line or no such finished cycle.
    """
    lake = finished(root, LINE, cycle)
    population = population_of(
        {name: lake.read(LINE, f"incoming_{name}", following(cycle)) for name in ARCHIVE}
    )
    with Catalogue(lake) as catalogue:

        def ask(sql: str, **more: str) -> pl.DataFrame:
            return catalogue.frame(sql, {"cycle": cycle} | more)

        held = champion_of(lake, catalogue, LINE, cycle)
        assert held is not None, "a finished cycle has a champion"
        champion = population.row(held.artifact_id)
        backends = ask(
            "SELECT DISTINCT backend FROM calls WHERE line = $line AND cycle = $cycle ORDER BY backend",
            line=LINE,
        )["backend"].to_list()
        return SolversReport(
            cycle=cycle,
            backend=", ".join(backends) or "none",
            population=population,
            held=held,
            champion=champion,
            base=population.seed_of(champion["base"]),
            parent=population.row(champion["parents"][0]) if champion["parents"] else None,
            diff=lake.blobs.get(champion["diff_sha"]).decode("utf-8", "replace")
            if champion["diff_sha"]
            else "",
            decisions=lake.read(LINE, "champion", cycle).to_dicts(),
            families=families_of(lake, cycle),
            metrics=lake.read(LINE, "metrics", cycle),
            runs=_runs(ask, population),
            top=ask(TOP, champion=held.artifact_id),
            funnel=ask(FUNNEL, line=LINE),
            blocked=ask(BLOCKED, line=LINE),
            proposals=ask(PROPOSALS),
            rule_metrics=ask(RULE_METRICS),
            kills=ask(KILLS),
            findings=ask(FINDINGS),
            yields=ask(YIELDS),
            builds=ask(BUILDS),
            ancestry=catalogue.frame(ANCESTRY, {"id": held.artifact_id}),
        )


def families_of(lake: Lake, cycle: str) -> list[dict[str, Any]]:
    """Return the rows of CONTEST_FAMILIES of a cycle."""
    return lake.read(LINE, CONTEST_FAMILIES.name, cycle).to_dicts()


def _runs(ask: Any, population: Population) -> pl.DataFrame:
    """Return runs of all tables, counted by what became of the variant."""
    states = population.variants.select(
        "variant_id", pl.col("state").replace({"champion": "accepted", "retired": "accepted"})
    )
    counted = pl.concat(
        [ask(RUNS.format(table=table)).with_columns(part=pl.lit(name)) for table, name in RUN_TABLES.items()]
    )
    known = counted.join(states, on="variant_id", how="left").with_columns(
        pl.col("state").fill_null("unknown")
    )
    return known.group_by("part", "state", maintain_order=True).agg(pl.col(*COUNTS).sum())


RUNS = f"""
SELECT variant_id, count(*) AS runs, {counted(UNSAT)} AS unsat, {counted(VERIFIED)} AS verified,
  {counted(UNPROVED)} AS unproved,
  {counted(UNCHECKED)} AS unchecked, {counted(UNSOUND)} AS unsound
FROM {LINE}.{{table}} WHERE cycle <= $cycle GROUP BY variant_id ORDER BY variant_id"""
TOP = f"""
SELECT r.rank, round(r.consensus, 4) AS consensus, v.title, v.base, v.operator, r.solved, round(r.par2,
  3) AS par2_s,
  CASE WHEN r.variant_id = $champion THEN 'champion' WHEN d.wins THEN 'won' WHEN d.ratio_high < 1 THEN 'lost'
    WHEN d.challenger_id IS NOT NULL THEN 'undecided' ELSE '' END AS duel,
  round(m.checked_share, 3) AS checked_share, r.variant_id AS variant
FROM {LINE}.consensus_ranking AS r
JOIN (SELECT variant_id, title, base, operator FROM {LINE}.seeds UNION SELECT variant_id, title, base,
  operator FROM {LINE}.variants) AS v
USING (variant_id) LEFT JOIN {LINE}.metrics AS m ON m.variant_id = r.variant_id AND m.cycle = r.cycle
LEFT JOIN {LINE}.champion AS d ON d.challenger_id = r.variant_id AND d.cycle = r.cycle
WHERE r.cycle = $cycle ORDER BY r.rank LIMIT 12"""
FUNNEL = f"""
SELECT cycle, coalesce(max(unmade), 0)::INTEGER AS unmade, coalesce(max(came) FILTER (gate_no >= 0),
  0) AS came,
  {", ".join(f"max(passed) FILTER (gate = '{gate}') AS passed_{gate}" for gate in GATE_NAMES)},
  coalesce(sum(blocked) FILTER (gate_no >= 0), 0)::INTEGER AS blocked, sum(errors)::INTEGER AS errors
FROM funnel($line) LEFT JOIN (SELECT cycle, count(*) AS unmade FROM {LINE}.unmade GROUP BY cycle)
  USING (cycle)
WHERE cycle <= $cycle GROUP BY cycle ORDER BY cycle"""
BLOCKED = """
SELECT gate, rule_id, count(DISTINCT artifact_id) AS blocked, min(reason) AS example FROM verdicts
  JOIN known_artifacts AS known USING (artifact_id)
WHERE known.line = $line AND outcome = 'block' AND verdicts.cycle <= $cycle GROUP BY ALL
  ORDER BY blocked DESC, gate, rule_id"""
PROPOSALS = f"""
SELECT cycle, rule_id AS rule, version, lesson, state, reason FROM {LINE}.rule_proposals WHERE cycle <= $cycle
ORDER BY state <> 'active', cycle DESC, rule_id, version"""
RULE_METRICS = (
    f"SELECT cycle, metric, value FROM {LINE}.rule_metrics WHERE rule_id IS NULL AND cycle <= $cycle "
    "ORDER BY cycle, metric"
)
KILLS = f"""
SELECT rule_id AS rule, cycle, value AS kill_rate FROM {LINE}.rule_metrics
WHERE rule_id IS NOT NULL AND value > 0 AND cycle <= $cycle ORDER BY cycle, kill_rate DESC, rule"""
FINDINGS = (
    f"SELECT title, lesson, explanation, len(evidence) AS variants FROM {LINE}.post_mortem WHERE cycle = "
    "$cycle ORDER BY finding_id"
)
YIELDS = f"""
SELECT operator, attempts, made, passed_every_gate, repairs, best_rank_now FROM (
SELECT v.operator, count(*) AS attempts, count(*) AS made, count(*)
  FILTER (b.variant_id IS NOT NULL) AS passed_every_gate, sum(v.repairs) AS repairs,
  min(r.rank) AS best_rank_now
FROM {LINE}.variants AS v LEFT JOIN (SELECT DISTINCT variant_id FROM {LINE}.benchmark_runs) AS b
  USING (variant_id)
LEFT JOIN {LINE}.consensus_ranking AS r ON r.variant_id = v.variant_id AND r.cycle = $cycle
WHERE v.cycle <= $cycle GROUP BY ALL
UNION ALL SELECT 'no variant', count(*), 0, 0, NULL, NULL FROM {LINE}.unmade WHERE cycle <= $cycle
  HAVING count(*) > 0
) ORDER BY made = 0, best_rank_now NULLS LAST, operator"""
BUILDS = f"""
SELECT v.base, count(*) AS builds, count(*) FILTER (NOT b.passed) AS failed, round(avg(b.cpu_s),
  1) AS cpu_s_each, round(sum(b.cpu_s), 1) AS cpu_s
FROM {LINE}.binaries AS b JOIN {LINE}.variants AS v USING (variant_id) WHERE b.cycle <= $cycle GROUP BY ALL
  ORDER BY v.base"""
