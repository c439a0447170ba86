"""Families: what a laptop cycle's accepted children are like to a trainer.

    python benchmarks/families_variety.py [CHILDREN] [CYCLE_SIZE] [--test-share SHARE]    default 40 children, cycles of 8 proposals, a share of 0.25

Cycles of the operators from the shipped seeds on, one worker, until so many children are accepted. Printed:
shares of answer types (a boolean, mapping or fraction counts as one kind) and of engines, the best constant
and the best two answers of each family at its worst level (on instances that the gate did not see), what the
gates blocked, cpu seconds in the jail per accepted family, and twins across a split by lineage and engine:
pairs of families with the same mechanics of a root, one on either side. Use 200 for the figures that are
reported.
"""  # noqa: E501

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from evolake.agents import Agents
from evolake.agents.backends import OperatorsBackend
from evolake.families.dataset.datasets import engines_of, units_of
from evolake.families.dataset.export import NEITHER, side
from evolake.families.evolution.proposing import propose_families
from evolake.families.evolution.requests import EvolutionSources
from evolake.families.gates.execution import caps_of, pairs_of
from evolake.families.gates.judging import FamilyGates, FamilyResults
from evolake.families.gates.static import accepted_guesses, short_key
from evolake.families.model.contract import Family
from evolake.families.model.guessing import guesses_by_level
from evolake.families.model.loading import read_families
from evolake.families.model.similarity import Fingerprint, fingerprint
from evolake.families.sandbox.running import PRELOAD, generate, solve
from evolake.families.settings import FamiliesSettings
from evolake.families.worlds.mechanics import mechanics_of
from evolake.gates import load_rules
from evolake.jail import open_pool
from evolake.lake.lineages import roots_of

SEEDS = Path(__file__).resolve().parents[1] / "data_lake" / "seeds"
LEVEL_SEEDS = 64
KINDS = {
    "boolean": "boolean, mapping, fraction",
    "mapping": "boolean, mapping, fraction",
    "number": "boolean, mapping, fraction",
}


def accepted_children(pool: Any, agents: Agents, wanted: int, size: int) -> tuple[list[Family], list[Family]]:
    """Return (seeds, accepted children) of as many cycles as it takes; prints what each of them came to."""
    settings = FamiliesSettings(families_per_cycle=size)
    ruleset = load_rules(SEEDS / "rules", "families")
    seeds = read_families(SEEDS / "families")
    known = [fingerprint(family, [None]) for family in seeds]
    children: list[Family] = []
    blocks, attempts, start = Counter[str](), 0, time.process_time()

    def judge(family: Family, others: Sequence[Fingerprint]) -> FamilyResults:
        return FamilyGates(pool, agents, ruleset, settings, "0001", "benchmark")(family, others)

    cycle = 0
    while len(children) < wanted:
        cycle += 1
        made = propose_families(
            agents,
            EvolutionSources([*seeds, *children], known),
            pool=pool,
            judge=judge,
            settings=settings,
            cycle=f"{cycle:04d}",
            root_seed=0,
            count=size,
        )
        attempts += size
        children += [examined.family for examined in made.accepted]
        known += [examined.fingerprint for examined in made.accepted if examined.fingerprint]
        blocks.update(observation.rule_id for observation in made.observations)
        spent = time.process_time() - start
        print(
            f"cycle {cycle}: {len(children)} accepted of {attempts} proposals, {spent:.0f} cpu s outside "
            "of the jail",
            flush=True,
        )
    print(
        "blocked versions: "
        + (", ".join(f"{rule} {count}" for rule, count in blocks.most_common()) or "none")
    )
    return seeds, children


def show_shares(title: str, values: Sequence[str]) -> None:
    """One line: each value with its share."""
    counts = Counter(values)
    print(
        f"{title}: "
        + ", ".join(f"{value} {count} ({count / len(values):.0%})" for value, count in counts.most_common())
    )


def show_guesses(pool: Any, children: Sequence[Family]) -> None:
    """Print the best constant and the best two answers of each family, at the level at which they are
    best."""
    settings = FamiliesSettings()
    caps, worst = caps_of(settings), []
    for family in children:
        drawn = generate(
            family, pairs_of(settings.gate_difficulties, LEVEL_SEEDS, "variety"), pool=pool, caps=caps
        )
        instances = [item for item in drawn if item.status == "ok"]
        answers = solve(family.validator, [item.inputs for item in instances], pool=pool, caps=caps)
        if family.checkers:
            levels = accepted_guesses(family, instances, answers, pool=pool, caps=caps)
        else:
            levels = guesses_by_level(
                [
                    (item.difficulty, short_key(found.answer))
                    for item, found in zip(instances, answers, strict=True)
                ]
            )
        worst.append((max(row[2] for row in levels), max(row[3] for row in levels), family.title))
    over = sum(constant > 0.25 for constant, _, _ in worst)
    print(
        f"best constant at the worst level, {LEVEL_SEEDS} instances a level: median "
        f"{sorted(worst)[len(worst) // 2][0]:.0%}, over 25 %: {over} of {len(worst)}; best two over 25 %: "
        f"{sum(pair > 0.25 for _, pair, _ in worst)}"
    )
    for constant, pair, title in sorted(worst, reverse=True)[:5]:
        print(f"  {constant:.0%} and {pair:.0%}: {title[:110]}")


def show_twins(seeds: Sequence[Family], children: Sequence[Family], share: float) -> None:
    """How many pairs of families on two sides of the split have the mechanics of a root in common, and what
    is on the sides."""
    families = {family.family_id: family for family in [*seeds, *children]}
    roots = roots_of({name: family.parents for name, family in families.items()})
    mechanics = {name: mechanics_of(family) for name, family in families.items() if not family.parents}
    units = units_of(roots, mechanics)
    sides: Mapping[str, list[str]] = {"train": [], "test": [], NEITHER: []}
    for name in families:
        sides[side(name, share, units)].append(name)
    under = {name: {mechanics[root] for root in above if root in mechanics} for name, above in roots.items()}
    twins = sum(bool(under[one] & under[other]) for one in sides["test"] for other in sides["train"])
    print(
        f"split with a test share of {share:g}: "
        + ", ".join(f"{name} {len(members)}" for name, members in sides.items())
        + f"; twins across it: {twins}"
    )
    show_shares(
        "engines",
        [
            engines_of(roots[family.family_id], mechanics)
            for family in children
            if family.operator != "switch"
        ],
    )


def main(words: list[str]) -> None:
    share = 0.25
    if "--test-share" in words:
        place = words.index("--test-share")
        share, words = float(words[place + 1]), words[:place] + words[place + 2 :]
    wanted, size = [*map(int, words), *[40, 8][len(words) :]]
    with (
        open_pool(workers=1, preload=PRELOAD) as pool,
        Agents(OperatorsBackend("0001"), line="families", cycle="0001") as agents,
    ):
        seeds, children = accepted_children(pool, agents, wanted, size)
        children = children[:wanted]
        show_shares("answer types", [family.answer.type for family in children])
        show_shares(
            "kinds of answers", [KINDS.get(family.answer.type, family.answer.type) for family in children]
        )
        made = sum(bool(family.checkers) for family in children)
        print(f"many correct answers, judged by checkers: {made} ({made / len(children):.0%})")
        show_shares("operators", [family.operator for family in children])
        show_guesses(pool, children)
        show_twins(seeds, children, share)


if __name__ == "__main__":
    main(sys.argv[1:])
