"""Select the champion of one project: a duel of the champion and the best other program; `duel` measures and
decides it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from evolake import __version__
from evolake.canonical_json import canonical_json, key_of
from evolake.cycle_seeds import CycleSeeds
from evolake.errors import HostBusy
from evolake.lake import BlobStore
from evolake.programs.evolution.archive import Islands, dominates
from evolake.programs.evolution.duel import UNDECIDED, decide_by_metrics, run_duel, sides_of
from evolake.programs.evolution.outcome import measured_rows
from evolake.programs.evolution.population import Population, Row, texts_of
from evolake.programs.model.project import Project
from evolake.programs.sandbox.evaluating import Evaluation, Evaluator, deciding_odd, score_of
from evolake.programs.settings import ProgramsSettings
from evolake.stats import bootstrap_interval


@dataclass(frozen=True)
class Succession:
    """decision: a row of DECISIONS. measured: rows of MEASURED, one per evaluation."""

    decision: Row
    measured: list[Row]


@dataclass(frozen=True)
class DuelNotes:
    """What a duel has measured so far, seed by seed, so that a run that is killed in one continues with it.

    rows: of JOURNAL, that an earlier run wrote. note: keeps a new one.
    """

    rows: Sequence[Row] = ()
    note: Callable[[Row], None] = lambda row: None

    def known(
        self, project: str, key: str, seeds: Sequence[int], blobs: BlobStore
    ) -> dict[int, dict[str, Evaluation]]:
        """Return seed -> side -> evaluation, of the duel with this key alone."""
        return {
            seeds[row["generation"]]: read_evaluations(blobs.get(row["entry_sha"]))
            for row in self.rows
            if row["project"] == project and row["key"] == key and row["generation"] < len(seeds)
        }


def decide_champion(
    project: Project,
    islands: Islands,
    population: Population,
    blobs: BlobStore,
    *,
    own: ProgramsSettings,
    cycle_seeds: CycleSeeds,
    mode: str | None,
    notes: DuelNotes | None = None,
) -> Succession:
    """Return the champion that entered the cycle, the best other program of the search, and the initial
    program.

    If the host is too busy for an evaluation, the champion stays and nothing is known; what was evaluated so
    far is noted.

    The search's scores do not decide who may challenge: a champion that was lucky once, where scores are
    noisy, would never be met.
    """
    champion, initial = population.champion(project.name), population.initial(project.name)
    challenger = challenger_of(islands, champion)
    rows = {row["program_id"]: row for row in (champion, initial, challenger) if row is not None}
    sides = sides_of(
        champion["program_id"], challenger["program_id"] if challenger else None, initial["program_id"]
    )
    seeds = [cycle_seeds.seed(f"heldout/{project.name}", place) for place in range(own.heldout_repeats)]
    cycle, notes = cycle_seeds.cycle, notes or DuelNotes()
    with Evaluator(project, own, mode=mode) as evaluator:
        texts = {name: texts_of(blobs, row["files_sha"]) for name, row in rows.items()}
        facts = {
            "sides": sides,
            "project": project.sha,
            "meeting": project.mode,
            "settings": own.model_dump(exclude={"projects", "jail_folders"}),
            "seed": cycle_seeds.root,
            "cycle": cycle,
            "jail": mode,
            "version": __version__,
        }
        key, places = key_of(facts, ascii_only=True), {seed: place for place, seed in enumerate(seeds)}

        def note(seed: int, done: Mapping[str, Evaluation]) -> None:
            entry = blobs.put(evaluations_bytes(done))
            notes.note(
                {
                    "cycle": cycle,
                    "project": project.name,
                    "generation": places[seed],
                    "key": key,
                    "entry_sha": entry,
                }
            )

        try:
            built = {name: evaluator.build(text) for name, text in texts.items()}
            result = run_duel(
                sides,
                seeds,
                lambda name, seed: evaluator.evaluate(texts[name], seed, built[name]),
                held=notes.known(project.name, key, seeds, blobs),
                note=note,
                scores=[partial(_merit, project, name) for name in project.metrics],
            )
            unknown = None
        except HostBusy as error:
            result, unknown = {side: [] for side in sides}, {**UNDECIDED, "reason": f"unknown: {error.what}"}
    by_metric = {
        name: {
            side: [_merit(project, name, evaluation) for evaluation in evaluations]
            for side, evaluations in result.items()
        }
        for name in project.metrics
    }
    scores = by_metric[project.score_name]
    verdict = unknown or decide_by_metrics(by_metric, cycle_seeds.generator(f"duel/{project.name}"))
    holder = challenger if verdict["wins"] and challenger is not None else champion
    held = [
        score for score in scores["challenger" if holder is challenger else "champion"] if score is not None
    ]
    start = [item for item in scores.get("initial", scores["champion"]) if item is not None]
    sign = 1 if project.higher_is_better else -1
    spread = bootstrap_interval(held, cycle_seeds.generator(f"held/{project.name}")) if held else None
    ends = sorted((sign * spread.low, sign * spread.high)) if spread else (None, None)
    decision: dict[str, Any] = {
        "cycle": cycle,
        "project": project.name,
        "champion_id": champion["program_id"],
        "challenger_id": challenger["program_id"] if challenger else None,
        "holder_id": holder["program_id"],
        "holder_mean": sign * spread.estimate if spread else None,
        "holder_low": ends[0],
        "holder_high": ends[1],
        "initial_mean": sign * sum(start) / len(start) if start else None,
        "protected": project.protected,
        **verdict,
    }
    measured = [
        row
        for side, evaluations in result.items()
        for row in measured_rows(project, sides[side], evaluations, cycle, "heldout", side)
    ]
    return Succession(decision, measured)


def evaluations_bytes(done: Mapping[str, Evaluation]) -> bytes:
    """Return side -> evaluation under one seed, as it is noted."""
    return canonical_json({side: asdict(item) for side, item in done.items()}, ascii_only=True).encode()


def read_evaluations(data: bytes) -> dict[str, Evaluation]:
    """Return what `evaluations_bytes` wrote."""
    loads: dict[str, dict[str, Any]] = json.loads(data)
    result: dict[str, Evaluation] = {}
    for side, load in loads.items():
        lists: dict[str, Any] = {name: tuple(load[name]) for name in ("odd", "tampered", "troubles", "flags")}
        result[side] = Evaluation(**load | lists)
    return result


def challenger_of(islands: Islands, champion: Row) -> Row | None:
    """Return the best other program; with several declared metrics, first of those that dominate the champion
    by the scores of the search."""
    others = [
        row for row in islands.ranked(islands.rows.values()) if row["program_id"] != champion["program_id"]
    ]
    if len(islands.project.metrics) > 1:
        others.sort(key=lambda row: not dominates(islands.project, row, champion))
    return others[0] if others else None


def _merit(project: Project, name: str, evaluation: Evaluation) -> float | None:
    """Return a declared metric, or the score, of an evaluation, such that higher is better; None if it failed
    or lacks a declared metric."""
    score = score_of(project, evaluation) if evaluation.ok and not deciding_odd(project, evaluation) else None
    if score is None or any(declared not in evaluation.metrics for declared in project.given.metrics):
        return None
    value = score if name == project.score_name else evaluation.metrics[name]
    return value if project.metrics[name] == "max" else -value


def end_of_cycle(islands: Islands, holder: str, *, most: int) -> dict[str, Row]:
    """Return the living programs at the end of the cycle: with the champion that it has now, after migration,
    no more than `most`, the front marked."""
    for name, row in islands.rows.items():
        islands.rows[name] = row | {"state": "champion" if name == holder else "accepted"}
    islands.migrate()
    islands.shrink(most)
    islands.with_front()
    return islands.rows
