"""What a search has tried, and what follows from it: which operator makes the next child, and of which
program.

A trial is a program that was evaluated, or blocked, with its parent and the operator that created it. Trials
are the only memory of the operators and are read from rows, so that a cycle that was killed proposes what it
would have proposed.

The operator is chosen by a bandit whose credit is the gain for its processor time: Thompson sampling with
discounted counts (Chapelle and Li, NeurIPS 2011; Raj and Kalyani, 2017). An operator has a Beta prior, each
of its trials adds a success between 0 and 1 and what is left to 1 as failure, and old trials fade. A gain
counts in relation to all that was gained so far, so that tiny steps at the end of a slope do not keep
structure from being tried.

The program that is changed next is mostly the best; a new structure gets some tuning before it is compared
with it. What a polish has made is literals at their best, and another change of it is mostly a copy or a
failure. So the search continues from the best of the other programs, whose gains count among themselves, and
a polished program is polished again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import MappingProxyType

import numpy as np

from evolake.programs.model.program_text import BadBlocks, Unreadable
from evolake.programs.search.numbers import Number, numbers_in, skeleton

SLIGHTLY = 1e-12
POLISH = "polish"
"""Operator whose child has the value that its parent returns as literals, polished."""


@dataclass(frozen=True)
class Trial:
    """One program that was tried.

    Attributes:
        texts: path -> text. score: None if it was blocked. operator: what created it. parent: place of its
            parent among the trials; None without one.
        twin_score: score of the living program with the same metrics, if it was blocked because of that one.
    """

    texts: Mapping[str, str]
    score: float | None
    operator: str = ""
    parent: int | None = None
    twin_score: float | None = None


@dataclass(frozen=True, eq=False)
class Trials:
    """The trials of a project in order. maximize: whether a higher score is better. All children that are
    asked for together have the same trials, and what follows from these is found once."""

    items: Sequence[Trial]
    maximize: bool = True

    @cached_property
    def merits(self) -> list[float | None]:
        """Score of each trial with the sign that makes higher better; None of those without one."""
        sign = 1.0 if self.maximize else -1.0
        return [None if item.score is None else sign * item.score for item in self.items]

    @cached_property
    def known_merits(self) -> list[float | None]:
        """Merits, with those of trials that were blocked because of a twin.

        These count as just below the twin's, so that a number without an effect attracts no steps.
        """
        sign = 1.0 if self.maximize else -1.0
        result = list(self.merits)
        for place, item in enumerate(self.items):
            if item.twin_score is not None:
                result[place] = sign * item.twin_score - SLIGHTLY * max(1.0, abs(item.twin_score))
        return result

    def changed_nothing(self, place: int) -> bool:
        """Return whether a trial has the metrics of its parent."""
        item = self.items[place]
        return (
            item.parent is not None
            and item.twin_score is not None
            and item.twin_score == self.items[item.parent].score
        )

    @cached_property
    def best(self) -> int | None:
        """Place of the best trial, the first of equals."""
        scored = [(merit, -place) for place, merit in enumerate(self.merits) if merit is not None]
        return -max(scored)[1] if scored else None

    def lifted(self, place: int) -> bool:
        """Return whether a trial is what a polish makes, or that with other numbers."""
        return bool(self._polished) and self.skeletons[place] in self._polished

    @cached_property
    def _polished(self) -> set[str]:
        return {self.skeletons[place] for place, item in enumerate(self.items) if item.operator == POLISH}

    @cached_property
    def best_unlifted(self) -> int | None:
        """Place of the best trial that no polish has made, the first of equals."""
        if not self._polished:
            return self.best
        merits = [None if self.lifted(place) else merit for place, merit in enumerate(self.merits)]
        scored = [(merit, -place) for place, merit in enumerate(merits) if merit is not None]
        return -max(scored)[1] if scored else None

    @cached_property
    def gains(self) -> list[float]:
        """By how much each trial improved on the best before it, of lifted ones or of the others; 0 without
        an improvement and for the first."""
        result: list[float] = []
        best: dict[bool, float] = {}
        for place, merit in enumerate(self.merits):
            side = self.lifted(place)
            before = best.get(side, best.get(False))
            won = merit is not None and (before is None or merit > before)
            result.append(merit - before if won and merit is not None and before is not None else 0.0)
            if won and merit is not None:
                best[side] = merit
        return result

    @cached_property
    def tried(self) -> set[tuple[tuple[str, str], ...]]:
        """The texts of the trials, each sorted by path."""
        return {tuple(sorted(item.texts.items())) for item in self.items}

    @cached_property
    def skeletons(self) -> list[str]:
        """Skeleton of each trial; "" of those that cannot be read."""
        return [skeleton_of(tuple(item.texts.items())) for item in self.items]

    def idle(self) -> int:
        """Return how many trials have passed since the last improvement."""
        improved = [place for place, gain in enumerate(self.gains) if gain > 0]
        return len(self.items) - 1 - (improved[-1] if improved else 0)

    def changes_structure(self, place: int) -> bool:
        """Return whether a trial has another skeleton than its parent."""
        parent = self.items[place].parent
        return parent is not None and self.skeletons[place] != self.skeletons[parent]


@lru_cache(maxsize=4096)
def skeleton_of(items: tuple[tuple[str, str], ...]) -> str:
    """Return the skeleton of texts; remembered, since each proposal asks for that of every trial."""
    return skeleton(dict(items))


@lru_cache(maxsize=4096)
def values_of(items: tuple[tuple[str, str], ...]) -> tuple[Number, ...]:
    """Return the tunable numbers of texts; none of texts that cannot be read."""
    try:
        return tuple(numbers_in(dict(items)))
    except (Unreadable, BadBlocks, ValueError):
        return ()


@lru_cache(maxsize=16)
def points_of(trials: Trials, own: str) -> tuple[list[int], np.ndarray]:
    """Return places of the trials of one skeleton, and their numbers as rows of an array; neither is to be
    changed."""
    places = [place for place, item in enumerate(trials.skeletons) if item == own]
    rows = [
        [number.value for number in values_of(tuple(trials.items[place].texts.items()))] for place in places
    ]
    return places, np.array(rows, dtype=float).reshape(len(places), -1)


FULL_GAIN = 0.05
"""Share of all gains so far that makes a trial a full success."""
FADING = 0.97
"""Factor by which a trial's weight falls with each later trial."""


