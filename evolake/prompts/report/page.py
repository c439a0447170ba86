"""The prompts line's part of the page: the champion and what it says, whether it or the weights gained anything, matches, edits, figures."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import polars as pl

from evolake.errors import InputError
from evolake.lake import Catalogue, Lake, following
from evolake.prompts.evolution.population import Population
from evolake.prompts.model.prompt import from_json
from evolake.prompts.report.figures import LINE, cycle_figures, population_entering
from evolake.report.html import Section, esc, picture, section
from evolake.seeds import generator
from evolake.stats.bootstrap import bootstrap_interval

MATCHES = """
SELECT iteration, prompt_id[:12] AS prompt, rank + 1 AS place, round(mean_reward, 3) AS mean_reward, round(mu, 2) AS mu, round(sigma, 2) AS sigma
FROM prompts.ratings WHERE source = 'update' AND cycle <= $cycle ORDER BY iteration DESC, rank, prompt_id LIMIT 30"""
UPDATES = """
SELECT iteration, updated, informative || ' of ' || groups AS informative_groups, rollouts, rejected, round(correct / rollouts, 3) AS correct,
round(formatted / rollouts, 3) AS in_form, round(truncated / rollouts, 3) AS cut_off, round(mean_reward, 3) AS mean_reward,
round(grad_norm, 3) AS grad_norm, round(kl, 5) AS kl, checkpoint_sha[:12] AS checkpoint
FROM prompts.updates WHERE cycle <= $cycle ORDER BY iteration DESC LIMIT 30"""
EDITS = """
SELECT kind, count(*) AS proposed, count(*) FILTER (applied) AS applied FROM prompts.edits WHERE cycle <= $cycle AND kind <> 'none'
GROUP BY ALL ORDER BY proposed DESC, kind"""
REASONS = """
SELECT reason, count(*) AS times FROM prompts.edits WHERE cycle <= $cycle AND NOT applied AND reason <> '' GROUP BY ALL
ORDER BY times DESC, reason LIMIT 12"""
DUELS = """
SELECT cycle, champion_id[:12] AS champion, challenger_id[:12] AS challenger, wins, reason, problems FROM prompts.champion
WHERE cycle <= $cycle ORDER BY cycle"""
BLOCKED = """
SELECT cycle, prompt_id[:12] AS prompt, gate, rule_id, reason FROM prompts.accepted WHERE cycle <= $cycle AND NOT passed ORDER BY ALL"""


def prompts_section(root: Path, cycle: str) -> Section:
    """The section of one finished cycle. Raises InputError where the cycle is not finished."""
    lake = Lake(root)
    seal = lake.seals.read(LINE, following(cycle))
    if seal is None or seal.state != "sealed":
        raise InputError(f"cycle {cycle} of the prompts line is not finished", do="evolake run --lines prompts")
    population, heldout = population_entering(lake, following(cycle)), lake.read(LINE, "heldout", cycle)
    base = lake.read(LINE, "heldout", "0001").filter(pl.col("iteration") == 0)
    figures = cycle_figures(lake, following(cycle))
    with Catalogue(lake) as catalogue:
        asked = {name: catalogue.frame(sql, {"cycle": cycle}) for name, sql in (
            ("matches", MATCHES), ("updates", UPDATES), ("edits", EDITS), ("reasons", REASONS), ("duels", DUELS), ("blocked", BLOCKED),
        )}
        policies = catalogue.frame("SELECT DISTINCT policy, arm FROM prompts.updates WHERE cycle <= $cycle ORDER BY ALL", {"cycle": cycle})
        backends = catalogue.frame("SELECT DISTINCT origin FROM prompts.children WHERE cycle <= $cycle ORDER BY ALL", {"cycle": cycle})
        sources = catalogue.frame("SELECT source, split, count(*) AS problems FROM prompts.problems WHERE cycle = $cycle GROUP BY ALL ORDER BY ALL",
                                  {"cycle": cycle})
    lead = headline(population, heldout, base)
    editors = ", ".join(backends["origin"].to_list()) or "nobody yet"
    note = f"policy {', '.join(policies['policy'])}; arm {', '.join(policies['arm'].unique())}; prompts edited by {editors}"
    champion = population.row(population.champion_id or "")
    parts = [
        f"<h1>Cycle {cycle} of the prompts line</h1>", f'<p class="note">{esc(note)}</p>', f'<p class="lead">{lead}</p>',
        f"<h2>The champion's principles</h2><pre>{esc(_told(champion))}</pre>",
        *(picture(title, png) for title, png in figures.items()),
        section("Held-out problems", held_table(population, heldout, base)),
        '<p class="note">Held-out problems choose nothing: duels are fought on problems of the training split. In form: the reply ends as it was '
        "asked to. A small model learns that long before anything else.</p>",
        section("Duels for the reign", asked["duels"]), section("Matches", asked["matches"]), section("Updates of the weights", asked["updates"]),
        section("Edits", asked["edits"]), section("Why edits were not applied", asked["reasons"]), section("Blocked by a gate", asked["blocked"]),
        section("Problems of this cycle", sources), section("Prompts", prompts_table(population)),
    ]
    return Section(LINE, cycle, lead, parts, figures)


def headline(population: Population, heldout: pl.DataFrame, base: pl.DataFrame) -> str:
    """Champion and weights now against the first root under the base model, on the same held-out problems, with the interval of the difference."""
    champion = population.row(population.champion_id or "")
    now = _shares(heldout.filter((pl.col("prompt_id") == champion["prompt_id"]) & (pl.col("iteration") == population.iteration)))
    start = _shares(base)
    who = f"The champion is <b>{esc(champion['prompt_id'][:12])}</b> ({esc(champion['operator'])}, {champion['size']} principles), rated "
    who += f"{champion['mu']:.2f} ± {champion['sigma']:.2f}."
    both = sorted(set(now) & set(start))
    if not both:
        return who + " The base model was evaluated on other problems, so there is nothing to compare with."
    gained = bootstrap_interval([now[name] - start[name] for name in both], generator(0, LINE, "0000", "headline", 0))
    mean_now, mean_start = (sum(side[name] for name in both) / len(both) for side in (now, start))
    said = f" With the weights as they are now it solves <b>{mean_now:.1%}</b> of {len(both)} held-out problems; the base model under the first root "
    said += f"solved {mean_start:.1%}: {gained.estimate:+.1%}, 95% interval {gained.low:+.1%} to {gained.high:+.1%}"
    return who + said + (", a gain beyond the draw of problems." if gained.low > 0 else ", no gain beyond the draw of problems.")


def held_table(population: Population, heldout: pl.DataFrame, base: pl.DataFrame) -> pl.DataFrame:
    """Shares a prompt, of this cycle's evaluation and of the base model's."""
    rows = []
    for name, frame in (("base model", base), ("now", heldout.filter(pl.col("iteration") == population.iteration))):
        for (prompt,), part in sorted(frame.group_by("prompt_id"), key=lambda item: str(item[0])):
            row = population.row(str(prompt))
            rows.append({
                "weights": name, "prompt": row["prompt_id"][:12], "what": "champion" if row["state"] == "champion" else row["operator"],
                "problems": part["problem_id"].n_unique(), "correct": _share(part, "correct"), "in_form": _share(part, "formatted"),
                "cut_off": _share(part, "truncated"), "tokens": round(float(part["tokens"].mean() or 0), 1),  # pyright: ignore
            })
    return pl.DataFrame(rows)


def prompts_table(population: Population) -> pl.DataFrame:
    """Every prompt, best rated first."""
    rows = sorted(population.rows(), key=lambda row: (-row["mu"], row["number"]))
    return pl.DataFrame([
        {
            "prompt": row["prompt_id"][:12], "state": row["state"], "operator": row["operator"], "born": row["cycle"], "principles": row["size"],
            "mu": round(row["mu"], 2), "sigma": round(row["sigma"], 2), "matches": row["rounds"],
            "parents": ", ".join(parent[:6] for parent in row["parents"]),
        }
        for row in rows
    ])


def _told(row: dict[str, Any]) -> str:
    return from_json(row["principles"]).text() or "(empty: the policy reads the problem alone)"


def _share(frame: pl.DataFrame, column: str) -> str:
    return f"{float(frame[column].mean() or 0):.1%}"  # pyright: ignore[reportArgumentType]


def _shares(rows: pl.DataFrame) -> dict[str, float]:
    """problem -> share of its replies that are correct."""
    return dict(rows.group_by("problem_id").agg(pl.col("correct").mean()).iter_rows())
