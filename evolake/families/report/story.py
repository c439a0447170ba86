"""What only the families line knows of its cycle: it promotes none, so what leads is what was accepted, with
labels and instances."""

from __future__ import annotations

from dataclasses import replace

from evolake.families.gates.specs import GATE_NAMES
from evolake.report.gain import NONE_YET
from evolake.report.numbers import counted
from evolake.report.story import BLOCKED_BY_RULE, Ask, Row, Story, Trend, with_cpu
from evolake.stats.proportions import wilson_interval

DRIED_UP = 0.05
"""A share of accepted attempts below which the operators, not the rules, want a look."""


def story(summary: Story, ask: Ask) -> Story:
    """Return the story with families and instances, the share of attempts that were accepted with its
    interval, and what was rejected."""
    made = ask(MADE)
    now = next(
        (row for row in made if row["cycle"] == summary.cycle),
        {"attempts": 0, "repaired": 0, "accepted": 0, "instances": 0},
    )
    families, instances = ask(LIVE)[0]["families"], sum(row["instances"] for row in made)
    labels, chosen, came = ask(LABELS)[0], ask(SURVIVAL)[0], ask(CAME)[0]
    gained = gain_in_words(sum(row["accepted"] for row in made), instances)
    return replace(
        with_cpu(summary, ask(SECONDS)),
        noun="attempt",
        made=now["attempts"],
        passed=now["accepted"],
        beside=" and ".join(
            counted(count, noun)
            for count, noun in ((now["repaired"], "repaired draft"), (came["judged"], "new seed"))
            if count
        ),
        gates=sorted(
            (gate for gate in summary.gates if gate.name in GATE_NAMES),
            key=lambda gate: GATE_NAMES.index(gate.name),
        ),
        leads=f"no single champion: {counted(families, 'family', 'families')} that passed every gate",
        gain=gained,
        short_gain=gained,
        measured="; ".join(filter(None, [_accepted(now), _labels(labels)])),
        changed=(
            f"{counted(now['accepted'], 'family', 'families')} and "
            f"{counted(now['instances'], 'instance')} more{_entered(came)}{_chosen(chosen)}"
        ),
        goes_on=(
            f"{counted(families - chosen['retired'], 'family', 'families')} as possible parents, "
            f"{counted(instances, 'instance')} in all"
        ),
        look=_look(summary, now),
        trend=Trend("families accepted so far", [(row["cycle"], row["families"]) for row in ask(GROWTH)]),
    )


def gain_in_words(families: int, instances: int) -> str:
    """Return what evolution has added so far: a count, which has no interval. The share of attempts that were
    accepted is no gain."""
    if not families:
        return f"{NONE_YET}: no evolved family has passed every gate"
    return (
        f"{counted(families, 'evolved family', 'evolved families')} with {counted(instances, 'instance')} "
        "(a count, no interval)"
    )


def _accepted(now: Row) -> str:
    if not now["attempts"]:
        return "no attempt was made"
    share = wilson_interval(now["accepted"], now["attempts"])
    return f"{share.estimate:.0%} of attempts accepted (95% interval {share.low:.0%} to {share.high:.0%})"


def _labels(labels: Row) -> str:
    if not labels["instances"] or labels["instances"] != labels["by_majority"]:
        return ""
    return (
        f"{labels['unanimous']:,} of {labels['instances']:,} new labels are unanimous, every one has a "
        "strict majority"
    )


def _entered(came: Row) -> str:
    """Return what became of the seeds that were added; "" if none was."""
    if not came["judged"]:
        return ""
    return (
        f"; of {counted(came['judged'], 'new seed')} {came['accepted'] or 'none'} "
        f"{'is' if came['accepted'] < 2 else 'are'} accepted"
    )


def _chosen(chosen: Row) -> str:
    """Return what learnability did in the cycle; "" where it counts nothing."""
    said = []
    if chosen["going"]:
        said.append(
            f"{chosen['going']} {'is' if chosen['going'] == 1 else 'are'} retired, as the policy learns "
            "nothing from them"
        )
    if chosen["back"]:
        said.append(f"{chosen['back']} {'comes' if chosen['back'] == 1 else 'come'} back from retirement")
    return "".join(f"; {part}" for part in said)


def _look(summary: Story, now: Row) -> str:
    if now["attempts"] and now["accepted"] / now["attempts"] < DRIED_UP:
        return f"few attempts pass: {BLOCKED_BY_RULE} -p line={summary.line}"
    if now["accepted"]:
        return (
            "read one: evolake families gallery --out gallery; train on them: evolake families export "
            "--format trl --out export"
        )
    return summary.look


MADE = """
WITH families AS (SELECT cycle, count(*) AS accepted FROM families.accepted GROUP BY cycle),
  instances AS (SELECT cycle, count(*) AS instances FROM families.instances GROUP BY cycle),
  tried AS (SELECT cycle, count(DISTINCT attempt) AS attempts, count(*) - count(DISTINCT attempt) AS repaired
    FROM families.candidates GROUP BY cycle)
SELECT cycle, coalesce(attempts, 0) AS attempts, coalesce(repaired, 0) AS repaired,
  coalesce(accepted, 0) AS accepted, coalesce(instances, 0) AS instances
FROM tried FULL JOIN families USING (cycle) FULL JOIN instances USING (cycle) WHERE cycle <= $cycle
  ORDER BY cycle"""
BEGAN = """
SELECT '0000' AS cycle, family_id FROM families.seeds WHERE state = 'accepted'
UNION ALL SELECT DISTINCT cycle, artifact_id FROM families.immigrants WHERE state = 'accepted'
UNION ALL SELECT cycle, family_id FROM families.accepted"""
LIVE = f"SELECT count(DISTINCT family_id) AS families FROM ({BEGAN}) WHERE cycle <= $cycle"
CAME = """  -- those that cannot be read come to no gate
SELECT count(DISTINCT artifact_id) AS judged, count(DISTINCT artifact_id)
  FILTER (state = 'accepted') AS accepted
FROM families.immigrants WHERE cycle = $cycle AND state <> 'present'"""
LABELS = """
SELECT count(*) AS instances, count(*) FILTER (2 * votes > voters) AS by_majority, count(*)
  FILTER (votes = voters) AS unanimous
FROM families.instances WHERE cycle = $cycle"""
SURVIVAL = """
SELECT count(*) FILTER (NOT lives) AS retired, count(*) FILTER (NOT lives AND before = 'accepted') AS going,
  count(*) FILTER (lives AND before = 'retired') AS back FROM families.survival WHERE cycle = $cycle"""
SECONDS = """
SELECT cycle, cpu_s_mean * attempts AS cpu_s FROM families.resources WHERE outcome = 'all'
  AND cycle <= $cycle ORDER BY cycle"""
GROWTH = f"""
SELECT cycle, (sum(n) OVER (ORDER BY cycle))::INTEGER AS families FROM (
  SELECT cycle, count(family_id) AS n FROM ({BEGAN} UNION ALL SELECT DISTINCT cycle, NULL
    FROM families.candidates)
  WHERE cycle <= $cycle GROUP BY cycle) ORDER BY cycle"""
