"""The solvers line's part of the page: who is champion and why, whether any answer was unsound, what the
champion changes, and what it is worth on formulas that no role, rule or ranking has seen: its cost there
against its seed's, and what may be claimed of it.

That claim is the same contest as in a duel (evolake.solvers.measurement.duel) with one more guard, as the two
sides' runs may have been made in different cycles: the gain's lower end must be above the ratio that repeated
passes of the same solver stay within.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from markupsafe import Markup

from evolake.contest import LEAST_FORMULAS, LEVEL
from evolake.report.numbers import counted, figures
from evolake.report.pages import Section, section, sentence
from evolake.seeds import generator
from evolake.solvers.evolution.population import edits_of_row
from evolake.solvers.measurement.duel import formulas_of, par2_contest, repeat_noise_floor
from evolake.solvers.measurement.duel_families import family_lines
from evolake.solvers.measurement.metrics import compute_metrics, cost
from evolake.solvers.report.material import COUNTS, Material, SolversReport, read_report
from evolake.solvers.report.story import families_in, outcome
from evolake.solvers.tables import CLOCK, CUT_OFF_SHARES
from evolake.stats import Interval

PACKAGE = "evolake.solvers.report"


def headline_values(report: SolversReport) -> dict[str, Any]:
    """Return what the headline says of the champion after the cycle's duels."""
    held = report.shared.champion
    return {
        "champion": report.champion,
        "base": report.base,
        "since": held.since,
        "gain": held.gain,
        "is_new": bool(held.gain and held.since == report.shared.cycle),
        "challengers": len(report.decisions),
    }


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


LEAST_COST_S = 1e-6


@dataclass(frozen=True)
class Holdout:
    """The comparison. gain: cost of the seed over the champion's, the geometric mean over formulas with its
    interval; above 1 the champion is faster. passes: runs of each formula.

    units: formulas that count, shuffled copies with the one that they copy.
    metrics: rows of METRICS of all variants measured under the champion's limits. cycles: in which the two
    sides' runs were made.
    """

    formulas: int
    passes: int
    gain: Interval
    floor: float
    solved_champion: float
    solved_base: float
    cycles: tuple[str, ...]
    metrics: pl.DataFrame
    units: int


def holdout_metrics(holdout: pl.DataFrame, champion_id: str, baselines: list[str]) -> pl.DataFrame:
    """Return rows of METRICS of all variants whose holdout runs compare with the champion's newest ones (same
    suite and timeout); none without such runs."""
    return compute_metrics(_comparable(holdout, champion_id), baselines=baselines)


def _comparable(holdout: pl.DataFrame, champion_id: str) -> pl.DataFrame:
    """Return the runs of all variants on the suite and under the timeout of the champion's newest ones."""
    newest = (
        holdout.filter(pl.col("variant_id") == champion_id).sort("cycle").tail(1).select("suite", "timeout_s")
    )
    return holdout.join(newest, on=["suite", "timeout_s"], how="semi")


def compare_holdout(holdout: pl.DataFrame, champion_id: str, base_id: str, cycle: str) -> Holdout | None:
    """None where the champion is its own seed, or where one of the two has no runs under the champion's
    limits.

    Args:
        holdout: rows of HOLDOUT_RUNS. The contest is seeded by `cycle` and the champion, so that a page is
            the same every time.
    """
    metrics = holdout_metrics(holdout, champion_id, [base_id])
    measured = {row["variant_id"]: row for row in metrics.to_dicts()}
    if champion_id == base_id or not {champion_id, base_id} <= measured.keys():
        return None
    runs = _comparable(holdout, champion_id).filter(pl.col("variant_id").is_in([champion_id, base_id]))
    runs = runs.filter(~(pl.col("status") == CLOCK).any().over("instance"))
    costs = _costs(runs, champion_id), _costs(runs, base_id)
    shared = sorted(costs[0].keys() & costs[1].keys())
    if not shared:
        return None
    passes = min(len(side[name]) for side in costs for name in shared)
    ours, theirs = (np.array([side[name][:passes] for name in shared]) for side in costs)
    rng = generator(0, "solvers", cycle, f"holdout of {champion_id}")
    contest = par2_contest(theirs, ours, formulas_of(runs.filter(pl.col("instance").is_in(shared))), rng)
    return Holdout(
        formulas=len(shared),
        passes=passes,
        gain=Interval(contest.effect, contest.low, contest.high, LEVEL),
        floor=repeat_noise_floor([ours, theirs]),
        solved_champion=measured[champion_id]["solved"],
        solved_base=measured[base_id]["solved"],
        cycles=tuple(sorted(set(runs["cycle"].to_list()))),
        metrics=metrics,
        units=contest.pairs,
    )


