"""A program in a bundle: the whole project and the program's texts, and what its search and its duel
measured, seed by seed."""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from evolake.bundles.exporting import LINEAGE
from evolake.bundles.measuring import difference
from evolake.bundles.model import UNKNOWN, Carried, Judging, LineBundle, Said, require_allowed
from evolake.bundles.ruling import all_pass, gates_again
from evolake.errors import InputError
from evolake.programs.evolution.outcome import POLISHED, SCRATCH
from evolake.programs.gate_specs import GATES
from evolake.programs.measuring_again import Rerun, reached, scored
from evolake.programs.report.story import gain_between
from evolake.programs.settings import APART, ProgramsSettings
from evolake.reading import unique_keys
from evolake.report.artifacts import Artifact
from evolake.report.numbers import counted

if TYPE_CHECKING:
    from evolake.lake import Catalogue, Lake
    from evolake.programs.model.project import Project
    from evolake.programs.sandbox.evaluating import Evaluation
    from evolake.settings import Settings

LINE = "programs"
PROGRAM, PROJECT = "program.json", "project.json"
SIDES = ("champion", "challenger")
REPEATED = 3
"""Seeds under which the program is evaluated twice, to learn how far evaluations vary on this machine."""


class Measured(BaseModel):
    """One evaluation. score: null where it gave none."""

    model_config = ConfigDict(extra="forbid", strict=True)
    seed: int
    score: float | None
    metrics: dict[str, float]


class ProgramClaims(BaseModel):
    """What is said of a program: search: under the seeds that candidates are ranked by. own, initial: held
    out, under the same seeds.

    noise: of an evaluation as its lake measured it, in the score's unit. It is the sender's word; what is
    judged by is measured again.
    """

    model_config = ConfigDict(extra="forbid")
    project: str = Field(max_length=200)
    settings: dict[str, Any]
    search: list[Measured] = Field(min_length=1, max_length=1000)
    own: list[Measured] = Field(max_length=1000)
    initial: list[Measured] = Field(max_length=1000)
    noise: float = Field(ge=0)


def carry(lake: Lake, catalogue: Catalogue, artifact: Artifact, settings: Settings) -> Carried:
    """Return texts, project, and what was measured of it."""
    row = artifact.row
    name = row["project"]
    projects = catalogue.frame(
        "SELECT * FROM programs.projects WHERE project = $p ORDER BY cycle DESC LIMIT 1", {"p": name}
    ).to_dicts()
    if not projects:
        raise InputError(f"no cycle of the project {name} is finished", do="evolake run --lines programs")
    searched, held, other, noise = _measured(
        lake, catalogue, artifact.artifact_id, name, projects[0]["initial_id"]
    )
    claims = {
        "project": name,
        "settings": settings.of(ProgramsSettings).model_dump(exclude=APART),
        "search": searched or [_of_row(row, lake.blobs.get(projects[0]["blob_sha"]), name, settings)],
        "own": held,
        "initial": other,
        "noise": noise,
    }
    return Carried(
        claims, {PROGRAM: lake.blobs.get(row["files_sha"]), PROJECT: lake.blobs.get(projects[0]["blob_sha"])}
    )


def _measured(
    lake: Lake, catalogue: Catalogue, program: str, project: str, initial: str
) -> tuple[list[Any], list[Any], list[Any], float]:
    """Return evaluations of the search, of the newest duel, of the initial program in it, and the noise
    there."""
    decided = catalogue.frame(
        "SELECT * FROM programs.champion WHERE project = $p AND $id IN (champion_id, challenger_id) ORDER "
        "BY cycle DESC LIMIT 1",
        {"p": project, "id": program},
    ).to_dicts()
    cycles = lake.cycles(LINE, "measured")
    searched = next(
        (result for cycle in reversed(cycles) if (result := _rows(lake, "measured", cycle, program))), []
    )
    if not decided:
        return searched, [], [], 0.0
    cycle = decided[0]["cycle"]
    rows = lake.read(LINE, "heldout", cycle).to_dicts()
    held = _evaluations_of([row for row in rows if row["program_id"] == program and row["side"] in SIDES])
    began = initial if initial != program else None
    start = _evaluations_of(
        [row for row in rows if row["program_id"] == began and row["side"] in ("champion", "initial")]
    )
    return searched, held, start, decided[0]["noise"]


