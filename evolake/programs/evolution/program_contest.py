"""Select the champion of one project: a duel of the champion and the best other program.

Both are evaluated under seeds that the search never had, next to each other; `evolake.contest` decides by the
mean over seeds. Equal programs may differ from seed to seed without any noise within a seed, so each seed is
one pair. A challenger that cannot win any more is not evaluated under further seeds; champion and initial
program are, so that their held-out scores do not depend on who challenged. The champion is evaluated twice
under the first seeds. If all these repeats are equal, no score changes with the seed, and neither evaluator
nor programs have anything to draw by (`programs.model.chance`), then three seeds are asked: the comparison is
exact, and any better score is better. Equal scores alone do not show it, as a loss may be rare.

With several declared metrics the challenger wins if it is better beyond the noise in one of them, and in none
worse beyond it. The error is divided by the number of metrics (Bonferroni), since any of them may win.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

import numpy as np

from evolake import __version__
from evolake.canonical_json import key_of
from evolake.contest import ERROR, LEAST_PAIRS, WORST_AGAIN, Contest, exact, paired, progress
from evolake.errors import HostBusy
from evolake.lake import BlobStore
from evolake.programs.evolution.outcome import WorkNotes, measured_rows
from evolake.programs.evolution.population import Islands, Population, Row, dominates, texts_of
from evolake.programs.model.chance import chance_in
from evolake.programs.model.project import Project
from evolake.programs.sandbox.evaluating import Evaluation, Evaluator, deciding_odd, score_of
from evolake.programs.settings import APART, ProgramsSettings
from evolake.seeds import CycleSeeds
from evolake.stats import bootstrap_interval

LEVEL = 0.95
ROUNDING = 1e-12
"""Relative difference of two scores that may be rounding alone: some thousand roundings of a double."""
EXACT = "exact comparison"
"""The test of a contest without noise."""
Scores = Mapping[str, Sequence[float | None]]
"""side -> score under each of the first seeds that it was evaluated under, such that higher is better; None
where an evaluation gave none."""

UNDECIDED: Mapping[str, Any] = {
    "wins": False,
    "pairs": 0,
    "difference": None,
    "low": None,
    "high": None,
    "noise": 0.0,
    "test": None,
}
"""Columns of DECISIONS for a champion that stays without a comparison; `reason` says why."""
LEAST_REPEATS = 8
"""Seeds of an evaluator that is not cheap."""
SIDES = ("champion", "again", "challenger", "initial")


def sides_of(champion: str, challenger: str | None, initial: str) -> dict[str, str]:
    """Return side -> program that is evaluated for it. The initial program, where it is champion itself, is
    not evaluated a third time."""
    result = {"champion": champion, "again": champion}
    if challenger is not None:
        result["challenger"] = challenger
    if initial != champion:
        result["initial"] = initial
    return result


def run_duel(
    sides: Mapping[str, str],
    seeds: Sequence[int],
    evaluate: Callable[[str, int], Evaluation],
    *,
    held: Mapping[int, Mapping[str, Evaluation]] | None = None,
    note: Callable[[int, dict[str, Evaluation]], None] = lambda seed, done: None,
    scores: Sequence[Callable[[Evaluation], float | None]] = (),
    seedless: bool = False,
) -> dict[str, list[Evaluation]]:
    """Return side -> its evaluations under the first seeds.

    Sides take turns under each seed, the first of them another one each time, so that a drift of the machine
    hits all.

    Args:
        held: seed -> side -> evaluation, of seeds that were done before. note: called with a seed as soon as
            all sides are done under it.
        scores: of an evaluation, one for each metric, higher is better; a side whose further evaluations
            cannot matter for any of them is dropped. None: no side is.
        seedless: no evaluation can depend on its seed, so that equal scores need no further seeds.

    Raises:
        HostBusy: an evaluation is unknown. A seed of which one side is unknown is no vote, and is not noted.
    """
    result: dict[str, list[Evaluation]] = {side: [] for side in sides}
    for place, seed in enumerate(seeds):
        known = [{side: [score(item) for item in done] for side, done in result.items()} for score in scores]
        most = len(seeds)
        names = [
            side for side in sides if not known or any(needed(side, one, most, seedless) for one in known)
        ]
        if not names:
            break
        done = dict((held or {}).get(seed, {}))
        if set(done) != set(names):
            turn = place % len(names)
            done = {side: evaluate(sides[side], seed) for side in names[turn:] + names[:turn]}
            note(seed, done)
        for side in names:
            result[side].append(done[side])
    return result


def needed(side: str, scores: Scores, most: int, seedless: bool = False) -> bool:
    """Return whether a side is to be evaluated under the next seed.

    Args:
        scores: under the seeds so far. most: how many seeds there are. seedless: as of `run_duel`.
    """
    done = len(scores["champion"])
    if done < min(LEAST_PAIRS, most):
        return True
    if seedless and without_noise(scores):
        return False
    if side == "challenger":
        return len(scores[side]) == done and not _hopeless(scores, most)
    return side != "again"


def noise_of(scores: Scores) -> float:
    """Return what 95% of pairs of evaluations of the champion under one seed stay within, in the score's
    unit; 0 if no pair is whole."""
    gaps = [
        abs(first - other)
        for first, other in zip(scores["champion"], scores["again"], strict=False)
        if first is not None and other is not None
    ]
    return float(np.quantile(gaps, LEVEL)) if gaps else 0.0


def without_noise(scores: Scores) -> bool:
    """Return whether every side has the same score under each of at least three seeds, and the champion the
    same again."""
    if len(scores["champion"]) < LEAST_PAIRS or len(scores["again"]) < LEAST_PAIRS:
        return False
    ours = {*scores["champion"], *scores["again"]}
    others = [set(result) for side, result in scores.items() if side not in ("champion", "again")]
    whole = all(len(result) >= LEAST_PAIRS for result in scores.values())
    return whole and all(len(values) == 1 and None not in values for values in (ours, *others))


def decide_duel(scores: Scores, random: np.random.Generator, *, seedless: bool = False) -> dict[str, Any]:
    """Return columns of DECISIONS: wins, pairs, difference, low, high, noise, reason, test.

    seedless: as of `run_duel`."""
    if (decided := _without_contest(scores)) is not None:
        return decided
    seeds, differences = len(scores["champion"]), differences_of(scores)
    contest = _contest(scores, differences, random, seedless)
    whole = len(scores["challenger"]) == seeds
    said = (
        f"better by {contest.effect:.4g} ({100 * LEVEL:g}% interval {contest.low:.4g} to "
        f"{contest.high:.4g}) on {contest.pairs} held-out seeds"
    )
    shown = contest.reason if contest.test == EXACT else f"{contest.reason}; {contest.unseen}"
    wins = contest.wins and whole
    reason = f"{said}: {shown}" if wins else f"not beyond the noise: {said}{_why(contest)}{_given_up(scores)}"
    return {"noise": noise_of(scores), "wins": wins, "reason": reason, **_columns(contest)}


def decide_by_metrics(
    scores: Mapping[str, Scores], random: np.random.Generator, *, seedless: bool = False
) -> dict[str, Any]:
    """Return columns of DECISIONS, for one or several declared metrics; the figures are those of the first,
    which is the score.

    scores: metric -> scores of all sides, None for all metrics where an evaluation failed. seedless: as of
        `run_duel`.
    """
    first, *others = scores.values()
    if not others:
        return decide_duel(first, random, seedless=seedless)
    if (decided := _without_contest(first)) is not None:
        return decided
    differences = {name: differences_of(one) for name, one in scores.items()}
    contests = {
        name: _contest(one, differences[name], random, seedless, ERROR / len(scores))
        for name, one in scores.items()
    }
    plain = {name: _contest(one, differences[name], random, seedless) for name, one in scores.items()}
    better = [name for name, contest in contests.items() if contest.wins]
    worse = [name for name, contest in plain.items() if contest.high < contest.neutral]
    wins = bool(better) and not worse and len(first["challenger"]) == len(first["champion"])
    level = f"{100 * (1 - 2 * ERROR / len(scores)):.4g}% interval"
    ends = {
        name: "exact" if item.low == item.high else f"{level} {item.low:.4g} to {item.high:.4g}"
        for name, item in contests.items()
    }
    said = ", ".join(f"{name} better by {item.effect:.4g} ({ends[name]})" for name, item in contests.items())
    if wins:
        why = f"a gain beyond the noise in {' and '.join(better)}, and no loss beyond it in another metric"
    elif better and worse:
        why = (
            f"a gain beyond the noise in {' and '.join(better)}, but a loss beyond it in "
            f"{' and '.join(worse)}"
        )
    else:
        why = (
            f"a loss beyond the noise in {' and '.join(worse)}"
            if worse
            else "no gain beyond the noise in any metric"
        )
    reason = f"{why}: {said} on {plain[next(iter(plain))].pairs} held-out seeds{_given_up(first)}"
    seen = contests[better[0]] if wins else None
    if seen is not None and seen.test != EXACT:
        reason += f"; {better[0]}: {seen.unseen}"
    return {"noise": noise_of(first), "wins": wins, "reason": reason, **_columns(next(iter(plain.values())))}


def _columns(contest: Contest) -> dict[str, Any]:
    low, high = _finite(contest.low), _finite(contest.high)
    return {
        "pairs": contest.pairs,
        "difference": contest.effect,
        "low": low,
        "high": high,
        "test": contest.test,
    }


def _given_up(scores: Scores) -> str:
    done, seeds = len(scores["challenger"]), len(scores["champion"])
    return (
        "" if done == seeds else f"; given up after {done} of {seeds} seeds, as it could hardly win any more"
    )


def _without_contest(scores: Scores) -> dict[str, Any] | None:
    """Columns of DECISIONS if there is no challenger or one side fails; None where a contest decides."""
    held = {**UNDECIDED, "noise": noise_of(scores)}
    if "challenger" not in scores:
        return held | {"reason": "there is no other program"}
    seeds = len(scores["champion"])
    if failed := sum(score is None for score in scores["challenger"]):
        return held | {
            "reason": f"the challenger fails under {failed} of {len(scores['challenger'])} held-out seeds"
        }
    twice = sum(
        first is None and other is None
        for first, other in zip(scores["champion"], scores["again"], strict=False)
    )
    if (
        twice and len(scores["challenger"]) == seeds
    ):  # it failed twice under one seed: no chance of the machine's
        why = f"the champion fails twice under {twice} held-out seeds, the challenger under none"
        return held | {"wins": True, "pairs": seeds - twice, "reason": why}
    if not differences_of(scores):
        return held | {
            "reason": "the champion has no score under the seeds that the challenger was evaluated under"
        }
    return None


def differences_of(scores: Scores) -> list[float]:
    """Return how much better the challenger is under each seed under which both have a score.

    The champion's second evaluation replaces a failed first one. What the order of a sum can change is no
    difference.
    """
    again = [*scores["again"], *[None] * len(scores["champion"])]
    champion = [
        score if score is not None else other for score, other in zip(scores["champion"], again, strict=False)
    ]
    pairs = zip(scores["challenger"], champion, strict=False)
    return [
        0.0 if math.isclose(first, other, rel_tol=ROUNDING) else first - other
        for first, other in pairs
        if first is not None and other is not None
    ]


def _contest(
    scores: Scores,
    differences: Sequence[float],
    random: np.random.Generator,
    seedless: bool,
    error: float = ERROR,
) -> Contest:
    if seedless and without_noise({side: result for side, result in scores.items() if side != "initial"}):
        return exact(differences[0], len(differences))
    gaps = [
        first - other
        for first, other in zip(scores["champion"], scores["again"], strict=False)
        if first is not None and other is not None
    ]
    return paired(differences, random, float(np.sqrt(np.mean(np.square(gaps)))) if gaps else 0.0, error)


def _hopeless(scores: Scores, most: int) -> bool:
    """Return whether the challenger failed, or cannot win by its differences so far. A champion that fails
    keeps the contest open."""
    if any(score is None for score in scores["challenger"]):
        return True
    differences = differences_of(scores)
    return len(differences) == len(scores["champion"]) and progress(differences, most) == "cannot win"


def _why(contest: Contest) -> str:
    return f": {contest.reason}" if contest.test == EXACT or contest.reason == WORST_AGAIN else ""


def _finite(end: float) -> float | None:
    return end if np.isfinite(end) else None


@dataclass(frozen=True)
class Succession:
    """decision: a row of DECISIONS. measured: rows of MEASURED, one per evaluation."""

    decision: Row
    measured: list[Row]


@dataclass(frozen=True)
class _Duel:
    """What the evaluations of a duel depend on. sides: as `sides_of` returns them. repeats: seeds at most.
    seedless: as of `run_duel`."""

    project: Project
    sides: Mapping[str, str]
    own: ProgramsSettings
    cycle_seeds: CycleSeeds
    mode: str | None
    repeats: int
    seedless: bool

    def key(self) -> str:
        """Return the key of its notes."""
        facts = {
            "sides": self.sides,
            "project": self.project.sha,
            "meeting": self.project.mode,
            "settings": self.own.model_dump(exclude=APART),
            "seed": self.cycle_seeds.root,
            "cycle": self.cycle_seeds.cycle,
            "jail": self.mode,
            "version": __version__,
        }
        return key_of(facts, ascii_only=True)

    def run(self, texts: Mapping[str, Mapping[str, str]], notes: WorkNotes) -> dict[str, list[Evaluation]]:
        """Return side -> evaluations under held-out seeds, each seed noted as soon as it is done. texts: of
        each program. Raises as `run_duel`."""
        name, key = self.project.name, self.key()
        seeds = [self.cycle_seeds.seed(f"heldout/{name}", place) for place in range(self.repeats)]

        held = {
            seeds[place]: read_evaluations(known)
            for (place, noted), known in notes.held.items()
            if noted == key and place < len(seeds)
        }
        with Evaluator(self.project, self.own, mode=self.mode) as evaluator:
            built = {program: evaluator.build(text) for program, text in texts.items()}
            return run_duel(
                self.sides,
                seeds,
                lambda program, seed: evaluator.evaluate(texts[program], seed, built[program]),
                held=held,
                note=lambda seed, done: notes.note(seeds.index(seed), key, noted_evaluations(done)),
                scores=[partial(_merit, self.project, metric) for metric in self.project.metrics],
                seedless=self.seedless,
            )


def decide_champion(
    project: Project,
    islands: Islands,
    population: Population,
    blobs: BlobStore,
    *,
    own: ProgramsSettings,
    cycle_seeds: CycleSeeds,
    mode: str | None,
    notes: WorkNotes = WorkNotes(),
) -> Succession:
    """Decide between the champion that entered the cycle and the best other program of the search, next to
    the initial program.

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
    texts = {name: texts_of(blobs, row["files_sha"]) for name, row in rows.items()}
    repeats = heldout_repeats(own, initial["cpu_s"], len(sides))
    seedless = not chance_in(project, texts.values())
    duel = _Duel(project, sides, own, cycle_seeds, mode, repeats, seedless)
    try:
        result, unknown = duel.run(texts, notes), None
    except HostBusy as error:
        result, unknown = {side: [] for side in sides}, {**UNDECIDED, "reason": f"unknown: {error.what}"}
    scores = {
        metric: {side: [_merit(project, metric, item) for item in done] for side, done in result.items()}
        for metric in project.metrics
    }
    verdict = unknown or decide_by_metrics(
        scores, cycle_seeds.generator(f"duel/{project.name}"), seedless=seedless
    )
    holder = "challenger" if verdict["wins"] and challenger is not None else "champion"
    random = cycle_seeds.generator(f"held/{project.name}")
    decision: dict[str, Any] = {
        "cycle": cycle_seeds.cycle,
        "project": project.name,
        "champion_id": champion["program_id"],
        "challenger_id": sides.get("challenger"),
        "holder_id": sides[holder],
        **_means(project, scores[project.score_name], holder, random),
        "protected": project.protected,
        **verdict,
    }
    measured = [
        row
        for side, done in result.items()
        for row in measured_rows(project, sides[side], done, cycle_seeds.cycle, "heldout", side)
    ]
    return Succession(decision, measured)


