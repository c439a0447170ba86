"""Solvers and objectives as a copy of the paper's framework has them, some right and some not."""

import json
from pathlib import Path

from evolake.designs.commands import EXAMPLE
from evolake.project import BROUGHT

BASELINE = (BROUGHT / "data_lake/seeds/designs/baseline.py").read_text()
TUNED = EXAMPLE.replace('"default": 10.0', '"default": 12.0')
FADED = EXAMPLE.replace('"default": 0.05', '"default": 0.06')
assert len({EXAMPLE, TUNED, FADED}) == 3, "each differs from the example by one constant"
SOLVERS = {
    0: BASELINE,
    1: EXAMPLE,
    2: TUNED,
    3: "import os\nos.listdir()\n",
    5: "",
    7: f"# the baseline in other words\n{BASELINE}",
    8: FADED,
}
REACH = """def objective(experiment_results):
    return -max([row["N"] for row in experiment_results if row["unsolved_fraction"] < 0.5], default=0)
"""
BASE = (
    "def objective(experiment_results):\n    return float(sum(row['median_step'] for row in "
    "experiment_results))\n"
)
BROKEN = "def objective(experiment_results):\n    return experiment_results['median']\n"


METADATA = {
    "0": {"objective_id": 0, "description": "Sum of steps", "created_round": 0},
    "1": {"objective_id": 1, "description": "Reach", "created_round": 1},
}


def write_files(root: Path, suffix: str = "") -> Path:
    """Write solvers and objectives below `root`; return it."""

    def put(name: str, content: str) -> None:
        path = root / name.replace("/", f"{suffix}/", 1)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)

    for number, code in SOLVERS.items():
        put(f"solvers/solver_{number}.py", code)
    put("objectives/metadata.json", json.dumps(METADATA))
    put("objectives/objective_1.py", REACH)
    put("objectives/objective_2.py", BROKEN)
    put("objectives/objective_4.py", " ")
    (root / "domain_knowledge").mkdir(parents=True, exist_ok=True)
    (root / "domain_knowledge" / "objective_baseline.py").write_text(BASE)
    return root
