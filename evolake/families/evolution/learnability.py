"""What a policy can learn from which family, as far as the prompts line knows it: who is drawn as a parent,
and who is retired.

The prompts line scores every family that it trained on (its table `learnability`): 0 if every group of
replies was all right or all wrong, near 1 if half were right. A cycle of families reads the newest of these
tables when it opens and notes which, by content; a re-run reads the same ones as long as they are there with
that content. Families that the policy was not asked, among them all that are held out there, have no score:
they are drawn as the mean of those that have one, and never retired.

This chooses among families that passed every gate: `accepted` becomes `retired` and back, and `blocked`
stays. A retired family has no children and gives no further problems; its rows, its instances and its
fingerprint stay. Only the newest few tables are read, so a family that is not asked any more loses its score
after some cycles and comes back, to a policy that has learnt since.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from evolake.families.settings import FamiliesSettings
from evolake.lake import Lake

POLICY_LINE, TABLE = "prompts", "learnability"
COLUMNS = (
    "cycle",
    "arm",
    "policy",
    "family",
    "difficulty",
    "groups",
    "replies",
    "correct",
    "informative",
    "score",
)
FAMILIES = "families"
"""The source of problems that are instances of families."""
LEAST_FACTOR = 0.01
"""A family from which nothing is learnt is drawn so much more seldom, not never: the draw needs more families
than can have a score."""
RETIRED = "retired"
FEWEST_LIVE = 8
"""So many families stay at least, those with the best scores."""


@dataclass(frozen=True)
class Reading:
    """The tables that a cycle reads. rows: of LEARNABILITY_READ. kept: an earlier run of the cycle noted
    them. renewed: what it noted is gone."""

    rows: list[dict[str, Any]]
    kept: bool = False
    renewed: bool = False


def reading(
    lake: Lake, settings: FamiliesSettings, cycle: str, noted: Sequence[Mapping[str, Any]]
) -> Reading:
    """Return which tables a cycle reads: those that its earlier run noted, or the newest of finished cycles.
    None at weight 0.

    noted: rows of LEARNABILITY_READ of an earlier run of the cycle; none if there was none.
    """
    if not settings.learnability:
        return Reading([])
    wanted = [dict(row) for row in noted if row["newest"] == settings.learnability_cycles]
    if wanted and all(
        row["prompts_cycle"] is None or _sha(lake, row["prompts_cycle"]) == row["content_sha"]
        for row in wanted
    ):
        return Reading(wanted, kept=True)
    result: list[dict[str, Any]] = []
    for number in range(lake.seals.whole_up_to(POLICY_LINE) - 1, 0, -1):
        prompts_cycle = f"{number:04d}"
        sha = _sha(lake, prompts_cycle)
        if sha is not None and _of_families(lake, prompts_cycle).height:
            result.append(_note(cycle, len(result), settings, prompts_cycle, sha))
        if len(result) == settings.learnability_cycles:
            break
    return Reading(result or [_note(cycle, 0, settings, None, None)], renewed=bool(wanted))


def _note(
    cycle: str, number: int, settings: FamiliesSettings, prompts_cycle: str | None, sha: str | None
) -> dict[str, Any]:
    newest = settings.learnability_cycles
    return {
        "cycle": cycle,
        "number": number,
        "newest": newest,
        "prompts_cycle": prompts_cycle,
        "content_sha": sha,
    }


def read_scores(lake: Lake, rows: Sequence[Mapping[str, Any]], cycle: str) -> list[dict[str, Any]]:
    """Return rows of LEARNABILITY, one per family that the policy of the newest table was asked. rows: of
    LEARNABILITY_READ."""
    cycles = sorted(row["prompts_cycle"] for row in rows if row["prompts_cycle"] is not None)
    if not cycles:
        return []
    tables = [_of_families(lake, item).with_columns(cycle=pl.lit(item)) for item in cycles]
    policy = tables[-1].sort("policy")["policy"][-1]
    asked = (
        pl.concat([table.select(COLUMNS) for table in tables])
        .filter(pl.col("policy") == policy)
        .sort("family", "cycle", "arm", "difficulty")
    )
    scored: list[dict[str, Any]] = []
    for (family_id,), part in asked.group_by("family", maintain_order=True):
        items = part.to_dicts()
        groups, replies, correct, informative = (
            sum(item[name] for item in items) for name in ("groups", "replies", "correct", "informative")
        )
        taught = sum(item["score"] * (item["groups"] + 1) for item in items)
        scored.append(
            {
                "family_id": family_id,
                "cycle": cycle,
                "policy": policy,
                "prompts_cycles": list(dict.fromkeys(item["cycle"] for item in items)),
                "groups": groups,
                "replies": replies,
                "correct": correct,
                "informative": informative,
                "pass_rate": correct / replies,
                "score": min(1.0, taught / (groups + 1)),
            }
        )
    return scored


def factors(scores: Iterable[Mapping[str, Any]], weight: float) -> dict[str, float]:
    """Return family_id -> what its chance to become a parent is multiplied with, next to that of a family
    without a score, which has 1. weight: 0 to 1."""
    by_family = {row["family_id"]: row["score"] for row in scores}
    if not by_family or not weight:
        return {}
    mean = sum(by_family.values()) / len(by_family)
    unknown = max(LEAST_FACTOR, 1 - weight + weight * mean)
    return {
        family: max(LEAST_FACTOR, 1 - weight + weight * score) / unknown
        for family, score in by_family.items()
    }


def answered_text(summary: Mapping[str, Any]) -> str:
    """Return what a policy in training made of a family, from a row of LEARNABILITY."""
    return (
        f"a model in training gave {summary['pass_rate']:.0%} right answers in {summary['replies']} "
        f"replies; learnability {summary['score']:.2f} "
        "(1: half are right, 0: too easy or impossible)"
    )


def survival(
    families: Sequence[Mapping[str, Any]],
    scores: Iterable[Mapping[str, Any]],
    settings: FamiliesSettings,
    cycle: str,
) -> list[dict[str, Any]]:
    """Return rows of SURVIVAL: for each family that has a score or is retired, whether it lives on, and why.
    At weight 0 all live, the retired come back.

    families: rows of FAMILIES that are accepted or retired, in the archive's order.
    """
    known = {row["family_id"]: row for row in scores} if settings.learnability else {}
    floor, least = settings.learnability_floor, settings.learnability_groups
    ranked = sorted(
        (row["family_id"] for row in families if _below(known.get(row["family_id"]), floor, least)),
        key=lambda item: -known[item]["score"],
    )
    saved = set(ranked[: max(0, FEWEST_LIVE - (len(families) - len(ranked)))])
    retired = set(ranked) - saved
    return [
        {
            "family_id": row["family_id"],
            "cycle": cycle,
            "before": row["state"],
            "lives": row["family_id"] not in retired,
            "score": summary["score"] if summary else None,
            "groups": summary["groups"] if summary else 0,
            "floor": floor,
            "reason": _reason(summary, floor, least, saved=row["family_id"] in saved),
        }
        for row in families
        if (summary := known.get(row["family_id"])) or row["state"] == RETIRED
    ]


def _below(summary: Mapping[str, Any] | None, floor: float, least: int) -> bool:
    return summary is not None and summary["groups"] >= least and summary["score"] < floor


def _reason(summary: Mapping[str, Any] | None, floor: float, least: int, *, saved: bool) -> str:
    if summary is None:
        return "no score was read"
    asked = (
        f"{summary['correct']} of {summary['replies']} replies right, {summary['informative']} of "
        f"{summary['groups']} groups teach"
    )
    if not _below(summary, floor, least):
        return asked if summary["groups"] >= least else f"{asked}; asked in fewer than {least} groups"
    if saved:
        return f"{asked}; stays, as one of the {FEWEST_LIVE} that stay at least"
    if summary["correct"] == summary["replies"]:
        kind = "too easy"
    elif not summary["correct"]:
        kind = "impossible"
    else:
        kind = "hardly a group of both kinds"
    return f"{asked}: {kind}"


def _of_families(lake: Lake, cycle: str) -> pl.DataFrame:
    return lake.read(POLICY_LINE, TABLE, cycle).filter(pl.col("source") == FAMILIES)


def _sha(lake: Lake, cycle: str) -> str | None:
    record = lake.record(POLICY_LINE, TABLE, cycle)
    return None if record is None else record.content_sha
