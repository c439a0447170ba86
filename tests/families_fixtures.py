"""What tests of the families line share: the shipped seeds, the rules, and one call that takes a family
through its gates."""

import os
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from evolake.agents import Agents
from evolake.agents.roles import OperatorsBackend
from evolake.families.gates.judging import FamilyGates, FamilyResults
from evolake.families.model.contract import Family
from evolake.families.model.family_files import read_family
from evolake.families.settings import FamiliesSettings
from evolake.gates import load_rules

SEEDS = Path(__file__).resolve().parents[1] / "data_lake" / "seeds"
RULES = load_rules(SEEDS / "rules", "families")
MENDED = ("families-guessable", "families-vital-rules")
WITHOUT_GUESSES = replace(RULES, rules=tuple(rule for rule in RULES.rules if rule.id not in MENDED))
"""The rules but for those on guessers and on rules that few answers need, for children that are judged for
something else."""
SETTINGS = FamiliesSettings(instance_cpu_s=0.5, call_cpu_s=2.0)


def require_module(name: str, extra: str) -> None:
    """Skips the test by name where an optional package is not installed; under EVOLAKE_REQUIRE_ALL=1 the test
    fails."""
    if find_spec(name) is None:
        message = f"{name} is not installed: pip install 'evolake[{extra}]'"
        if os.environ.get("EVOLAKE_REQUIRE_ALL") == "1":
            pytest.fail(message)
        pytest.skip(message)


def seed_family(name: str) -> Family:
    """A shipped seed."""
    return read_family(SEEDS / "families" / name)


def operators() -> Agents:
    """Agents that need no model."""
    return Agents(OperatorsBackend("0001"), line="families", cycle="0001")


def judged(family: Family, pool: Any, agents: Agents | None = None, **options: Any) -> FamilyResults:
    """The family after its gates, under the shipped rules and limits that are short enough for tests of slow
    families."""
    settings, rules = options.pop("settings", SETTINGS), options.pop("rules", RULES)
    return FamilyGates(
        pool, agents or operators(), rules, settings, "0001", "test", options.pop("root_seed", 0)
    )(family, **options)


def judged_but_for_guesses(family: Family, pool: Any, **options: Any) -> FamilyResults:
    """The family after its gates, without the rules on guessers and on what few answers need."""
    return judged(family, pool, rules=WITHOUT_GUESSES, **options)
