"""Measure again what a bundle states of a program: the program and the initial program, under the bundle's
seeds and under fresh ones.

Nothing of the bundle is trusted here: noise is measured on this machine, and who made the bundle cannot know
the fresh seeds, so that seeds on which a program happens to look good are no help. How seeds are drawn and
statements judged is shared by all lines: `evolake.bundles.measuring`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evolake.bundles.measuring import fresh_count, fresh_seeds, judged
from evolake.bundles.model import Said
from evolake.contest import LEAST_PAIRS
from evolake.programs.model.project import program_id
from evolake.report.numbers import counted

if TYPE_CHECKING:
    from evolake.programs.model.project import Project
    from evolake.programs.sandbox.evaluating import Evaluation, Evaluator


class Rerun:
    """The two programs of a project on this machine. Each is built once and evaluated once under each seed.

    texts: of the program that is judged. progress: called with what is done next. varying: names of metrics
    that two evaluations under one seed did not give alike, such as times.
    """

    def __init__(self, evaluator: Evaluator, texts: Mapping[str, str], progress: Callable[[str], None]):
        self.evaluator, self.texts, self.project, self._progress = (
            evaluator,
            dict(texts),
            evaluator.project,
            progress,
        )
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
        """Return the largest difference between the scores of two evaluations under one seed, over all seeds
        given so far."""
        for seed in seeds:
            if seed not in self._gaps:
                first, again = self.own(seed), self._evaluate("program", self.texts, seed)
                scores = scored(self.project, first), scored(self.project, again)
                self._gaps[seed] = (
                    abs(scores[0] - scores[1]) if scores[0] is not None and scores[1] is not None else 0.0
                )
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


def scored(project: Project, evaluation: Evaluation) -> float | None:
    """Return an evaluation's score; None if it failed or gave none."""
    from evolake.programs.sandbox.evaluating import score_of

    return score_of(project, evaluation) if evaluation.ok else None


def reached(rerun: Rerun, claims: Any, held: Mapping[str, Any], sample: int | None) -> Iterator[Said]:
    """Check what is stated of a champion under fresh seeds: its gain over the initial program, and its score
    if evaluations have no noise here.

    Args:
        claims: with `own` and `initial`, evaluations of the bundle. held: what the bundle states of the
            champion. sample: evaluations to run again.
    """
    seeds = fresh_seeds(fresh_count(len(claims.own), sample))
    noise = rerun.noise(seeds[:1])
    project = rerun.project
    own = [scored(project, rerun.own(seed)) for seed in seeds]
    if failed := sum(score is None for score in own):
        yield Said("fresh seeds", "fails", f"the program fails under {failed} of {len(seeds)} fresh seeds")
        return
    scores = [score for score in own if score is not None]
    said = {item.seed: item.score for item in claims.own if item.score is not None}
    if held["gain"] is not None and len(said) < LEAST_PAIRS and len({*scores, *said.values()}) > 1:
        why = (
            f"scores differ from seed to seed, and it rests on {counted(len(said), 'seed')}; at least "
            f"{LEAST_PAIRS} are wanted"
        )
        yield Said("gain over the initial program", "fails", why, gain=True)
        return
    sign = 1 if project.higher_is_better else -1
    if not noise and held["score"] is not None:
        yield judged(f"{project.score_name} under fresh seeds", list(said.values()), scores, sign=sign)
    if held["gain"] is None:
        return
    start = [scored(project, rerun.initial(seed)) for seed in seeds]
    if any(score is None or score <= 0 for score in (*start, *scores)):
        why = "no ratio can be formed: a score is not positive, or the initial program fails"
        yield Said("gain under fresh seeds", "unmeasured", why, gain=True)
        return
    first = {item.seed: item.score for item in claims.initial if item.score is not None}
    stated = [sign * math.log(score / first[seed]) for seed, score in said.items()]
    gains = [sign * math.log(one / other) for one, other in zip(scores, start, strict=True) if other]
    yield judged("gain (times) under fresh seeds", stated, gains, shown=math.exp, gain=held["gain"])
