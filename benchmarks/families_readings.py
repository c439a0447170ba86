"""How many misreadings that one author shares with all programs of a family are blocked or named, and how
many good families are named wrongly.

    python benchmarks/families_readings.py                     # own faults, own good families, and the seeds, by the readings alone (a minute)
    python benchmarks/families_readings.py --misread           # and the sets of tests/families_misread (half a minute more)
    python benchmarks/families_readings.py DIR...              # folders of faulty families, each a fault, beside these
    python benchmarks/families_readings.py --gates DIR...      # through all gates first: blocked counts too (some 2 cpu s a family)

Sets of tests/families_misread: varied prose; each was written before the catalogue was measured on it, and
the catalogue was extended afterwards by what it had shown, so today's figures are upper estimates.
docs/trust-details.md has those of the first measurement. Own faults: tests/families_two_readings.py. They
were written with the catalogue by the same author, so their figure is an upper estimate.
"""  # noqa: E501

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable
from itertools import islice
from pathlib import Path
from typing import Any

import bench
import families_misread
from families_two_readings import faulty, good

from evolake.agents import Agents
from evolake.agents.roles import OperatorsBackend
from evolake.families.gates.execution import caps_of, pairs_of
from evolake.families.gates.judging import FamilyGates
from evolake.families.gates.static import Sample
from evolake.families.model.contract import Family
from evolake.families.model.family_files import read_families
from evolake.families.readings.examining import examine
from evolake.families.sandbox.running import PRELOAD, generate, solve
from evolake.families.settings import FamiliesSettings
from evolake.gates import load_rules
from evolake.jail import open_pool
from evolake.stats.proportions import wilson_interval

SEEDS = Path(__file__).parents[1] / "data_lake" / "seeds"


def outcome(family: Family, gates: FamilyGates | None, pool: Any) -> tuple[str, list[str]]:
    """Return blocked, named or silent, and what was said."""
    settings = FamiliesSettings()
    if gates is not None:
        verdict = gates(family).blocked_by
        if verdict is not None:
            return "blocked", [f"{verdict.gate}: {verdict.reason}"]
    instances = generate(
        family,
        pairs_of(settings.gate_difficulties, settings.sample_seeds, "sample"),
        pool=pool,
        caps=caps_of(settings),
    )
    answers = solve(family.validator, [item.inputs for item in instances], pool=pool, caps=caps_of(settings))
    if failed := [item.reason for item in (*instances, *answers) if item.status != "ok"]:
        return "blocked", [f"fails: {failed[0]}"]
    said = [
        place.remark()
        for place in examine(
            family, Sample(tuple(instances), tuple(answers), {}), pool=pool, settings=settings
        )
        if place.open
    ]
    return ("named" if said else "silent"), said


def measure(
    title: str, families: Iterable[Family], gates: FamilyGates | None, pool: Any, *, wanted: bool
) -> None:
    """Print one line per family that came out otherwise than wanted, and the counts."""
    counts: Counter[str] = Counter()
    for family in islice(families, 4 if bench.SHORT else None):
        result, said = outcome(family, gates, pool)
        counts[result] += 1
        if (result == "silent") == wanted or "-v" in sys.argv:
            print(f"  {family.name}: {result}", *(f"\n      {line}" for line in said))
    total = sum(counts.values())
    seen = counts["named"] + counts["blocked"] if wanted else counts["named"]
    interval = wilson_interval(seen, total)
    print(
        f"{title}: {seen} of {total} ({seen / total:.0%}, 95 % interval {interval.low:.0%} to "
        f"{interval.high:.0%}); {dict(counts)}"
    )


def main() -> None:
    """Print the figures."""
    folders = [Path(word) for word in sys.argv[1:] if not word.startswith("-")]
    with (
        open_pool(workers=1, preload=PRELOAD) as pool,
        Agents(OperatorsBackend("0001"), line="families", cycle="0001") as agents,
    ):
        gates = None
        if "--gates" in sys.argv:
            gates = FamilyGates(
                pool, agents, load_rules(SEEDS / "rules", "families"), FamiliesSettings(), "0001", "benchmark"
            )
        for folder in folders:
            measure(
                f"faults of {folder}",
                [family for family in read_families(folder) if family.name.startswith("f")],
                gates,
                pool,
                wanted=True,
            )
        for name in families_misread.FAULTY if "--misread" in sys.argv else ():
            measure(
                f"misread texts of {name}, blocked or named",
                families_misread.read(name),
                gates,
                pool,
                wanted=True,
            )
        for name in families_misread.SOUND if "--misread" in sys.argv else ():
            measure(
                f"sound texts of {name}, named wrongly", families_misread.read(name), None, pool, wanted=False
            )
        measure("own faults, blocked or named", faulty(), gates, pool, wanted=True)
        measure("own good families, named wrongly", good(), gates, pool, wanted=False)
        measure("seed families, named wrongly", read_families(SEEDS / "families"), None, pool, wanted=False)


if __name__ == "__main__":
    main()