def claim(result: Holdout) -> str:
    """Return what may be said of the comparison. The first that holds."""
    low, high, estimate, floor = result.gain.low, result.gain.high, result.gain.estimate, result.floor
    if result.passes < 2:
        return "no claim: each formula was run once, so the noise of this host is not known"
    if result.solved_champion < result.solved_base:
        return "a loss: it solves fewer formulas than its seed"
    if result.units < LEAST_FORMULAS:
        return f"no claim: {counted(result.units, 'formula')} cannot decide, {LEAST_FORMULAS} may"
    if low > floor:
        return "a gain beyond the noise"
    if high < 1 / floor:
        return "a loss beyond the noise"
    if estimate > floor:
        return "no gain can be claimed: it rests on too few formulas"
    return (
        "no gain beyond the noise"
        if estimate >= 1 / floor
        else "slower than its seed, though on too few formulas to be sure"
    )


def holdout_sentence(result: Holdout | None, champion: Mapping[str, Any], base: Mapping[str, Any]) -> str:
    """Return the comparison in words, plain text."""
    if champion["variant_id"] == base["variant_id"]:
        return "Holdout: the champion is an upstream solver itself, so there is nothing to compare it with."
    if result is None:
        return "Holdout: the champion and its seed have no runs under the same limits."
    apart = (
        f" Their runs were made in the cycles {' and '.join(result.cycles)}, not side by side."
        if len(result.cycles) > 1
        else ""
    )
    gain = str(result.gain) if result.units >= LEAST_FORMULAS else figures(result.gain.estimate)
    noise = f"noise floor {result.floor:.4g} from {result.passes} passes" if result.passes > 1 else "one pass"
    return (
        f"Holdout, {result.formulas} formulas that nothing in the evolution has seen: cost of the seed "
        f"{base['title']} over the champion's is {gain}, {noise}; solved {result.solved_champion:g} "
        f"against {result.solved_base:g}: {claim(result)}.{apart}"
    )


def _costs(runs: pl.DataFrame, variant_id: str) -> dict[str, list[float]]:
    """Return instance -> PAR-2 cost of each pass."""
    result: dict[str, list[float]] = {}
    side = runs.filter(pl.col("variant_id") == variant_id).sort("instance", "repeat")
    for instance, seconds in side.select("instance", cost().clip(lower_bound=LEAST_COST_S)).iter_rows():
        result.setdefault(instance, []).append(seconds)
    return result


DIFF_LINES = 400
CYCLES_SHOWN = 8
PROPOSALS_SHOWN = 40
MEASURES: dict[str, tuple[str, str]] = {
    "instances": ("formulas", "{:g}"),
    "solved": ("solved", "{:g}"),
    "solved_sat": ("solved, SAT", "{:g}"),
    "solved_unsat": ("solved, UNSAT", "{:g}"),
    "par2": ("PAR-2, s", "{:.3f}"),
    "par2_sat": ("PAR-2 SAT, s", "{:.3f}"),
    "par2_unsat": ("PAR-2 UNSAT, s", "{:.3f}"),
    **{
        f"solved_within_{share}": (f"solved within {share} % of the timeout", "{:g}")
        for share in CUT_OFF_SHARES
    },
    "additionally_solved": ("solved by no (other) seed", "{:g}"),
    "vbs_match": ("formulas answered as the virtual best solver does", "{:g}"),
    "vbs_mismatch": ("formulas answered otherwise", "{:g}"),
    "wrong": ("wrong answers", "{:g}"),
    "unproved": ("checked proofs that failed", "{:g}"),
    "failed": ("crashes, malformed outputs, memory-outs", "{:g}"),
    "memory_mean_mb": ("mean memory, MB", "{:.1f}"),
    "memory_max_mb": ("largest memory, MB", "{:.1f}"),
    "fastest": ("formulas that none of all measured solved sooner", "{:g}"),
    "checked_share": ("share of UNSAT answers whose proof was checked", "{:.0%}"),
    "proof_share": ("share of these UNSAT answers with a verified proof", "{:.0%}"),
}
"""Column of METRICS -> its name on the page and how a value is written, in the order of SATLUTION's Table
3."""


