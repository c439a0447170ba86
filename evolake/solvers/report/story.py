"""What only the solvers line knows of its cycle: how much faster its champion is than whom it beat, the duels
in words (figures with their unit, on how many formulas and shuffles they rest, and why the best-ranked
variant is not champion), whether any answer was unsound, and its row in the table of all lines.

What the solvers line says of its artifacts.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from evolake.contest import LEAST_FORMULAS, LEVEL
from evolake.lake import Lake
from evolake.report.artifacts import Artifact, Kind, LineArtifacts, column_text
from evolake.report.finished_cycle import questions
from evolake.report.gain import BOUNDS, NONE_YET, Gain
from evolake.report.numbers import counted, figures, interval
from evolake.report.standing import Ask, Standing
from evolake.report.story import Row, Story, Trend, contests, why_nothing_passed, with_cpu
from evolake.scratch import Scratch
from evolake.solvers.measurement import metrics
from evolake.solvers.measurement.duel_families import family_lines
from evolake.solvers.report.material import LINE, families_of
from evolake.solvers.repository.variant import WRITTEN_OUT
from evolake.stats import Interval

DuelRow = Mapping[str, Any]


def interval_of(duel: DuelRow) -> Interval:
    """Return the ratio of a duel with its interval."""
    return Interval(duel["ratio"], duel["ratio_low"], duel["ratio_high"], LEVEL)


def bound_of(duel: DuelRow) -> str:
    """Return "estimate" if a run of either side ended without an answer, else "".

    Such a run counts twice its limit. What it would have taken may be less or more, so that the ratio is
    neither a lower nor an upper bound.
    """
    return "estimate" if min(duel["solved_champion"], duel["solved_challenger"]) < duel["instances"] else ""


def sample_of(duel: DuelRow) -> str:
    """Return the PAR-2 of both sides in seconds and what they rest on: `PAR-2 0.14 s against 0.42 s on 9
    formulas × 2 shuffles, 2 pairs each`."""
    costs = duel["par2_challenger"], duel["par2_champion"]
    seconds = (
        f"PAR-2 {figures(costs[0])} s against {figures(costs[1])} s" if None not in costs else "no PAR-2"
    )
    return f"{seconds} on {formulas_in_words(duel)}, {counted(duel['pairs'], 'pair')} each"


def formulas_in_words(duel: DuelRow) -> str:
    """Return the number of independent formulas, and of shuffles if there are more instances."""
    instances, formulas = duel["instances"], duel["formulas"]
    if instances == formulas:
        return counted(formulas, "formula")
    if instances % formulas == 0:
        return f"{counted(formulas, 'formula')} × {instances // formulas} shuffles"
    return f"{counted(formulas, 'formula')} in {instances} shuffles"


def measured(duel: DuelRow) -> str:
    """Return all figures of a duel: ratio with interval, PAR-2 of both sides, formulas, pairs and noise
    floor."""
    result = interval_of(duel)
    if duel["formulas"] < LEAST_FORMULAS:
        ratio = figures(result.estimate)
    elif math.isfinite(result.high):
        ratio = interval(result.estimate, result.low, result.high, 100 * result.level)
    else:
        ratio = (
            f"{figures(result.estimate)} ({100 * result.level:g}% interval from {figures(result.low)} "
            "upwards)"
        )
    return (
        f"ratio {BOUNDS.get(bound_of(duel), '')}{ratio}, {sample_of(duel)}, noise floor "
        f"{figures(duel['noise_floor'])}"
    )


def outcome(duel: DuelRow) -> str:
    """Return the reason and the figures of a duel."""
    return f"{duel['reason']}; {measured(duel)}"


def families_in(families: Sequence[DuelRow], duel: DuelRow) -> list[DuelRow]:
    """Return the rows of CONTEST_FAMILIES of one duel, by family."""
    names = ("cycle", "champion_id", "challenger_id")
    return sorted(
        (row for row in families if all(row[name] == duel[name] for name in names)),
        key=lambda row: row["family"],
    )


def why_not_champion(
    best: DuelRow, champion_id: str, champion: str, duels: Sequence[DuelRow], cycle: str
) -> str:
    """Return why the best-ranked variant is not champion, in one sentence; "" if it is.

    Args:
        best: variant_id and title of rank 1. duels: rows of DECISIONS up to the cycle, in any order.
    """
    name, title = best["variant_id"], best["title"]
    if name == champion_id:
        return ""
    now = [duel for duel in duels if duel["cycle"] == cycle]
    own = [duel for duel in now if duel["challenger_id"] == name]
    if own and own[-1]["wins"]:
        return (
            f"{title} did not become champion: it won its duel too, by less than {champion}; "
            f"{measured(own[-1])}"
        )
    if own:
        more = (
            f" ({counted(len(now), 'challenger')} in all, none won)"
            if len(now) > 1 and not any(duel["wins"] for duel in now)
            else ""
        )
        return f"{title} did not become champion: {outcome(own[-1])}{more}"
    lost = [duel for duel in duels if duel["wins"] and duel["champion_id"] == name]
    if lost:
        newest = max(lost, key=lambda duel: duel["cycle"])
        return f"{title} is champion no more: it lost the duel of cycle {newest['cycle']}"
    earlier = [duel for duel in duels if duel["challenger_id"] == name and duel["champion_id"] == champion_id]
    if earlier:
        newest = max(earlier, key=lambda duel: duel["cycle"])
        return (
            f"{title} did not become champion: it did not win against {champion} in cycle "
            f"{newest['cycle']}, and has no second duel"
        )
    if any(duel["wins"] for duel in now):
        return f"{title} did not become champion: it had no duel in this cycle, and {champion} won one"
    return f"{title} did not become champion: it had no duel in this cycle"


SQL = questions(
    "evolake.solvers.report",
    "story.sql",
    verified=metrics.VERIFIED,
    unsat=metrics.UNSAT,
    unchecked=metrics.UNCHECKED,
    unsound=metrics.UNSOUND,
)
NONE = f"{NONE_YET}: an upstream solver leads as it came"
UNSOUND = "who answered wrongly: evolake sql --file cookbook/unsound_answers.sql"


def story(summary: Story, ask: Ask) -> Story:
    """Return the cycle's lost duels, runs with proofs, processor time of builds and runs."""
    made, ran = ask(SQL["made"])[0], ask(SQL["ran"])[0]
    return replace(
        with_cpu(summary, ask(SQL["seconds"])),
        noun="variant",
        made=made["made"],
        beside=counted(made["entered"], "new seed") if made["entered"] else "",
        gain=summary.gain or NONE,
        short_gain=summary.short_gain or NONE,
        duel=_rank_1(ask, summary),
        measured="; ".join(filter(None, [_measured(ran), *map(control_in_words, ask(SQL["control"]))])),
        contests=contests(ask, "solvers.champion"),
        goes_on=f"{counted(summary.live, 'variant')}, seeds among them",
        look=UNSOUND
        if ran["wrong"]
        else why_nothing_passed(summary.line, made["made"], summary.passed) or summary.look,
        trend=Trend("PAR-2 of the champion", [(row["cycle"], row["par2"]) for row in ask(SQL["par2"])], " s"),
    )


