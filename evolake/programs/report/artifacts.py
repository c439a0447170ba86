"""What the programs line says of its artifacts and of itself among the lines: held-out scores of each
project's champion and of its initial program, under the same seeds."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import polars as pl

from evolake.contest import LEVEL, paired
from evolake.lake import Catalogue, Lake
from evolake.programs.evolution.population import texts_of
from evolake.programs.report.story import DECIDED, SQL, DecisionRow, project_in_words
from evolake.report.artifacts import Artifact, Kind, LineArtifacts
from evolake.report.gain import Gain
from evolake.report.numbers import counted, figures
from evolake.report.standing import Ask, Standing
from evolake.seeds import generator
from evolake.stats import Interval

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


def outcome(catalogue: Catalogue, cycle: str) -> str:
    """Return each project's champion with its held-out score, or that there is no gain yet."""
    rows = [
        row for row in catalogue.frame(DECIDED, {"cycle": cycle}).to_dicts() if row["holder_mean"] is not None
    ]
    parts = [f"{project_in_words(row)}{'' if row['protected'] else ' (score not protected)'}" for row in rows]
    return "; ".join(parts) or "no champion has a held-out score"


def program_text(lake: Lake, artifact: Artifact) -> str:
    """Return its texts."""
    texts = texts_of(lake.blobs, artifact.content_sha)
    return (
        next(iter(texts.values()))
        if len(texts) == 1
        else "\n".join(f"==> {name} <==\n{text}" for name, text in texts.items())
    )


def write_program(lake: Lake, artifact: Artifact, folder: Path) -> str:
    """project/: the whole project with this program in the place of its initial one, to be checked or evolved
    on."""
    from evolake.programs.model.project import unpack_files

    name, files = artifact.row["project"], {}
    for cycle in reversed(lake.cycles(LINE, "projects")):
        result = [row for row in lake.read(LINE, "projects", cycle).to_dicts() if row["project"] == name]
        if result:
            files = unpack_files(lake.blobs.get(result[0]["blob_sha"]))
            break
    files |= {
        path: text.encode("utf-8", "surrogatepass")
        for path, text in texts_of(lake.blobs, artifact.content_sha).items()
    }
    for path, data in files.items():
        place = folder / name / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    return f"evolake programs check {name}"


ARTIFACTS = LineArtifacts(
    gain=gain_of,
    standing=standing,
    score="held-out score, of one project",
    outcome=outcome,
    titles=(
        "SELECT project AS name, cycle, holder_id AS artifact_id, holder_mean AS score FROM programs.champion"
    ),
    kinds={
        "program": Kind(
            "program_id",
            ("incoming_programs", "candidates", "seeds"),
            (
                "project",
                "operator",
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
            text=program_text,
            write=write_program,
        )
    },
)
