"""What the study says, in sentences made from the numbers and never stronger than the adjusted tests allow;
what it says of its artifacts; and its row among the lines: the arm that solves most against the one that only
resamples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.lake import Lake
from evolake.lazy import Lazy
from evolake.repair.names import (
    ALL_NAMED,
    ARMS,
    CONTROLS,
    INFORMED,
    ONE_SHOT,
    ONE_VIOLATED,
    RANDOM_NAMED,
    RESAMPLING,
    SHUFFLED,
    WHOLE_CONFLICT,
)
from evolake.repair.report.material import StudyReport, proposer, read_report
from evolake.repair.report.result_tables import SIGNIFICANT, in_letters, p_value, percent, points
from evolake.report.artifacts import LineArtifacts
from evolake.report.gain import NONE_YET
from evolake.report.numbers import counted
from evolake.report.standing import NOT_MEASURED, Ask, Standing

WITH_CORES = ARMS[3:]
"""The paper's arms that are shown what the solver found."""
QUESTION = "Does solver-grounded feedback beat more attempts under the same budget?"


def setting(report: StudyReport) -> str:
    """Return who proposed, on what, with which budget."""
    study, main = report.study, report.findings.of("summary").to_dicts()[0]
    k, r = study["candidates"], study["rounds"]
    seeds = f"{main['seeds']} seeds" if main["seeds"] > 1 else "one seed"
    matched = sum(arm != ONE_SHOT for arm in study["arms"])
    alike = (
        f"each of the {in_letters(matched)} compute-matched arms" if matched > 1 else "a compute-matched arm"
    )
    return (
        f"Proposer: {proposer(report.findings)}. {main['problems']} problems of linear integer "
        f"feasibility, {seeds}, K={k} candidates in each of R={r} rounds: {k * r} calls per run for "
        f"{alike}, one for one_shot."
    )


def caution(report: StudyReport) -> str:
    """Return what the numbers are not."""
    informed = INFORMED in report.study["arms"]
    if report.study["backend"] == "operators":
        return (
            "No language model took part. The operators are a seeded stochastic search that reads the "
            "same structured fields a model is shown; they say what the feedback is worth to a simple "
            "repair procedure, nothing about a model."
        ) + (
            f" They read a constraint where a core names it, but for {INFORMED}, where they read all and "
            "get no feedback."
            if informed
            else ""
        )
    return "Results hold for this model, these prompts and this sampling." + (
        f" To a model {INFORMED} is multi_no_feedback drawn once more: it reads the constraints in both."
        if informed
        else ""
    )


def answers(report: StudyReport) -> list[str]:
    """Return one sentence for each question the arms were made for, from the comparison by problems."""
    asked = [
        ("knowing that an attempt failed", "multi_generic_feedback", "multi_no_feedback"),
        ("seeing the unsat core", "multi_unsat_core_feedback", "multi_generic_feedback"),
        ("the unsat core against mere attempts", "multi_unsat_core_feedback", "multi_no_feedback"),
        (
            "conflict-directed search with core ranking against mere attempts",
            "cd_vgs_core_rank",
            "multi_no_feedback",
        ),
        (
            "conflict-directed search against the core in words",
            "cd_vgs_core_rank",
            "multi_unsat_core_feedback",
        ),
        ("seeing a whole conflict against the core alone", WHOLE_CONFLICT, "multi_unsat_core_feedback"),
        ("a whole conflict against mere attempts", WHOLE_CONFLICT, "multi_no_feedback"),
        ("reading the constraints without feedback against mere attempts", INFORMED, "multi_no_feedback"),
        ("seeing the unsat core against reading all constraints", "multi_unsat_core_feedback", INFORMED),
        ("a constraint drawn by chance against mere attempts", RANDOM_NAMED, "multi_no_feedback"),
        ("the unsat core against a constraint drawn by chance", "multi_unsat_core_feedback", RANDOM_NAMED),
        ("another problem's core against mere attempts", SHUFFLED, "multi_no_feedback"),
        ("the unsat core against another problem's core", "multi_unsat_core_feedback", SHUFFLED),
        ("the unsat core against any violated constraint", "multi_unsat_core_feedback", ONE_VIOLATED),
        ("the unsat core against naming all constraints", "multi_unsat_core_feedback", ALL_NAMED),
        ("seeing a whole conflict against reading all constraints", WHOLE_CONFLICT, INFORMED),
        (
            "conflict-directed search with core ranking against reading all constraints",
            "cd_vgs_core_rank",
            INFORMED,
        ),
    ]
    rows = {
        (row["first"], row["second"]): row
        for row in report.findings.comparisons.to_dicts()
        if row["unit"] == "problem"
    }
    return [_answer(what, rows[pair]) for what, *names in asked if (pair := (names[0], names[1])) in rows]