def _rank_1(ask: Ask, summary: Story) -> str:
    """Return why the first of the cycle's ranking is not champion."""
    best = ask(SQL["rank_1"])
    return (
        why_not_champion(best[0], summary.champion_id, summary.champion, ask(SQL["duels"]), summary.cycle)
        if best
        else ""
    )


def _measured(ran: Row) -> str:
    if not ran["runs"]:
        return ""
    wrong = "no unsound answer" if not ran["wrong"] else f"{counted(ran['wrong'], 'unsound answer')}, blocked"
    share = f" of {ran['unsat']:,} for UNSAT answers" if ran["unsat"] else ""
    share += f", {metrics.share_in_words(ran['unsat'], ran['unchecked'])}" if ran["unsat"] else ""
    return (
        f"{counted(ran['runs'], 'run')} of {counted(ran['variants'], 'variant')}; "
        f"{counted(ran['verified'], 'proof')} verified{share}, {wrong}"
    )


def control_in_words(row: Row) -> str:
    """Return what random options reached next to the champion, and in how much of the variants' time."""
    champion = row["champion_ratio"]
    return (
        f"{counted(row['total_settings'], 'random setting')} of {row['solver']} in "
        f"{row['total_cpu_s'] / row['total_line_cpu_s']:.0%} of the variants' time: the best costs "
        f"{figures(row['ratio'])} times less than {row['solver']} on the formulas of the benchmark"
        f"{'' if champion in (None, 1.0) else f', the champion {figures(champion)} times'}"
    )


def standing(shared: Standing, _lake: Lake, ask: Ask) -> Standing:
    """Return the row with all measured runs. Without a gain the line still has the seed that it started
    from."""
    return replace(shared, start=shared.start or shared.best, evaluations=ask(SQL["counted"])[0]["runs"])


def gain_of(lake: Lake, artifact_id: str, _cycle: str, since: str) -> Gain | None:
    """By the duel that the champion won when it became champion; None for one that has been champion since
    the seeds, without any."""
    won = [
        row
        for row in lake.read(LINE, "champion", since).to_dicts()
        if row["wins"] and row["challenger_id"] == artifact_id
    ]
    if not won:
        return None
    return gain_of_decision(won[0])


