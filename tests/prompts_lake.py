"""A lake with finished cycles of the families line as the prompts line reads it: which families are accepted,
their parents, their instances."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from evolake.families.tables import FAMILIES, INSTANCES
from evolake.lake import Lake, following

RUN = "run"


def family_lake(root: Path) -> Lake:
    """A lake whose line of families has sealed what enters its first cycle, and finished none."""
    lake = Lake(root)
    lake.publish(
        "families", "incoming_families", FAMILIES.frame([]), cycle="0001", run_id=RUN, schema=FAMILIES
    )
    lake.seals.seal("families", "0001", "version 0001", None, RUN)
    return lake


def finish_families(
    lake: Lake,
    cycle: str,
    families: Mapping[str, Sequence[str]],
    *,
    difficulties: Sequence[int] = (1, 4),
    each: int = 2,
    names: Mapping[str, str] | None = None,
) -> Lake:
    """With a cycle that accepted these families. families: id -> parents. each: problems at a difficulty; the
    answer to all is 7. names: id -> name, of those whose name is not their id."""
    before = lake.read("families", "incoming_families", cycle).to_dicts()
    rows = [
        {
            "family_id": family,
            "state": "accepted",
            "cycle": cycle,
            "name": (names or {}).get(family, family),
            "title": f"The family {family}",
            "parents": list(parents),
        }
        for family, parents in families.items()
    ]
    instances = [
        {
            "instance_id": f"{family}-{difficulty}-{number}",
            "family_id": family,
            "cycle": cycle,
            "category": "logic",
            "language": "en",
            "difficulty": difficulty,
            "text": f"Family {family} asks for number {number} at level {difficulty}.",
            "answer": "7",
            "case_sensitive": True,
        }
        for family in families
        for difficulty in difficulties
        for number in range(each)
    ]
    lake.publish(
        "families", "instances", INSTANCES.frame(instances), cycle=cycle, run_id=RUN, schema=INSTANCES
    )
    after = following(cycle)
    lake.publish(
        "families",
        "incoming_families",
        FAMILIES.frame([*before, *rows]),
        cycle=after,
        run_id=RUN,
        schema=FAMILIES,
    )
    sealed = lake.seals.read("families", cycle)
    lake.seals.seal(
        "families", after, f"version {after} of {len(families)}", sealed.version if sealed else None, RUN
    )
    return lake
