"""What judging one variant, or one proposal, raises is its end, with the reason: never the cycle's. Failures
of the machinery pass through."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evolake.errors import MachineryError
from evolake.gates import Rule, Ruleset, collected, load_rules
from evolake.solvers.gates.collecting import compliance_evidence
from evolake.solvers.gates.judging import feedback_of, gate_verdicts
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.variant import CARD, EDITS
from evolake.solvers.roles.shown import forbidden_edits
from evolake.solvers.rules.learned import StoredVariant, decide, with_learned
from evolake.solvers.tables import RULE_PROPOSALS

SEEDS = Path(__file__).parents[4] / "data_lake" / "seeds"
RULES = load_rules(SEEDS / "rules", "solvers")


def test_a_variant_whose_documents_are_nested_without_end_is_blocked_for_that(tmp_path):
    base, variant = tmp_path / "base", tmp_path / "variant"
    for folder in (base, variant):
        folder.mkdir()
        (folder / CARD).write_text('adapter = "minisat22"\nbase = "minisat22"\n')
    (variant / EDITS).write_text("[" * 200_000)
    adapter = load_adapter("minisat22", SEEDS / "solvers" / "adapters")
    evidence = collected(compliance_evidence, variant, base, "minisat22", adapter=adapter)
    said = gate_verdicts("compliance", evidence, RULES, variant_id="v", cycle="0001", run_id="r")
    assert "block" in [verdict.outcome for verdict in said]
    assert "edits.json cannot be read: it is nested deeper than 100" in json.dumps(evidence)


@pytest.mark.parametrize("gate", ["build", "smoke", "correctness", "stability"])
def test_each_gate_blocks_what_it_could_not_collect_and_says_so(gate):
    evidence = collected(_raises, OverflowError("too large"))
    said = gate_verdicts(gate, evidence, RULES, variant_id="v", cycle="0001", run_id="r")
    assert [verdict.outcome for verdict in said] == ["block"]
    assert "too large" in feedback_of(said, {gate: evidence}, RULES)
    with pytest.raises(MachineryError):
        collected(_raises, MachineryError("the jail is broken"))


def _raises(error: Exception) -> dict[str, Any]:
    raise error


def _deep(levels: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(levels):
        value = {"a": value}
    return value


EVIDENCE = {"source": {}, "edits": [{"name": "x", "parameters": {"a": 1}}], "base": "b"}
FAILED = StoredVariant("bad", "0001", "blocked", "build", "solvers-build", EVIDENCE)
POISON: list[dict[str, Any]] = [
    _deep(100_000),
    {"option": 10**5000},
    {"edit": "\ud800"},
    {"least": float("nan")},
    {"edit": ["x"], "base": {}},
]


@pytest.mark.parametrize("parameters", POISON, ids=["deep", "long-number", "half-a-pair", "nan", "lists"])
@pytest.mark.parametrize(
    "check", ["solvers.forbidden_edit", "solvers.option_bound", "solvers.forbidden_pattern", ""]
)
def test_a_proposal_that_cannot_be_decided_is_rejected_and_the_next_is_decided(parameters, check):
    poison = {
        "name": "poison",
        "lesson": "failure",
        "check": check,
        "parameters": parameters,
        "rationale": "r",
        "evidence": ["bad"],
    }
    rows = decide([poison, poison, poison | {"parameters": {}}], [FAILED], [], cycle="0002")
    assert [row["state"] for row in rows] == ["rejected"] * 3
    assert RULE_PROPOSALS.frame(rows).height == 3
    assert with_learned(RULES, rows).hash == RULES.hash


def test_a_learned_rule_of_another_shape_is_left_to_its_gate():
    rule = replace(
        RULES.of_gate("compliance")[0],
        id="learned",
        check="solvers.forbidden_edit",
        parameters={"edit": "x", "parameters": {"a": 5}},
    )
    good = replace(rule, id="good", parameters={"edit": "x", "parameters": {"a": [1, 2]}})
    assert [item.edit for item in forbidden_edits(_with(rule, good))] == ["x"]


def _with(*rules: Rule) -> Ruleset:
    return replace(RULES, rules=rules)
