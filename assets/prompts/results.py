"""What the iterations gave, each table its own asset, and the gates of record: every child is judged by the
rules in force, and only what passed enters the next cycle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import dagster as dg
import polars as pl

from assets.prompts.line import archive, called, line, rules, shown, unverified
from assets.shown import markdown
from assets.store import LineStore
from evolake.lake import RULES, VERDICTS
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.tables import (
    EDITS,
    FAILED_PROPOSALS,
    GATED,
    LEARNABILITY,
    PROMPTS,
    RATINGS,
    ROLLOUTS,
    UPDATES,
    VALUES,
)
from resources.lake import LakeResource


def journalled(store: LineStore, iterations: pl.DataFrame, table: str) -> list[dict[str, Any]]:
    """Return rows of one table of all iterations of a cycle."""
    from evolake.prompts.evolution.training_cycle import read_entry

    return [
        row
        for sha in iterations.sort("number")["entry_sha"]
        for row in read_entry(store.blobs.get(sha)).rows[table]
    ]


@line.asset(schema=ROLLOUTS)
def rollouts(context: dg.AssetExecutionContext, lake: LakeResource, iterations: pl.DataFrame) -> pl.DataFrame:
    """Every reply with its verdict and its reward."""
    store = LineStore(line, context, lake)
    frame = ROLLOUTS.frame(journalled(store, iterations, "rollouts"))
    store.tell(
        {
            "prompts": frame["prompt_id"].n_unique(),
            "problems": frame["problem_id"].n_unique(),
            "cut_off": shown(frame["truncated"].mean()),  # pyright: ignore
            "rejected": frame["reward"].null_count(),
        }
        | unverified(frame)
        | called(frame)
    )
    return frame


@line.asset(deps=["rollouts"], schema=VALUES)
def values(context: dg.AssetExecutionContext, lake: LakeResource, iterations: pl.DataFrame) -> pl.DataFrame:
    """Mean reward of each prompt on each problem of each iteration: what advantages are relative to and ranks
    come from."""
    store = LineStore(line, context, lake)
    frame = VALUES.frame(journalled(store, iterations, "values"))
    undecided = frame.filter((pl.col("value") > 0) & (pl.col("correct") < pl.col("rollouts"))).height
    store.tell(
        {
            "with_success_and_failure": f"{undecided} of {frame.height}",
            "mean_value": frame["value"].mean() or 0.0,
        }
    )  # pyright: ignore
    return frame


@line.asset(deps=["values"], schema=RATINGS)
def ratings(context: dg.AssetExecutionContext, lake: LakeResource, iterations: pl.DataFrame) -> pl.DataFrame:
    """TrueSkill ratings after each iteration's match, and those that children were born with."""
    store = LineStore(line, context, lake)
    frame = RATINGS.frame(journalled(store, iterations, "ratings"))
    last = (
        frame.sort("iteration")
        .group_by("prompt_id", maintain_order=True)
        .last()
        .sort("mu", descending=True)
        .head(3)
    )
    parts = [f"{row['prompt_id'][:12]}: {row['mu']:.2f} ± {row['sigma']:.2f}" for row in last.to_dicts()]
    store.tell({f"best_{place}": text for place, text in enumerate(parts, 1)})
    return frame


@line.asset(schema=UPDATES)
def updates(context: dg.AssetExecutionContext, lake: LakeResource, iterations: pl.DataFrame) -> pl.DataFrame:
    """Record what each iteration did to the weights: loss, gradient norm, KL, groups that taught something,
    checkpoint."""
    store = LineStore(line, context, lake)
    frame = UPDATES.frame(journalled(store, iterations, "updates"))
    store.tell(
        {
            "updated": int(frame["updated"].sum()),
            "informative_groups": f"{int(frame['informative'].sum())} of {int(frame['groups'].sum())}",
            "grad_norms": ", ".join(f"{norm:.3g}" for norm in frame["grad_norm"].drop_nulls()) or "none",
        }
    )
    return frame


@line.asset(schema=LEARNABILITY)
def learnability(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    problems: pl.DataFrame,
    rollouts: pl.DataFrame,
    updates: pl.DataFrame,
) -> pl.DataFrame:
    """Measure what the policy can learn from which family, between too easy and impossible, and what moved
    where it was asked again. Of replies that the cycle has anyway, to problems that may be trained on."""
    from evolake.lake import preceding
    from evolake.prompts.learnability import learnability_rows

    store = LineStore(line, context, lake)
    before = preceding(store.cycle)
    there = before is not None and all(
        store.lake.record(line.name, name, before) is not None for name in ("rollouts", "updates")
    )
    frame = LEARNABILITY.frame(
        learnability_rows(
            rollouts,
            problems,
            policies_of(updates),
            group_size=store.settings.of(PromptsSettings).rollouts,
            cycle=store.cycle,
            root_seed=store.settings.seed,
            before=store.lake.read(line.name, "rollouts", before) if there else None,
            policies_before=policies_of(store.lake.read(line.name, "updates", before)) if there else None,
        )
    )
    learnt = frame.filter(pl.col("score") > 0)
    store.tell(
        {
            "families": frame["family"].n_unique(),
            "families_that_teach": learnt["family"].n_unique(),
            "groups": int(frame["groups"].sum()),
            "informative_groups": int(frame["informative"].sum()),
            "asked_again": int(frame["repeated"].sum()),
        }
    )
    return frame


