"""The problems that evolake ships: instances of the primers at difficulties where the bundled model gets some
right and some wrong.

    python -m evolake.utility.execution.shipped_problems examples/families/primers data_lake/seeds/prompts/problems.jsonl

They are what families export: statements that a generator makes, labels that a strict majority of the
validators gives, from one seed. The table says which difficulties, by the measurement in
docs/tutorials/utility.md. All instances of a primer are of one family, so that none of a held-out primer is
trained on. The request for the answer is added where they are read, in the form that the settings want.
"""  # noqa: E501

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from evolake import settings as settings_module
from evolake.errors import InputError
from evolake.families.model.loading import read_families
from evolake.families.sandbox.running import PRELOAD
from evolake.families.settings import FamiliesSettings
from evolake.jail import open_pool
from evolake.utility.execution.pass_rates import draw_instances

EACH, SPARE = 32, 3
"""Instances of a primer and difficulty, where it has as many; how many times as many are drawn, since small
ones repeat."""
SEED = 17
"""Not the default of runs: what pass rates are measured on by default is not in the set."""
DIFFICULTIES: dict[str, tuple[int, ...]] = {
    "called-numbers": (1, 2, 3),
    "dictionary-words": (1, 2, 3),
    "lamp-button": (1, 2, 3),
    "number-cards": (1, 2, 3),
    "oldest-child": (1, 2, 3),
    "queue-ends": (1, 2, 3),
    "sign-letters": (1, 2, 3),
    "written-sum": (1,),
}
"""Primer -> the difficulties that the bundled model answered right between 10 and 60 times in a hundred."""
KEPT = ("text", "answer", "case_sensitive", "category", "difficulty", "language")


def shipped_problems(folder: Path) -> list[dict[str, Any]]:
    """Return lines of problems.jsonl, from the primers in `folder`.

    Raises:
        InputError: a primer is not there. MachineryError: the jail failed.
    """
    primers = {family.name: family for family in read_families(folder)}
    if missing := sorted(DIFFICULTIES.keys() - primers.keys()):
        raise InputError(
            f"there is no primer {missing[0]} in {folder}",
            wanted=", ".join(DIFFICULTIES),
            do="name the folder of the primers",
        )
    sizes, lines = FamiliesSettings(), []
    with open_pool(workers=1, preload=PRELOAD, mode=settings_module.load().jail) as pool:
        for name, difficulties in DIFFICULTIES.items():
            drawn = draw_instances(
                primers[name], difficulties, SPARE * EACH, pool=pool, settings=sizes, root_seed=SEED
            )
            result = {row["text_sha"]: row for row in drawn}
            for difficulty in difficulties:
                some = [row for row in result.values() if row["difficulty"] == difficulty][:EACH]
                lines += [
                    {
                        "problem_id": row["instance_id"],
                        **{key: row[key] for key in KEPT},
                        "family": name,
                        "source": f"primers/{name}",
                    }
                    for row in some
                ]
    return lines


if __name__ == "__main__":
    text = "".join(
        json.dumps(line, ensure_ascii=False) + "\n" for line in shipped_problems(Path(sys.argv[1]))
    )
    Path(sys.argv[2]).write_text(text, encoding="utf-8")
