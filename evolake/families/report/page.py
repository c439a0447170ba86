"""The families line's part of the page."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import polars as pl

from evolake.families.dataset.difficulty import agreement, common_levels, curve
from evolake.families.report import paper
from evolake.families.report.material import DUPLICATE, LINE, QUESTIONS, FamiliesReport, families_report
from evolake.report.finished_cycle import read_cycle
from evolake.report.pages import Section, section
from evolake.stats.proportions import wilson_interval

PACKAGE = "evolake.families.report"
STATEMENT = 2500
LESSONS = 30


def families_section(root: Path, cycle: str) -> Section:
    """Return what there is, what the gates did and cost, figures next to the paper's, planted faults,
    examples."""
    cycle_report = read_cycle(root, LINE, cycle, QUESTIONS)
    report = families_report(cycle_report)
    made = [row for row in cycle_report.rows("made") if row["cycle"] == cycle]
    experience = report.population.experience.sort("number")
    return section(
        PACKAGE,
        cycle_report,
        report,
        families=report,
        now=made[0] if made else {"accepted": 0, "attempts": 0},
        labels=cycle_report.rows("labels")[0],
        paper=paper,
        sentences={
            "labels": label_sentence(report),
            "duplicates": duplicate_sentence(report),
            "cost": cost_sentence(report),
            "faults": fault_sentence(report),
            "audit": audit_sentence(report),
            "difficulty": difficulty_sentence(report),
        },
        made={
            "spent": _spent(report),
            "reviews": _reviews(report),
            "complexity": _complexity(report),
            "classes": _classes(report),
            "patterns": _patterns(report),
            "difficulty": curve(report.work),
            "lessons": experience.select("cycle", "item").head(LESSONS),
        },
        examples=[_example(row) for row in cycle_report.rows("examples")],
    )


def label_sentence(report: FamiliesReport) -> str:
    """Return how labels came about."""
    labels = report.tables["labels"].row(0, named=True)
    if not labels["instances"]:
        return "No instance has been sampled."
    return (
        f"{labels['by_majority']:,} of {labels['instances']:,} labels have a strict majority of their "
        f"voters, {labels['unanimous']:,} are unanimous; {labels['instances'] - labels['texts']:,} texts "
        "occur more than once."
    )


def duplicate_sentence(report: FamiliesReport) -> str:
    """Return near-duplicates that were kept out, and that are in."""
    rules = report.tables["blocked"].to_dicts()
    stopped = sum(row["blocked"] for row in rules if row["rule_id"] == "families-near-duplicate")
    return (
        f"{len(report.duplicates)} pairs of accepted families are near-duplicates (the same code but for "
        f"names; {DUPLICATE['answers']:.0%} of the answers on shared seeds; or {DUPLICATE['both']:.0%} of "
        f"code and answers); {stopped} candidates were blocked for being one."
    )


def cost_sentence(report: FamiliesReport) -> str:
    """Return rejected against accepted, and the price of an accepted family; next to the paper's."""
    spent = {row["outcome"]: row for row in report.tables["resources"].to_dicts()}
    said = "No attempt was rejected, so there is no ratio of costs."
    if {"accepted", "rejected"} <= spent.keys() and spent["accepted"]["cpu_s"]:
        ratio = spent["rejected"]["cpu_s"] / spent["accepted"]["cpu_s"]
        said = (
            f"A rejected attempt took {ratio:.1f} times the cpu time of an accepted one (runtime in the "
            f"paper: {paper.RUNTIME_RATIO} times)."
        )
    if report.evolved and (usd := report.tables["costs"]["usd"].item()):
        each = usd / len(report.evolved)
        return (
            said
            + f" An accepted family cost ${each:.2f}, rejected ones included (the paper: ${paper.USD_EACH})."
        )
    return said + f" No model was paid for; the paper's families cost ${paper.USD_EACH} each."


def _spent(report: FamiliesReport) -> pl.DataFrame:
    return report.tables["resources"].with_columns(
        pl.col("jail_calls").round(1), pl.col("cpu_s", "wall_s").round(2), pl.col("usd").round(2)
    )


def _reviews(report: FamiliesReport) -> pl.DataFrame:
    ours = dict(report.tables["reviews"].iter_rows())
    return pl.DataFrame(
        [
            {"matches": n, "families_here": ours.get(n, 0), "the_paper": paper.BLIND_PASSES.get(n)}
            for n in sorted({*ours, *range(6)})
        ]
    )


def _complexity(report: FamiliesReport) -> pl.DataFrame:
    """Return the means by origin, then those of the paper."""
    columns = list(paper.COMPLEXITY["seed"])
    rows = [
        {"source": f"{origin} here", "families": frame.height}
        | {column: round(_mean(frame, column), 1) for column in columns if frame.height}
        for origin, frame in _by_origin(report).items()
    ]
    rows += [
        {"source": f"the paper, {name}", "families": None, **values}
        for name, values in paper.COMPLEXITY.items()
    ]
    return pl.DataFrame(rows)


