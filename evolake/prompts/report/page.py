"""The prompts line's part of the page: the champion and what it says, whether it or the weights gained
anything, matches, edits, figures."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl
from markupsafe import Markup

from evolake.lake import Catalogue, Lake, following
from evolake.prompts.evolution.population import Population
from evolake.prompts.model.prompt import from_json
from evolake.prompts.report.artifacts import base_evaluation
from evolake.prompts.report.material import LINE, material_of
from evolake.prompts.report.story import START, UNKNOWN, why_no_gain
from evolake.report.champion import ANCESTRY, Champion, champion_of
from evolake.report.pages import Section, require_finished, section, sentence

PACKAGE = "evolake.prompts.report"
MATCHES = """
SELECT iteration, prompt_id[:12] AS prompt, rank + 1 AS place, round(mean_reward, 3) AS mean_reward,
  round(mu, 2) AS mu, round(sigma, 2) AS sigma
FROM prompts.ratings WHERE source = 'update' AND cycle <= $cycle ORDER BY iteration DESC, rank, prompt_id
  LIMIT 30"""
UPDATES = """
SELECT iteration, updated, informative || ' of ' || groups AS informative_groups, rollouts, rejected,
  round(correct / rollouts, 3) AS correct,
round(formatted / rollouts, 3) AS in_form, round(truncated / rollouts, 3) AS cut_off, round(mean_reward,
  3) AS mean_reward,
round(grad_norm, 3) AS grad_norm, round(kl, 5) AS kl, checkpoint_sha[:12] AS checkpoint
FROM prompts.updates WHERE cycle <= $cycle ORDER BY iteration DESC LIMIT 30"""
EDITS = """
SELECT kind, count(*) AS proposed, count(*) FILTER (applied) AS applied FROM prompts.edits
  WHERE cycle <= $cycle AND kind <> 'none'
GROUP BY ALL ORDER BY proposed DESC, kind"""
REASONS = """
SELECT reason, count(*) AS times FROM prompts.edits WHERE cycle <= $cycle AND NOT applied AND reason <> ''
  GROUP BY ALL
ORDER BY times DESC, reason LIMIT 12"""
DUELS = """
SELECT cycle, champion_id[:12] AS champion, challenger_id[:12] AS challenger, wins, reason, problems
  FROM prompts.champion
WHERE cycle <= $cycle ORDER BY cycle"""
FED = """
SELECT coalesce(known.title, feed.family[:12]) AS family, feed.difficulty, feed.reason, round(feed.score,
  3) AS score_before, count(*) AS problems,
any_value(learnt.correct || ' of ' || learnt.replies) AS right_replies, round(any_value(learnt.score),
  3) AS score
FROM prompts.feed AS feed LEFT JOIN prompts.learnability AS learnt USING (cycle, family, difficulty)
LEFT JOIN known_artifacts AS known ON known.artifact_id = feed.family
WHERE feed.cycle = $cycle AND (learnt.source IS NULL OR learnt.source = 'families')
GROUP BY ALL ORDER BY score DESC NULLS LAST, family, feed.difficulty"""
BLOCKED = """
SELECT cycle, prompt_id[:12] AS prompt, gate, rule_id, reason FROM prompts.accepted WHERE cycle <= $cycle
  AND NOT passed ORDER BY ALL"""


def prompts_section(root: Path, cycle: str) -> Section:
    """Return the section of one finished cycle. Raises InputError where the cycle is not finished."""
    lake = Lake(root)
    require_finished(lake, LINE, cycle)
    material = material_of(lake, following(cycle))
    population, heldout = material.population, lake.read(LINE, "heldout", cycle)
    base = base_evaluation(lake)
    with Catalogue(lake) as catalogue:
        held = champion_of(lake, catalogue, LINE, cycle)
        assert held is not None, "a root is champion from the seeds on"
        asked = {
            name: catalogue.frame(sql, {"cycle": cycle})
            for name, sql in (
                ("matches", MATCHES),
                ("updates", UPDATES),
                ("edits", EDITS),
                ("reasons", REASONS),
                ("duels", DUELS),
                ("blocked", BLOCKED),
                *([("fed", FED)] if lake.record(LINE, "feed", cycle) else []),
            )
        } | {"ancestry": catalogue.frame(ANCESTRY, {"id": held.artifact_id})}
        start = catalogue.frame(START, {"cycle": cycle}).to_dicts()[0]
        policies = catalogue.frame(
            "SELECT DISTINCT policy, arm FROM prompts.updates WHERE cycle <= $cycle ORDER BY ALL",
            {"cycle": cycle},
        )
        backends = catalogue.frame(
            "SELECT DISTINCT origin FROM prompts.children WHERE cycle <= $cycle ORDER BY ALL",
            {"cycle": cycle},
        )
        sources = catalogue.frame(
            "SELECT source, split, count(*) AS problems FROM prompts.problems WHERE cycle = $cycle GROUP "
            "BY ALL ORDER BY ALL",
            {"cycle": cycle},
        )
    champion = population.row(held.artifact_id)
    lead = headline(champion, held, why_no_gain(held.artifact_id, start))
    return section(
        PACKAGE,
        LINE,
        cycle,
        lead,
        material,
        asked=asked,
        sources=sources,
        prompts=prompts_table(population),
        held=held_table(population, heldout, base),
        principles=from_json(champion["principles"]).text(),
        editors=backends["origin"].to_list(),
        policies=policies["policy"].to_list(),
        arms=policies["arm"].unique().to_list(),
    )


def headline(champion: Mapping[str, Any], held: Champion, no_gain: str = UNKNOWN) -> Markup:
    """Return the champion with its rating, and what it and the weights gained. champion: its row of PROMPTS.
    no_gain: said if none was measured."""
    return sentence(
        PACKAGE, "headline.html.j2", champion=champion, since=held.since, gain=held.gain, no_gain=no_gain
    )


def held_table(population: Population, heldout: pl.DataFrame, base: pl.DataFrame) -> pl.DataFrame:
    """Return shares a prompt, of this cycle's evaluation and of the base model's."""
    rows = []
    for name, frame in (
        ("base model", base),
        ("now", heldout.filter(pl.col("iteration") == population.iteration)),
    ):
        for (prompt,), part in sorted(frame.group_by("prompt_id"), key=lambda item: str(item[0])):
            row = population.row(str(prompt))
            rows.append(
                {
                    "weights": name,
                    "prompt": row["prompt_id"][:12],
                    "what": "champion" if row["state"] == "champion" else row["operator"],
                    "problems": part["problem_id"].n_unique(),
                    "correct": _share(part, "correct"),
                    "in_form": _share(part, "formatted"),
                    "cut_off": _share(part, "truncated"),
                    "tokens": round(float(part["tokens"].mean() or 0), 1),  # pyright: ignore
                }
            )
    return pl.DataFrame(rows)


def prompts_table(population: Population) -> pl.DataFrame:
    """Return every prompt, best rated first."""
    rows = sorted(population.rows(), key=lambda row: (-row["mu"], row["number"]))
    return pl.DataFrame(
        [
            {
                "prompt": row["prompt_id"][:12],
                "state": row["state"],
                "operator": row["operator"],
                "born": row["cycle"],
                "principles": row["size"],
                "mu": round(row["mu"], 2),
                "sigma": round(row["sigma"], 2),
                "matches": row["rounds"],
                "parents": ", ".join(parent[:6] for parent in row["parents"]),
            }
            for row in rows
        ]
    )


def _share(frame: pl.DataFrame, column: str) -> str:
    return f"{float(frame[column].mean() or 0):.1%}"  # pyright: ignore[reportArgumentType]
