"""What only the programs line knows of its cycle: every project's champion with its held-out score, and
whether that is a gain; evaluations with their processor time; whose score is not protected.

What the programs line says of its artifacts and of itself among the lines: held-out scores of each project's
champion and of its initial program, under the same seeds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import polars as pl

from evolake.contest import LEVEL, paired
from evolake.lake import Catalogue, Lake
from evolake.lazy import Lazy
from evolake.programs.evolution.champion_simplifying import SIMPLIFY
from evolake.programs.evolution.population import texts_of
from evolake.programs.report.material import (
    on_same_seeds,
    simplified_gain,
    simplified_in_words,
    simplified_of,
)
from evolake.report.artifacts import Artifact, Kind, LineArtifacts
from evolake.report.finished_cycle import as_rows, asking, questions
from evolake.report.gain import NONE_YET, Gain
from evolake.report.numbers import counted, duration, figures
from evolake.report.standing import Ask, Standing
from evolake.report.story import Row, Story, Trend, contests, why_nothing_passed, with_cpu
from evolake.seeds import generator
from evolake.stats import Interval

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


SAME_TIME = (
    (0.22, 0.28, "a quarter of the time"),
    (0.45, 0.55, "half the time"),
    (0.9, 1.1, "the same time"),
)
"""Least and largest share of the line's processor seconds that is called so."""


CALLED: dict[str, str] = {"hill": "hill climbing", "restart": "restarts"}
"""Search -> what it is called."""


def baseline_in_words(row: DecisionRow, digits: int = 6) -> str:
    """Return what the better of the dumb searches reached, under the same held-out seeds, and in how much of
    the processor time that the line's search has taken in all cycles each did; "" if there was none."""
    if row["baseline_mean"] is None or not row["baseline_cpu_s"]:
        return ""
    names = [CALLED.get(name, name) for name in str(row["searches"]).split(",")]
    name, mean = " or ".join(names), figures(row["baseline_mean"], digits)
    if not row["line_cpu_s"]:
        return f"{name}, {duration(row['baseline_cpu_s'])} each, {mean}"
    share = row["baseline_cpu_s"] / row["line_cpu_s"]
    time = next((text for low, high, text in SAME_TIME if low <= share <= high), f"{share:.0%} of the time")
    return f"{name}, each in {time}, {mean}"


def score_in_words(row: DecisionRow) -> str:
    """Return the held-out score of a project's champion next to that of its initial program and of the dumb
    searches, or say that there is no gain yet."""
    return "; ".join(filter(None, [_own_score(row), baseline_in_words(row)]))


def _own_score(row: DecisionRow) -> str:
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
    higher = rows[-1]["higher_is_better"] is not False if rows else True
    chain = zip(rows, on_same_seeds(rows, higher_is_better=higher), strict=True)
    points = [(row["cycle"], score) for row, score in chain if score is not None]
    others = [
        row
        for row in decided
        if row["holder_mean"] is not None and not (summary.gain and row["holder_id"] == summary.champion_id)
    ]
    scores = [f"{row['project']}: {score_in_words(row)}" for row in others]
    scores = [*(dumb for row in decided if row not in others and (dumb := baseline_in_words(row))), *scores]
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
        trend=Trend(f"held-out score of {project}, on the same seeds", points) if points else summary.trend,
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


LINE = "programs"
LARGEST_LOG = 700.0


