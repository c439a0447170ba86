"""What the report of a cycle of the families line says, from tables up to the cycle and no further; and which
families are near-duplicates of each other.

The gate compares each new family with the known ones by the same measure; this compares all pairs in one
pass. Answers are compared as a matrix, and sketches of code only where the rule could still object, so a
thousand families take seconds.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
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
from evolake.lake import Lake
from evolake.report.finished_cycle import FinishedCycle, passed_gates, questions
from evolake.report.status import sealed_cycles


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


QUESTIONS = questions(
    "evolake.families.report",
    "page.sql",
    order=str([*GATE_NAMES, "attempts"]),
    first=GATE_NAMES[0],
    passed=passed_gates(GATE_NAMES),
)
SEED = "seed"
KILLS = "fault_kill_rates"
ASKED = {"difficulty": pl.Int64, "replies": pl.Int64, "correct": pl.Int64}


@dataclass(frozen=True)
class FamiliesReport:
    """What the section of one cycle shows. tables: its questions' answers. `population` leaves the cycle.

    duplicates: pairs of accepted families that the near-duplicate rule would object to. kills: KILL_RATES,
    empty where they were never materialized. work: `dataset.difficulty.WORK` of every accepted family. asked:
    difficulty, replies, correct of policies of the prompts line on these families.
    """

    tables: Mapping[str, pl.DataFrame]
    population: Population
    duplicates: list[tuple[str, str, str]]
    drift: pl.DataFrame
    kills: pl.DataFrame
    grades: pl.DataFrame
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


def families_report(report: FinishedCycle) -> FamiliesReport:
    """Return what is shown of a finished cycle."""
    lake, population = report.lake, archive_after(report.lake, report.cycle)
    passed = population.rows(*PASSED)
    return FamiliesReport(
        tables=report.tables,
        population=population,
        duplicates=duplicate_pairs(fingerprints(population.rows("accepted")), DUPLICATE),
        drift=lake.read(LINE, DRIFT_SUMMARY.name, report.cycle),
        kills=_unpartitioned(lake, KILLS, KILL_RATES),
        grades=_unpartitioned(lake, GRADES.name, GRADES),
        work=work_in(passed, lake.blobs),
        asked=asked_of(lake, [row["family_id"] for row in passed]),
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
