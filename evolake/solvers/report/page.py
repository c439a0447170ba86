"""The solvers line's part of the page."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import polars as pl

from evolake.lake import Lake
from evolake.plots.style import short
from evolake.report.html import Section, esc, picture, section, table
from evolake.solvers.report.data import LINE, SolversReport, read_report
from evolake.solvers.report.figures import cycle_figures
from evolake.solvers.report.holdout import compare_holdout, holdout_metrics, holdout_sentence
from evolake.solvers.report.narrative import change_words, duel_sentences, soundness_sentence, verdict_sentence
from evolake.solvers.tables import CUT_OFF_SHARES

DIFF_LINES = 400
NAME_LENGTH = 34
CYCLES_SHOWN = 8
PROPOSALS_SHOWN = 40
MEASURES: dict[str, tuple[str, str]] = {
    "instances": ("formulas", "{:g}"), "solved": ("solved", "{:g}"), "solved_sat": ("solved, SAT", "{:g}"), "solved_unsat": ("solved, UNSAT", "{:g}"),
    "par2": ("PAR-2, s", "{:.3f}"), "par2_sat": ("PAR-2 SAT, s", "{:.3f}"), "par2_unsat": ("PAR-2 UNSAT, s", "{:.3f}"),
    **{f"solved_within_{share}": (f"solved within {share} % of the timeout", "{:g}") for share in CUT_OFF_SHARES},
    "additionally_solved": ("solved by no (other) seed", "{:g}"), "vbs_match": ("formulas answered as the virtual best solver does", "{:g}"),
    "vbs_mismatch": ("formulas answered otherwise", "{:g}"), "wrong": ("wrong answers", "{:g}"), "unproved": ("checked proofs that failed", "{:g}"),
    "failed": ("crashes, malformed outputs, memory-outs", "{:g}"), "memory_mean_mb": ("mean memory, MB", "{:.1f}"),
    "memory_max_mb": ("largest memory, MB", "{:.1f}"), "proof_share": ("share of these UNSAT answers with a verified proof", "{:.0%}"),
}
"""Column of METRICS -> its name on the page and how a value is written, in the order of SATLUTION's Table 3."""


def solvers_section(root: Path, cycle: str) -> Section:
    """Champion and decision, soundness, metrics on train and holdout, what changed, figures, gates, rules, ancestry."""
    report = read_report(root, cycle)
    figures = cycle_figures(Lake(root), cycle, report.population)
    compared = compare_holdout(report.population.holdout, report.champion["variant_id"], report.base["variant_id"], cycle)
    lead = verdict_sentence(report)
    parts = [
        f"<h1>Cycle {cycle} of the solvers line</h1>",
        f'<p class="note">backend {esc(report.backend)}, {report.population.variants.height} variants so far, seeds '
        f"{esc(', '.join(row['title'] for row in report.population.seeds()))}</p>",
        f'<p class="lead">{lead}</p>',
        f"<p>{esc(soundness_sentence(report.runs))}</p>",
        f"<p>{esc(holdout_sentence(compared, report.champion, report.base))}</p>",
        *_change(report),
        "<h2>Duels of the cycle</h2>" + ("".join(f"<p>{said}</p>" for said in duel_sentences(report)) or '<p class="note">none</p>'),
        _measures("Suite train", report.metrics, report, seeds=True),
        _measures("Suite holdout", _holdout(report), report, seeds=False),
        section("Best variants by consensus", report.top),
        *(picture(title, png) for title, png in figures.items()),
        section("Runs and unsound answers", report.runs),
        section("Gates", report.funnel),
        section("What was blocked, and by which rule", report.blocked),
        section("What the post-mortem found", report.findings),
        _learned(report),
        _rule_metrics(report),
        section("What each operator gave", report.yields),
        section("Builds", report.builds),
        section("Ancestry of the champion", report.ancestry),
    ]
    return Section(LINE, cycle, lead, parts, figures)