@dataclass(frozen=True)
class Group:
    """Operators of one kind. prior: (successes, failures) of the group before any trial. operators: name ->
    that of each within the group."""

    prior: tuple[float, float]
    operators: Mapping[str, tuple[float, float]]


def draw_operator(
    groups: Sequence[Group],
    trials: Trials,
    random: np.random.Generator,
    *,
    barred: Collection[str] = (),
    costs: Mapping[str, float] = MappingProxyType({}),
) -> str:
    """Return the name of an operator: a group is drawn, then one of it, so that many operators of a kind do
    not crowd out another kind.

    barred: names that are not drawn. costs: as of `credits_of`, operator -> times. Raises ValueError if no
    other is left.
    """
    successes, failures = credits_of(trials, tuple(costs.items()))

    def sampled(prior: tuple[float, float], names: Collection[str]) -> float:
        won, lost = (sum(counts.get(name, 0.0) for name in names) for counts in (successes, failures))
        return float(random.beta(prior[0] + won, prior[1] + lost))

    left = [group for group in groups if not set(barred).issuperset(group.operators)]
    group = max(left, key=lambda item: sampled(item.prior, item.operators))
    return max(
        (name for name in group.operators if name not in barred),
        key=lambda name: sampled(group.operators[name], (name,)),
    )


