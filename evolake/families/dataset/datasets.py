"""What the lake holds as one data set: the instances of every sealed cycle, their families, and what they are
based on."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from evolake.errors import InputError
from evolake.families.dataset.cards import Provenance
from evolake.families.independence import NONE, Independence, independence_in
from evolake.families.model.contract import Family
from evolake.families.model.population import Population, load_family, population_of
from evolake.families.tables import ARCHIVE
from evolake.families.worlds.mechanics import OWN, Mechanics, mechanics_of
from evolake.lake import Lake, following
from evolake.lake.population import roots_of

LINE = "families"
MADE = "made"
"""Entry of the archive's state: cycle -> how it was made (ruleset, seed, backend, version)."""


@dataclass(frozen=True)
class Dataset:
    """instances: rows of INSTANCES with what is known of their family (DESCRIBED), in order of cycles.
    families: rows of FAMILIES of those they were drawn from, with the same.

    independence: family -> who solved it from its text alone.
    units: family -> what a split keeps together of it: the mechanics of the families without parents that it
    descends from.
    """

    instances: list[dict[str, Any]]
    families: list[dict[str, Any]]
    made_by: Provenance
    units: dict[str, frozenset[str]]
    independence: Mapping[str, Independence] = field(default_factory=dict)

    def independent(self) -> Dataset:
        """Return what was solved from the text alone by another than its author. Raises InputError if nothing
        was."""
        kept = {family_id for family_id, known in self.independence.items() if known.level != NONE}
        instances = [row for row in self.instances if row["family_id"] in kept]
        if not instances:
            raise InputError(
                "no family was solved from its text alone by another than its author",
                got=f"{len(self.families)} families, all `independent: none`",
                do="run: evolake families check --readers model FAMILIES, or evolake families review-sheet",
            )
        families = [row for row in self.families if row["family_id"] in kept]
        return replace(self, instances=instances, families=families)


def read_dataset(lake: Lake, cycles: Sequence[str]) -> Dataset:
    """Return the data set of these cycles, oldest first; all of them sealed.

    Raises:
        InputError: there is no cycle, or no instance in them.
    """
    if not cycles:
        raise InputError(
            "the lake holds no finished cycle of the families line", do="run: evolake run --lines families"
        )
    population = archive_after(lake, cycles[-1])
    rows = {row["family_id"]: row for row in population.rows("accepted")}
    instances = [
        row
        for cycle in cycles
        for row in lake.read(LINE, "instances", cycle).to_dicts()
        if row["family_id"] in rows
    ]
    if not instances:
        raise InputError(
            "there are no instances in these cycles",
            got=", ".join(cycles),
            do="set EVOLAKE_FAMILIES__INSTANCES_PER_FAMILY and run a cycle",
        )
    drawn = {row["family_id"] for row in instances}
    mechanics = root_mechanics(lake, population)
    roots = roots_of({row["family_id"]: row["parents"] for row in population.rows()})
    families = [row for family_id, row in rows.items() if family_id in drawn]
    independence = independence_in(lake, cycles, drawn)
    described = {
        row["family_id"]: {name: row[name] for name in ("title", "operator", "parents")}
        | {
            "engine": engines_of(roots[row["family_id"]], mechanics),
            "answer_type": family.answer.type,
            "independent": independence[row["family_id"]].level,
        }
        for row, family in zip(families, load_families(lake, families), strict=True)
    }
    instances = [row | described[row["family_id"]] for row in instances]
    made = {cycle: made for cycle, made in population.value(MADE, {}).items() if cycle in cycles}
    made_by = Provenance(
        seeds=[(row["name"], row["family_id"]) for row in population.rows() if row["operator"] == "seed"],
        rulesets=distinct(made, "ruleset"),
        cycles=cycles,
        root_seeds=distinct(made, "seed"),
        backends=distinct(made, "backend"),
        versions=distinct(made, "version"),
        counts={
            f"families {state}": len(population.rows(state))
            for state in ("accepted", "retired", "blocked")
            if state != "retired" or population.rows(state)
        },
    )
    return Dataset(
        instances,
        [row | described[row["family_id"]] for row in families],
        made_by,
        units_of(roots, mechanics),
        independence,
    )


def root_mechanics(lake: Lake, population: Population) -> dict[str, Mechanics]:
    """Return the mechanics of every family without parents, by its id."""
    rows = [row for row in population.rows() if not row["parents"]]
    return {
        row["family_id"]: mechanics_of(family)
        for row, family in zip(rows, load_families(lake, rows), strict=True)
    }


def units_of(
    roots: Mapping[str, Collection[str]], mechanics: Mapping[str, Mechanics]
) -> dict[str, frozenset[str]]:
    """Return family -> the units that a split keeps together: those of its roots. A root that left the lake
    is its own unit."""
    return {
        family: frozenset(mechanics[root].unit if root in mechanics else root for root in above)
        for family, above in roots.items()
    }


def engines_of(roots: Collection[str], mechanics: Mapping[str, Mechanics]) -> str:
    """Return the engines of a family's roots, each once."""
    return " + ".join(sorted({mechanics[root].engine if root in mechanics else OWN for root in roots}))


def archive_after(lake: Lake, cycle: str) -> Population:
    """Return the population that left `cycle`."""
    return population_of({name: lake.read(LINE, f"incoming_{name}", following(cycle)) for name in ARCHIVE})


def load_families(lake: Lake, rows: Sequence[dict[str, Any]]) -> list[Family]:
    """Return the families of rows of FAMILIES, in their order."""
    return [load_family(row["record_sha"], lake.blobs) for row in rows]


def distinct(made: Mapping[str, Mapping[str, Any]], key: str) -> list[str]:
    """Return the values of one key over all cycles, each once, in order of cycles."""
    return list(dict.fromkeys(str(made[cycle][key]) for cycle in sorted(made)))
