"""What only the programs line knows of its cycle: every project's champion, evaluations with their processor
time, whose score is not protected."""

from __future__ import annotations

from dataclasses import replace

from evolake.programs.report.decisions import DECIDED, score_in_words
from evolake.report.gain import counted, figures
from evolake.report.story import Ask, Row, Story, Trend, contests, why_nothing_passed, with_cpu


def story(summary: Story, ask: Ask) -> Story:
    """Return each project's held-out score against its initial program's, the duels that were lost,
    evaluations and their processor time."""
    decided, ran = ask(DECIDED), ask(RAN)[0]
    lost = [row for row in decided if row["challenger_id"] and not row["wins"]]
    won = [row["project"] for row in decided if row["wins"]]
    project = decided[0]["project"] if decided else ""
    points = [(row["cycle"], row["holder_mean"]) for row in ask(TREND, project=project)] if project else []
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
        with_cpu(summary, ask(SECONDS)),
        noun="program",
        gain="; ".join([summary.gain, *scores] if summary.gain else scores),
        duel="; ".join(_lost(row) for row in lost),
        measured=_measured(ran),
        contests=contests(ask, "programs.champion"),
        changed=changed,
        goes_on=f"{counted(ask(LIVING)[0]['living'], 'living program')} of {counted(len(decided), 'project')}",  # noqa: E501
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


RUNS = (
    "SELECT cycle, program_id, status, cpu_s FROM programs.measured UNION ALL SELECT cycle, program_id, "
    "status, cpu_s FROM programs.heldout"
)
RAN = f"""
SELECT count(*) AS runs, count(DISTINCT program_id) AS programs, count(*) FILTER (status <> 'ok') AS failed
  FROM ({RUNS}) WHERE cycle = $cycle"""
SECONDS = (
    f"SELECT cycle, sum(cpu_s) AS cpu_s FROM ({RUNS}) WHERE cycle <= $cycle GROUP BY cycle ORDER BY cycle"
)
LIVING = """
SELECT count(*) AS living FROM programs.incoming_programs
WHERE CAST(cycle AS INTEGER) = CAST($cycle AS INTEGER) + 1 AND state IN ('accepted', 'champion')"""
"""Of the population that was sealed: the summary is written before the cycle's last asset publishes its own
table."""
TREND = """
SELECT cycle, holder_mean FROM programs.champion WHERE project = $project AND cycle <= $cycle
  AND holder_mean IS NOT NULL ORDER BY cycle"""
