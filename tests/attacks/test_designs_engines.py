"""Thousands of random graphs on which every engine must do what the reference engine does, types that torch
refuses and what is no number included.

`EVOLAKE_ATTACKS=n` makes it n graphs (default 2,000 that run, in float32 and float64 in turn).
"""

import collections
import os
import random

import pytest
from designs_graphs import disagreement, random_design, written
from unit.designs_engine.engine_support import FLAT, traced

from evolake.designs.model.instances import planted

GRAPHS = int(os.environ.get("EVOLAKE_ATTACKS", "2000"))


@pytest.mark.attack
@pytest.mark.filterwarnings("ignore")
def test_engines_agree_on_random_graphs(capsys):
    base, instances, took, bad, seed = traced(FLAT), planted(17, 3, 1), collections.Counter(), [], 0
    while took.total() < GRAPHS:
        seed += 1
        design = random_design(base, random.Random(seed))
        if design is None:
            continue
        problem, engine = disagreement(design, instances, "float64" if seed % 2 else "float32")
        took[engine] += 1
        if problem is not None:
            bad.append(f"seed {seed}: {problem}\n{written(design)}")
    with capsys.disabled():
        print(f"\n{GRAPHS} graphs, engines taken: {dict(took)}; {len(bad)} mismatches")
    assert not bad, "\n".join(bad[:5])
