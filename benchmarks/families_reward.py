"""Instances a second, and the exported reward on all of them: 1 for the label, 0 for every answer that is nearly right.

    python benchmarks/families_reward.py [INSTANCES] [FOLDER]

Draws that many instances (default 10,000) from the seed families, writes them as TRL data into FOLDER (default: a temporary one), and lets the
shipped reward.py, in an interpreter of its own without any package, judge the labels and their perturbations.
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

from evolake.families.dataset.cards import Provenance
from evolake.families.dataset.export import write_dataset
from evolake.families.gates.batch_sampling import sample_families
from evolake.families.gates.probes import wrong_answers
from evolake.families.model.loading import read_families
from evolake.families.sandbox.running import PRELOAD
from evolake.families.settings import FamiliesSettings
from evolake.gates import load_rules
from evolake.jail import open_pool
from evolake.settings import load

JUDGE = """
import json, sys
from reward import reward
replies, answers = json.load(open(sys.argv[1]))
print(json.dumps(reward(replies, answers)))
"""


def main(wanted: int, folder: Path) -> int:
    settings = load()
    families = read_families(settings.seeds / "families")
    each = math.ceil(wanted / len(families))
    sizes = settings.of(FamiliesSettings).model_copy(update={"instances_per_family": each})
    wall, workers = time.perf_counter(), os.cpu_count() or 1
    with open_pool(workers=workers, preload=PRELOAD) as pool:
        rows, dropped = sample_families(families, pool=pool, settings=sizes, root_seed=settings.seed, cycle="0001", workers=workers)
    wall = time.perf_counter() - wall
    lost = {row["reason"]: 0 for row in dropped}
    for row in dropped:
        lost[row["reason"]] += row["instances"]
    print(f"{len(rows)} instances of {len(families)} families in {wall:.1f} s, {workers} workers: {len(rows) / wall:.0f} a second; dropped: {lost}")
    ruleset = load_rules(settings.seeds / "rules", "families").hash
    made_by = Provenance([(one.name, one.family_id) for one in families], [ruleset], ["0001"], [str(settings.seed)], ["operators"], ["benchmark"])
    write_dataset("trl", [row | {"operator": "seed"} for row in rows], [], folder, made_by)
    labels = [(row["answer"], boxed(json.loads(row["answer"]))) for row in rows]
    wrong = [(answer, boxed(one)) for answer, _ in labels for one in wrong_answers(json.loads(answer))]
    right_rewards, wrong_rewards = judged(folder, labels), judged(folder, wrong)
    print(f"labels:     {sum(reward == 1.0 for reward in right_rewards)} of {len(right_rewards)} rewarded with 1")
    print(f"perturbed:  {sum(reward == 0.0 for reward in wrong_rewards)} of {len(wrong_rewards)} rewarded with 0")
    return 0 if set(right_rewards) == {1.0} and set(wrong_rewards) == {0.0} else 1


def boxed(answer: object) -> str:
    """A reply that gives this answer."""
    return "\\boxed{" + (answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)) + "}"


def judged(folder: Path, pairs: list[tuple[str, str]]) -> list[float]:
    """Rewards of (answer, reply) pairs by the shipped file, in an isolated interpreter."""
    with tempfile.TemporaryDirectory() as scratch:
        path = Path(scratch) / "pairs.json"
        path.write_text(json.dumps([[reply for _, reply in pairs], [answer for answer, _ in pairs]]))
        done = subprocess.run(
            [sys.executable, "-S", "-c", JUDGE, str(path)], cwd=folder, env={}, capture_output=True, text=True, check=True, timeout=600,
        )
    return json.loads(done.stdout)


if __name__ == "__main__":
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    if len(sys.argv) > 2:
        sys.exit(main(count, Path(sys.argv[2])))
    with tempfile.TemporaryDirectory() as name:
        sys.exit(main(count, Path(name)))