def gain_of_decision(row: Mapping[str, Any]) -> Gain:
    """Return the gain that a row of DECISIONS states."""
    return Gain(
        interval_of(row),
        "lower cost",
        row["champion_id"],
        sample_of(row),
        row["cycle"],
        row["wins"],
        noise_floor=row["noise_floor"],
        own=row["par2_challenger"],
        other=row["par2_champion"],
        count=formulas_in_words(row),
        bound=bound_of(row),
    )


BUILD = """#!/bin/sh
# Builds the sources in solver/ with the system's make and C++ compiler into program/. Nothing of evolake is needed.
#   program/bin/starexec_run_default FORMULA.cnf [FOLDER]     solves; with a folder it writes the proof FOLDER/proof.out
set -eu
case "$0" in */*) cd "${0%/*}" ;; esac
CXX="${CXX:-$(command -v g++ || command -v clang++)}"
export CXX
rm -rf program
cp -R solver program
./program/starexec_build
"""  # noqa: E501


def variant_text(lake: Lake, artifact: Artifact) -> str:
    """Return what it changes in its first parent, as a diff; of a seed the list of its files."""
    if artifact.row.get("parents"):
        sha = artifact.row["diff_sha"]
        return lake.blobs.get(sha).decode("utf-8", "replace") if sha else ""
    with Scratch("show") as parent:
        folder = Path(parent) / "solver"
        lake.blobs.get_tree(_archive(artifact), folder)
        return "".join(
            f"{path.relative_to(folder).as_posix()}\n" for path in sorted(folder.rglob("*")) if path.is_file()
        )


def plan_text(lake: Lake, artifact: Artifact) -> str:
    """Return the instructions of a plan, and why no variant came of it if none did."""
    cycle = artifact.row["cycle"]
    failed_proposals = (
        lake.read(LINE, "unmade", cycle).to_dicts() if lake.record(LINE, "unmade", cycle) is not None else []
    )
    reasons = [row["reason"] for row in failed_proposals if row["plan_id"] == artifact.row["plan_id"]]
    return "\n\n".join(
        [artifact.row["instructions"] or "", *(f"No variant came of it: {reason}" for reason in reasons)]
    )


def contest_lines(lake: Lake, artifact: Artifact) -> list[str]:
    """Return each duel in which a variant was the challenger, and its results by family of formulas, the
    oldest first."""
    lines = []
    for cycle in lake.cycles(LINE, "champion"):
        for row in lake.read(LINE, "champion", cycle).to_dicts():
            if row["challenger_id"] == artifact.artifact_id:
                lines.append(f"duel of cycle {cycle} against {row['champion_id'][:12]}: {outcome(row)}")
                lines += [f"  {line}" for line in family_lines(families_in(families_of(lake, cycle), row))]
    return lines


def write_variant(lake: Lake, artifact: Artifact, folder: Path) -> str:
    """solver/, the repository as it was judged, and build.sh."""
    lake.blobs.get_tree(_archive(artifact), folder / WRITTEN_OUT)
    (folder / "build.sh").write_text(BUILD)
    (folder / "build.sh").chmod(0o755)
    return f"evolake solvers verify {WRITTEN_OUT} --suite smoke && ./build.sh"


def _archive(artifact: Artifact) -> str:
    return artifact.row.get("archive_sha") or artifact.content_sha


ARTIFACTS = LineArtifacts(
    gain=gain_of,
    standing=standing,
    score="consensus, lower is better",
    kinds={
        "variant": Kind(
            "variant_id",
            ("incoming_variants", "variants", "seeds"),
            (
                "base",
                "origin",
                "operator",
                "hypothesis",
                "changed",
                "edits",
                "repairs",
                "gate",
                "rule_id",
                "reason",
            ),
            ("consensus_ranking", "metrics"),
            score="consensus",
            text=variant_text,
            write=write_variant,
            changed=lambda row, _: str(row["changed"] or ""),
            remarks=contest_lines,
        ),
        "objective": Kind(
            "objective_id",
            ("incoming_objectives", "objectives"),
            ("origin", "family", "parameters", "multiplier", "reason"),
            ("consensus_weights",),
            title="description",
            text=column_text("source"),
            file="objective.py",
        ),
        "plan": Kind(
            "plan_id",
            ("plan",),
            ("kind", "target", "parent_ids", "hypothesis", "origin"),
            title="hypothesis",
            text=plan_text,
        ),
    },
)
