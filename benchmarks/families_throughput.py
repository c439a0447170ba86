"""Families: validated instances per second, side by side with one process per instance.

    python benchmarks/families_throughput.py [INSTANCES]      default 200 an arm and family; the baseline takes a tenth of them

A validated instance is made by the generator, answered by the primary and two independent validators, and
labelled by strict majority. The baseline does what a script without evolake does: for each instance one new
jailed process that starts Python and loads the four sources. Both arms run one worker, in the same jail, on
the same (difficulty, seed) pairs, and must give the same labels. They take turns by family, so that a noisy
machine slows both. `bare` is the baseline without any jail, for comparison; it is no way to run code that
nobody has read, so only shipped seeds are run.
"""  # noqa: E501

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from evolake.families.gates.consensus import take_votes, vote
from evolake.families.model.contract import Family
from evolake.families.model.loading import read_families
from evolake.families.sandbox.running import PRELOAD, Solved, generate
from evolake.families.settings import FamiliesSettings
from evolake.jail import Limits, NativeRun, open_pool, run_native

SEEDS = Path(__file__).resolve().parents[1] / "data_lake" / "seeds" / "families"
SCRIPT = """
import json, random, sys
case = json.loads(sys.stdin.read())
random.seed(case["seed"])
space = {}
exec(case["generator"], space)
if "numpy" in sys.modules:
    sys.modules["numpy"].random.seed(case["seed"] % 2**32)
inputs, texts = space["input"](case["difficulty"])
answers = {}
for name, source in case["voters"].items():
    space = {}
    exec(source, space)
    answers[name] = space["solution"](json.loads(json.dumps(inputs)))
print(json.dumps(answers))
"""


def ours(family: Family, pairs: list[tuple[int, int]], pool: Any) -> list[Any]:
    instances = generate(family, pairs, pool=pool)
    return [item.label for item in take_votes(family, instances, pool=pool, settings=FamiliesSettings())]


def baseline(family: Family, pairs: list[tuple[int, int]], *, jailed: bool) -> list[Any]:
    return [label(family, one_process(family, pair, jailed=jailed)) for pair in pairs]


def one_process(family: Family, pair: tuple[int, int], *, jailed: bool) -> dict[str, Any]:
    case = {"difficulty": pair[0], "seed": pair[1], "generator": family.generator, "voters": family.voters()}
    argv = [sys.executable, "-c", SCRIPT]
    if not jailed:
        return json.loads(
            subprocess.run(argv, input=json.dumps(case), capture_output=True, text=True, check=True).stdout
        )
    outcome = run_native(
        NativeRun(argv, stdin=json.dumps(case).encode(), python=True), limits=Limits(cpu_s=20, wall_s=60)
    )
    if outcome.status != "ok" or outcome.exit_code != 0:
        raise SystemExit(
            f"the baseline failed: {outcome.status} {outcome.reason} {outcome.stderr.decode()[-300:]}"
        )
    return json.loads(outcome.stdout)


def label(family: Family, answers: dict[str, Any]) -> Any:
    solved = {name: Solved("ok", "", answer, "", None, 0.0) for name, answer in answers.items()}
    return vote(solved, case_sensitive=family.answer.case_sensitive).label


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 200
    families = read_families(SEEDS)[:6]
    spent = {"ours": 0.0, "baseline": 0.0, "bare": 0.0}
    done = dict.fromkeys(spent, 0)
    with open_pool(workers=1, preload=PRELOAD) as pool:
        for family in families:
            pairs = [(number % 10 + 1, number) for number in range(count)]
            few = pairs[: max(1, count // 10)]
            labels: dict[str, list[Any]] = {}
            for arm, run, given in (
                ("ours", lambda pairs, family=family: ours(family, pairs, pool), pairs),
                ("baseline", lambda pairs, family=family: baseline(family, pairs, jailed=True), few),
                ("bare", lambda pairs, family=family: baseline(family, pairs, jailed=False), few),
            ):
                start = time.perf_counter()
                labels[arm] = run(given)
                spent[arm] += time.perf_counter() - start
                done[arm] += len(given)
            assert labels["baseline"] == labels["bare"] == labels["ours"][: len(few)], (
                f"{family.name}: the arms disagree"
            )
    rates = {arm: done[arm] / spent[arm] for arm in spent}
    print(f"{len(families)} families, 3 voters each, one worker")
    for arm, rate in rates.items():
        print(f"  {arm:9} {done[arm]:5} validated instances, {rate:8.1f} a second")
    print(f"  ratio to one jailed process an instance: {rates['ours'] / rates['baseline']:.1f}")
    print(f"  ratio to one bare process an instance:   {rates['ours'] / rates['bare']:.1f}")


if __name__ == "__main__":
    main()
