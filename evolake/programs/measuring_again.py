"""Measure again what a bundle states of a program: the program and the initial program, under the bundle's seeds and under fresh ones.

Nothing of the bundle is trusted here: noise is measured on this machine, and who made the bundle cannot know the fresh
seeds, so that seeds on which a program happens to look good are no help.
"""

from __future__ import annotations

import itertools
import math
import secrets
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from evolake.bundles.model import Said
from evolake.contest import LEAST_PAIRS
from evolake.programs.model.project import program_id
from evolake.report.numbers import counted

if TYPE_CHECKING:
    from evolake.programs.model.project import Project
    from evolake.programs.sandbox.evaluating import Evaluation, Evaluator

FRESH, LEAST_FRESH = 12, 9
"""Fresh seeds: as many as this, or as the bundle has held-out seeds; at least the second if only a sample is run again."""
DOUBT = 0.01
"""Largest probability that an honest statement is refused by chance: three stated seeds of 12 are one choice of 220."""
MOST_CHOICES = 5000
LARGEST_SEED = 2**31


class Rerun:
    """The two programs of a project on this machine. Each is built once and evaluated once under each seed.

    texts: of the program that is judged. progress: called with what is done next. varying: names of metrics that two
    evaluations under one seed did not give alike, such as times.
    """

    def __init__(self, evaluator: Evaluator, texts: Mapping[str, str], progress: Callable[[str], None]):
        self.evaluator, self.texts, self.project, self._progress = evaluator, dict(texts), evaluator.project, progress
        self.initial_id = program_id(self.project.name, self.project.evolving)
        self._built: dict[str, Any] = {}
        self._known: dict[tuple[str, int], Evaluation] = {}
        self._gaps: dict[int, float] = {}
        self.varying: set[str] = set()

    def own(self, seed: int) -> Evaluation:
        """Return the program's evaluation under a seed."""
        return self._evaluated("program", self.texts, seed)

    def initial(self, seed: int) -> Evaluation:
        """Return the initial program's evaluation under a seed."""
        return self._evaluated("initial program", self.project.evolving, seed)

    def noise(self, seeds: Sequence[int]) -> float:
        """Return the largest difference between the scores of two evaluations under one seed, over all seeds given so far."""
        for seed in seeds:
            if seed not in self._gaps:
                first, again = self.own(seed), self._evaluate("program", self.texts, seed)
                scores = scored(self.project, first), scored(self.project, again)
                self._gaps[seed] = abs(scores[0] - scores[1]) if scores[0] is not None and scores[1] is not None else 0.0
                names = {*first.metrics, *again.metrics}
                self.varying |= {name for name in names if first.metrics.get(name) != again.metrics.get(name)}
        return max(self._gaps.values(), default=0.0)

    def _evaluated(self, name: str, texts: Mapping[str, str], seed: int) -> Evaluation:
        if (name, seed) not in self._known:
            self._known[name, seed] = self._evaluate(name, texts, seed)
        return self._known[name, seed]

    def _evaluate(self, name: str, texts: Mapping[str, str], seed: int) -> Evaluation:
        self._progress(f"{name}, evaluation {len(self._known) + 1}")
        if name not in self._built:
            self._built[name] = self.evaluator.build(texts)
        return self.evaluator.evaluate(texts, seed, self._built[name])


def fresh_seeds(count: int) -> list[int]:
    """Return seeds that nobody could know before."""
    return [secrets.randbelow(LARGEST_SEED) for _ in range(count)]


def scored(project: Project, evaluation: Evaluation) -> float | None:
    """Return an evaluation's score; None if it failed or gave none."""
    from evolake.programs.sandbox.evaluating import score_of

    return score_of(project, evaluation) if evaluation.ok else None


def reached(rerun: Rerun, claims: Any, held: Mapping[str, Any], sample: int | None) -> Iterator[Said]:
    """Check what is stated of a champion under fresh seeds: its gain over the initial program, and its score if evaluations have no noise here.

    Args:
        claims: with `own` and `initial`, evaluations of the bundle. held: what the bundle states of the champion. sample: evaluations to run again.
    """
    count = max(FRESH, len(claims.own))
    seeds = fresh_seeds(count if sample is None else max(LEAST_FRESH, min(count, sample)))
    noise = rerun.noise(seeds[:1])
    project = rerun.project
    own = [scored(project, rerun.own(seed)) for seed in seeds]
    if failed := sum(score is None for score in own):
        yield Said("fresh seeds", "fails", f"the program fails under {failed} of {len(seeds)} seeds that nobody knew before")
        return
    scores = [score for score in own if score is not None]
    said = {item.seed: item.score for item in claims.own if item.score is not None}
    if held["gain"] is not None and len(said) < LEAST_PAIRS and len({*scores, *said.values()}) > 1:
        why = f"scores differ from seed to seed, and it rests on {counted(len(said), 'seed')}; at least {LEAST_PAIRS} are wanted"
        yield Said("gain over the initial program", "fails", why)
        return
    sign = 1 if project.higher_is_better else -1
    if not noise and held["score"] is not None:
        yield _judged(f"{project.score_name} under fresh seeds", list(said.values()), scores, sign=sign)
    if held["gain"] is None:
        return
    start = [scored(project, rerun.initial(seed)) for seed in seeds]
    if any(score is None or score <= 0 for score in (*start, *scores)):
        yield Said("gain under fresh seeds", "note", "no ratio can be formed: a score is not positive, or the initial program fails")
        return
    first = {item.seed: item.score for item in claims.initial if item.score is not None}
    stated = [sign * math.log(score / first[seed]) for seed, score in said.items()]
    gains = [sign * math.log(one / other) for one, other in zip(scores, start, strict=True) if other]
    yield _judged("gain (times) under fresh seeds", stated, gains, shown=math.exp)


def _judged(
    what: str, stated: Sequence[float], fresh: Sequence[float], *, sign: int = 1, shown: Callable[[float], float] = lambda value: value,
) -> Said:
    """Return whether what is stated on some seeds is reached under fresh ones.

    If the stated seeds were drawn as the fresh ones are, each choice of as many of all these seeds is equally likely to be
    the stated one (Fisher 1935, whatever the distribution). A mean that is among the best `DOUBT` of these is refused.

    Args:
        stated, fresh: values under each seed. sign: 1 if higher is better, -1 if lower is. shown: a value as it is printed.
    """
    values = sign * np.array([*stated, *fresh])
    chance = _chance(values, len(stated))
    said = f"{shown(_mean(fresh)):.6g} on {len(fresh)} seeds, stated {shown(_mean(stated)):.6g} on {len(stated)}"
    return Said(what, "holds", said) if chance > DOUBT else Said(what, "fails", f"not reached: {said} (p {chance:.2g})")


def _chance(values: np.ndarray, count: int) -> float:
    """Return the share of choices of `count` values whose sum is at least that of the first ones. Of very many choices some are drawn."""
    least = float(values[:count].sum()) - 1e-9 * max(1.0, float(np.abs(values).max()))
    if math.comb(len(values), count) <= MOST_CHOICES:
        sums = [float(values[list(places)].sum()) for places in itertools.combinations(range(len(values)), count)]
        return float(np.mean(np.array(sums) >= least))
    drawn = np.random.default_rng(0).permuted(np.tile(values, (MOST_CHOICES, 1)), axis=1)[:, :count].sum(axis=1)
    return float((1 + (drawn >= least).sum()) / (1 + MOST_CHOICES))


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