def gain_between(
    own: Mapping[int, float],
    initial: Mapping[int, float],
    *,
    project: str,
    score_name: str,
    higher_is_better: bool,
    protected: bool,
    initial_id: str,
    cycle: str,
) -> Gain | None:
    """Return the gain; None if a ratio says nothing: no seed is common to both, or a score is not positive.

    own, initial: seed -> score of the program, and of the initial program.
    """
    seeds = sorted(set(own) & set(initial))
    if not seeds or min(*(own[seed] for seed in seeds), *(initial[seed] for seed in seeds)) <= 0:
        return None
    pairs = [own[seed] for seed in seeds], [initial[seed] for seed in seeds]
    first, second = pairs if higher_is_better else (pairs[1], pairs[0])
    contest = paired(
        [math.log(one / another) for one, another in zip(first, second, strict=True)],
        generator(0, LINE, cycle, "gain"),
    )
    middle, low, high = (
        math.exp(min(value, LARGEST_LOG)) for value in (contest.effect, contest.low, contest.high)
    )
    guard = "" if protected else "; score not protected"
    return Gain(
        Interval(middle, low, high, LEVEL),
        f"{'higher' if higher_is_better else 'lower'} {score_name}",
        initial_id,
        f"on {len(seeds)} held-out seeds of project {project}{guard}",
        cycle,
        contest.wins,
        against="the initial program",
        own=sum(pairs[0]) / len(seeds),
        other=sum(pairs[1]) / len(seeds),
        count=counted(len(seeds), "seed"),
    )


def standing(shared: Standing, _lake: Lake, ask: Ask) -> Standing:
    """Return the row with the scores of all projects, by name."""
    decided = [row for row in ask(DECIDED) if row["holder_mean"] is not None]
    best, start = (
        "; ".join(_score(row, column) for row in decided) for column in ("holder_mean", "initial_mean")
    )
    runs = ask(SQL["counted"])[0]["runs"]
    return replace(shared, best=best or shared.best, start=start or shared.start, evaluations=runs)


def _score(row: DecisionRow, column: str) -> str:
    return (
        f"{row['project']}: {row['score_name']} "
        f"{'unknown' if row[column] is None else figures(row[column], 6)}"
    )


def gain_of(lake: Lake, artifact_id: str, cycle: str, _since: str) -> Gain | None:
    """Return the champion's held-out scores against those of its initial program under the same seeds; None
    where a ratio says nothing: a score is not positive, or the initial program is champion."""
    if lake.record(LINE, "champion", cycle) is None:
        return None
    decided = [
        row for row in lake.read(LINE, "champion", cycle).to_dicts() if row["holder_id"] == artifact_id
    ]
    if not decided:
        return None
    row = decided[0]
    measured = lake.read(LINE, "heldout", cycle).filter(pl.col("project") == row["project"])
    project = lake.read(LINE, "projects", cycle).filter(pl.col("project") == row["project"]).to_dicts()[0]
    if artifact_id == project["initial_id"]:
        return None
    sides = (
        "challenger" if row["wins"] else "champion",
        "champion" if row["champion_id"] == project["initial_id"] else "initial",
    )
    own, other = (
        dict(measured.filter(pl.col("side") == name).select("seed", "score").drop_nulls().iter_rows())
        for name in sides
    )
    return gain_between(
        own,
        other,
        project=row["project"],
        score_name=project["score_name"],
        higher_is_better=project["higher_is_better"],
        protected=row["protected"],
        initial_id=project["initial_id"],
        cycle=cycle,
    )


def remarks(lake: Lake, artifact: Artifact) -> list[str]:
    """Return what a program was simplified to, or from, with the score of what is written out; and how its
    held-out score compares with the dumb searches, where it is the champion of the newest finished cycle."""
    said, cycles = list[str](), lake.cycles(LINE, "champion")
    with asking(lake, LINE, cycles[-1] if cycles else "") as (_, frames):
        rows = as_rows(frames)(DECIDED) if cycles else []
    own = [row for row in rows if row["holder_id"] == artifact.artifact_id and row["holder_mean"] is not None]
    if text := simplified_in_words(lake, artifact.artifact_id):
        made = simplified_of(lake, artifact.artifact_id)
        means = [
            row["holder_mean"] + simplified_gain(lake, made, higher=row["higher_is_better"]) for row in own
        ]
        score = f", with a held-out score of {figures(means[0], 6)}" if means else ""
        said.append(f"simplified to {text}; that is what is written out{score}")
    if artifact.row.get("operator") == SIMPLIFY:
        said.append(f"simplified from {artifact.row['parents'][0][:12]}, the champion")
    return said + [
        f"baseline  {row['score_name']} {figures(row['holder_mean'], 6)}; {dumb}"
        for row in own
        if (dumb := baseline_in_words(row))
    ]