def _answer(what: str, row: dict[str, Any]) -> str:
    spread = f"{points(row['difference_low'])} to {points(row['difference_high'])}"
    counts = f"{row['only_first']} to {row['only_second']} problems, adjusted p {p_value(row['p_holm'])}"
    numbers = (
        f"{points(row['difference'])} percentage points, 95% interval {spread}, "
        f"{counted(row['pairs'], 'problem')}; {counts}"
    )
    if row["p_holm"] >= SIGNIFICANT:
        verdict = "no difference is shown after Holm's correction"
    else:
        verdict = f"{row['first']} solves {'more' if row['difference'] > 0 else 'fewer'} than {row['second']}"
    return f"{what[0].upper()}{what[1:]}: {verdict} ({numbers})."


def findings(root: Path) -> list[str]:
    """Return what the lake's current study found, and where its report is; [] if there is no finished one."""
    try:
        result = read_report(root)
    except InputError:
        return []
    return [
        QUESTION,
        setting(result),
        caution(result),
        headline(result),
        *answers(result),
        "Its tables and figures: evolake repair report --out DIR",
    ]


def headline(report: StudyReport) -> str:
    """Return the rates of the arms, in one sentence."""
    rates = [f"{row['arm']} {percent(row['rate'])}" for row in report.findings.of("summary").to_dicts()]
    return f"Verified solve rate of runs (a problem and a seed): {', '.join(rates)}. {_unit_sentence(report)}"


def _unit_sentence(report: StudyReport) -> str:
    """Say what the arms are compared by; of an even number of seeds, exactly half does not solve a
    problem."""
    seeds = int(report.findings.of("summary")["seeds"].max() or 0)  # pyright: ignore[reportArgumentType]
    even = f"; {seeds // 2} of {seeds} is not solved" if seeds and seeds % 2 == 0 else ""
    return (
        f"Arms are compared by problem: one is solved if more than half of its {counted(seeds, 'seed')} "
        f"solve it{even}."
    )


def standing(shared: Standing, lake: Lake, _ask: Ask) -> Standing | None:
    """Return the row; None if there is no complete study. Its evaluations are checks of the certifying
    solver."""
    try:
        report = read_report(lake.root)
    except InputError:
        return None
    summary = {row["arm"]: row for row in report.findings.of("summary").to_dicts()}
    best = _best({arm: row["rate"] for arm, row in summary.items()})
    shared = replace(
        shared, best=_arm(best, summary[best]["rate"]), evaluations=int(report.results["solver_calls"].sum())
    )
    if RESAMPLING not in summary:
        return replace(shared, gain=f"{NOT_MEASURED}: the study has no arm {RESAMPLING}")
    shared = replace(shared, start=_arm(RESAMPLING, summary[RESAMPLING]["rate"]))
    if best == RESAMPLING:
        return replace(shared, gain=f"{NONE_YET}: no arm solves more than mere attempts")
    pairs = {
        (row["first"], row["second"]): row
        for row in report.findings.comparisons.to_dicts()
        if row["unit"] == "problem"
    }
    row = pairs[best, RESAMPLING]
    ends = (
        f"95% interval {points(row['difference_low'])} to {points(row['difference_high'])}, "
        f"{counted(row['pairs'], 'problem')}"
    )
    measured, is_gain = (
        f"{points(row['difference'])} percentage points of problems solved",
        row["p_holm"] < SIGNIFICANT and row["difference"] > 0,
    )
    return replace(
        shared,
        gain=f"{measured} ({ends})" if is_gain else f"{NONE_YET} ({measured}, {ends}; not significant)",
        is_gain=is_gain,
        estimate=row["difference"],
        low=row["difference_low"],
        high=row["difference_high"],
        level=0.95,
    )


def gained(lake: Lake, ask: Ask) -> str:
    """Return what the solver's feedback repairs, next to retries and to a search that reads all constraints;
    "" if no complete study shows that an arm with its cores solves more than retries."""
    row = standing(Standing("repair"), lake, ask)
    if row is None or not row.is_gain:
        return ""
    rates = {row["arm"]: row["rate"] for row in read_report(lake.root).findings.of("summary").to_dicts()}
    if (best := _best(rates)) not in WITH_CORES:
        return ""
    rest = f"retries {percent(rates[RESAMPLING])}"
    if INFORMED in rates:
        rest += f", a search that reads all constraints, without the solver, {percent(rates[INFORMED])}"
    return f"the solver's cores repair {percent(rates[best])} of the runs; {rest}"


def _best(rates: Mapping[str, float]) -> str:
    """Return the arm that solves most, controls left out."""
    own = [arm for arm in rates if arm not in (ONE_SHOT, *CONTROLS, SHUFFLED)]
    return max(own or rates, key=lambda arm: rates[arm])


def _arm(name: str, rate: float) -> str:
    return f"{name} ({percent(rate)} of runs solved)"


ARTIFACTS = LineArtifacts(
    standing=standing,
    gained=Lazy("evolake.repair.report.artifacts:gained"),
    crowns_none="it is a study that compares arms: `evolake repair report --out DIR` says which arm repairs more",  # noqa: E501
)
