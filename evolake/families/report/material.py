"""What the report of a cycle of the families line says, from tables up to the cycle and no further; and which
families are near-duplicates of each other.

The gate compares each new family with the known ones by the same measure; this compares all pairs in one
pass. Answers are compared as a matrix, and sketches of code only where the rule could still object, so a
thousand families take seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from evolake.families.dataset.datasets import LINE, archive_after
from evolake.families.dataset.difficulty import work_in
from evolake.families.evolution.learnability import FAMILIES as FAMILIES_SOURCE
from evolake.families.evolution.learnability import POLICY_LINE, TABLE
from evolake.families.gates.checkers import near_duplicate
from evolake.families.gates.specs import GATE_NAMES
from evolake.families.model.population import PASSED, Population
from evolake.families.model.similarity import Fingerprint, jaccard
from evolake.families.tables import DRIFT_SUMMARY, GRADES, KILL_RATES
from evolake.families.tables_faults import TABLES
from evolake.lake import Catalogue, Lake
from evolake.report.status import finished, sealed_cycles


def duplicate_pairs(
    fingerprints: Sequence[Fingerprint], parameters: Mapping[str, Any]
) -> list[tuple[str, str, str]]:
    """Return (family, the earlier one that it doubles, why), in order of the families.

    Args:
        parameters: those of the rule that checks `families.near_duplicate`.
    """
    agreement = answer_agreement(fingerprints)
    pairs = []
    for place, ours in enumerate(fingerprints):
        for earlier in range(place):
            other, answers = fingerprints[earlier], float(agreement[place, earlier])
            same = ours.code_sha == other.code_sha
            if not same and answers < min(parameters["answers"], parameters["both"]):
                continue
            seen = {
                "family_id": other.family_id,
                "name": other.name,
                "code": jaccard(ours.sketch, other.sketch),
                "answers": answers,
                "same_code": same,
                "answer_values": len(set(ours.answers)),
            }
            if finding := near_duplicate({"nearest": [seen]}, **parameters):
                pairs.append((ours.family_id, other.family_id, finding.reason))
    return pairs


def answer_agreement(fingerprints: Sequence[Fingerprint]) -> np.ndarray:
    """Return (n, n): the share of answers on the shared seeds that two families have in common, over the
    seeds that both have."""
    longest = max((len(fingerprint.answers) for fingerprint in fingerprints), default=0)
    numbers: dict[str, int] = {}
    coded = np.full((len(fingerprints), longest), -1)
    for place, item in enumerate(fingerprints):
        coded[place, : len(item.answers)] = [numbers.setdefault(key, len(numbers)) for key in item.answers]
    same, both = (
        np.zeros((len(fingerprints), len(fingerprints))),
        np.zeros((len(fingerprints), len(fingerprints))),
    )
    for column in coded.T:
        given = column >= 0
        shared = given[:, None] & given[None, :]
        same += shared & (column[:, None] == column[None, :])
        both += shared
    return same / np.maximum(both, 1)


SEED = "seed"
KILLS = "fault_kill_rates"
ASKED = {"difficulty": pl.Int64, "replies": pl.Int64, "correct": pl.Int64}


@dataclass(frozen=True)
class FamiliesReport:
    """Everything the section of one cycle shows. `population` leaves the cycle. Frames hold what is printed,
    or rows of the line's tables.

    duplicates: pairs of accepted families that the near-duplicate rule would object to. measured: COMPLEXITY
    of every accepted family. made: accepted families, seeds that entered and instances by cycle. came: seeds
    that were added to the lake, and what became of them. funnel, resources: of all cycles together. kills:
    KILL_RATES, empty where they were never materialized. work: `dataset.difficulty.WORK` of every accepted
    family. asked: difficulty, replies, correct of policies of the prompts line on these families.
    """

    cycle: str
    backend: str
    population: Population
    duplicates: list[tuple[str, str, str]]
    measured: pl.DataFrame
    made: pl.DataFrame
    came: pl.DataFrame
    labels: dict[str, int]
    gates: pl.DataFrame
    funnel: pl.DataFrame
    resources: pl.DataFrame
    costs: dict[str, Any]
    blocked: pl.DataFrame
    yields: pl.DataFrame
    failures: pl.DataFrame
    dropped: pl.DataFrame
    reviews: pl.DataFrame
    drift: pl.DataFrame
    kills: pl.DataFrame
    grades: pl.DataFrame
    experience: pl.DataFrame
    examples: list[dict[str, Any]]
    work: pl.DataFrame
    asked: pl.DataFrame

    @property
    def accepted(self) -> list[dict[str, Any]]:
        """Rows of FAMILIES that passed every gate, seeds and retired ones among them."""
        return self.population.rows(*PASSED)

    @property
    def retired(self) -> list[dict[str, Any]]:
        """Those from which a policy learns nothing (`evolution.learnability`)."""
        return self.population.rows("retired")

    @property
    def evolved(self) -> list[dict[str, Any]]:
        """The accepted ones that are no seeds."""
        return [row for row in self.accepted if row["operator"] != SEED]


def read_report(root: Path, cycle: str) -> FamiliesReport:
    """Return the report of `cycle`.

    Raises:
        InputError: the lake has no such line or no such finished cycle.
    """
    lake = finished(root, LINE, cycle)
    population = archive_after(lake, cycle)
    with Catalogue(lake, {(LINE, asset): schema for asset, schema in TABLES.items()}) as catalogue:

        def ask(sql: str, **more: str) -> pl.DataFrame:
            return catalogue.frame(sql, {"cycle": cycle} | more)

        backends = ask(
            "SELECT DISTINCT backend FROM calls WHERE line = $line AND cycle = $cycle ORDER BY backend",
            line=LINE,
        )["backend"].to_list()
        return FamiliesReport(
            cycle=cycle,
            backend=", ".join(backends) or "none",
            population=population,
            duplicates=duplicate_pairs(fingerprints(population.rows("accepted")), DUPLICATE),
            measured=ask(MEASURED),
            made=with_entered(ask(MADE), ask(ENTERED)),
            came=ask(CAME),
            labels=ask(LABELS).to_dicts()[0],
            gates=ask(GATES),
            funnel=ask(FUNNEL),
            resources=ask(RESOURCES),
            costs=ask(COSTS, line=LINE).to_dicts()[0],
            blocked=ask(BLOCKED, line=LINE),
            yields=ask(YIELDS),
            failures=ask(FAILURES),
            dropped=ask(DROPPED),
            reviews=ask(REVIEWS),
            drift=lake.read(LINE, DRIFT_SUMMARY.name, cycle),
            kills=_unpartitioned(lake, KILLS, KILL_RATES),
            grades=_unpartitioned(lake, GRADES.name, GRADES),
            experience=population.experience.sort("number"),
            examples=ask(EXAMPLES).to_dicts(),
            work=work_in(population.rows(*PASSED), lake.blobs),
            asked=asked_of(lake, [row["family_id"] for row in population.rows(*PASSED)]),
        )


def with_entered(made: pl.DataFrame, entered: pl.DataFrame) -> pl.DataFrame:
    """Return MADE with the column `entered`: seeds that were added and that every gate let through."""
    return made.join(entered, on="cycle", how="left", maintain_order="left").with_columns(
        pl.col("entered").fill_null(0)
    )


def asked_of(lake: Lake, families: Sequence[str]) -> pl.DataFrame:
    """Return difficulty, replies, correct: how often policies were right in the finished cycles of the
    prompts line, on instances of these families."""
    tables = [
        lake.read(POLICY_LINE, TABLE, cycle).select("source", "family", "difficulty", "replies", "correct")
        for cycle in sealed_cycles(lake, POLICY_LINE)
        if lake.record(POLICY_LINE, TABLE, cycle)
    ]
    asked = (
        pl.concat(tables)
        if tables
        else pl.DataFrame(schema=dict.fromkeys(("source", "family"), pl.String) | ASKED)
    )
    of_ours = asked.filter((pl.col("source") == FAMILIES_SOURCE) & pl.col("family").is_in(families))
    return (
        of_ours.group_by("difficulty")
        .agg(pl.col("replies", "correct").sum())
        .filter(pl.col("replies") > 0)
        .sort("difficulty")
    )


def _unpartitioned(lake: Lake, name: str, schema: Any) -> pl.DataFrame:
    return lake.read(LINE, name, None) if lake.record(LINE, name, None) else schema.empty()


DUPLICATE = {"answers": 0.95, "both": 0.8, "least_values": 3}
"""Parameters of the shipped rule `families-near-duplicate`: the measure that the page states, whatever rules
are in force."""


def fingerprints(rows: Sequence[dict[str, Any]]) -> list[Fingerprint]:
    """Of rows of FAMILIES, those that have one."""
    return [Fingerprint.from_json(row["fingerprint"]) for row in rows if row["fingerprint"]]


MEASURED = f"""
SELECT c.* FROM {LINE}.complexity AS c JOIN (
  SELECT family_id FROM {LINE}.accepted WHERE cycle <= $cycle UNION SELECT family_id FROM {LINE}.seeds
    WHERE state = 'accepted'
  UNION SELECT artifact_id FROM {LINE}.immigrants WHERE state = 'accepted' AND cycle <= $cycle)
    USING (family_id)