def _means(project: Project, scores: Scores, holder: str, random: np.random.Generator) -> dict[str, Any]:
    """Return columns of DECISIONS: held-out means of holder and initial program, as the evaluator scores."""
    sign = 1 if project.higher_is_better else -1
    held = [score for score in scores[holder] if score is not None]
    start = [score for score in scores.get("initial", scores["champion"]) if score is not None]
    spread = bootstrap_interval(held, random) if held else None
    low, high = sorted((sign * spread.low, sign * spread.high)) if spread else (None, None)
    return {
        "holder_mean": sign * spread.estimate if spread else None,
        "holder_low": low,
        "holder_high": high,
        "initial_mean": sign * sum(start) / len(start) if start else None,
    }


def heldout_repeats(own: ProgramsSettings, cpu_s: float | None, sides: int) -> int:
    """Return under how many seeds a project's programs meet: all that the settings ask for if they fit into
    `heldout_s`, else LEAST_REPEATS. cpu_s: of one evaluation; None if it is not known."""
    fits = cpu_s is not None and cpu_s * sides * own.heldout_repeats <= own.heldout_s
    return own.heldout_repeats if fits else min(LEAST_REPEATS, own.heldout_repeats)


def noted_evaluations(done: Mapping[str, Evaluation]) -> dict[str, dict[str, Any]]:
    """Return side -> evaluation under one seed, as it is noted."""
    return {side: asdict(item) for side, item in done.items()}


def read_evaluations(noted: Mapping[str, dict[str, Any]]) -> dict[str, Evaluation]:
    """Return the evaluations that `noted_evaluations` gave."""
    result: dict[str, Evaluation] = {}
    for side, load in noted.items():
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
