"""What only the designs line knows of its cycle and its artifacts: how much faster its champion is than the
baseline, who challenged it, and what was run."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evolake.contest import LEVEL
from evolake.designs.evolution.gate_specs import OBJECTIVE
from evolake.lake import Lake
from evolake.report.artifacts import Artifact, Kind, LineArtifacts, blob_text, column_text
from evolake.report.finished_cycle import questions
from evolake.report.gain import BOUNDS, NONE_YET, Gain
from evolake.report.numbers import counted, figures, interval
from evolake.report.standing import Ask, Standing
from evolake.report.story import Gate, Row, Story, Trend, contests, why_nothing_passed, with_cpu
from evolake.stats import Interval

SQL = questions("evolake.designs.report", "story.sql")
NONE = f"{NONE_YET}: the baseline itself leads"
WEAK = 1.0
"""A ratio of 1 is no gain."""


def story(summary: Story, ask: Ask) -> Story:
    """Return gain against the baseline, the duel for the title, runs and sizes, processor time of all
    runs."""
    made, decisions = ask(SQL["made"])[0], {row["comparison"]: row for row in ask(SQL["decisions"])}
    of_objectives = [gate for gate in summary.gates if gate.name == OBJECTIVE.name]
    return replace(
        with_cpu(summary, ask(SQL["seconds"])),
        noun="design",
        made=made["made"],
        passed=made["passed"],
        beside=_beside(made, of_objectives),
        gates=[*(gate for gate in summary.gates if gate not in of_objectives), *of_objectives],
        gain=summary.gain or NONE,
        short_gain=summary.short_gain or NONE,
        duel=_lost_duel(decisions.get("incumbent")),
        measured=_measured(ask(SQL["ran"])[0]),
        contests=contests(ask, "designs.champion_decisions", comparison="incumbent"),
        goes_on=f"{counted(made['live'], 'design')} and {counted(made['voting'], 'objective')} that judge them",  # noqa: E501
        look=why_nothing_passed(summary.line, made["made"], made["passed"])
        or _look(summary, decisions.get("baseline")),
        trend=Trend(
            "work of the baseline over that of the champion",
            [(row["cycle"], row["ratio"]) for row in ask(SQL["ratios"])],
        ),
    )


def _beside(made: Row, of_objectives: Sequence[Gate]) -> str:
    """Return what came to the gates and was not proposed. of_objectives: the gate of objectives, if the cycle
    has it."""
    counts = [
        (made["tuned"], "tuned design"),
        (made["entered"], "new seed"),
        *((gate.came, "new objective") for gate in of_objectives),
    ]
    return " and ".join(counted(count, noun) for count, noun in counts if count)


def _measured(ran: Row) -> str:
    if not ran["runs"]:
        return ""
    return f"{counted(ran['designs'], 'design')} in {counted(ran['runs'], 'run')}, up to N={ran['largest']}"


def _lost_duel(duel: Row | None) -> str:
    """Return why the first by consensus is not the champion, in one sentence; "" if it is, or if there was no
    duel."""
    if not duel or duel["wins"]:
        return ""
    who = duel["title"] or "the first by consensus"
    if duel["ratio"] is None:
        return (
            f"{who} did not become champion: the duel is undecided, since this machine was too busy to end it"
        )
    seeds = counted(duel["pairs"], "seed")
    ratio, low, high = duel["ratio"], duel["ratio_low"], duel["ratio_high"]
    before = BOUNDS.get(duel["bound"], "")
    where = f"the duel at N={duel['N']} on {seeds}"
    if duel["law"]:
        where = (
            f"the duel on {seeds}, by the {duel['law']} through N={duel['sizes'][0]} to "
            f"{duel['sizes'][-1]} at N={duel['target']}"
        )
    if ratio < WEAK:
        most = {"at least ": "at most "}.get(before, before)
        cost = interval(1 / ratio, 1 / high if high else math.inf, 1 / low if low else math.inf)
        return (
            f"{who} did not become champion: it takes {most}{cost} times the work of the champion in {where}"
        )
    floor = (
        f"; with this noise only a gain above {figures(duel['noise_floor'])} times would show"
        if duel["noise_floor"]
        else ""
    )
    return (
        f"{who} did not become champion: {before}{interval(ratio, low, high)} times less work than the "
        f"champion in {where}, which is within the noise{floor}"
    )


def _look(summary: Story, against: Row | None) -> str:
    if against is not None and against["ratio"] is not None and against["ratio_low"] <= WEAK:
        return (
            "more seeds narrow the interval (EVOLAKE_DESIGNS__CHAMPION_REPEATS), or more cycles find "
            "more: evolake run --lines designs"
        )
    return summary.look


BASELINE = "the baseline dynamics"


def standing(shared: Standing, _lake: Lake, ask: Ask) -> Standing:
    """Return the row with the work that both sides took at the size of their duel."""
    runs = ask(SQL["counted"])[0]["runs"]
    work = {
        row[
            "is_champion"
        ]: f" ({'' if row['solved'] else 'at least '}{figures(row['work'], 4)} median work in steps of the "
        f"baseline at N={row['N']})"
        for row in ask(SQL["work"])
    }
    if shared.estimate is None:
        return replace(shared, start=BASELINE, evaluations=runs)
    return replace(
        shared, best=shared.best + work.get(True, ""), start=BASELINE + work.get(False, ""), evaluations=runs
    )


LINE = "designs"


def gain_of(lake: Lake, artifact_id: str, cycle: str, _since: str) -> Gain | None:
    """Against the baseline, on the fresh seeds of the cycle; None for the baseline itself."""
    for row in lake.read(LINE, "champion_decisions", cycle).to_dicts():
        if (
            row["comparison"] == "baseline"
            and row["challenger_id"] == artifact_id
            and row["ratio"] is not None
        ):
            return gain_of_decision(row)
    return None


def gain_of_decision(row: Mapping[str, Any]) -> Gain:
    """Return the gain that a row of DECISIONS states."""
    return Gain(
        Interval(row["ratio"], row["ratio_low"], row["ratio_high"], LEVEL),
        "less median work",
        row["incumbent_id"],
        f"at N={row['N']} on {row['pairs']} fresh seeds of {row['batch']} instances each, profile "
        f"{row['profile']}",
        row["cycle"],
        row["wins"],
        count=counted(row["pairs"], "seed"),
        bound=row["bound"],
    )


def design_text(lake: Lake, artifact: Artifact) -> str:
    """Return the design's file. Values that its row has in place of the file's own (a tuned copy) are set at
    its end, so that it computes the same."""
    changed = json.loads(artifact.row.get("hyper") or "{}")
    lines = [f'HYPER_SPACE[{name!r}]["default"] = {value!r}' for name, value in sorted(changed.items())]
    return blob_text(lake, artifact) + (
        "\n\n# The values that evolution found.\n" + "\n".join(lines) + "\n" if lines else ""
    )


def write_design(lake: Lake, artifact: Artifact, folder: Path) -> str:
    """design.py."""
    (folder / "design.py").write_text(design_text(lake, artifact), encoding="utf-8")
    return "evolake designs check design.py && evolake designs solve design.py --n 100 --instances 100"


ARTIFACTS = LineArtifacts(
    gain=gain_of,
    standing=standing,
    score="consensus, lower is better",
    kinds={
        "design": Kind(
            "design_id",
            ("incoming_designs", "candidates", "seeds"),
            (
                "origin",
                "operator",
                "idea",
                "rationale",
                "key_insight",
                "success_level",
                "tuned",
                "hyper",
                "reason",
            ),
            ("final_ranking",),
            score="consensus",
            text=design_text,
            write=write_design,
            changed=lambda row, _: str(row["rationale"] or ""),
        ),
        "objective": Kind(
            "objective_id",
            ("incoming_objectives", "objectives"),
            ("origin", "operator", "family", "parameters", "genome", "description", "multiplier", "reason"),
            ("final_ranking_weights",),
            file="objective.py",
        ),
        "direction": Kind(
            "direction_id",
            ("directions",),
            ("phase", "rationale", "focus", "avoid", "reference_ids"),
            title="direction",
            text=column_text("direction"),
        ),
    },
)