WHERE c.cycle <= $cycle AND c.parsed QUALIFY row_number() OVER (PARTITION BY c.family_id
  ORDER BY c.cycle) = 1 ORDER BY c.cycle, c.family_id"""
MADE = f"""
WITH families AS (SELECT cycle, count(*) AS accepted FROM {LINE}.accepted GROUP BY cycle),
  instances AS (SELECT cycle, count(*) AS instances FROM {LINE}.instances GROUP BY cycle),
  tried AS (SELECT cycle, count(DISTINCT attempt) AS attempts, count(*) AS versions FROM {LINE}.candidates
    GROUP BY cycle)
SELECT cycle, coalesce(attempts, 0) AS attempts, coalesce(versions, 0) AS versions, coalesce(accepted,
  0) AS accepted,
  coalesce(instances, 0) AS instances
FROM tried FULL JOIN families USING (cycle) FULL JOIN instances USING (cycle) WHERE cycle <= $cycle
  ORDER BY cycle"""
ENTERED = f"""
SELECT cycle, count(DISTINCT artifact_id) AS entered FROM {LINE}.immigrants WHERE state = 'accepted'
  AND cycle <= $cycle GROUP BY cycle"""
CAME = f"""
SELECT cycle, name, state, artifact_id AS family_id, reason FROM {LINE}.immigrants WHERE cycle <= $cycle
  ORDER BY cycle, name"""
LABELS = f"""
SELECT count(*) AS instances, count(*) FILTER (2 * votes > voters) AS by_majority, count(*)
  FILTER (votes = voters) AS unanimous,
  count(DISTINCT text_sha) AS texts, count(DISTINCT family_id) AS families
