"""What only the families line knows of its cycle: it crowns nobody, so what leads is what was accepted, with labels and instances."""

from __future__ import annotations

from dataclasses import replace

from evolake.families.gates.specs import GATE_NAMES
from evolake.report.numbers import counted
from evolake.report.story import Ask, Gate, Row, Story, Trend, with_cpu
from evolake.stats.proportions import wilson_interval

DRIED_UP = 0.05
"""A share of accepted attempts below which the operators, not the rules, want a look."""


def story(told: Story, ask: Ask) -> Story:
    """Families and instances, attempts that were accepted with the interval of their share, what rejected ones cost."""
    made = ask(MADE)
    now = next((row for row in made if row["cycle"] == told.cycle), {"attempts": 0, "repaired": 0, "accepted": 0, "instances": 0})
    families, instances = ask(LIVE)[0]["families"], sum(row["instances"] for row in made)
    labels, chosen = ask(LABELS)[0], ask(SURVIVAL)[0]
    cost, spent = with_cpu(told, ask(SECONDS))
    return replace(
        told, noun="attempt", made=now["attempts"], passed=now["accepted"],
        beside=counted(now["repaired"], "repaired draft") if now["repaired"] else "", gates=[Gate(**row) for row in ask(GATES)],
        leads=f"no single champion: {counted(families, 'family', 'families')} that passed every gate", gain=_gain(now), short_gain=_gain(now),
        measured=f"{labels['unanimous']:,} of {labels['instances']:,} new labels are unanimous, every one has a strict majority"
        if labels["instances"] and labels["instances"] == labels["by_majority"] else "",
        changed=f"{counted(now['accepted'], 'family', 'families')} and {counted(now['instances'], 'instance')} more{_chosen(chosen)}",
        goes_on=f"{counted(families - chosen['retired'], 'family', 'families')} as possible parents, {counted(instances, 'instance')} in all",
        look=_look(told, now),
        cost=cost, spent=spent, trend=Trend("families accepted so far", [(row["cycle"], row["families"]) for row in ask(GROWTH)]),
    )


def _gain(now: Row) -> str:
    if not now["attempts"]:
        return "no attempt was made"
    share = wilson_interval(now["accepted"], now["attempts"])
    return f"{share.estimate:.0%} of attempts accepted (95% interval {share.low:.0%} to {share.high:.0%})"


def _chosen(chosen: Row) -> str:
    """What learnability did in the cycle; "" where it counts nothing."""
    said = []
    if chosen["going"]:
        said.append(f"{chosen['going']} {'is' if chosen['going'] == 1 else 'are'} retired, as the policy learns nothing from them")
    if chosen["back"]:
        said.append(f"{chosen['back']} {'comes' if chosen['back'] == 1 else 'come'} back from retirement")
    return "".join(f"; {part}" for part in said)


def _look(told: Story, now: Row) -> str:
    if now["attempts"] and now["accepted"] / now["attempts"] < DRIED_UP:
        return f"few attempts pass: evolake sql --file cookbook/blocked_by_rule.sql -p line={told.line}"
    if now["accepted"]:
        return "read one: evolake families gallery --out gallery; train on them: evolake families export --format trl --out export"
    return told.look


MADE = """
WITH families AS (SELECT cycle, count(*) AS accepted FROM families.accepted GROUP BY cycle),
  instances AS (SELECT cycle, count(*) AS instances FROM families.instances GROUP BY cycle),
  tried AS (SELECT cycle, count(DISTINCT attempt) AS attempts, count(*) - count(DISTINCT attempt) AS repaired
    FROM families.candidates GROUP BY cycle)
SELECT cycle, coalesce(attempts, 0) AS attempts, coalesce(repaired, 0) AS repaired,
  coalesce(accepted, 0) AS accepted, coalesce(instances, 0) AS instances
FROM tried FULL JOIN families USING (cycle) FULL JOIN instances USING (cycle) WHERE cycle <= $cycle ORDER BY cycle"""
LIVE = """
SELECT (SELECT count(*) FROM families.seeds WHERE state = 'accepted')
  + (SELECT count(DISTINCT family_id) FROM families.accepted WHERE cycle <= $cycle) AS families"""
GATES = f"""
SELECT gate AS name, came, blocked AS stopped FROM families.funnel
WHERE cycle = $cycle AND operator = 'all' AND gate <> 'attempts' ORDER BY list_position({list(GATE_NAMES)}, gate)"""
LABELS = """
SELECT count(*) AS instances, count(*) FILTER (2 * votes > voters) AS by_majority, count(*) FILTER (votes = voters) AS unanimous
FROM families.instances WHERE cycle = $cycle"""
SURVIVAL = """
SELECT count(*) FILTER (NOT lives) AS retired, count(*) FILTER (NOT lives AND before = 'accepted') AS going,
  count(*) FILTER (lives AND before = 'retired') AS back FROM families.survival WHERE cycle = $cycle"""
SECONDS = """
SELECT cycle, cpu_s_mean * attempts AS cpu_s FROM families.resources WHERE outcome = 'all' AND cycle <= $cycle ORDER BY cycle"""
GROWTH = """
SELECT cycle, (sum(n) OVER (ORDER BY cycle))::INTEGER AS families FROM (
  SELECT cycle, count(*) FILTER (family_id IS NOT NULL) AS n FROM (
    SELECT '0000' AS cycle, family_id FROM families.seeds WHERE state = 'accepted'
    UNION ALL SELECT cycle, family_id FROM families.accepted UNION ALL SELECT DISTINCT cycle, NULL FROM families.candidates)
  WHERE cycle <= $cycle GROUP BY cycle) ORDER BY cycle"""