def _by_origin(report: FamiliesReport) -> dict[str, pl.DataFrame]:
    """Return the measured families, seeds apart from evolved ones."""
    is_seed = pl.col("operator") == "seed"
    measured = report.tables["measured"]
    return {"seeds": measured.filter(is_seed), "evolved": measured.filter(~is_seed)}


def _mean(frame: pl.DataFrame, column: str) -> float:
    return float(frame[column].cast(pl.Float64).mean() or 0.0)  # pyright: ignore[reportArgumentType]


def _classes(report: FamiliesReport) -> pl.DataFrame:
    names = sorted(set(report.tables["measured"]["time_class"].to_list()))
    return _shares(report, "class", {name: pl.col("time_class") == name for name in names})


def _patterns(report: FamiliesReport) -> pl.DataFrame:
    names = (
        "recursive",
        "binary_search",
        "sorting",
        "dynamic_programming",
        "graph_traversal",
        "divide_and_conquer",
    )
    return _shares(report, "pattern", {name.replace("_", " "): pl.col(name) for name in names})


def _shares(report: FamiliesReport, head: str, conditions: Mapping[str, pl.Expr]) -> pl.DataFrame:
    """Return a row for each condition: its name under `head`, and the share of families of each origin that
    meet it."""
    return pl.DataFrame(
        [
            {head: name}
            | {
                origin: f"{frame.select(condition.sum()).item() / max(frame.height, 1):.0%}"
                for origin, frame in _by_origin(report).items()
            }
            for name, condition in conditions.items()
        ]
    )


def fault_sentence(report: FamiliesReport) -> str:
    """Return the kill rates, and what no gate sees; nothing where they were not measured."""
    if report.kills.is_empty():
        return ""
    meant = report.kills.filter(pl.col("expected") != "none").unique("fault")
    unseen = sorted(set(report.kills.filter(pl.col("caught") < pl.col("planted"))["fault"].to_list()))
    said = (
        f"{meant['caught'].sum()} of {meant['planted'].sum()} planted faults of {meant.height} classes "
        "are caught"
    )
    sure = [
        (wilson_interval(caught, planted).low, fault)
        for fault, caught, planted in meant.select("fault", "caught", "planted").rows()
        if planted
    ]
    if sure:
        said += f" (least sure of {min(sure)[1]!r}: at least {min(sure)[0]:.0%}, by the 95% interval)"
    said += ". "
    return (
        said + f"Seen by no gate: {', '.join(unseen)}. What text and all programs have wrong together is "
        "seen only by a reader of the text."
    )


def difficulty_sentence(report: FamiliesReport) -> str:
    """Return how far a level says the same in all families; nothing if no work was counted at two levels of
    two families."""
    agreed = agreement(report.work)
    if math.isnan(agreed):
        return ""
    common = common_levels(report.work)
    middle = common["difficulty"].unique().sort()[common["difficulty"].n_unique() // 2]
    spread = common.filter(pl.col("difficulty") == middle)["common"]
    return (
        f"Of two families at two difficulties, the higher difficulty takes more work in {agreed:.0%} of "
        f"pairs (100%: a level means the same everywhere; 50%: nothing). Difficulty {middle} of a family "
        f"is, by work, {spread.quantile(0.25):.1f} to {spread.quantile(0.75):.1f} of the "
        "median family (middle half of the families)."
    )


def audit_sentence(report: FamiliesReport) -> str:
    """Return what people who read families found, next to the paper's; nothing if none was graded."""
    if report.grades.is_empty():
        return ""
    from evolake.families.dataset.human_audit import audit_summary

    result = audit_summary(report.grades.to_dicts())
    interval, theirs = f"95% interval {result['usable_low']:.0%} to {result['usable_high']:.0%}", paper.AUDIT
    said = (
        f"{result['usable']} of {result['graded']} graded families are usable ({interval}), "
        f"{result['fully_correct']} fully correct. "
    )
    return said + f"The paper: {theirs['usable']} and {theirs['fully_correct']} of {theirs['families']}."


def _example(row: dict[str, Any]) -> dict[str, Any]:
    """Return an accepted family as it is shown: title, facts, the text of its shortest instance."""
    answer = json.loads(row["answer"])
    facts = pl.DataFrame(
        [
            {
                "operator": row["operator"],
                "category": row["category"],
                "difficulty": row["difficulty"],
                "label": answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False),
                "votes": f"{row['votes']} of {row['voters']}",
                "family": row["family_id"],
            }
        ]
    )
    return {
        "title": row["title"],
        "facts": facts,
        "text": row["text"][:STATEMENT] + ("…" if len(row["text"]) > STATEMENT else ""),
    }
