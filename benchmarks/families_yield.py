"""Families: what the operators yield and what the gates catch.

    python benchmarks/families_yield.py yield [ATTEMPTS] [CYCLES]     default 60 and 1: accepted families by operator, reasons of the blocked ones
    python benchmarks/families_yield.py faults [EACH] [GATE ...]      default 10: planted faults by class and gate, and a figure on request; of the
                                                                      classes meant for these gates, where any
                                                                      is named
    python benchmarks/families_yield.py worlds [FIRST] [COUNT] [NAME]  default 40 and 50: drawn worlds of these seeds that pass every gate as they are
                                                                      drawn, and what blocked the others;
                                                                      NAME: default `constraint_world`

With `--figure FILE.png` the second also draws the kill rates. One worker; the shipped seeds are the first
parents, and each cycle's accepted families join them.
"""  # noqa: E501

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evolake.agents import Agents
from evolake.agents.backends import OperatorsBackend
from evolake.families.evolution.proposal import Proposals
from evolake.families.evolution.proposing import Judge, propose_families
from evolake.families.evolution.requests import EvolutionSources
from evolake.families.faults.catalogue import FAULTS
from evolake.families.faults.injection import kill_rates, plant_faults
from evolake.families.gates.judging import FamilyGates, FamilyResults
from evolake.families.gates.specs import GATE_NAMES
from evolake.families.model.contract import Family
from evolake.families.model.loading import read_families
from evolake.families.model.similarity import Fingerprint
from evolake.families.operators.registry import OPERATORS, child_of
from evolake.families.sandbox.running import PRELOAD
from evolake.families.settings import FamiliesSettings
from evolake.gates import load_rules
from evolake.jail import open_pool
from evolake.stats.proportions import wilson_interval

SEEDS = Path(__file__).resolve().parents[1] / "data_lake" / "seeds"
SETTINGS = FamiliesSettings()


def show_yield(pool: Any, agents: Agents, attempts: int, cycles: int) -> None:
    """Print attempts from the seeds on."""
    judge = judge_of(pool, agents)
    population, known = sound(judge)
    print(f"{len(population)} seeds pass every gate")
    for number in range(1, cycles + 1):
        start = time.perf_counter()
        made = propose_families(
            agents,
            EvolutionSources(population, known),
            pool=pool,
            judge=judge,
            settings=SETTINGS,
            cycle=f"{number:04d}",
            root_seed=0,
            count=attempts,
        )
        print(
            f"cycle {number}: {attempts} attempts, {len(made.accepted)} accepted, {len(made.failures)} "
            f"without a family, {time.perf_counter() - start:.0f} s"
        )
        by_operator(made)
        population += [examined.family for examined in made.accepted]
        known += [examined.fingerprint for examined in made.accepted if examined.fingerprint]


def by_operator(made: Proposals) -> None:
    """Print a line for each operator, then the rules that blocked."""
    for operator in OPERATORS:
        own = [proposal for proposal in made.proposals if proposal.rounds[0].family.operator == operator]
        first, delivered = (
            sum(flags)
            for flags in (
                [item.rounds[0].accepted for item in own],
                [item.family is not None for item in own],
            )
        )
        print(
            f"  {operator:10s} {len(own):3d} made, {first:3d} pass at once, {delivered:3d} after refinement"
        )
    blocks = Counter(observation.rule_id for observation in made.observations)
    print(
        "  blocked versions: "
        + (", ".join(f"{rule} {count}" for rule, count in blocks.most_common()) or "none")
    )


def show_faults(pool: Any, agents: Agents, each: int, gates: Sequence[str], figure: Path | None) -> None:
    """Planted faults by class, each told as soon as it is through."""
    judge = judge_of(pool, agents)
    families, known = sound(judge)
    prints, rows = {item.family_id: item for item in known}, []
    for fault in FAULTS.values():
        if gates and fault.expected not in gates:
            continue
        own = plant_faults(families, prints, judge, each=each, cycle="0001", root_seed=0, faults=[fault])
        rows += own
        [element] = kill_rates(own)
        low = (
            f" (95% interval from {wilson_interval(element.caught, element.planted).low:.0%})"
            if element.planted
            else ""
        )
        rate = f"{element.caught}/{element.planted} caught{low}"
        print(
            f"{element.fault:36s} {rate}, meant for {element.expected}; {element.gates}, "
            f"{element.does_not_apply} do not apply",
            flush=True,
        )
    for row in rows:
        if row.outcome == "survived":
            print(f"survived: {row.fault} in {row.name}")
    if figure is not None:
        from evolake.plots import FaultKills
        from evolake.plots import kill_rates as drawn

        kills = [FaultKills(item.fault, item.planted, item.gates) for item in kill_rates(rows)]
        figure.write_bytes(drawn(kills, GATE_NAMES, "Planted faults and their gates"))


def show_worlds(pool: Any, agents: Agents, first: int, count: int, name: str) -> None:
    """Worlds of the seeds from `first` on, none of which knows of another."""
    judge, blocks = judge_of(pool, agents), Counter[str]()
    for seed in range(first, first + count):
        examined = judge(child_of(name, [], np.random.default_rng(seed)), [])
        if not examined.accepted and (block := examined.blocked_by):
            blocks[block.rule_id] += 1
            print(f"{seed}: {block.rule_id}: {block.reason}", flush=True)
    print(
        f"{name}, seeds {first} to {first + count - 1}: {count - blocks.total()} of {count} pass every gate; "
        + (
            ", ".join(f"{rule} blocks {number}" for rule, number in blocks.most_common())
            or "nothing is blocked"
        )
    )


def judge_of(pool: Any, agents: Agents) -> Judge:
    """Return the shipped gates."""
    ruleset = load_rules(SEEDS / "rules", "families")

    def judge(family: Family, known: Sequence[Fingerprint]) -> FamilyResults:
        return FamilyGates(pool, agents, ruleset, SETTINGS, "0001", "benchmark")(family, known)

    return judge


def sound(judge: Judge) -> tuple[list[Family], list[Fingerprint]]:
    """Return the seeds that pass, with their fingerprints."""
    families, known = [], []
    for family in read_families(SEEDS / "families"):
        examined = judge(family, known)
        if examined.accepted and examined.fingerprint:
            families.append(family)
            known.append(examined.fingerprint)
    return families, known


def main(words: list[str]) -> None:
    figure = None
    if "--figure" in words:
        place = words.index("--figure")
        figure, words = Path(words[place + 1]), words[:place] + words[place + 2 :]
    what, gates = (words or ["yield"])[0], [word for word in words[1:] if not word.isdigit()]
    numbers = [int(word) for word in words[1:] if word.isdigit()]
    with (
        open_pool(workers=1, preload=PRELOAD) as pool,
        Agents(OperatorsBackend("0001"), line="families", cycle="0001") as agents,
    ):
        if what == "faults":
            show_faults(pool, agents, *(numbers or [10]), gates=gates, figure=figure)
        elif what == "worlds":
            show_worlds(
                pool,
                agents,
                *([*numbers, *[40, 50][len(numbers) :]]),
                name=(gates or ["constraint_world"])[0],
            )
        else:
            show_yield(pool, agents, *([*numbers, *[60, 1][len(numbers) :]]))


if __name__ == "__main__":
    main(sys.argv[1:])
