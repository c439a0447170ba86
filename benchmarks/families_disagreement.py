"""Families: do the voters and the reader of operators' children disagree, where no gate has looked at the
children before?

    python benchmarks/families_disagreement.py [EACH] [SEED] [ACCEPTED]     EACH children of each operator (default 20)

Parents are the shipped seeds and what the operators made of them so far, as in a cycle; ACCEPTED, a DIR of
`families_cycles.py run`, adds what was accepted there. Each child is asked for 20 instances, two per
difficulty, its voters answer them, its reader reads them, and nothing is blocked. A line for each operator:
children, how many draws made none, how many children have an instance that a voter does not answer, on which
voters differ, whose majority is not the primary's, that the reader hands on as other inputs; and how many
cannot be made at all at some difficulty.
"""  # noqa: E501

from __future__ import annotations

import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np

from evolake.families.gates.consensus import take_votes
from evolake.families.gates.execution import pairs_of
from evolake.families.model.ast_transforms import NotComposable
from evolake.families.model.contract import Family, from_record
from evolake.families.model.loading import read_families
from evolake.families.operators.registry import OPERATORS, child_of
from evolake.families.sandbox.running import PRELOAD, generate, read
from evolake.families.settings import FamiliesSettings
from evolake.jail import open_pool

SEEDS = Path(__file__).resolve().parents[1] / "data_lake" / "seeds" / "families"
SEEN = ("not made", "silent", "differ", "primary outvoted", "no majority", "read otherwise")


def looked_at(family: Family, pool: Any, settings: FamiliesSettings) -> set[str]:
    """Return what is seen of one child, words of SEEN."""
    instances = generate(family, pairs_of(range(1, 11), 2, "disagreement"), pool=pool)
    made = [instance for instance in instances if instance.status == "ok"]
    result = {"not made"} if len(made) < len(instances) else set()
    for vote in take_votes(family, made, pool=pool, settings=settings):
        result |= {"silent"} if len(vote.answers) < len(vote.statuses) else set()
        result |= {"differ"} if vote.decided and set(vote.for_label) != set(vote.answers) else set()
        if not vote.decided:
            lost = {"no majority"}
        elif not vote.primary_agrees:
            lost = {"primary outvoted"}
        else:
            lost = set()
        result |= lost
    if family.reader is not None:
        readings = read(family.reader, [item.text for item in made], pool=pool)
        result |= (
            {"read otherwise"}
            if [reading.inputs for reading in readings] != [item.inputs for item in made]
            else set()
        )
    return result


def main(each: int = 20, seed: int = 0, accepted: str = "") -> None:
    settings, parents = FamiliesSettings(), list(read_families(SEEDS))
    if accepted:
        rows = [json.loads(line) for line in (Path(accepted) / "versions.jsonl").read_text().splitlines()]
        parents += [from_record(row["family"]) for row in rows if row["accepted"]]
    seen = {name: Counter[str]() for name in OPERATORS}
    with open_pool(workers=1, preload=PRELOAD) as pool:
        for number in range(each):
            for place, name in enumerate(OPERATORS):
                random = np.random.default_rng([seed, number, place])
                drawn = [
                    parents[item]
                    for item in random.choice(len(parents), size=min(6, len(parents)), replace=False)
                ]
                try:
                    child = child_of(name, drawn, random)
                except NotComposable:
                    seen[name]["none drawn"] += 1
                    continue
                result = looked_at(child, pool, settings)
                seen[name].update(["children", *result])
                if result & {"differ", "no majority", "primary outvoted", "read otherwise"}:
                    print(f"  {child.name} ({child.title}): {', '.join(sorted(result))}", flush=True)
                if not result:
                    parents.append(child)
    total = Counter[str]()
    for name, counts in seen.items():
        total += counts
        print(f"{name}: " + ", ".join(f"{counts[key]} {key}" for key in ("children", "none drawn", *SEEN)))
    print("all: " + ", ".join(f"{total[key]} {key}" for key in ("children", "none drawn", *SEEN)))


if __name__ == "__main__":
    given = dict(enumerate(sys.argv))
    main(int(given.get(1, 20)), int(given.get(2, 0)), given.get(3, ""))
