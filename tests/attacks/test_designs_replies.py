"""Ten thousand mutated replies of a trace: no crash, no raw exception, only blocks and designs; and the
designs run on kernels with bounds checks.

`EVOLAKE_ATTACKS=n` makes it n replies. Designs run in the process that may die
(evolake.designs.engines.isolated): torch may be killed by what it is told to compute, by SIGFPE; a
segmentation fault, an abort or a trapped kernel would be ours.
"""

import collections
import json
import os
import random

import pytest
import torch
from designs_attacks import mutated
from unit.designs_engine.engine_support import BASELINE, SEEDS, SIMPLE

from evolake.designs.compiler.kernel_call import CHECKS
from evolake.designs.engines import isolated
from evolake.designs.engines.isolated import Run, run_apart
from evolake.designs.evolution.population import design_id_of
from evolake.designs.model.contract import Blocked, TracedDesign
from evolake.designs.tracing.driver import trace
from evolake.designs.tracing.trace import accept

REPLIES = int(os.environ.get("EVOLAKE_ATTACKS", "10000"))
MIXED = (
    (SEEDS.parents[1] / "tests" / "any_file_design.py").read_text().replace("MIXED = False", "MIXED = True")
)
OURS = ("SIGSEGV", "SIGBUS", "SIGABRT", "SIGILL", "KernelTrap", "sent a re")


def replies() -> list[dict]:
    before = torch.get_default_dtype()
    try:
        return [
            trace(source, {"hyper": {}, "dtype": "float32", "size": None})
            for source in (SIMPLE, BASELINE.read_text(), MIXED)
        ]
    finally:
        torch.set_default_dtype(before)


def hit(reply: dict, ran: dict[str, str], seed: int) -> str:
    """What became of one reply; a design that has not run yet takes twelve steps at each of two sizes."""
    result = accept(reply, {}, "float32", None)
    if isinstance(result, Blocked):
        return result.gate
    assert TracedDesign.from_json(result.to_json()) == result
    design_id = design_id_of(result)
    if design_id not in ran:
        text = json.dumps(result.to_json())
        done = [
            run_apart(Run(text, n, 3, seed, 12, instance_seed=1, ratio=4.3, until_median=False, guard_s=20.0))
            for n in (11, 33)
        ]
        ran[design_id] = "; ".join(item.failure or item.engine for item in done)
        assert not any(word in ran[design_id] for word in OURS), (ran[design_id], text)
    return "a design"


@pytest.mark.attack
def test_mutated_replies_never_crash_the_host(monkeypatch, capsys):
    monkeypatch.setenv(CHECKS, "1")
    isolated.close()
    rng, honest, ran, gates = random.Random(20_261), replies(), {}, collections.Counter()
    try:
        for number in range(REPLIES):
            gates[hit(mutated(rng.choice(honest), rng), ran, number)] += 1
    finally:
        isolated.close()
    with capsys.disabled():
        engines = collections.Counter(word if len(word) < 30 else "failed" for word in ran.values())
        print(
            f"\n{REPLIES} replies: {dict(gates)}; {len(ran)} different designs ran: "
            f"{dict(engines.most_common(12))}"
        )
    assert gates["a design"] > REPLIES // 50