FROM {LINE}.instances WHERE cycle <= $cycle"""
GATES = f"""
SELECT gate, any_value(gate_no) AS gate_no, sum(came)::INTEGER AS came, sum(passed)::INTEGER AS passed
  FROM {LINE}.funnel
WHERE operator = 'all' AND cycle <= $cycle GROUP BY gate
ORDER BY list_position({[*GATE_NAMES, "attempts"]}, gate)"""
FUNNEL = f"""
SELECT operator, sum(came) FILTER (gate = 'attempts')::INTEGER AS attempts, sum(passed)
  FILTER (gate = 'attempts')::INTEGER AS accepted,
  sum(came) FILTER (gate = '{GATE_NAMES[0]}')::INTEGER AS versions,
  {", ".join(f"sum(passed) FILTER (gate = '{gate}')::INTEGER AS passed_{gate}" for gate in GATE_NAMES)}
FROM {LINE}.funnel WHERE cycle <= $cycle GROUP BY operator ORDER BY operator <> 'all', operator"""
RESOURCES = f"""
SELECT outcome, sum(attempts)::INTEGER AS attempts, sum(versions)::INTEGER AS versions,
  sum(calls_mean * attempts) / sum(attempts) AS jail_calls,
    sum(cpu_s_mean * attempts) / sum(attempts) AS cpu_s,
  sum(wall_s_mean * attempts) / sum(attempts) AS wall_s, sum(tokens)::BIGINT AS tokens, sum(usd) AS usd
FROM {LINE}.resources WHERE cycle <= $cycle AND attempts > 0 GROUP BY outcome
ORDER BY list_position(['accepted', 'rejected', 'all'], outcome)"""
COSTS = """
SELECT count(*) AS calls, coalesce(sum(input_tokens), 0)::BIGINT AS input_tokens,
  coalesce(sum(output_tokens), 0)::BIGINT AS output_tokens,
  coalesce(sum(usd), 0.0) AS usd
FROM calls WHERE line = $line AND cycle <= $cycle"""
BLOCKED = """
SELECT gate, rule_id, count(DISTINCT artifact_id) AS blocked, min(reason) AS example FROM verdicts
  JOIN known_artifacts AS known USING (artifact_id)
WHERE known.line = $line AND outcome = 'block' AND verdicts.cycle <= $cycle GROUP BY ALL
  ORDER BY blocked DESC, gate, rule_id"""
YIELDS = f"""
SELECT a.operator, count(*) AS accepted, count(*) FILTER (len(a.parents) > 1) AS of_two_parents,
  count(DISTINCT a.category) AS categories
FROM {LINE}.accepted AS a WHERE a.cycle <= $cycle GROUP BY ALL ORDER BY accepted DESC, a.operator"""
FAILURES = f"""
SELECT kind, gate, rule_id, count(DISTINCT family_id) AS families, min(lesson) AS lesson FROM {LINE}.failures
WHERE cycle <= $cycle GROUP BY ALL ORDER BY families DESC, kind, rule_id"""
DROPPED = (
    f"SELECT reason, sum(instances)::INTEGER AS instances FROM {LINE}.dropped_instances WHERE cycle <= "
    "$cycle GROUP BY ALL ORDER BY reason"
)
REVIEWS = f"""
SELECT matches, count(*) AS families FROM (
  SELECT cycle, family_id, count(*) FILTER (matched) AS matches FROM {LINE}.blind_reviews
    WHERE cycle <= $cycle GROUP BY ALL
) GROUP BY matches ORDER BY matches"""
EXAMPLES = f"""
SELECT a.operator, a.title, a.family_id, a.category, i.difficulty, i.text, i.answer, i.votes, i.voters
FROM {LINE}.accepted AS a JOIN {LINE}.instances AS i ON i.family_id = a.family_id AND i.cycle = a.cycle
  WHERE a.cycle = $cycle
QUALIFY row_number() OVER (PARTITION BY a.operator ORDER BY length(i.text), i.instance_id) = 1
  ORDER BY a.operator"""
