"""The benchmark against random settings: what it counts, and that it goes on from its file."""

import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from solver_runs import run_row

FOLDER = Path(__file__).parents[3] / "benchmarks"


@pytest.fixture(scope="module")
def control() -> ModuleType:
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location("solvers_control", FOLDER / "solvers_control.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        sys.modules["solvers_control"] = module
        spec.loader.exec_module(module)
        return module
    finally:
        sys.path.remove(str(FOLDER))


def measured(control: ModuleType, side: str, name: str, seconds: float, **other: Any) -> Any:
    fields = {
        "side": side,
        "cycle": 1,
        "variant_id": name,
        "operator": "tunable",
        "parents": ["s"] if side == "operators" else [],
        "edits": "[]\n",
        "blocked": "",
        "stopped": "",
        "runs": [run_row(name, f"f-{number}", "sat", seconds) for number in range(4)],
    }
    return control.MeasuredVariant(**fields | other)


def test_what_was_stopped_or_blocked_is_never_the_best_and_its_seconds_count(control, tmp_path):
    state = control.ControlState(
        tmp_path / "state.jsonl", control.ControlSetup("minisat22", "quick", 0.25, 4, 1)
    )
    state.add("seed", [measured(control, "seed", "s", 2.0)])
    state.add(
        "cycle 1",
        [
            measured(control, "operators", "a", 0.1, stopped="too slow"),
            measured(control, "operators", "b", 0.1, blocked="wrong on f-1"),
        ],
    )
    assert state.best("operators").variant_id == "s" and state.seconds("operators") == pytest.approx(0.8)
