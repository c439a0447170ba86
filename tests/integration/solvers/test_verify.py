"""`evolake solvers verify` as a user types it: verdict, reasons and exit codes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from solver_gates import GatesHouse, open_house
from solver_mutants import MUTANTS, plant


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> GatesHouse:
    return open_house(tmp_path_factory.mktemp("verify"))


def evolake(house: GatesHouse, *words: str) -> tuple[int, str, str]:
    environment = os.environ | {"EVOLAKE_LAKE": str(house.root / "lake"), "EVOLAKE_PROFILE": "demo"}
    command = [sys.executable, "-c", "from evolake.cli import main; main()", "solvers", "verify", *words]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    return done.returncode, done.stdout, done.stderr


def test_a_seed_is_accepted(house: GatesHouse, requires: Any):
    requires("c++")
    code, said, errors = evolake(house, str(house.seed("minisat22")), "--suite", "smoke", "--instances", "12", "--json")
    found = json.loads(said)
    assert (code, found["verdict"], found["gate"], found["reasons"]) == (0, "accepted", None, []), errors
    assert found["runs"]["correctness"] == 32 + 12


def test_a_bad_variant_is_blocked_by_a_named_gate(house: GatesHouse, requires: Any):
    requires("c++")
    mutant = next(mutant for mutant in MUTANTS if mutant.name == "crash-on-empty-clause")
    folder = house.copy("minisat22", mutant.name)
    plant(mutant, folder)
    code, said, _ = evolake(house, str(folder), "--json")
    found = json.loads(said)
    assert (code, found["verdict"], found["gate"], found["rule"]) == (1, "blocked", "smoke", "solvers-smoke-ended")
    assert "crashed" in found["reasons"][0]


def test_an_upstream_tree_needs_an_adapter(house: GatesHouse, tmp_path: Path):
    (tmp_path / "core").mkdir()
    code, said, errors = evolake(house, str(tmp_path), "--json")
    assert (code, json.loads(said)["verdict"]) == (2, "error") and "--adapter NAME" in errors
    code, said, errors = evolake(house, str(tmp_path), "--adapter", "none-such", "--json")
    assert (code, json.loads(said)["verdict"]) == (2, "error") and "there is no adapter 'none-such'" in errors
    code, said, errors = evolake(house, str(tmp_path / "absent"), "--json")
    assert (code, json.loads(said)["verdict"]) == (2, "error") and "there is no folder" in errors