def _rows(lake: Lake, table: str, cycle: str, program: str) -> list[dict[str, Any]]:
    rows = lake.read(LINE, table, cycle).to_dicts()
    return _evaluations_of(
        [row for row in rows if row["program_id"] == program and row["purpose"] not in (SCRATCH, POLISHED)]
    )


def _evaluations_of(rows: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    parts = [
        {"seed": row["seed"], "score": row["score"], "metrics": json.loads(row["metrics"])} for row in rows
    ]
    return sorted(parts, key=lambda row: row["seed"])


def _of_row(row: Mapping[str, Any], files: bytes, name: str, settings: Settings) -> dict[str, Any]:
    """Of an initial program, whose evaluations are no rows: the first of its seeds. Exact where it has one
    seed, as the score is their mean."""
    from evolake.programs.evolution.outcome import search_seeds
    from evolake.programs.model.project import project_of, unpack_files

    seeds = search_seeds(project_of(name, unpack_files(files)), settings.of(ProgramsSettings), settings.seed)
    item = {"seed": seeds[0], "score": row["score"], "metrics": json.loads(row["metrics"])}
    return item if len(seeds) == 1 else item | {"score": None, "metrics": {}}


def check(judging: Judging) -> Iterator[Said]:
    """Yield identity, every gate, the scores of the search, and a sample of the held-out evaluations next to
    the initial program's."""
    from evolake.programs.model.project import program_id, project_of, unpack_files
    from evolake.programs.sandbox.evaluating import Evaluator
    from evolake.programs.sandbox.meeting import with_mode

    claims = ProgramClaims.model_validate(judging.bundle.read("claims.json"))
    own = ProgramsSettings.model_validate(
        {
            **claims.settings,
            "projects": "",
            "jail_folders": judging.settings.of(ProgramsSettings).jail_folders,
        }
    )
    project = project_of(claims.project, unpack_files(judging.bundle.members[PROJECT]))
    texts = _texts(judging.bundle.members[PROGRAM])
    made = program_id(project.name, texts)
    yield Said(
        "identity",
        "holds" if made == judging.artifact_id else "fails",
        f"project and texts have the id {made[:12]}",
    )
    yield Said("noise", "claimed", f"{claims.noise:.3g}")
    yield from _task(judging, project)
    require_bearable(project, own, judging.settings.of(ProgramsSettings), len(claims.search))
    project = with_mode(project, own, judging.settings.jail)
    with Evaluator(project, own, mode=judging.settings.jail) as evaluator:
        rerun = Rerun(evaluator, texts, judging.progress)
        yield from _gates(judging, rerun, claims)
        yield from _held_out(judging, rerun, claims)
    if not project.protected:
        yield Said(
            "score",
            "note",
            f"not protected: {project.open_because}"
            if project.apart
            else "not protected: the evaluator imports the program, which could forge its score here as it "
            "could there",
        )


def _texts(data: bytes) -> dict[str, str]:
    texts = json.loads(data.decode("utf-8", "surrogatepass"), object_pairs_hook=unique_keys)
    if not isinstance(texts, dict) or not all(isinstance(text, str) for text in texts.values()):
        raise ValueError(f"{PROGRAM} holds no texts")
    return texts


def rests_on(members: Mapping[str, bytes]) -> dict[str, str]:
    """Return the hashes of the evaluator with all that it finds next to it, and of the initial program."""
    from evolake.programs.model.project import files_sha, program_id, project_of, unpack_files

    files = unpack_files(members[PROJECT])
    project = project_of("bundle", files)
    others = {name: data for name, data in files.items() if name not in project.evolving}
    return {"evaluator": files_sha(others), "initial program": program_id("", project.evolving)}


def _task(judging: Judging, project: Project) -> Iterator[Said]:
    """Yield whether the lineage begins with the project's initial program, and whether the project is the one
    that this machine knows by its name."""
    from evolake.programs.model.project import program_id

    lineage = judging.bundle.read(LINEAGE)
    born = {edge["child_id"] for edge in lineage["derivations"]}
    first = [row["artifact_id"] for row in lineage["artifacts"] if row["artifact_id"] not in born]
    initial = program_id(project.name, project.evolving)
    if first != [initial]:
        begins = f"begins with {', '.join(str(name)[:12] for name in first[:3]) or 'nothing'}"
        yield Said("lineage", "fails", f"the initial program has the id {initial[:12]}, and it {begins}")
        return
    known = _known(judging, project.name)
    if not known:
        said = (
            f"no lake here has a project {project.name}: that evaluator and initial program are those of the "
            "task is the sender's word; compare the identity"
        )
        yield Said(*UNKNOWN, said)
    else:
        outcome = "holds" if project.sha in known else "fails"
        same = "is" if project.sha in known else "is not"
        yield Said("project", outcome, f"it {same} the project {project.name} of the lake in force")


def _known(judging: Judging, name: str) -> set[str]:
    """Return the hashes of all projects of this name in the lake in force."""
    from evolake.lake import Catalogue, Lake

    if judging.cache is None or not judging.cache.is_dir():
        return set()
    lake = Lake(judging.cache)
    if not lake.cycles(LINE, "projects"):
        return set()
    with Catalogue(lake) as catalogue:
        rows = catalogue.frame("SELECT project_sha FROM programs.projects WHERE project = $p", {"p": name})
    return set(rows["project_sha"])


def require_bearable(project: Project, own: ProgramsSettings, here: ProgramsSettings, seeds: int) -> None:
    """Raise MachineryError if an evaluation would take more than this machine's settings allow any, or the
    gates more evaluations. seeds: of the search, all of which the gates ask."""
    from evolake.programs.model.project import PATIENCE, limits_of

    most = {
        "cpu_s": here.cpu_s,
        "wall_s": max(here.wall_s, PATIENCE * here.cpu_s),
        "memory_mb": here.memory_mb,
        "processes": here.processes,
        "heldout_repeats": max(here.repeats, here.heldout_repeats),
    }
    require_allowed(LINE, {**limits_of(project, own), "heldout_repeats": seeds}, most)


def _gates(judging: Judging, rerun: Rerun, claims: ProgramClaims) -> Iterator[Said]:
    from evolake.gates import run_gates
    from evolake.programs.gates import Candidate

    judging.progress("gates")
    candidate = Candidate(
        rerun.texts, judging.artifact_id, rerun.evaluator, [item.seed for item in claims.search]
    )
    done = run_gates(
        candidate, GATES, judging.asked, artifact_id=judging.artifact_id, cycle="bundle", run_id="bundle"
    )
    yield from gates_again(
        judging,
        GATES,
        done,
        f"{all_pass(GATES)}; that no other program of its lake is like it is not known here",
    )
    if done.blocked_by is not None:
        return
    pairs = [
        (item, result)
        for item, result in zip(claims.search, candidate.evaluations, strict=True)
        if item.score is not None
    ]
    noise = rerun.noise([item.seed for item, _ in pairs[:REPEATED]])
    yield from _compared("search", pairs, rerun, noise, len(pairs))


def _held_out(judging: Judging, rerun: Rerun, claims: ProgramClaims) -> Iterator[Said]:
    """Yield the held-out evaluations that are drawn, of the program and of the initial one; then what is
    stated of them, under fresh seeds too."""
    held = judging.bundle.facts["champion"]
    if refused := _unfounded(held, rerun, claims):
        yield Said("score", "fails", refused)
        return
    if not claims.own:
        yield Said("held-out evaluations", "note", "none: it never was in a duel")
        return
    chosen, first = judging.drawn(claims.own), {item.seed: item for item in claims.initial}
    noise = rerun.noise([item.seed for item in chosen[:REPEATED]])
    pairs = [(item, rerun.own(item.seed)) for item in chosen]
    beside = [(first[item.seed], rerun.initial(item.seed)) for item in chosen if item.seed in first]
    yield from _compared(
        f"held-out evaluations ({len(chosen)} of {len(claims.own)})", pairs, rerun, noise, len(claims.own)
    )
    yield from _compared(
        "the initial program under the same seeds", beside, rerun, noise, len(claims.initial)
    )
    if held is not None:
        yield from reached(rerun, claims, held, judging.sample)


def _unfounded(held: Mapping[str, Any] | None, rerun: Rerun, claims: ProgramClaims) -> str:
    """Return why what is stated of a champion does not follow from the evaluations in the bundle; "" if it
    does, or if nothing is stated."""
    if held is None:
        return ""
    for what, rows in (("the program", claims.own), ("the initial program", claims.initial)):
        if len({item.seed for item in rows}) < len(rows):
            return f"it has an evaluation of {what} under one seed twice"
    own = {item.seed: item.score for item in claims.own if item.score is not None}
    mean = math.fsum(own.values()) / len(own) if own else None
    if held["score"] is not None and (mean is None or not math.isclose(held["score"], mean, rel_tol=1e-9)):
        return f"its held-out evaluations come to {mean}, and it claims {held['score']}"
    if held["gain"] is None:
        return ""
    initial = {item.seed: item.score for item in claims.initial if item.score is not None}
    if missing := sorted(set(own) - set(initial)):
        lacking = f"no evaluation of that under {counted(len(missing), 'seed')}, e.g. {missing[0]}"
        return f"a gain over the initial program is stated, and the bundle has {lacking}"
    project = rerun.project
    gain = gain_between(
        own,
        initial,
        project=project.name,
        score_name=project.score_name,
        higher_is_better=project.higher_is_better,
        protected=project.protected,
        initial_id=rerun.initial_id,
        cycle=str(held["gain"].get("cycle")),
    )
    return difference(held["gain"], gain)


def _compared(
    what: str, pairs: Sequence[tuple[Measured, Evaluation]], rerun: Rerun, noise: float, brought: int
) -> Iterator[Said]:
    """Compare scores measured here with those that are claimed: they must be equal if scores have no noise
    here.

    noise: of scores, measured here. brought: evaluations of this kind in the bundle.
    """
    project = rerun.project
    for claimed, result in pairs:
        score = scored(project, result)
        if (score is None) != (claimed.score is None):
            why = result.reason or result.status
            yield Said(
                what,
                "fails",
                f"under seed {claimed.seed} it claims {claimed.score}, and measured is {score} ({why})",
            )
            return
        if (
            not noise
            and score is not None
            and claimed.score is not None
            and not _same(claimed, score, result, rerun.varying)
        ):
            yield Said(
                what,
                "fails",
                f"under seed {claimed.seed} it claims {claimed.score:.10g}, and measured is {score:.10g}",
            )
            return
    if pairs:
        mean = math.fsum(scored(project, results) or 0.0 for _, results in pairs) / len(pairs)
        claim = math.fsum(item.score or 0.0 for item, _ in pairs) / len(pairs)
        said = f"{len(pairs)} evaluations give the same metrics, mean {project.score_name} {mean:.6g}"
        if noise:
            said = (
                f"{len(pairs)} evaluations: mean {project.score_name} {mean:.6g}, claimed {claim:.6g}, "
                f"noise measured here {noise:.3g}"
            )
        yield Said(what, "holds", said, (len(pairs), brought))


def _same(claimed: Measured, score: float, result: Evaluation, varying: Collection[str]) -> bool:
    """Return whether score and metrics are those that are claimed. varying: metrics that differ by themselves
    here."""
    near = set(result.metrics) == set(claimed.metrics) and all(
        math.isclose(value, claimed.metrics[name], rel_tol=1e-9, abs_tol=1e-12)
        for name, value in result.metrics.items()
        if name not in varying
    )
    return (
        near and claimed.score is not None and math.isclose(score, claimed.score, rel_tol=1e-9, abs_tol=1e-12)
    )


BUNDLE = LineBundle(
    ("program",), (PROGRAM, PROJECT), tuple(gate.name for gate in GATES), carry, check, rests_on=rests_on
)
