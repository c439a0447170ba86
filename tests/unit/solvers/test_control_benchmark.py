"""The benchmark against random settings: what it counts, and that it goes on from its file."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import click
import pytest
from solver_runs import run_row

from evolake.solvers.edits import EDITS_FILE, Edit, write_edits

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


def test_a_state_goes_on_from_its_file_step_by_step_and_refuses_another_question(
    control: ModuleType, tmp_path: Path
) -> None:
    question, path = control.ControlSetup("minisat22", "quick", 0.25, 4, 1), tmp_path / "state.jsonl"
    state = control.ControlState(path, question)
    state.add("seed", [measured(control, "seed", "s", 2.0)])
    state.add(
        "cycle 1",
        [
            measured(control, "operators", "a", 1.0),
            measured(control, "operators", "b", 3.0, stopped="it cannot win"),
        ],
    )
    state.add("setting 1", [measured(control, "control", "c", 2.5)])
    with path.open("ab") as file:
        file.write(b'{"key": "cycle 2", "value": [{"side": "opera')  # killed while it wrote
    again = control.ControlState(path, question)
    assert again.measured == state.measured
    assert (again.seconds("operators"), again.seconds("control")) == (16.0, 10.0)
    assert [again.best(side).variant_id for side in ("operators", "control")] == ["a", "s"], (
        "a side that finds nothing has the seed"
    )
    with pytest.raises(click.UsageError, match="another question"):
        control.ControlState(path, control.ControlSetup("glucose421", "quick", 0.25, 4, 1))


def test_what_was_stopped_or_blocked_is_never_the_best_and_its_seconds_count(
    control: ModuleType, tmp_path: Path
) -> None:
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


def test_an_unsolved_run_costs_twice_its_limit(control: ModuleType) -> None:
    runs = [run_row("v", "f-0", "sat", 1.0), run_row("v", "f-1", "timeout", 10.0)]
    item = measured(control, "control", "v", 0.0, runs=runs)
    assert (item.par2, item.seconds) == (10.5, 11.0)


def test_control_and_operators_spend_the_same_and_a_slice_ends_between_two_steps(
    control: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    question, made = control.ControlSetup("minisat22", "quick", 0.25, 4, 1), list[str]()

    def cycle(_bench: Any, _measured: Any, number: int) -> list[Any]:
        made.append(f"cycle {number}")
        return [measured(control, "operators", f"o{number}", 2.0)]

    def setting(_bench: Any, number: int) -> Any:
        made.append(f"setting {number}")
        return measured(control, "control", f"c{number}", 1.0)

    monkeypatch.setattr(control, "seed_itself", lambda _bench: measured(control, "seed", "s", 3.0))
    monkeypatch.setattr(control, "operators_cycle", cycle)
    monkeypatch.setattr(control, "random_setting", setting)
    monkeypatch.setattr(control, "time", SimpleNamespace(monotonic=lambda: len(made)))
    path = tmp_path / "state.jsonl"
    assert not control.search(None, control.ControlState(path, question), 3, 1.5)
    assert made == ["cycle 1", "setting 1"]
    state = control.ControlState(path, question)
    assert control.search(None, state, 3, float("inf"))
    assert made == [
        "cycle 1",
        "setting 1",
        "setting 2",
        "cycle 2",
        "setting 3",
        "setting 4",
        "cycle 3",
        "setting 5",
        "setting 6",
    ]
    assert state.seconds("operators") == state.seconds("control") == 24.0


def test_a_variant_of_cadical_with_options_alone_is_its_seed_with_these_on_the_command_line(
    control: ModuleType, tmp_path: Path
) -> None:
    option, patch = (
        Edit("tunable", "restartint", {"value": 4.0}),
        Edit("patch", "cadical-tier-small", {"size": 2}),
    )
    for edits, style, expected in (
        ([option], "cadical-options", ("--restartint=4",)),
        ([option, patch], "cadical-options", ()),
        ([option], "minisat-options", ()),
        ([], "cadical-options", ()),
    ):
        (tmp_path / EDITS_FILE).write_text(write_edits(edits))
        assert control.options_of(tmp_path, style) == expected
    assert control.options_of(tmp_path / "seed", "cadical-options") == ()
