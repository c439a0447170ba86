"""Which families each arm trains on and which are held out, by lineage and mechanics.

The split is that of `evolake families export --test-share`: by the mechanics of the roots that a family
descends from. A family with some of them on both sides is used by none. `parents` has the parents of each
evolved family, as often as they have such children: what it lacks of `evolved` is the last operator. A family
that was drawn from a world has no parent and leaves no trace there.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evolake.errors import InputError
from evolake.families.dataset.exports import NEITHER, side
from evolake.lake.population import roots_of
from evolake.utility.tables import TRAINED

SEED = "seed"


@dataclass(frozen=True)
class Pools:
    """train: arm -> family -> its weight. test: the families of held-out lineages. notes: what a reader must
    know of them."""

    train: Mapping[str, Mapping[str, int]]
    test: tuple[str, ...]
    notes: tuple[str, ...]


def pools_of(
    rows: Sequence[Mapping[str, Any]],
    share: float,
    languages: Sequence[str] | None,
    units: Mapping[str, Collection[str]] | None = None,
) -> Pools:
    """Return the pools of a population.

    Args:
        rows: of FAMILIES, the blocked too, whose parents are ancestors like others. share: of the units that
            are held out. languages: None: all.
        units: family -> what a split keeps together of it (`evolake.families.dataset.datasets.units_of`);
            None: its roots.

    Raises:
        InputError: a side, or an arm, has no family.
    """
    kept_together = units or roots_of({row["family_id"]: row["parents"] for row in rows})
    usable = {
        row["family_id"]: row
        for row in rows
        if row["state"] == "accepted" and (languages is None or row["language"] in languages)
    }
    sides: dict[str, list[str]] = {"train": [], "test": [], NEITHER: []}
    for family_id in usable:
        sides[side(family_id, share, kept_together)].append(family_id)
    seeds = [side for side in sides["train"] if usable[side]["operator"] == SEED]
    evolved = [side for side in sides["train"] if usable[side]["operator"] != SEED]
    parents = Counter(parent for item in evolved for parent in usable[item]["parents"] if parent in usable)
    train = {
        "seeds": dict.fromkeys(seeds, 1),
        "evolved": dict.fromkeys(evolved, 1),
        "mixed": dict.fromkeys(seeds + evolved, 1),
        "parents": parents,
    }
    lacking = [name for name, result in {**train, "the test side": sides["test"]}.items() if not result]
    if lacking:
        raise InputError(
            f"there is no family for {lacking[0]}",
            wanted="seed families, evolved ones with parents, and lineages that are held out",
            got=f"{len(seeds)} seeds and {len(evolved)} evolved to train on, {len(sides['test'])} held out",
            do=(
                "run more cycles: evolake run --lines families; or set EVOLAKE_UTILITY__TEST_SHARE and "
                "EVOLAKE_UTILITY__LANGUAGES"
            ),
        )
    drawn = sum(not usable[item]["parents"] for item in evolved)
    notes = [
        f"{len(seeds)} seed families and {len(evolved)} evolved ones to train on, {len(sides['test'])} of "
        "held-out lineages"
    ]
    if drawn:
        notes.append(
            f"{drawn} of the evolved families were drawn from a world and have no parent: the arm "
            "`parents` has nothing for them"
        )
    left = {parent for item in evolved for parent in usable[item]["parents"]} & {
        row["family_id"] for row in rows if row["state"] == "retired"
    }
    if left:
        notes.append(
            f"{len(left)} parents of evolved families are retired, as a policy learns nothing from them, "
            "and are in no arm"
        )
    if sides[NEITHER]:
        notes.append(
            f"{len(sides[NEITHER])} families have ancestors or engines on both sides and are used by neither"
        )
    return Pools({arm: train[arm] for arm in TRAINED}, tuple(sides["test"]), tuple(notes))


def filled(
    queues: Sequence[Mapping[str, Sequence[str]]], weights: Mapping[str, int], count: int
) -> list[str]:
    """Return `count` problems, fewer if there are no more: in turns, each family with a problem left gives as
    many as its weight says.

    Args:
        queues: family -> its problems; several queues give one problem each in turn, so that each has an
            equal part.
    """
    streams = [_turns(queue, weights) for queue in queues]
    result: list[str] = []
    while len(result) < count and all(streams):
        result += [stream.pop() for stream in streams]
    return result[:count]


def _turns(queue: Mapping[str, Sequence[str]], weights: Mapping[str, int]) -> list[str]:
    """Return the problems in the order in which they are given, the first one last."""
    order: list[str] = []
    turn = 0
    while any(len(problems) > turn * weights[family] for family, problems in queue.items()):
        for family in sorted(queue):
            order += queue[family][turn * weights[family] : (turn + 1) * weights[family]]
        turn += 1
    return order[::-1]