def solvers_section(root: Path, cycle: str) -> Section:
    """Return champion and decision, soundness, metrics on train and holdout, what changed, figures, gates,
    rules, ancestry."""
    report = read_report(root, cycle)
    compared = compare_holdout(
        report.population.holdout, report.champion["variant_id"], report.base["variant_id"], cycle
    )
    proposals = report.shared.tables["proposals"]
    return section(
        PACKAGE,
        report.shared,
        Material(report.shared.lake, cycle, report.population),
        **headline_values(report),
        solvers=report,
        soundness=soundness_sentence(report.runs),
        holdout=holdout_sentence(compared, report.champion, report.base),
        duels=duel_sentences(report),
        change=_change(report),
        suites=[
            _measures("Suite train", report.metrics, report, seeds=True),
            _measures("Suite holdout", _holdout(report), report, seeds=False),
        ],
        proposals=proposals.head(PROPOSALS_SHOWN),
        active=proposals.filter(pl.col("state") == "active").height,
        rule_metrics=_rule_metrics(report.shared.tables["rule_metrics"]),
    )


def _change(report: SolversReport) -> dict[str, Any] | None:
    """Return what the champion changes, in words and as a diff; None for a seed."""
    if report.champion["operator"] == "seed":
        return None
    assert report.parent is not None, "a variant that is no seed has a parent"
    lines = report.diff.splitlines()
    return {
        "words": change_words(report),
        "diff": "\n".join(lines[:DIFF_LINES]),
        "cut": max(len(lines) - DIFF_LINES, 0),
    }


def _holdout(report: SolversReport) -> pl.DataFrame:
    return holdout_metrics(
        report.population.holdout,
        report.champion["variant_id"],
        [row["variant_id"] for row in report.population.seeds()],
    )


def _measures(title: str, metrics: pl.DataFrame, report: SolversReport, *, seeds: bool) -> dict[str, Any]:
    """Measures down, variants across: the champion, its seed, then the other seeds (`seeds`) or all others
    that were measured."""
    others = (
        [row["variant_id"] for row in report.population.seeds()]
        if seeds
        else sorted(metrics["variant_id"].to_list())
    )
    order = dict.fromkeys([report.champion["variant_id"], report.base["variant_id"], *others])
    measured = {row["variant_id"]: row for row in metrics.to_dicts()}
    shown = [name for name in order if name in measured]
    heads = {name: _head(report, name) for name in shown}
    columns: dict[str, Sequence[str]] = {"measure": [said for said, _ in MEASURES.values()]}
    columns |= {
        heads[name]: [_written(measured[name].get(column), form) for column, (_, form) in MEASURES.items()]
        for name in shown
    }
    return {
        "title": title,
        "first": measured[shown[0]] if shown else None,
        "frame": pl.DataFrame(columns),
        "heads": set(heads.values()),
        "proofs": _checked([measured[name] for name in shown]),
    }


def _checked(rows: Sequence[dict[str, Any]]) -> str:
    """Return what share of the proofs was checked."""
    shares = [share for row in rows if (share := row.get("checked_share")) is not None]
    if not shares:
        return "No UNSAT answer's proof was recorded as checked." if rows else ""
    least = (
        "Every proof was" if min(shares) == 1 else f"At least {min(shares):.0%} of each variant's proofs were"
    )
    return f"{least} checked; an UNSAT answer without a verified proof counts as unsolved."


def _head(report: SolversReport, variant_id: str) -> str:
    row = report.population.row(variant_id)
    is_champion, is_base = (
        variant_id == report.champion["variant_id"],
        variant_id == report.base["variant_id"],
    )
    if is_champion:
        role = "champion"
    elif is_base:
        role = "its seed"
    elif row["operator"] == "seed":
        role = "seed"
    else:
        role = "before"
    name = row["title"] if row["operator"] == "seed" else f"{row['title']} {variant_id[:6]}"
    return f"{role}: {name}"


def _written(value: Any, form: str) -> str:
    return "" if value is None else form.format(value)


def _rule_metrics(measured: pl.DataFrame) -> pl.DataFrame:
    """Return the five measures by cycle."""
    cycles = sorted(set(measured["cycle"].to_list()))[-CYCLES_SHOWN:]
    values = {(row["metric"], row["cycle"]): row["value"] for row in measured.to_dicts()}
    names = ("prevention", "compliance", "coverage", "kill_rate", "time_to_fix")
    columns = {"measure": [name.replace("_", " ") for name in names]}
    columns |= {
        each: [
            _written(values.get((name, each)), "{:.2f}" if name == "time_to_fix" else "{:.0%}")
            for name in names
        ]
        for each in cycles
    }
    return pl.DataFrame(columns)
