"""Choose instances of accepted families among the problems of a cycle, by what earlier cycles found that the
policy learns from them.

A family of the lake is as hard as it is: of most, a small policy gets no reply right, and a group of equal
rewards moves no weight. So families have a part of an iteration's problems at most (`families_share`), and
the tables `learnability` of the cycles before decide which are asked:

- a family is asked at its easiest difficulty, and at the next one when some replies to the one below were
  right;
- about half of the places are for what was never asked (`new`), each once in a cycle and all with the same
  chance;
- the others are for what taught (`learnable`), with chances in proportion to the measured learnability; in
  one of ten of these places comes something that taught nothing (`again`), since the policy may have learnt
  since, or forgotten;
- with `families_success`, a family is asked at one difficulty instead, which follows the policy: it begins
  with the easiest, and each cycle that asked there moves it to the next harder one if more of its replies
  were right than the upper share, and to the next easier one if fewer were than the lower share (the adaptive
  environments of RLVE, Zeng et al. 2025, which only raise it);
- while nothing is known to teach, its places are for what was never asked, too. A place for which there is
  none is left to the problems of the other source; if families are the only source, the rest fill it.

No held-out lineage, and no text that is among the held-out problems, is among them. If a family of the lake
has the name of one that ships, that name decides on which side both and all their descendants are. What ships
carries names, and no content of families: a copy under another name is left to the comparison of texts and of
sequences of words.

What a cycle reads is fixed when it opens and noted with its content: finished cycles of the families line,
and what earlier cycles learnt. A run of the same cycle again reads the same tables as long as they are there
with that content; a cycle of families that runs at the same time is not sealed, and not read.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl

from evolake.errors import InputError
from evolake.lake import Lake, following
from evolake.prompts.model.leaks import apart
from evolake.prompts.model.problems import (
    FAMILIES,
    ProblemSet,
    family_problems,
    family_roots,
    finished_families,
    of_difficulty,
    plain,
    shipped_names,
    split,
)
from evolake.prompts.model.protocol import LINE, Problem
from evolake.prompts.settings import PromptsSettings
from evolake.report.numbers import counted
from evolake.seeds import generator

if TYPE_CHECKING:
    from pathlib import Path


NEW, LEARNABLE, AGAIN = "new", "learnable", "again"
NEW_SHARE = 0.5
"""Of the places of a cycle, those for what was never asked."""
RARELY = 0.1
"""Of the other places, those for what taught nothing."""
BYTES_PER_TOKEN = 1.5
"""Fewer than statements have; Chinese ones have 1.6 with the bundled model. One that may take more than half
of `max_prompt_tokens` is not set, since a prompt that is too long is an error."""
Level = tuple[str, int]
"""(family, difficulty)"""


@dataclass(frozen=True)
class Asked:
    """What earlier cycles found of a level. score: its learnability, 0 to 1."""

    groups: int
    replies: int
    correct: int
    score: float


@dataclass(frozen=True)
class Feed:
    """problems: the set with what is set for an iteration. rows: of FEED. lacking: why there is none; "" if
    there is one or none was wanted."""

    problems: ProblemSet
    rows: list[dict[str, Any]]
    lacking: str = ""

    def describe(self) -> str:
        """Return one sentence, without a full stop; "" if none was wanted."""
        if self.lacking:
            return f"trains on {self.problems.source} problems only: {self.lacking}"
        of_reason = {
            reason: sum(row["reason"] == reason for row in self.rows) for reason in (NEW, LEARNABLE, AGAIN)
        }
        said = ", ".join(f"{count} {reason}" for reason, count in of_reason.items() if count)
        return f"{counted(len(self.rows), 'problem')} of families ({said})" if self.rows else ""


def wanted(settings: PromptsSettings) -> bool:
    """Return whether families give problems to cycles."""
    return (
        FAMILIES in settings.problem_sources
        and not settings.train
        and not settings.test
        and (settings.families_share > 0 or set(settings.problem_sources) == {FAMILIES})
    )


def places(settings: PromptsSettings, *, alone: bool) -> list[int]:
    """Return how many problems of each iteration of a cycle may be of families, in order. alone: they are the
    only source."""
    share = 1.0 if alone else settings.families_share
    up_to = [
        int(share * settings.batch_problems * number + 0.5)
        for number in range(settings.iterations_per_cycle + 1)
    ]
    return [after - before for before, after in pairwise(up_to)]


def asked_before(tables: Sequence[pl.DataFrame]) -> dict[Level, Asked]:
    """Return what is known of each level that the policy of the newest of these tables was asked. tables: of
    LEARNABILITY, oldest first."""
    result: dict[Level, Asked] = {}
    for table in _of_one_policy(tables):
        for row in table.sort("family", "difficulty", "arm").to_dicts():
            level = (row["family"], row["difficulty"])
            before = result.get(level, Asked(0, 0, 0, 0.0))
            groups = before.groups + row["groups"]
            taught = before.score * (before.groups + 1) + row["score"] * (row["groups"] + 1)
            result[level] = Asked(
                groups,
                before.replies + row["replies"],
                before.correct + row["correct"],
                min(1.0, taught / (groups + 1)),
            )
    return result


def _of_one_policy(tables: Sequence[pl.DataFrame]) -> list[pl.DataFrame]:
    """Rows of families, of the policy of the newest table that has some; oldest first."""
    found = [table.filter(pl.col("source") == FAMILIES) for table in tables]
    found = [table for table in found if table.height]
    policy = found[-1].sort("policy")["policy"][-1] if found else ""
    return [table.filter(pl.col("policy") == policy) for table in found]


def offered(problems: Iterable[Problem], asked: Mapping[Level, Asked]) -> dict[Level, list[Problem]]:
    """Return the levels that may be asked now, with their problems: of each family the easiest, and what is
    above one with right replies."""
    of_family: dict[str, dict[int, list[Problem]]] = {}
    for problem in sorted(problems, key=lambda item: item.problem_id):
        of_family.setdefault(problem.family, {}).setdefault(problem.difficulty, []).append(problem)
    result: dict[Level, list[Problem]] = {}
    for family, levels in sorted(of_family.items()):
        for difficulty in sorted(levels):
            result[family, difficulty] = levels[difficulty]
            known = asked.get((family, difficulty))
            if known is None or not known.correct:
                break
    return result


def followed(
    problems: Iterable[Problem], tables: Sequence[pl.DataFrame], band: tuple[float, float]
) -> dict[Level, list[Problem]]:
    """Return of each family the one level that follows the policy's success, with its problems.

    tables: of LEARNABILITY, oldest first. Nothing else is known of the past, so that a cycle that reads the
    same tables asks at the same levels. band: shares of right replies between which a level stays.
    """
    of_family: dict[str, dict[int, list[Problem]]] = {}
    for problem in sorted(problems, key=lambda item: item.problem_id):
        of_family.setdefault(problem.family, {}).setdefault(problem.difficulty, []).append(problem)
    now = {family: min(levels) for family, levels in sorted(of_family.items())}
    for known in (asked_before([table]) for table in _of_one_policy(tables) if table.height):
        for family, level in now.items():
            asked = known.get((family, level))
            if asked is None:
                continue
            share = asked.correct / asked.replies
            easier = [other for other in of_family[family] if other < level]
            harder = [other for other in of_family[family] if other > level]
            if share > band[1]:
                now[family] = min(harder, default=level)
            elif share < band[0]:
                now[family] = max(easier, default=level)
    return {(family, level): of_family[family][level] for family, level in now.items()}


def chosen(
    levels: Mapping[Level, Sequence[Problem]],
    asked: Mapping[Level, Asked],
    counts: Sequence[int],
    random: np.random.Generator,
    *,
    alone: bool,
) -> list[tuple[Problem, str]]:
    """Return (problem with its turn, why) for the places of each iteration, no problem twice. See the module
    for who is drawn."""
    left = {level: list(problems) for level, problems in sorted(levels.items())}
    total = sum(counts)
    new_places = int(NEW_SHARE * total + random.random())
    kinds = random.permutation([NEW] * new_places + [LEARNABLE] * (total - new_places)).tolist()
    turns = [turn for turn, count in enumerate(counts, 1) for _ in range(count)]
    result: list[tuple[Problem, str]] = []
    for turn, kind in zip(turns, kinds, strict=True):
        waiting: dict[str, list[Level]] = {NEW: [], LEARNABLE: [], AGAIN: []}
        for level in left:
            known = asked.get(level)
            if known is None:
                state = NEW
            elif known.score > 0:
                state = LEARNABLE
            else:
                state = AGAIN
            waiting[state].append(level)
        reason = _reason(kind, waiting, random, alone=alone)
        if reason is None:
            continue
        levels_of = waiting[reason]
        weights = np.array([asked[level].score if reason == LEARNABLE else 1.0 for level in levels_of])
        level = levels_of[int(random.choice(len(levels_of), p=weights / weights.sum()))]
        problem = left[level].pop(int(random.integers(len(left[level]))))
        if not left[level] or reason != LEARNABLE:
            del left[level]
        result.append((replace(problem, turn=turn), reason))
    return result


def _reason(
    kind: str, waiting: Mapping[str, Sequence[Level]], random: np.random.Generator, *, alone: bool
) -> str | None:
    """Of what kind the place becomes; None: of none."""
    rarely = random.random() < RARELY
    if kind == NEW and waiting[NEW]:
        return NEW
    if waiting[AGAIN] and rarely:
        return AGAIN
    return next((item for item in (LEARNABLE, NEW, *([AGAIN] if alone else [])) if waiting[item]), None)


def fed(
    result: ProblemSet,
    settings: PromptsSettings,
    tables: Sequence[pl.DataFrame],
    *,
    lake: Lake,
    seeds: Path,
    cycles: Sequence[str],
    cycle: str,
    root_seed: int,
) -> Feed:
    """Return the problems of a cycle with instances of families among those to train on.

    Args:
        tables: LEARNABILITY of the cycles before, oldest first. seeds: the folder of seeds, with the problems
            that ship.
        cycles: of the families line, whose instances are read.
    """
    if not wanted(settings):
        return Feed(result, [])
    alone = result.source == FAMILIES
    try:
        problems = list(result.train) if alone else _beside(result, settings, lake, seeds, cycles)
    except InputError as error:
        return Feed(result, [], error.what)
    asked, longest = asked_before(tables), BYTES_PER_TOKEN * settings.max_prompt_tokens / 2
    short = [item for item in problems if len(item.text.encode("utf-8", "replace")) <= longest]
    band = settings.families_success
    levels = offered(short, asked) if band is None else followed(short, tables, band)
    counts = places(settings, alone=alone)
    picks = chosen(levels, asked, counts, generator(root_seed, LINE, cycle, "feed"), alone=alone)
    rows: list[dict[str, Any]] = []
    for problem, reason in picks:
        known = asked.get((problem.family, problem.difficulty))
        rows.append(
            {
                "cycle": cycle,
                "turn": problem.turn,
                "problem_id": problem.problem_id,
                "family": problem.family,
                "difficulty": problem.difficulty,
                "reason": reason,
                "groups": known.groups if known else 0,
                "replies": known.replies if known else 0,
                "correct": known.correct if known else 0,
                "score": known.score if known else None,
            }
        )
    given = {problem.problem_id: problem for problem, _ in picks}
    train = (
        tuple(given.get(item.problem_id, item) for item in result.train)
        if alone
        else (*result.train, *given.values())
    )
    return Feed(replace(result, train=train), rows, "" if rows else _lacking(levels, counts, settings))


def _beside(
    result: ProblemSet, settings: PromptsSettings, lake: Lake, seeds: Path, cycles: Sequence[str]
) -> list[Problem]:
    """Instances of families that may be trained on next to a set of another source."""
    problems = of_difficulty(family_problems(lake, cycles, settings.answer_format), settings.difficulties)
    train, _ = split(problems, settings.heldout_share, family_roots(lake, cycles, shipped_names(seeds)))
    there = {plain(item.text) for item in result.all}
    train, _ = apart(
        [item for item in train if plain(item.text) not in there],
        result.train,
        result.heldout,
        words=settings.contamination_words,
        share=settings.contamination_share,
    )
    return train


def _lacking(
    levels: Mapping[Level, Sequence[Problem]], counts: Sequence[int], settings: PromptsSettings
) -> str:
    """Return why nothing was drawn: if there are places and levels, all of these were asked before and taught
    nothing, or one would have been."""
    if not sum(counts):
        problems = settings.batch_problems * settings.iterations_per_cycle
        return (
            f"a share of {settings.families_share:g} of {counted(problems, 'problem')} of a cycle leaves "
            "families no place"
        )
    if not levels:
        return "no family offers problems to train on at these difficulties"
    return (
        f"{counted(len({family for family, _ in levels}), 'family', 'families')} asked before, and "
        "nothing was learnt from what they offer"
    )


LEARNABILITY = "learnability"


@dataclass(frozen=True)
class Reading:
    """rows: of FEED_READ. kept: an earlier run of the cycle noted them. renewed: what it noted is not there
    any more, or not with that content."""

    rows: list[dict[str, Any]]
    kept: bool = False
    renewed: bool = False

    @property
    def families(self) -> list[str]:
        """The cycles of the families line whose instances are read."""
        return [
            row["of_cycle"]
            for row in self.rows
            if row["asset"] == "instances" and row["of_cycle"] is not None
        ]

    def learnt(self, lake: Lake) -> list[pl.DataFrame]:
        """Return the tables of what the policy learnt, oldest first."""
        return [
            lake.read(LINE, LEARNABILITY, row["of_cycle"])
            for row in self.rows
            if row["asset"] == LEARNABILITY
        ]


def reading(lake: Lake, cycle: str, noted: Sequence[Mapping[str, Any]]) -> Reading:
    """Return what a cycle reads: what its earlier run noted, or what is finished now.

    Args:
        noted: rows of FEED_READ of an earlier run of the cycle; none if there was none, or it read nothing.
    """
    if noted and all(
        row["of_cycle"] is None
        or _sha(lake, row["line"], row["asset"], row["of_cycle"]) == row["content_sha"]
        for row in noted
    ):
        return Reading([dict(row) for row in noted], kept=True)
    done = finished_families(lake)
    tables: list[tuple[str, str, str | None]] = [(FAMILIES, "instances", item) for item in done] or [
        (FAMILIES, "instances", None)
    ]
    tables += [(FAMILIES, "incoming_families", following(done[-1]))] if done else []
    tables += [(LINE, LEARNABILITY, item) for item in lake.cycles(LINE, LEARNABILITY) if item < cycle]
    return Reading(
        [
            {
                "cycle": cycle,
                "number": number,
                "line": line,
                "asset": asset,
                "of_cycle": of_cycle,
                "content_sha": None if of_cycle is None else _sha(lake, line, asset, of_cycle),
            }
            for number, (line, asset, of_cycle) in enumerate(tables)
        ],
        renewed=bool(noted),
    )


def _sha(lake: Lake, line: str, asset: str, cycle: str) -> str | None:
    record = lake.record(line, asset, cycle)
    return None if record is None else record.content_sha