def policies_of(updates: pl.DataFrame) -> dict[int, str]:
    """Return iteration -> the policy's name."""
    return dict(updates.select("iteration", "policy").iter_rows())


@line.asset(schema=EDITS)
def edits(context: dg.AssetExecutionContext, lake: LakeResource, iterations: pl.DataFrame) -> pl.DataFrame:
    """Every hunk that was proposed, applied or not and why; calls that gave no reply; why there was no
    child."""
    from evolake.prompts.edit_memory import failed_rows

    store = LineStore(line, context, lake)
    frame = EDITS.frame(journalled(store, iterations, "edits"))
    store.extra(FAILED_PROPOSALS, failed_rows(frame.to_dicts()))
    hunks = frame.filter(pl.col("kind") != "none")
    reasons = (
        frame.filter(~pl.col("applied"))
        .group_by("reason")
        .len()
        .sort("len", "reason", descending=[True, False])
        .head(3)
    )
    details = {
        f"not_applied_{place}": f"{count} times: {reason}"
        for place, (reason, count) in enumerate(reasons.iter_rows(), 1)
    }
    store.tell({"hunks": hunks.height, "applied": int(hunks["applied"].sum())} | details)
    return frame


@line.asset(deps=[line.incoming, "edits"], schema=PROMPTS)
def children(context: dg.AssetExecutionContext, lake: LakeResource, iterations: pl.DataFrame) -> pl.DataFrame:
    """System prompts that were born in this cycle, as they were at birth or after the matches since."""
    from evolake.prompts.evolution.training_cycle import read_entry
    from evolake.prompts.model.prompt import from_json

    store = LineStore(line, context, lake)
    before, after = (
        archive(store),
        read_entry(store.blobs.get(iterations.sort("number")["entry_sha"][-1])).population,
    )
    old = {row["prompt_id"] for row in before.rows()}
    rows = [row for row in after.rows() if row["prompt_id"] not in old]
    store.artifacts(rows, "candidate")
    store.derivations(
        after.derivations.filter(pl.col("child_id").is_in([row["prompt_id"] for row in rows])).to_dicts()
    )
    if not rows:
        store.warn("no child was born in this cycle; the earlier prompts stay")
    texts = {
        f"{row['operator']}_{row['number']}": markdown(
            from_json(row["principles"]).text().replace("\n", "  \n")
        )
        for row in rows[:4]
    }
    store.tell(
        {"children": len(rows), "crossovers": sum(row["operator"] == "crossover" for row in rows)} | texts
    )
    return PROMPTS.frame(rows)


@line.asset(deps=[line.incoming, rules], schema=GATED)
def accepted(
    context: dg.AssetExecutionContext,
    lake: LakeResource,
    problems: pl.DataFrame,
    edits: pl.DataFrame,
    children: pl.DataFrame,
) -> pl.DataFrame:
    """Which children passed: lineage replayed from its edits, size, that they are new, and no problem in
    them."""
    from evolake.prompts.gates import Newborn, evidence_bytes, run_gates

    store = LineStore(line, context, lake)
    cycle, ruleset, before = store.cycle, store.rules(), archive(store)
    population = replace(before, prompts=pl.concat([before.prompts, children]))
    rows: list[dict[str, Any]] = []
    verdicts: list[dict[str, Any]] = []
    for child in children.to_dicts():
        judged = run_gates(
            Newborn(child, population, edits.to_dicts(), problems.to_dicts()),
            ruleset,
            cycle=cycle,
            run_id=store.run_id,
        )
        evidence = store.blobs.put(evidence_bytes(judged.seen))
        objection = judged.blocked_by
        rows.append(
            {
                "prompt_id": child["prompt_id"],
                "cycle": cycle,
                "passed": judged.accepted,
                "gate": objection.gate if objection else None,
                "rule_id": objection.rule_id if objection else None,
                "reason": objection.reason if objection else None,
                "evidence_sha": evidence,
            }
        )
        verdicts += [verdict.row() | {"evidence_sha": evidence} for verdict in judged.verdicts]
    store.side(VERDICTS, verdicts)
    store.side(RULES, ruleset.rows())
    passed = sum(row["passed"] for row in rows)
    context.add_output_metadata(
        {"passed": passed, "blocked": len(rows) - passed, "evidence": f"0 reused, {len(rows)} made"}
    )
    return GATED.frame(rows)
