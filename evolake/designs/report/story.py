"""What only the designs line knows of its cycle: how much faster its champion is, who challenged it, and what was run."""

from __future__ import annotations

import math
from dataclasses import replace

from evolake.report.gain import BOUNDS, NONE_YET
from evolake.report.numbers import counted, figures, interval
from evolake.report.story import Ask, Row, Story, Trend, contests, with_cpu

NONE = f"{NONE_YET}: the baseline itself leads"
GRAMMAR_TOLD = {
    "open": "; candidates are written in the open grammar",
    "paper": "; candidates are written in the paper's grammar, which holds the parts of its best design (EVOLAKE_DESIGNS__GRAMMAR=open does without)",
}
"""What is said of the grammar of a cycle's candidates; nothing where there is none or several."""
OBJECTIVES = "objective"
"""The gate that objectives pass, and designs do not come to: it is told last."""
WEAK = 1.0
"""A ratio of 1 is no gain."""


def story(summary: Story, ask: Ask) -> Story:
    """Gain against the baseline, the duel for the title, runs and sizes, processor time of all runs."""
    made = ask(MADE)[0]
    decisions = {row["comparison"]: row for row in ask(DECISIONS)}
    against, duel, ran = decisions.get("baseline"), decisions.get("incumbent"), ask(RAN)[0]
    cost, spent = with_cpu(summary, ask(SECONDS))
    of_designs = [gate for gate in summary.gates if gate.name != OBJECTIVES]
    beside = [counted(made[what], name) for what, name in (("tuned", "tuned design"), ("entered", "new seed")) if made[what]]
    beside += [counted(gate.came, "new objective") for gate in summary.gates if gate.name == OBJECTIVES and gate.came]
    return replace(
        summary, noun="design", made=made["made"], passed=made["passed"], beside=" and ".join(beside),
        gates=[*of_designs, *(gate for gate in summary.gates if gate.name == OBJECTIVES)],
        gain=summary.gain or NONE, short_gain=summary.short_gain or NONE,
        duel=_duel(duel) if duel and not duel["wins"] else "", contests=contests(ask, "designs.champion_decisions", comparison="incumbent"),
        measured=f"{counted(ran['designs'], 'design')} in {counted(ran['runs'], 'run')}, up to N={ran['largest']}"
        + GRAMMAR_TOLD.get(made["grammar"] or "", "") if ran["runs"] else "",
        goes_on=f"{counted(made['live'], 'design')} and {counted(made['voting'], 'objective')} that judge them", look=_look(summary, against, made),
        cost=cost, spent=spent,
        trend=Trend("work of the baseline over that of the champion", [(row["cycle"], row["ratio"]) for row in ask(RATIOS)]),
    )


def _duel(duel: Row) -> str:
    """Why the first by consensus is not the champion, in one sentence."""
    who = duel["title"] or "the first by consensus"
    if duel["ratio"] is None:
        return f"{who} did not become champion: the duel is undecided, since this machine was too busy to end it"
    what = "work" if duel.get("unit") == "work" else "steps"
    seeds = counted(duel["pairs"], "seed")
    ratio, low, high = duel["ratio"], duel["ratio_low"], duel["ratio_high"]
    before = BOUNDS.get(duel.get("bound") or "", "")
    if ratio < WEAK:
        most = {"at least ": "at most "}.get(before, before)
        cost = interval(1 / ratio, 1 / high if high else math.inf, 1 / low if low else math.inf)
        return f"{who} did not become champion: it takes {most}{cost} times the {what} of the champion in the duel at N={duel['N']} on {seeds}"
    floor = f"; with this noise only a gain above {figures(duel['noise_floor'])} times would show" if duel["noise_floor"] else ""
    less = "less work" if what == "work" else "fewer steps"
    return (
        f"{who} did not become champion: {before}{interval(ratio, low, high)} times {less} than the champion in the duel at N={duel['N']} on "
        f"{seeds}, which is within the noise{floor}"
    )


def _look(summary: Story, against: Row | None, made: Row) -> str:
    if made["made"] and not made["passed"]:
        return f"why nothing passed: evolake sql --file cookbook/blocked_by_rule.sql -p line={summary.line}"
    if against is not None and against["ratio"] is not None and against["ratio_low"] <= WEAK:
        return "more seeds narrow the interval (EVOLAKE_DESIGNS__CHAMPION_REPEATS), or more cycles find more: evolake run --lines designs"
    return summary.look


MADE = """
SELECT count(*) FILTER (cycle = $cycle) AS made, count(*) FILTER (cycle = $cycle AND state = 'accepted') AS passed,
  (SELECT count(DISTINCT artifact_id) FROM artifacts WHERE line = 'designs' AND kind = 'design' AND state <> 'blocked' AND cycle <= $cycle) AS live,
  (SELECT count(*) FROM designs.final_ranking_weights WHERE cycle = $cycle) AS voting,
  (SELECT count(*) FROM designs.tuned_designs WHERE cycle = $cycle) AS tuned,
  (SELECT count(DISTINCT artifact_id) FROM designs.immigrants WHERE cycle = $cycle AND state <> 'present') AS entered,
  string_agg(DISTINCT grammar, ', ' ORDER BY grammar) FILTER (cycle = $cycle) AS grammar
FROM designs.candidates"""
DECISIONS = """
SELECT d.*, known.title FROM designs.champion_decisions AS d LEFT JOIN known_artifacts AS known ON known.artifact_id = d.challenger_id
WHERE d.cycle = $cycle"""
RUNS = " UNION ALL ".join(
    f"SELECT cycle, design_id, N, cpu_s FROM designs.{table}" for table in ("experiments", "promoted_experiments", "champion_trials")
)
RAN = f"SELECT count(DISTINCT design_id) AS designs, count(*) AS runs, max(N) AS largest FROM ({RUNS}) WHERE cycle = $cycle"
SECONDS = f"SELECT cycle, sum(cpu_s) AS cpu_s FROM ({RUNS}) WHERE cycle <= $cycle GROUP BY cycle ORDER BY cycle"
RATIOS = """
SELECT champions.cycle, coalesce(any_value(d.ratio), 1.0) AS ratio FROM champions
LEFT JOIN designs.champion_decisions AS d ON d.cycle = champions.cycle AND d.comparison = 'baseline'
WHERE champions.line = 'designs' AND champions.cycle <= $cycle AND champions.cycle > '0000' GROUP BY champions.cycle ORDER BY champions.cycle"""