@lru_cache(maxsize=8)
def credits_of(
    trials: Trials, costs: tuple[tuple[str, float], ...] = ()
) -> tuple[dict[str, float], dict[str, float]]:
    """Return operator -> discounted successes, and operator -> discounted failures.

    costs: operators, and how many times the processor time of others a trial of each takes; such a trial
    counts as so many."""
    total, times = sum(trials.gains), dict(costs)
    successes: dict[str, float] = {}
    failures: dict[str, float] = {}
    for place, item in enumerate(trials.items):
        weight = FADING ** (len(trials.items) - 1 - place)
        cost = times.get(item.operator, 1.0)
        won = min(cost, trials.gains[place] / (FULL_GAIN * total)) if total > 0 else 0.0
        successes[item.operator] = successes.get(item.operator, 0.0) + weight * won
        failures[item.operator] = failures.get(item.operator, 0.0) + weight * (cost - won)
    return successes, failures


TUNING = 6
"""Children that a new structure gets, by changes of its numbers, before it is judged."""
YOUNG_SHARE, YOUNGEST = 0.2, 3
"""Share of children that new structures get, and how many of them, the best, are tuned side by side."""
PATIENCE = 30
"""Trials without an improvement after which other programs than the best are changed more often."""
FRESH = 0.5
"""Share of further polishes that begin with the best program which is not lifted, if none has."""
OTHERS, OTHERS_IDLE = 0.08, 0.3
"""Share of children of programs other than the best, and that share after `PATIENCE`."""


@dataclass(frozen=True)
class Choice:
    """place: of the parent among the trials; None: any program of the island. only: which operators may
    change it: `NUMBERS_ONLY`, `POLISH`, `UNLIFTED` (all but a polish) or "" for all."""

    place: int | None
    only: str = ""


NUMBERS_ONLY, UNLIFTED = "numbers", "unlifted"


def choose_parent(
    trials: Trials, random: np.random.Generator, polish: Callable[[], bool] | None = None
) -> Choice:
    """Return the parent of the next child. polish: draws whether it is to be a polish; None if none is
    offered."""
    best, other = trials.best, trials.best_unlifted
    if best is None:
        return Choice(None)
    again = polish is not None and other is not None and trials.lifted(best)
    if again and polish is not None and polish():
        fresh = all(item.operator != POLISH or item.parent != other for item in trials.items)
        return Choice(other if fresh and random.random() < FRESH else best, POLISH)
    way = random.random()
    if way < YOUNG_SHARE and (young := untuned(trials)):
        return Choice(young[int(random.integers(len(young)))], NUMBERS_ONLY)
    others = OTHERS_IDLE if trials.idle() > PATIENCE else OTHERS
    if random.random() < others:
        return Choice(None, UNLIFTED if again else "")
    return Choice(other, UNLIFTED) if again else Choice(best)


def untuned(trials: Trials) -> list[int]:
    """Return places of the best new structures that have not had their tuning: in the best quarter, and not
    the best already."""
    scored = sorted(merit for merit in trials.merits if merit is not None)
    enough = scored[3 * (len(scored) - 1) // 4]
    children: dict[str, int] = {}
    top: dict[str, int] = {}
    for place, item in enumerate(trials.skeletons):
        children[item] = children.get(item, 0) + 1
        merit = trials.merits[place]
        if merit is not None and (item not in top or merit > _at(trials, top[item])):
            top[item] = place
    new = {trials.skeletons[place] for place in range(len(trials.items)) if trials.changes_structure(place)}
    held = [
        place
        for item, place in top.items()
        if item
        and item in new
        and children[item] <= TUNING
        and place != trials.best
        and not trials.lifted(place)
        and _at(trials, place) >= enough
    ]
    return sorted(held, key=lambda place: -_at(trials, place))[:YOUNGEST]


def _at(trials: Trials, place: int) -> float:
    merit = trials.merits[place]
    return float("-inf") if merit is None else merit
