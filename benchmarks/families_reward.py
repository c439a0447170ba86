"""Instances a second, and the exported reward on all of them: 1 for the label in every form, 0 for every
answer that is nearly right in any.

    python benchmarks/families_reward.py [INSTANCES] [FOLDER]

Draws that many instances (default 10,000) from the seed families, writes them as TRL data into FOLDER
(default: a temporary one), and lets the shipped reward.py, in an interpreter of its own without any package,
judge the labels and their perturbations (2e-9 of a number among them), each in the forms of docs/answers.md,
with the units that its question asks for.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from bench import SHORT
from families_neighbours import in_forms, wrong_replies

from evolake.answers.forms import asked_units
from evolake.families.dataset.datasets import Provenance
from evolake.families.dataset.exports import write_dataset
from evolake.families.gates.instances import sample_families
from evolake.families.model.family_files import read_families
from evolake.families.sandbox.running import PRELOAD
from evolake.families.settings import FamiliesSettings
from evolake.gates import load_rules
from evolake.jail import open_pool
from evolake.settings import load

JUDGE = """
import json, sys
from reward import reward
replies, rows = json.load(open(sys.argv[1]))
columns = {name: [row[name] for row in rows] for name in ("answer", "case_sensitive", "units")}
print(json.dumps(reward(replies, **columns)))
"""


def main(wanted: int, folder: Path) -> int:
    settings = load()
    families = read_families(settings.seeds / "families")
    each = math.ceil(wanted / len(families))
    sizes = settings.of(FamiliesSettings).model_copy(update={"instances_per_family": each})
    wall, workers = time.perf_counter(), os.cpu_count() or 1
    with open_pool(workers=workers, preload=PRELOAD) as pool:
        rows, dropped = sample_families(
            families, pool=pool, settings=sizes, root_seed=settings.seed, cycle="0001", workers=workers
        )
    wall = time.perf_counter() - wall
    lost = {row["reason"]: 0 for row in dropped}
    for row in dropped:
        lost[row["reason"]] += row["instances"]
    print(
        f"{len(rows)} instances of {len(families)} families in {wall:.1f} s, {workers} workers: "
        f"{len(rows) / wall:.0f} a second; dropped: {lost}"
    )
    ruleset = load_rules(settings.seeds / "rules", "families").hash
    made_by = Provenance(
        [(item.name, item.family_id) for item in families],
        [ruleset],
        ["0001"],
        [str(settings.seed)],
        ["operators"],
        ["benchmark"],
    )
    write_dataset(
        "trl", [row | {"operator": "seed", "independent": "none"} for row in rows], [], folder, made_by
    )
    kept = [
        {"answer": row["answer"], "case_sensitive": row["case_sensitive"], "units": asked_units(row["text"])}
        for row in rows
    ]
    right = [(row, reply) for row in kept for reply in in_forms(json.loads(row["answer"]), row["units"])]
    wrong = [
        (row, reply)
        for row in kept
        for reply in wrong_replies(
            json.loads(row["answer"]), row["units"], case_sensitive=row["case_sensitive"]
        )
    ]
    missed = [item for item, given in zip(right, judged(folder, right), strict=True) if given != 1.0]
    taken = [item for item, given in zip(wrong, judged(folder, wrong), strict=True) if given != 0.0]
    print(f"{sum(bool(row['units']) for row in kept)} of the questions ask for a unit")
    print(
        f"right: {len(right) - len(missed)} of {len(right)} rewarded with 1; wrong: {len(taken)} of "
        f"{len(wrong)} rewarded"
    )
    for row, reply in [*missed, *taken][:10]:
        print(f"    {row} got {reply!r}")
    return 1 if missed or taken else 0


def judged(folder: Path, pairs: list[tuple[dict, str]]) -> list[float]:
    """Rewards of (row, reply) pairs by the shipped file, in an isolated interpreter; a reply is put in its
    box."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "pairs.json"
        path.write_text(
            json.dumps([[f"\\boxed{{{reply}}}" for _, reply in pairs], [row for row, _ in pairs]])
        )
        done = subprocess.run(
            [sys.executable, "-S", "-c", JUDGE, str(path)],
            cwd=folder,
            env={},
            capture_output=True,
            text=True,
            check=True,
            timeout=600,
        )
    return json.loads(done.stdout)


if __name__ == "__main__":
    usual = 500 if SHORT else 10_000
    count = int(sys.argv[1]) if len(sys.argv) > 1 else usual
    if len(sys.argv) > 2:
        sys.exit(main(count, Path(sys.argv[2])))
    with tempfile.TemporaryDirectory() as name:
        sys.exit(main(count, Path(name)))
