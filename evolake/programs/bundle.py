"""A program in a bundle: the whole project and the program's texts, and what its search and its duel measured, seed by seed."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from evolake.bundles.model import Carried, Judging, LineBundle, Said
from evolake.bundles.ruling import differ, under_installed
from evolake.errors import InputError, MachineryError
from evolake.programs.gates.specs import GATES
from evolake.programs.settings import ProgramsSettings
from evolake.report.kinds import Artifact

if TYPE_CHECKING:
    from evolake.lake import Catalogue, Lake
    from evolake.programs.model.project import Project
    from evolake.programs.sandbox.evaluating import Evaluation, Evaluator
    from evolake.settings import Settings

LINE = "programs"
PROGRAM, PROJECT = "program.json", "project.json"
SIDES = ("champion", "challenger")
MOST = {"cpu_s": 3600.0, "wall_s": 7200.0, "memory_mb": 16384.0, "processes": 256.0}
"""What an evaluation of a stranger's project may ask of this machine."""
PATIENCE = 3.0
"""Noise floors that a gain over the initial program may fall short by, where evaluations have noise: of these 95% of pairs lie within one."""


class Measured(BaseModel):
    """One evaluation. score: null where it gave none."""

    model_config = ConfigDict(extra="forbid", strict=True)
    seed: int
    score: float | None
    metrics: dict[str, float]


class Claims(BaseModel):
    """What is said of a program: search: under the seeds that candidates are ranked by. own, initial: held out, under the same seeds.

    noise: of an evaluation, in the score's unit; 0 where the evaluator is deterministic.
    """

    model_config = ConfigDict(extra="forbid")
    project: str = Field(max_length=200)
    settings: dict[str, Any]
    search: list[Measured] = Field(min_length=1, max_length=1000)
    own: list[Measured] = Field(max_length=1000)
    initial: list[Measured] = Field(max_length=1000)
    noise: float = Field(ge=0)


def carry(lake: Lake, catalogue: Catalogue, artifact: Artifact, settings: Settings) -> Carried:
    """Texts, project, and what was measured of it."""
    row = artifact.row
    name = row["project"]
    projects = catalogue.frame("SELECT * FROM programs.projects WHERE project = $p ORDER BY cycle DESC LIMIT 1", {"p": name}).to_dicts()
    if not projects:
        raise InputError(f"no cycle of the project {name} is finished", do="evolake run --lines programs")
    searched, held, other, noise = _measured(lake, catalogue, artifact.artifact_id, name, projects[0]["initial_id"])
    claims = {
        "project": name, "settings": settings.of(ProgramsSettings).model_dump(exclude={"projects"}),
        "search": searched or [_of_row(row, lake.blobs.get(projects[0]["blob_sha"]), name, settings)], "own": held, "initial": other, "noise": noise,
    }
    return Carried(claims, {PROGRAM: lake.blobs.get(row["files_sha"]), PROJECT: lake.blobs.get(projects[0]["blob_sha"])})


def _measured(lake: Lake, catalogue: Catalogue, program: str, project: str, initial: str) -> tuple[list[Any], list[Any], list[Any], float]:
    """Evaluations of the search, of the newest duel, of the initial program in it, and the noise there."""
    decided = catalogue.frame(
        "SELECT * FROM programs.champion WHERE project = $p AND $id IN (champion_id, challenger_id) ORDER BY cycle DESC LIMIT 1",
        {"p": project, "id": program},
    ).to_dicts()
    cycles = lake.cycles(LINE, "measured")
    searched = next((result for cycle in reversed(cycles) if (result := _rows(lake, "measured", cycle, program))), [])
    if not decided:
        return searched, [], [], 0.0
    cycle = decided[0]["cycle"]
    rows = lake.read(LINE, "heldout", cycle).to_dicts()
    held = _told([row for row in rows if row["program_id"] == program and row["side"] in SIDES])
    began = initial if initial != program else None
    start = _told([row for row in rows if row["program_id"] == began and row["side"] in ("champion", "initial")])
    return searched, held, start, decided[0]["noise"]


def _rows(lake: Lake, table: str, cycle: str, program: str) -> list[dict[str, Any]]:
    return _told([row for row in lake.read(LINE, table, cycle).to_dicts() if row["program_id"] == program])


