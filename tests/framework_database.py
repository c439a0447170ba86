"""A small database of the paper's framework, written file by file as its code lays them out, with rows that
are right and rows that are not.

python tests/framework_database.py FOLDER
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from evolake.designs.commands.new import EXAMPLE
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
    5: EXAMPLE,
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


def experiment(n: int, median: Any, **more: Any) -> dict[str, Any]:
    """One result as the framework writes it."""
    return {
        "design_id": 1,
        "batch": 100,
        "N": n,
        "ratio": 4.3,
        "run_till_median": True,
        "max_steps": 400,
        "unsolved_fraction": 0.49,
        "median_step": median,
        "fidelity": "low",
    } | more


def design(number: Any, name: str, parents: dict[int, float], experiments: Any = ()) -> dict[str, Any]:
    """One entry of the database."""
    return {
        "design_id": number,
        "planner_round_id": 3,
        "short_name": name,
        "model_name": "some-model",
        "reference_weights": [{"design_id": key, "weight": weight} for key, weight in parents.items()],
        "code_path": f"/srv/somebody/solvers/solver_{number}.py",
        "planner_log": "x",
        "designer_log": "x",
        "timestamp": "2026-01-01T00:00:00Z",
        "experiments": list(experiments),
        "schedule_id": 0,
        "objective_id": 0,
    }


DESIGNS: list[Any] = [
    design(0, "Baseline", {}, [experiment(10, 20), experiment(14, 44)]),
    design(1, "Weights alone", {0: 1.0}, [experiment(10, 31), experiment(14, "many"), "gone"]),
    design(2, "HEBO_tuned_Weights alone", {1: 1.0}, [experiment(10, 25, unsolved_fraction=1.5)]),
    design(3, "Reads folders", {1: 0.5, 2: 0.5}),
    design(4, "Lost file", {1: 1.0}),
    design(5, "Weights that do not sum", {1: 0.5, 2: 0.1}),
    "no object",
    design(1, "Again", {}),
    design(7, "Baseline in other words", {0: 1.0}),
    design(8, "Child of the twin", {7: 0.75, 99: 0.25}),
]
METADATA = {
    "0": {"objective_id": 0, "description": "Sum of steps", "created_round": 0, "created_timestamp": "x"},
    "1": {
        "objective_id": 1,
        "description": "Reach",
        "created_round": 1,
        "created_timestamp": "x",
        "source_workspace": "workspace_22",
    },
    "2": {"objective_id": 2, "description": "Fails", "created_round": 2, "created_timestamp": "x"},
    "4": {"objective_id": 4, "description": "Lost", "created_round": 4, "created_timestamp": "x"},
}


def review(number: int, phase: str, says: str, weights: dict[str, float]) -> dict[str, Any]:
    """One state of the meta agent."""
    return {
        "round_id": number,
        "timestamp": "x",
        "research_phase": phase,
        "research_assessment": says,
        "objective_directions": "Look at the tail.",
        "weight_adjustments": weights,
    }


STATE = {
    "current": review(2, "refining", "Weights carry far.", {"0": 0.0, "1": 2.5}),
    "history": [review(1, "exploring", "Nothing carries yet.", {})],
}
ANALYSIS = {
    "short_name": "Weights alone",
    "key_insight": "A weight per clause is enough at small N.",
    "success_level": "moderate",
    "detailed_analysis": "It stalls.",
    "comparison_to_references": "Slower than the baseline.",
    "recommended_next_steps": "Let weights fade.",
    "reference_weights": [],
}
SUMMARY = {
    "current_phase": "systematic_search",
    "key_insights": ["Gates by memory help."],
    "success_patterns": [],
    "failure_patterns": ["Parameters pile up."],
}


def write_database(root: Path, suffix: str = "") -> Path:
    """The whole of it below `root`; gives the path of its database."""

    def put(name: str, content: Any) -> Path:
        path = root / name.replace("/", f"{suffix}/", 1)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content if isinstance(content, str) else json.dumps(content))
        return path

    for number, code in SOLVERS.items():
        put(f"solvers/solver_{number}.py", code)
    put("objectives/metadata.json", METADATA)
    put("objectives/objective_1.py", REACH)
    put("objectives/objective_2.py", BROKEN)
    (root / "domain_knowledge").mkdir(parents=True, exist_ok=True)
    (root / "domain_knowledge" / "objective_baseline.py").write_text(BASE)
    put("meta_agent/state.json", STATE)
    put("llm_log/designer_analysis_1.json", {"design_id": 1, "analysis": ANALYSIS})
    put("llm_log/designer_2.json", {"design_id": 2, "final_analysis": ANALYSIS | {"success_level": "superb"}})
    put("llm_log/planner_3.json", {"round_id": 3, "summary": SUMMARY})
    return put("database/database.json", {"designs": DESIGNS})


if __name__ == "__main__":
    sys.stdout.write(f"{write_database(Path(sys.argv[1]))}\n")
