"""What only the solvers line knows of its cycle: how much faster its champion is than whom it beat, the
duels, and whether any answer was unsound."""

from __future__ import annotations

from dataclasses import replace

from evolake.report.gain import NONE_YET, counted
from evolake.report.standing import Ask
from evolake.report.story import Row, Story, Trend, contests, why_nothing_passed, with_cpu
from evolake.solvers.measurement import claims
from evolake.solvers.report.duels import why_not_champion

NONE = f"{NONE_YET}: an upstream solver leads as it came"
UNSOUND = "who answered wrongly: evolake sql --file cookbook/unsound_answers.sql"


def story(summary: Story, ask: Ask) -> Story:
    """Return the cycle's lost duels, runs with proofs, processor time of builds and runs."""
    made, ran = ask(MADE)[0], ask(RAN)[0]
    return replace(
        with_cpu(summary, ask(SECONDS)),
        noun="variant",
        made=made["made"],
        beside=counted(made["entered"], "new seed") if made["entered"] else "",
        gain=summary.gain or NONE,
        short_gain=summary.short_gain or NONE,
        duel=_rank_1(ask, summary),
        measured=_measured(ran),
        contests=contests(ask, "solvers.champion"),
        goes_on=f"{counted(summary.live, 'variant')}, seeds among them",
        look=UNSOUND
        if ran["wrong"]
        else why_nothing_passed(summary.line, made["made"], summary.passed) or summary.look,
        trend=Trend("PAR-2 of the champion", [(row["cycle"], row["par2"]) for row in ask(PAR2)], " s"),
    )


def _rank_1(ask: Ask, summary: Story) -> str:
    """Return why the first of the cycle's ranking is not champion."""
    best = ask(RANK_1)
    return (
        why_not_champion(best[0], summary.champion_id, summary.champion, ask(DUELS), summary.cycle)
        if best
        else ""
    )


def _measured(ran: Row) -> str:
    if not ran["runs"]:
        return ""
    wrong = "no unsound answer" if not ran["wrong"] else f"{counted(ran['wrong'], 'unsound answer')}, blocked"
    share = f" of {ran['unsat']:,} for UNSAT answers" if ran["unsat"] else ""
    share += f", {claims.share_in_words(ran['unsat'], ran['unchecked'])}" if ran["unsat"] else ""
    return (
        f"{counted(ran['runs'], 'run')} of {counted(ran['variants'], 'variant')}; "
        f"{counted(ran['verified'], 'proof')} verified{share}, {wrong}"
    )


RUNS = ("smoke", "correctness", "stability_runs", "benchmark_runs", "holdout_runs")
ALL_RUNS = (
    " UNION ALL ".join(
        f"SELECT variant_id, cycle, status, certificate, proof_status, cpu_s FROM solvers.{table}"
        for table in (*RUNS, "champion_trials")
    )
    + " UNION ALL SELECT variant_id, cycle, status, certificate, proof_status, cpu_s FROM "
    "solvers.gate_runs WHERE gate = 'trial'"
)
MADE = """
SELECT count(*) AS made, (SELECT count(DISTINCT artifact_id) FROM solvers.immigrants WHERE cycle = $cycle
  AND state <> 'present') AS entered
FROM solvers.variants WHERE cycle = $cycle"""
RAN = f"""
SELECT count(*) AS runs, count(DISTINCT variant_id) AS variants, count(*)
  FILTER ({claims.VERIFIED}) AS verified,
  count(*) FILTER ({claims.UNSAT}) AS unsat, count(*) FILTER ({claims.UNCHECKED}) AS unchecked,
  count(*) FILTER ({claims.UNSOUND}) AS wrong FROM ({ALL_RUNS}) WHERE cycle = $cycle"""
RANK_1 = """
SELECT r.variant_id, coalesce(known.title, r.variant_id[:12]) AS title FROM solvers.consensus_ranking AS r
LEFT JOIN known_artifacts AS known ON known.artifact_id = r.variant_id WHERE r.cycle = $cycle ORDER BY r.rank
  LIMIT 1"""
DUELS = "SELECT * FROM solvers.champion WHERE cycle <= $cycle"
SECONDS = f"""
SELECT cycle, sum(cpu_s) AS cpu_s FROM (SELECT cycle, cpu_s FROM ({ALL_RUNS}) UNION ALL SELECT cycle, cpu_s
  FROM solvers.binaries)
WHERE cycle <= $cycle GROUP BY cycle ORDER BY cycle"""
PAR2 = """
SELECT champions.cycle, any_value(m.par2) AS par2 FROM champions
JOIN solvers.metrics AS m ON m.cycle = champions.cycle AND m.variant_id = champions.artifact_id
WHERE champions.line = 'solvers' AND champions.cycle <= $cycle GROUP BY champions.cycle
  ORDER BY champions.cycle"""
