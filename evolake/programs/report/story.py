"""What only the programs line knows of its cycle: every project's champion with its held-out score, and
whether that is a gain; evaluations with their processor time; whose score is not protected."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from evolake.report.gain import NONE_YET
from evolake.report.numbers import counted, figures
from evolake.report.questions import questions
from evolake.report.story import Ask, Row, Story, Trend, contests, why_nothing_passed, with_cpu

DecisionRow = Mapping[str, Any]
SQL = questions("evolake.programs.report", "story.sql")
DECIDED = questions("evolake.programs.report", "page.sql")["decided"]
INITIAL_LEADS = "the initial program leads"


def improves(row: DecisionRow) -> bool:
    """Return whether the champion of a row of DECIDED is another program than the initial one, with a better
    held-out mean."""
    mean, initial = row["holder_mean"], row["initial_mean"]
    if row["holder_id"] == row["initial_id"] or mean is None or initial is None:
        return False
    return mean > initial if row["higher_is_better"] else mean < initial


def score_in_words(row: DecisionRow) -> str:
    """Return the held-out score of a project's champion next to that of its initial program, or say that
    there is no gain yet."""
    score = f"held-out {row['score_name']} {figures(row['holder_mean'], 6)}"
    if row["holder_id"] == row["initial_id"]:
        return f"{NONE_YET} ({INITIAL_LEADS} with {score})"
    if row["initial_mean"] is None:
        return score
    both = f"{score}, the initial program's {figures(row['initial_mean'], 6)}"
    return both if improves(row) else f"{NONE_YET} ({both})"


def project_in_words(row: DecisionRow) -> str:
    """Return the same with the project's name, for a sentence that does not say that it is about gains."""
    return f"{row['project']}: {'' if improves(row) else 'gain '}{score_in_words(row)}"


def story(summary: Story, ask: Ask) -> Story:
    """Return each project's held-out score against its initial program's, the duels that were lost,
    evaluations and their processor time."""
    decided, ran = ask(DECIDED), ask(SQL["ran"])[0]
    living = ask(SQL["living"])[0]["living"]
    lost = [row for row in decided if row["challenger_id"] and not row["wins"]]
    won = [row["project"] for row in decided if row["wins"]]
    project = decided[0]["project"] if decided else ""
    rows = ask(SQL["trend"], project=project) if project else []
    points = [(row["cycle"], row["holder_mean"]) for row in rows]
    others = [
        row
        for row in decided
        if row["holder_mean"] is not None and not (summary.gain and row["holder_id"] == summary.champion_id)
    ]
    scores = [f"{row['project']}: {score_in_words(row)}" for row in others]
    if won:
        changed = f"new champion of {' and '.join(won)}"
    elif decided:
        changed = "no title changed hands"
    else:
        changed = ""
    return replace(
        with_cpu(summary, ask(SQL["seconds"])),
        noun="program",
        gain="; ".join([summary.gain, *scores] if summary.gain else scores),
        duel="; ".join(_lost(row) for row in lost),
        measured=_measured(ran),
        contests=contests(ask, "programs.champion"),
        changed=changed,
        goes_on=f"{counted(living, 'living program')} of {counted(len(decided), 'project')}",
        look=why_nothing_passed(summary.line, summary.made, summary.passed) or _look(summary, decided),
        trend=Trend(f"held-out score of {project}", points) if points else summary.trend,
    )


def _lost(row: Row) -> str:
    if row["difference"] is None or row["low"] is None:
        return f"{row['project']}: the challenger did not become champion: {row['reason']}"
    ends = (
        f"{row['difference']:+.3g} (95% interval {row['low']:+.3g} to {row['high']:+.3g}, above 0 is "
        f"better, {counted(row['pairs'], 'seed')})"
    )
    floor = f", noise within a seed {figures(row['noise'])}" if row["noise"] else ""
    return (
        f"{row['project']}: the challenger did not become champion: its held-out score differs by "
        f"{ends}{floor}"
    )


def _measured(ran: Row) -> str:
    if not ran["runs"]:
        return ""
    failed = f", {ran['failed']:,} of them ended without a result" if ran["failed"] else ""
    return f"{counted(ran['runs'], 'evaluation')} of {counted(ran['programs'], 'program')}{failed}"


def _look(summary: Story, decided: list[Row]) -> str:
    if forgeable := [row["project"] for row in decided if not row["protected"]]:
        return (
            f'protect the score of {" and ".join(forgeable)}: [evaluator] mode = "separate" runs the '
            "program apart from what scores it"
        )
    return summary.look