def _told(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    parts = [{"seed": row["seed"], "score": row["score"], "metrics": json.loads(row["metrics"])} for row in rows]
    return sorted(parts, key=lambda row: row["seed"])


def _of_row(row: Mapping[str, Any], files: bytes, name: str, settings: Settings) -> dict[str, Any]:
    """Of an initial program, whose evaluations are no rows: the first of its seeds. Exact where it has one seed, as the score is their mean."""
    from evolake.programs.evolution.generations import search_seeds
    from evolake.programs.model.project import project_of, unpack_files

    seeds = search_seeds(project_of(name, unpack_files(files)), settings.of(ProgramsSettings), settings.seed)
    item = {"seed": seeds[0], "score": row["score"], "metrics": json.loads(row["metrics"])}
    return item if len(seeds) == 1 else item | {"score": None, "metrics": {}}


def check(judging: Judging) -> Iterator[Said]:
    """Identity, every gate, the scores of the search, and a sample of the held-out evaluations beside the initial program's."""
    from evolake.programs.model.project import program_id, project_of, unpack_files
    from evolake.programs.sandbox.evaluating import Evaluator

    claims = Claims.model_validate(judging.bundle.read("claims.json"))
    own = ProgramsSettings.model_validate({**claims.settings, "projects": ""})
    project = project_of(claims.project, unpack_files(judging.bundle.members[PROJECT]))
    texts = _texts(judging.bundle.members[PROGRAM])
    made = program_id(project.name, texts)
    yield Said("identity", "holds" if made == judging.artifact_id else "fails", f"project and texts have the id {made[:12]}")
    _require_bearable(project, own)
    with Evaluator(project, own, mode=judging.settings.jail) as evaluator:
        yield from _gates(judging, evaluator, texts, claims)
        yield from _held_out(judging, evaluator, texts, claims)
    if not project.protected:
        yield Said("score", "note", "not protected: the evaluator imports the program, which could forge its score here as it could there")


def _texts(data: bytes) -> dict[str, str]:
    texts = json.loads(data.decode("utf-8", "surrogatepass"))
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise ValueError(f"{PROGRAM} holds no texts")
    return texts


def _require_bearable(project: Project, own: ProgramsSettings) -> None:
    from evolake.programs.model.project import limits_of

    for name, value in limits_of(project, own).items():
        if value > MOST[name]:
            raise MachineryError(f"an evaluation may take {name} {value:g}", wanted=f"at most {MOST[name]:g} for what a stranger brings")


def _gates(judging: Judging, evaluator: Evaluator, texts: Mapping[str, str], claims: Claims) -> Iterator[Said]:
    import evolake.programs.gates.checkers  # noqa: F401  (registers what the rules name)
    from evolake.gates import run_gates
    from evolake.programs.gates.collecting import Candidate
    from evolake.programs.gates.specs import GATES

    judging.progress("gates")
    candidate = Candidate(texts, judging.artifact_id, evaluator, [item.seed for item in claims.search])
    done = run_gates(candidate, GATES, judging.asked, artifact_id=judging.artifact_id, cycle="bundle", run_id="bundle")
    if (objection := done.blocked_by) is not None:
        yield Said("gates", "fails", f"{objection.gate} blocks it: {objection.rule_id}: {objection.reason}")
        return
    names = ", ".join(gate.name for gate in GATES)
    yield Said("gates", "holds", f"all {len(GATES)} pass it ({names}); that no other program of its lake is like it is not known here")
    if differ(judging.asked, judging.installed) and (said := under_installed(done.results, GATES, judging.installed, judging.artifact_id)):
        yield said
    pairs = [(item, result) for item, result in zip(claims.search, candidate.evaluations, strict=True) if item.score is not None]
    yield from _compared("search", pairs, evaluator.project, claims.noise, len(pairs))


def _compared(what: str, pairs: Sequence[tuple[Measured, Evaluation]], project: Project, noise: float, brought: int) -> Iterator[Said]:
    """Scores measured here beside those that are claimed: the same where evaluations have no noise; said beside each other where they have.

    brought: evaluations of this kind in the bundle.
    """
    from evolake.programs.sandbox.evaluating import score_of

    for claimed, result in pairs:
        score = score_of(project, result) if result.ok else None
        if (score is None) != (claimed.score is None):
            why = result.reason or result.status
            yield Said(what, "fails", f"under seed {claimed.seed} it claims {claimed.score}, and measured is {score} ({why})")
            return
        if not noise and score is not None and claimed.score is not None and not _same(claimed, score, result):
            yield Said(what, "fails", f"under seed {claimed.seed} it claims {claimed.score:.10g}, and measured is {score:.10g}")
            return
    if pairs:
        mean = math.fsum(score_of(project, results) or 0.0 for _, results in pairs) / len(pairs)
        claim = math.fsum(item.score or 0.0 for item, _ in pairs) / len(pairs)
        said = f"{len(pairs)} evaluations give the same metrics, mean {project.score_name} {mean:.6g}"
        if noise:
            said = f"{len(pairs)} evaluations: mean {project.score_name} {mean:.6g}, claimed {claim:.6g}, noise floor {noise:.3g}"
        yield Said(what, "holds", said, (len(pairs), brought))


def _same(claimed: Measured, score: float, result: Evaluation) -> bool:
    near = set(result.metrics) == set(claimed.metrics) and all(
        math.isclose(value, claimed.metrics[name], rel_tol=1e-9, abs_tol=1e-12) for name, value in result.metrics.items()
    )
    return near and claimed.score is not None and math.isclose(score, claimed.score, rel_tol=1e-9, abs_tol=1e-12)


def _held_out(judging: Judging, evaluator: Evaluator, texts: Mapping[str, str], claims: Claims) -> Iterator[Said]:
    """The held-out evaluations that are drawn, of the program and of the initial one in turns; the gain, where there is noise."""
    if not claims.own:
        yield Said("held-out evaluations", "note", "none: it never was in a duel")
        return
    scores, held = [item.score for item in claims.own if item.score is not None], judging.bundle.facts["champion"]
    mean = math.fsum(scores) / len(scores) if scores else None
    if held and held["score"] is not None and (mean is None or not math.isclose(held["score"], mean, rel_tol=1e-9)):
        yield Said("score", "fails", f"its held-out evaluations come to {mean}, and it claims {held['score']}")
        return
    chosen = judging.drawn(claims.own)
    first = {item.seed: item for item in claims.initial}
    project = evaluator.project
    built, start = evaluator.build(texts), evaluator.build(project.evolving)
    pairs: list[tuple[Measured, Evaluation]] = []
    beside: list[tuple[Measured, Evaluation]] = []
    for number, element in enumerate(chosen, 1):
        judging.progress(f"held-out evaluation {number} of {len(chosen)}")
        pairs.append((element, evaluator.evaluate(texts, element.seed, built)))
        if element.seed in first:
            beside.append((first[element.seed], evaluator.evaluate(project.evolving, element.seed, start)))
    of = f"held-out evaluations ({len(chosen)} of {len(claims.own)})"
    yield from _compared(of, pairs, project, claims.noise, len(claims.own))
    yield from _compared("the initial program under the same seeds", beside, project, claims.noise, len(claims.initial))
    if claims.noise and len(beside) == len(pairs):
        yield _gain(pairs, beside, project, claims.noise)


def _gain(own: Sequence[tuple[Measured, Evaluation]], initial: Sequence[tuple[Measured, Evaluation]], project: Project, noise: float) -> Said:
    """The gain over the initial program, claimed and measured. Where the score is positive, both in units of the initial program's: that the machine
    is another one then changes neither."""
    from evolake.programs.sandbox.evaluating import score_of

    sign = 1 if project.higher_is_better else -1
    claimed, start = (math.fsum(item.score or 0.0 for item, _ in side) / len(side) for side in (own, initial))
    here, start_here = (math.fsum(score_of(project, result) or 0.0 for _, result in side) / len(side) for side in (own, initial))
    unit, unit_here = (start, start_here) if start > 0 and start_here > 0 else (1.0, 1.0)
    claim, measured, slack = sign * (claimed - start) / unit, sign * (here - start_here) / unit_here, PATIENCE * noise / unit
    of = " of the initial program's score" if unit != 1.0 else ""
    said = f"better by {measured:.4g}{of}, claimed {claim:.4g}, {PATIENCE:g} noise floors are {slack:.3g}"
    return Said("gain over the initial program", "holds" if measured >= claim - slack else "fails", said)


BUNDLE = LineBundle(("program",), (PROGRAM, PROJECT), tuple(gate.name for gate in GATES), carry, check)
