"""Sentences of the solvers line's section: who reigns and why, whether any answer was unsound, what the champion changes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import polars as pl

from evolake.report.html import esc
from evolake.solvers.evolution.population import edits_of_row
from evolake.solvers.measurement.duel import LEVEL
from evolake.solvers.report.data import COUNTS, SolversReport


def named(row: Mapping[str, Any]) -> str:
    """A variant's title and the head of its id, HTML."""
    return f"<b>{esc(row['title'])}</b> (<code>{row['variant_id'][:12]}</code>)"


def verdict_sentence(report: SolversReport) -> str:
    """Who reigns after the cycle's duels, HTML."""
    champion = report.champion
    since = report.population.value("champion_since", report.cycle)
    origin = "an upstream solver as it came" if champion["operator"] == "seed" else f"descends from {esc(report.base['title'])}"
    duel = report.crowned
    gain = ""
    if duel:
        spread = f"{100 * LEVEL:g}% interval {duel['ratio_low']:.2f} to {duel['ratio_high']:.2f}, noise floor {duel['noise_floor']:.4g}"
        gain = f"{duel['ratio']:.2f} times lower PAR-2 than {named(report.population.variant(duel['champion_id']))} ({spread})"
        gain += f", {duel['pairs']} pairs on each of {duel['instances']} formulas"
    if duel and duel["cycle"] == report.cycle:
        return f"The new champion is {named(champion)}, {origin}: {gain}."
    challengers = len(report.decisions)
    fate = f"none of {challengers} challengers gained more than the noise" if challengers > 1 else "its challenger did not gain more than the noise"
    fate = fate if challengers else "nobody challenged it"
    won = f" It came to reign with {gain}." if gain else ""
    return f"The champion, since cycle {since}, is {named(champion)}, {origin}: in this cycle {fate}.{won}"


def duel_sentences(report: SolversReport) -> list[str]:
    """One sentence a duel of this cycle, HTML, in the order they were fought."""
    rows = {row["variant_id"]: row for row in report.population.rows()}
    return [
        f"{named(rows[row['challenger_id']])} against {named(rows[row['champion_id']])}: {'wins' if row['wins'] else 'does not win'}, "
        f"{row['pairs']} interleaved pairs on each of {row['instances']} formulas; {esc(row['reason'])}."
        for row in report.decisions
    ]


def soundness_sentence(runs: pl.DataFrame) -> str:
    """Unsound answers among accepted variants, over all runs up to the cycle; and what the gates caught. `runs`: see SolversReport."""
    passed = runs.filter(pl.col("state") == "accepted").select(pl.col(*COUNTS).sum()).row(0, named=True)
    count = "Zero unsound answers" if not passed["unsound"] else f"UNSOUND: {passed['unsound']:,} answers"
    others = f"; {passed['unproved']:,} could not be proved and count as unsolved" if passed["unproved"] else ""
    if passed["unchecked"]:
        others += f"; {passed['unchecked']:,} were outside the checked share and contradict no known status"
    blocked = runs.filter(pl.col("state") != "accepted").select(pl.col(*COUNTS).sum()).row(0, named=True)
    caught = f" Variants that a gate blocked gave {blocked['unsound']:,} unsound answers in {blocked['runs']:,} runs." if blocked["runs"] else ""
    return (
        f"{count} of accepted variants in {passed['runs']:,} runs. Of their {passed['unsat']:,} UNSAT answers {passed['verified']:,} rest on a "
        f"verified proof{others}.{caught}"
    )


def change_words(report: SolversReport) -> list[str]:
    """What the champion changes: every edit against its seed, or the coder's own words. Plain text, one item a change; none for a seed."""
    edits = edits_of_row(report.champion)
    if edits is None:
        return [report.champion["changed"] or "written as a diff, without words"]
    return [f"{edit.kind} {edit.described()}" for edit in edits]
