"""What only the families line knows of its cycle: it promotes none, so what leads is what was accepted, with
labels and instances."""

from __future__ import annotations

from dataclasses import replace

from evolake.families.gates.specs import GATE_NAMES
from evolake.families.report.material import QUESTIONS
from evolake.report.gain import NONE_YET
from evolake.report.numbers import counted
from evolake.report.questions import questions
from evolake.report.story import BLOCKED_BY_RULE, Ask, Row, Story, Trend, with_cpu
from evolake.stats.proportions import wilson_interval

SQL = questions("evolake.families.report", "story.sql")
DRIED_UP = 0.05
"""A share of accepted attempts below which the operators, not the rules, want a look."""


def story(summary: Story, ask: Ask) -> Story:
    """Return the story with families and instances, the share of attempts that were accepted with its
    interval, and what was rejected."""
    made = ask(QUESTIONS["made"])
    now = next(
        (row for row in made if row["cycle"] == summary.cycle),
        {"attempts": 0, "versions": 0, "accepted": 0, "instances": 0},
    )
    families, instances = ask(SQL["live"])[0]["families"], sum(row["instances"] for row in made)
    labels, chosen, came = ask(SQL["labels"])[0], ask(SQL["survival"])[0], ask(SQL["came"])[0]
    gained = gain_in_words(sum(row["accepted"] for row in made), instances)
    return replace(
        with_cpu(summary, ask(SQL["seconds"])),
        noun="attempt",
        made=now["attempts"],
        passed=now["accepted"],
        beside=" and ".join(
            counted(count, noun)
            for count, noun in (
                (now["versions"] - now["attempts"], "repaired draft"),
                (came["judged"], "new seed"),
            )
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
        trend=Trend(
            "families accepted so far", [(row["cycle"], row["families"]) for row in ask(SQL["growth"])]
        ),
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