def outcome(catalogue: Catalogue, cycle: str) -> str:
    """Return each project's champion with its held-out score, or that there is no gain yet."""
    rows = [
        row for row in catalogue.frame(DECIDED, {"cycle": cycle}).to_dicts() if row["holder_mean"] is not None
    ]
    parts = [f"{project_in_words(row)}{'' if row['protected'] else ' (score not protected)'}" for row in rows]
    return "; ".join(parts) or "no champion has a held-out score"


def ranked_upwards(lake: Lake, row: Mapping[str, Any]) -> bool:
    """Return whether a higher score is better in the project of a program; True before its first cycle."""
    return _directions(lake).get(str(row.get("project")), True)


@lru_cache(maxsize=1)
def _directions(lake: Lake) -> dict[str, bool]:
    """Return project -> whether a higher score is better, by its newest cycle."""
    return {
        row["project"]: row["higher_is_better"]
        for cycle in lake.cycles(LINE, "projects")
        for row in lake.read(LINE, "projects", cycle).to_dicts()
    }


def program_text(lake: Lake, artifact: Artifact) -> str:
    """Return its texts."""
    texts = texts_of(lake.blobs, artifact.content_sha)
    return (
        next(iter(texts.values()))
        if len(texts) == 1
        else "\n".join(f"==> {name} <==\n{text}" for name, text in texts.items())
    )


def project_files(lake: Lake, name: str) -> dict[str, bytes]:
    """Return the files of a project, as its newest cycle read them."""
    from evolake.programs.model.project import unpack_files

    for cycle in reversed(lake.cycles(LINE, "projects")):
        for row in lake.read(LINE, "projects", cycle).to_dicts():
            if row["project"] == name:
                return unpack_files(lake.blobs.get(row["blob_sha"]))
    return {}


def write_program(lake: Lake, artifact: Artifact, folder: Path) -> str:
    """project/: the whole project with this program, simplified if that was possible, in the place of its
    initial one, to be checked or evolved on."""
    name = artifact.row["project"]
    files, shown = project_files(lake, name), simplified_of(lake, artifact.artifact_id)
    texts = texts_of(lake.blobs, shown["files_sha"] if shown else artifact.content_sha)
    files |= {path: text.encode("utf-8", "surrogatepass") for path, text in texts.items()}
    for path, data in files.items():
        place = folder / name / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return f"evolake programs check {name}"


ARTIFACTS = LineArtifacts(
    gain=gain_of,
    standing=standing,
    gained=Lazy("evolake.programs.report.gained:gained"),
    exhibit=Lazy("evolake.programs.report.gained:exhibit"),
    score="held-out score, of one project",
    outcome=outcome,
    titles=(
        "SELECT project AS name, cycle, holder_id AS artifact_id, holder_mean AS score FROM programs.champion"
    ),
    evaluations=(
        "SELECT purpose AS what, program_id AS artifact_id, wall_s AS seconds, ended, seed, status, cpu_s "
        "FROM programs.measured JOIN ({published}) ON asset = 'measured' WHERE cycle = $cycle "
        "ORDER BY program_id, what, side, seed"
    ),
    kinds={
        "program": Kind(
            "program_id",
            ("incoming_programs", "candidates", "seeds", "simplified_programs"),
            (
                "project",
                "operator",
                "parents",
                "origin",
                "cycle",
                "generation",
                "score",
                "metrics",
                "cell",
                "size",
                "protected",
                "reason",
            ),
            score="score",
            higher_is_better=ranked_upwards,
            files=lambda lake, artifact: texts_of(lake.blobs, artifact.content_sha),
            text=program_text,
            write=write_program,
            remarks=remarks,
        )
    },
)
