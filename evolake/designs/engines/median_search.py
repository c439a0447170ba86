"""Finds the median of the steps that a batch takes, computing each instance only as long as the median can
depend on it.

Instances do not influence each other, so any order of computing them gives the same times. Two things are
left out:

    unsolved   an instance that was solved is computed no further (it is then not known whether it leaves its
               solution again)
    deciding   in addition, if it looks as if half of the batch will not be solved within the limit, only so
               many unsolved instances are computed further as prove that. If one of these is solved after
               all, the next one takes its place, up to the whole batch.

What is decided is exact in both cases: whether the median is reached within the limit, and if so, the median.
Of a run that is not, `deciding` knows the number of solved instances only by an estimate. That it looks so
only decides in which order instances are computed.
"""

from __future__ import annotations

import math
from typing import Literal

import numpy as np

Computed = Literal["all", "unsolved", "deciding"]
LARGEST_CHUNK = 64
LOOKED_FROM = 0.1
"""Share of the limit after which a run may look as if it will not be solved."""
LOOKS_MISSED = 0.85
"""Share of the instances that must be solved below which the expected number of solved ones looks like a
miss."""


def chunk_of(steps: int, limit: int) -> int:
    """Return how many steps to take before the next look, after `steps` of them."""
    return min(LARGEST_CHUNK, max(8, steps // 8), limit - steps)


class MedianSearch:
    """Says which instances go how far, until it is known of `needed` of them (default: of as many as the
    median needs) when they are solved.

    solved_at: (B,) step after which an instance was first solved, 0: not yet. taken: (B,) steps that were
    computed of each.
    """

    def __init__(self, batch: int, limit: int, *, prove_missed: bool, needed: int | None = None):
        self.solved_at, self.taken = np.zeros(batch, dtype=np.int64), np.zeros(batch, dtype=np.int64)
        self._limit, self._prove_missed, self._needed = limit, prove_missed, needed or batch // 2 + 1
        self._looks_missed = False

    @property
    def computed(self) -> int:
        """Steps that were computed, of all instances together."""
        return int(self.taken.sum())

    @property
    def solved(self) -> int:
        """Return how many instances are solved so far."""
        return int(np.count_nonzero(self.solved_at))

    def next(self) -> tuple[int, np.ndarray] | None:
        """Return the steps to take and the instances that take them; None if all is known."""
        waiting = np.flatnonzero((self.solved_at == 0) & (self.taken < self._bound()))
        if self._prove_missed and self.solved < self._needed:
            needed = len(self.taken) - self._needed + 1 - self._missed()
            if not self._looks_missed and len(waiting):
                self._looks_missed = self._look(int(self.taken[waiting].min()))
            if self._looks_missed or needed <= 0:
                waiting = waiting[np.argsort(-self.taken[waiting], kind="stable")][: max(needed, 0)]
        if not len(waiting):
            return None
        least = int(self.taken[waiting].min())
        steps = chunk_of(least, self._bound())
        ahead = self.taken[waiting][self.taken[waiting] > least]
        return min(steps, int(ahead.min()) - least) if len(ahead) else steps, np.sort(
            waiting[self.taken[waiting] == least]
        )

    def take(self, chosen: np.ndarray, solved: np.ndarray) -> None:
        """Note what the chosen instances came to. solved: (steps, B) bool, after each step."""
        mine = solved[:, chosen]
        first = np.where(mine.any(axis=0), mine.argmax(axis=0) + 1 + self.taken[chosen], 0)
        self.solved_at[chosen] = first
        self.taken[chosen] += len(solved)

    def times(self) -> np.ndarray:
        """Return (B,) int: the step of each instance that was solved by the end of the run, else 0. The run
        ends with the step at which half was solved."""
        return np.where(self.solved_at <= self.steps, self.solved_at, 0)

    @property
    def steps(self) -> int:
        """Steps until as many as needed were solved; the limit if that did not happen."""
        return self._bound()

    @property
    def expected_solved(self) -> float:
        """Instances that are solved by the end of the run; of those that were not computed to the end, as
        many as of the others since then."""
        times = self.times()
        known = int(np.count_nonzero(times))
        aside = (self.solved_at == 0) & (self.taken < self.steps)
        if not aside.any():
            return float(known)
        since = int(self.taken[aside].max())
        later = int(np.count_nonzero(times > since))
        return known + int(aside.sum()) * later / max(1, later + self._missed())

    def _bound(self) -> int:
        """Return how far an instance has to go at most: to the median as it is known so far."""
        if self.solved < self._needed:
            return self._limit
        return int(np.partition(self.solved_at[self.solved_at > 0], self._needed - 1)[self._needed - 1])

    def _missed(self) -> int:
        """Instances that are certainly not solved within the limit."""
        return int(np.count_nonzero((self.solved_at == 0) & (self.taken >= self._limit)))

    def _look(self, steps: int) -> bool:
        """Return whether half of the batch will probably not be solved, if instances are solved at the rate
        of the first `steps`."""
        if steps < LOOKED_FROM * self._limit:
            return False
        batch = len(self.taken)
        by_now = (self.solved + 0.5) / (batch + 1)
        return batch * (1 - math.pow(1 - by_now, self._limit / steps)) < LOOKS_MISSED * self._needed
