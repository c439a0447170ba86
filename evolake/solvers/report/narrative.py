"""Sentences of the solvers line's section: who is champion and why, whether any answer was unsound, what the
champion changes."""

from __future__ import annotations

import polars as pl
from markupsafe import Markup

from evolake.report.pages import sentence
from evolake.solvers.evolution.population import edits_of_row
from evolake.solvers.measurement.duel_families import family_lines
from evolake.solvers.report.data import COUNTS, SolversReport
from evolake.solvers.report.duels import families_in, outcome

PACKAGE = "evolake.solvers.report"


def verdict_sentence(report: SolversReport) -> Markup:
    """Return the champion after the cycle's duels."""
    since, gain = report.held.since, report.held.gain
    return sentence(
        PACKAGE,
        "headline.html.j2",
        champion=report.champion,
        base=report.base,
        since=since,
        gain=gain,
        is_new=bool(gain and since == report.cycle),
        challengers=len(report.decisions),
    )


def duel_sentences(report: SolversReport) -> list[Markup]:
    """Return one sentence per duel of this cycle, in the order they were fought."""
    rows = {row["variant_id"]: row for row in report.population.rows()}
    return [
        sentence(
            PACKAGE,
            "duel.html.j2",
            duel=row,
            outcome=outcome(row),
            challenger=rows[row["challenger_id"]],
            champion=rows[row["champion_id"]],
            families=family_lines(families_in(report.families, row)),
        )
        for row in report.decisions
    ]


def soundness_sentence(runs: pl.DataFrame) -> str:
    """Return unsound answers among accepted variants, over all runs up to the cycle; and what the gates
    caught.
    `runs`: see SolversReport."""
    passed = runs.filter(pl.col("state") == "accepted").select(pl.col(*COUNTS).sum()).row(0, named=True)
    count = "Zero unsound answers" if not passed["unsound"] else f"UNSOUND: {passed['unsound']:,} answers"
    others = (
        f"; {passed['unproved']:,} could not be proved and count as unsolved" if passed["unproved"] else ""
    )
    if passed["unchecked"]:
        others += (
            f"; {passed['unchecked']:,} were outside the checked share, contradict no known status and "
            "count as unsolved"
        )
    blocked = runs.filter(pl.col("state") != "accepted").select(pl.col(*COUNTS).sum()).row(0, named=True)
    caught = (
        f" Variants that a gate blocked gave {blocked['unsound']:,} unsound answers in "
        f"{blocked['runs']:,} runs."
        if blocked["runs"]
        else ""
    )
    return (
        f"{count} of accepted variants in {passed['runs']:,} runs. Of their {passed['unsat']:,} UNSAT "
        f"answers {passed['verified']:,} rest on a verified proof{others}.{caught}"
    )


def change_words(report: SolversReport) -> list[str]:
    """Return what the champion changes: every edit against its seed, or the coder's own words. Plain text,
    one item a change; none for a seed."""
    edits = edits_of_row(report.champion)
    if edits is None:
        return [report.champion["changed"] or "written as a diff, without words"]
    return [f"{edit.kind} {edit.described()}" for edit in edits]
