"""Objectives in the real jail: the portfolio's score as outside, hostile ones cost themselves and nobody
else."""

from dataclasses import dataclass

import numpy as np
import pytest
from objective_results import random_designs

from evolake.jail import open_pool
from evolake.objectives.portfolio import OBJECTIVE_FAMILIES, baseline_objective, make
from evolake.objectives.score import ScoreRow, score_all


@dataclass(frozen=True)
class Written:
    """An objective of somebody's."""

    objective_id: str
    source: str


@pytest.fixture(scope="module")
def pool():
    with open_pool(workers=2, preload=("numpy",)) as warm:
        yield warm


def test_every_family_scores_in_the_jail_as_it_does_outside(pool):
    designs = random_designs(12, np.random.default_rng(0))
    specs = [baseline_objective(), *(make(family, {}, family) for family in OBJECTIVE_FAMILIES)]
    expected = []
    for spec in specs:
        namespace: dict = {}
        exec(spec.source, namespace)
        expected += [
            ScoreRow(spec.objective_id, name, namespace["objective"](rows), "ok", "")
            for name, rows in designs.items()
        ]
    assert score_all(specs, designs, pool) == expected


HOSTILE = {
    "raises": "raise ValueError('no')",
    "loops": "while True: pass",
    "exits": "import os; os._exit(0)",
    "quits": "raise SystemExit",
    "reads": "open('/etc/passwd').read(); import os; return float(os.environ['HOME'])",
    "forks": "import os; os.fork(); return 1.0",
    "hoards": "x = [bytearray(2**26) for _ in range(200)]; return 1.0",
    "forges": (
        "import evolake.objectives.score_driver as d; d._score = lambda *_: [float('-inf'), 'ok', 'x']; "
        "return 1.0"
    ),
    "is not a function": None,
}


def test_hostile_objectives_score_nothing_and_harm_nobody(pool):
    objectives = [Written("before", "def objective(results):\n    return len(results)")]
    objectives += [
        Written(name, f"def objective(results):\n    {body}" if body else "objective = 3")
        for name, body in HOSTILE.items()
    ]
    objectives.append(Written("after", "def objective(results):\n    return len(results)"))
    rows = score_all(objectives, {"a": [{"N": 10}], "b": []}, pool)
    assert [(row.objective_id, row.design_id) for row in rows] == [
        (objective.objective_id, design) for objective in objectives for design in "ab"
    ]
    honest = [(row.score, row.status) for row in rows if row.objective_id in ("before", "after")]
    assert honest == [(1.0, "ok"), (0.0, "ok")] * 2
    for row in rows:
        if row.objective_id in HOSTILE and not (row.objective_id == "forges" and row.design_id == "a"):
            assert row.score is None, row
            assert row.status != "ok"
            assert row.reason


def test_no_designs_make_no_rows(pool):
    assert score_all([baseline_objective()], {}, pool) == []
