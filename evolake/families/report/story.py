"""What only the families line knows of its cycle: it promotes none, so what leads is what was accepted, with
labels and instances.

What the families line says of its artifacts, of one family and every attempt at it (idea, outcome, what the
gates said, who made it), and of itself among the lines: it has no champion, so its best is how many families
passed every gate.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from evolake.families.gates.specs import GATE_NAMES
from evolake.families.model.contract import Family
from evolake.families.model.family_files import write_family
from evolake.families.model.population import load_family
from evolake.families.report.material import QUESTIONS
from evolake.families.tables_faults import TABLES
from evolake.lake import Catalogue, Lake
from evolake.lazy import Lazy
from evolake.report.artifacts import Artifact, Kind, LineArtifacts, column_text
from evolake.report.finished_cycle import questions
from evolake.report.gain import NONE_YET
from evolake.report.numbers import counted
from evolake.report.standing import Ask, Standing
from evolake.report.story import BLOCKED_BY_RULE, Row, Story, Trend, with_cpu
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
        f"{counted(families, 'evolved family', 'evolved families')}; "
        f"{counted(instances, 'instance')} of all families (counts, no interval)"
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


def standing(shared: Standing, _lake: Lake, ask: Ask) -> Standing:
    """Return the row with the seeds that passed as its start, and the versions of families that came to the
    gates as its evaluations."""
    seeds, versions = ask(SQL["seeds"])[0], ask(SQL["judged"])[0]["versions"]
    start = counted(seeds["accepted"], "seed family", "seed families")
    return replace(shared, start=start, evaluations=seeds["judged"] + versions)


LINE = "families"

SHORTEST = 8
"""Digits of an id that name a family at least."""


def _catalogue(lake: Lake) -> Catalogue:
    """Return the catalogue, with empty tables where a lake has no families yet."""
    return Catalogue(lake, {(LINE, name): schema for name, schema in TABLES.items()})


def attempts(lake: Lake) -> list[dict[str, Any]]:
    """Return rows of IDEAS of all cycles, the oldest first."""
    with _catalogue(lake) as catalogue:
        return catalogue.frame(SQL["attempts"]).to_dicts()


def family_report(lake: Lake, wanted: str) -> dict[str, Any] | None:
    """Return what is known of a family, by its id or the beginning of it; None if no family, or more than
    one, begins so."""
    if len(wanted) < SHORTEST:
        return None
    with _catalogue(lake) as catalogue:
        found = catalogue.frame(SQL["family"], {"id": wanted}).to_dicts()
        if len(found) != 1:
            return None
        name = {"id": found[0]["family_id"]}
        ideas, verdicts = (catalogue.frame(SQL[asked], name).to_dicts() for asked in ("ideas", "verdicts"))
    return found[0] | {"idea": ideas[0]["idea"] if ideas else None, "verdicts": verdicts}


def attempt_lines(rows: list[dict[str, Any]]) -> list[str]:
    """Return a line for each attempt, for people."""
    return [
        f"{row['cycle']}  {(row['family_id'] or '')[:12]:12}  {row['outcome']:8}  "
        f"{row['title'] or row['operator']}"
        + (f": {row['idea']}" if row["idea"] else "")
        + (f" ({row['reason']})" if row["reason"] else "")
        for row in rows
    ]


def family_lines(report: dict[str, Any]) -> list[str]:
    """Return a family in lines, for people."""
    parents = ", ".join(parent[:12] for parent in report["parents"] or ()) or "none"
    instances = "" if report["instances"] is None else f", {report['instances']} instances"
    lines = [
        report["family_id"],
        f"  title     {report['title']} ({report['category']}, {report['language']})",
        f"  state     {report['state']}, made in cycle {report['cycle']} by {report['origin']}, "
        f"{report['operator']}{instances}",
        *([f"  idea      {report['idea']}"] if report["idea"] else []),
        f"  parents   {parents}",
        *([f"  blocked   {report['gate']}: {report['reason']}"] if report["reason"] else []),
    ]
    return [
        *lines,
        *(
            f"  gate      {row['gate']}: {row['outcome']} {row['rule_id']} {row['reason'] or ''}".rstrip()
            for row in report["verdicts"]
        ),
    ]


def family_text(lake: Lake, artifact: Artifact) -> str:
    """Return its template and every program."""
    family = _family(lake, artifact)
    parts = {"template.md": family.template, **family.sources()}
    return "\n".join(f"==> {name} <==\n{text}" for name, text in parts.items())


def write_folder(lake: Lake, artifact: Artifact, folder: Path) -> str:
    """family/, as `evolake families check` reads it."""
    write_family(_family(lake, artifact), folder / "family")
    return "evolake families check family --json"


def _family(lake: Lake, artifact: Artifact) -> Family:
    return load_family(artifact.row.get("record_sha") or artifact.content_sha, lake.blobs)


def outcome(catalogue: Catalogue, cycle: str) -> str:
    """Return accepted families and instances with voted labels, of this cycle and so far."""
    made = catalogue.frame(QUESTIONS["made"], {"cycle": cycle}).to_dicts()
    now = next(
        (row for row in made if row["cycle"] == cycle), {"accepted": 0, "attempts": 0, "of_evolved": 0}
    )
    families, instances = (sum(row[column] for row in made) for column in ("accepted", "of_evolved"))
    return (
        f"{now['accepted']} of {now['attempts']} proposed families accepted, with {now['of_evolved']:,} "
        f"instances; evolved so far: {families} families, {instances:,} instances"
    )


ARTIFACTS = LineArtifacts(
    gained=Lazy("evolake.families.report.gained:gained"),
    exhibit=Lazy("evolake.families.report.gained:exhibit"),
    crowns_none=(
        "every accepted family lives on: see `evolake families gallery --evolved --out DIR`; `evolake "
        "families export` writes their data"
    ),
    outcome=outcome,
    standing=standing,
    kinds={
        "family": Kind(
            "family_id",
            ("incoming_families", "candidates", "seeds"),
            ("name", "category", "language", "origin", "operator", "instances", "gate", "rule_id", "reason"),
            ("complexity", "ideas"),
            text=family_text,
            write=write_folder,
        ),
        "instance": Kind(
            "instance_id",
            ("instances",),
            ("family_id", "category", "language", "difficulty", "seed", "answer", "votes", "voters"),
            title="text",
            text=column_text("text"),
        ),
    },
)
