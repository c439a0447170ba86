"""A lake with one finished cycle of the families line, made without running one: seeds, their children, one
family without a parent; small sizes."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from families_fixtures import seed_family

from evolake.families.model.contract import Family, to_record
from evolake.families.tables import ARCHIVE, FAMILIES
from evolake.lake import Lake
from evolake.utility.settings import UtilitySettings

SEEDS = (
    "divisor-votes",
    "growing-words",
    "remainder-subsets",
    "digit-machine",
    "seating-row",
    "polynomial-product",
)
RUN = "run-utility"
SIZES = UtilitySettings(
    seeds=1,
    steps=3,
    every=2,
    batch_problems=2,
    rollouts=4,
    learning_rate=1e-3,
    max_tokens=6,
    answer_format="last",
    instances_per_arm=6,
    test_problems=4,
    test_share=0.4,
    band_weights=(1, 0, 0),
)
SETTINGS = {
    "EVOLAKE_PROMPTS__POLICY": "tiny",
    "EVOLAKE_PROMPTS__LORA_RANK": "4",
    "EVOLAKE_PROMPTS__THREADS": "1",
    "EVOLAKE_WORKERS": "1",
    **{
        f"EVOLAKE_UTILITY__{name.upper()}": json.dumps(value) if isinstance(value, tuple) else str(value)
        for name, value in SIZES.model_dump(include=SIZES.model_fields_set).items()
    },
}


def child(parent: Family, operator: str, *parents: Family) -> Family:
    """The parent with another sentence: another family, solved by the same programs."""
    template = f"{parent.template.rstrip()}\n\nThis is the {operator} kind.\n"
    return replace(
        parent,
        name=f"{operator}-{parent.name}",
        template=template,
        operator=operator,
        parents=tuple(item.family_id for item in parents),
    )


def families() -> list[Family]:
    """Six seeds; a child of each of the first four; one drawn from a world."""
    seeds = [seed_family(name) for name in SEEDS]
    return [*seeds, *(child(seed, "switch", seed) for seed in seeds[:4]), child(seeds[4], "constraint_world")]


def families_lake(root: Path, held: Sequence[Family] | None = None) -> Lake:
    """The lake. held: its families; None: those above."""
    lake = Lake(root)
    rows = [row_of(lake, family) for family in (families() if held is None else held)]
    for name, schema in ARCHIVE.items():
        lake.publish(
            "families",
            f"incoming_{name}",
            schema.frame(rows if schema is FAMILIES else []),
            cycle="0002",
            run_id=RUN,
            schema=schema,
        )
        lake.publish(
            "families", f"incoming_{name}", schema.frame([]), cycle="0001", run_id=RUN, schema=schema
        )
    lake.seals.seal("families", "0001", "first", None, RUN)
    lake.seals.seal("families", "0002", "second", "first", RUN)
    return lake


def row_of(lake: Lake, family: Family) -> Mapping[str, Any]:
    """A row of FAMILIES, accepted."""
    record = json.dumps(to_record(family), sort_keys=True, ensure_ascii=False).encode()
    return {
        "family_id": family.family_id,
        "state": "accepted",
        "cycle": "0001",
        "name": family.name,
        "title": family.title,
        "category": family.category,
        "language": family.language,
        "operator": family.operator,
        "origin": "operators",
        "parents": list(family.parents),
        "attempt": 0,
        "round": 0,
        "record_sha": lake.blobs.put(record),
    }