def _change(report: SolversReport) -> list[str]:
    """What the champion changes, in words and as a diff."""
    if report.champion["operator"] == "seed":
        return ["<h2>What changed</h2>", '<p class="note">Nothing: it is the upstream solver, laid out and built as a variant.</p>']
    assert report.parent is not None, "a variant that is no seed has a parent"
    lines = report.diff.splitlines()
    more = f"\n… {len(lines) - DIFF_LINES} lines more" if len(lines) > DIFF_LINES else ""
    return [
        "<h2>What changed</h2>",
        f"<p>Hypothesis: {esc(report.champion['hypothesis'])}</p>",
        f"<p>Against the seed {esc(report.base['title'])}:</p><ul>{''.join(f'<li>{esc(item)}</li>' for item in change_words(report))}</ul>",
        f"<p>Diff to its parent {esc(report.parent['title'])}:</p><pre>{esc(chr(10).join(lines[:DIFF_LINES]))}{more}</pre>",
    ]


def _holdout(report: SolversReport) -> pl.DataFrame:
    return holdout_metrics(report.population.holdout, report.champion["variant_id"], [row["variant_id"] for row in report.population.seeds()])


def _measures(title: str, metrics: pl.DataFrame, report: SolversReport, *, seeds: bool) -> str:
    """Measures down, variants across: the champion, its seed, then the other seeds (`seeds`) or all others that were measured."""
    others = [row["variant_id"] for row in report.population.seeds()] if seeds else sorted(metrics["variant_id"].to_list())
    order = dict.fromkeys([report.champion["variant_id"], report.base["variant_id"], *others])
    measured = {row["variant_id"]: row for row in metrics.to_dicts()}
    shown = [name for name in order if name in measured]
    if not shown:
        return section(title, pl.DataFrame())
    heads = {name: _head(report, name) for name in shown}
    columns: dict[str, Sequence[str]] = {"measure": [said for said, _ in MEASURES.values()]}
    columns |= {heads[name]: [_written(measured[name][column], form) for column, (_, form) in MEASURES.items()] for name in shown}
    first = measured[shown[0]]
    said = f"{first['instances']} formulas, {first['runs']} runs of the champion, at most {first['timeout_s']:g} cpu seconds each; "
    said += "an unsolved one counts as twice that."
    said += " Proofs are checked for a share of the runs here, and for all in duels and on the holdout." if seeds else " Every proof is checked."
    return f'<h2>{esc(title)}</h2><p class="note">{esc(said)}</p>' + table(pl.DataFrame(columns), right=set(heads.values()))


def _head(report: SolversReport, variant_id: str) -> str:
    row = report.population.variant(variant_id)
    is_champion, is_base = variant_id == report.champion["variant_id"], variant_id == report.base["variant_id"]
    role = "champion" if is_champion else "its seed" if is_base else "seed" if row["operator"] == "seed" else "before"
    name = row["title"] if row["operator"] == "seed" else f"{short(row['title'], NAME_LENGTH)} {variant_id[:6]}"
    return f"{role}: {name}"


def _written(value: Any, form: str) -> str:
    return "" if value is None else form.format(value)


def _learned(report: SolversReport) -> str:
    """What became of the proposals: all counted, the active ones and the newest of the others shown."""
    active = report.proposals.filter(pl.col("state") == "active").height
    said = f"{report.proposals.height} proposed so far, {active} active. A proposal is active when its checker, replayed on stored evidence, "
    said += "blocks a failed variant that it names and no accepted one."
    return section("Learned rules", report.proposals.head(PROPOSALS_SHOWN)) + f'<p class="note">{esc(said)}</p>'


def _rule_metrics(report: SolversReport) -> str:
    """The five measures by cycle, and the rules that blocked something."""
    if report.rule_metrics.is_empty():
        return section("What the rules are worth", report.rule_metrics)
    cycles = sorted(set(report.rule_metrics["cycle"].to_list()))[-CYCLES_SHOWN:]
    values = {(row["metric"], row["cycle"]): row["value"] for row in report.rule_metrics.to_dicts()}
    names = ("prevention", "compliance", "coverage", "kill_rate", "time_to_fix")
    columns = {"measure": [name.replace("_", " ") for name in names]}
    columns |= {each: [_written(values.get((name, each)), "{:.2f}" if name == "time_to_fix" else "{:.0%}") for name in names] for each in cycles}
    note = '<p class="note">Empty: there was nothing of which it could be a share. Time to fix: attempts.</p>'
    killed = table(report.kills) if report.kills.height else ""
    return f"<h2>What the rules are worth</h2>{note}{table(pl.DataFrame(columns), right=set(cycles))}{killed}"


