"""The contract in the prompts of planner, designer, session and repair says what the gates check, and no
more: a breach of each rule is planted."""

from collections.abc import Callable

import pytest

from evolake.agents.prompts import load_prompt, placeholders
from evolake.cli.agents import roles_of_line
from evolake.designs.evolution.gate_specs import GATES
from evolake.designs.evolution.proposals import Judge
from evolake.designs.model.contract import DEFAULT_LEARNING_RATE
from evolake.designs.roles.request_text import BLOCKED, CONTRACT, FACTS, FORM
from evolake.gates.rules import load_rules
from evolake.settings import load

STEP = "    rate = 1.0 / dv.abs().max().clamp(min=1e-6)\n"
LAST = '    return {"v": -rate * dv, "xl": -rate * dxl, "xs": -rate * dxs}\n'
FLOW = """
    for _ in range(6):
        v = v + 0.1 * torch.zeros_like(v).index_add(0, idx.reshape(-1), (sgn * torch.relu(1.0 - sgn * v[idx])).reshape(-1))
    rate = 1.0 + 0.0 * v.sum()
"""  # noqa: E501
PLANTED: dict[str, Callable[[str], str]] = {
    "more than 64 KiB": lambda text: text + "# " + "x" * 66_000 + "\n",
    "input, output, global state": lambda text: text.replace(STEP, f"    open('/tmp/seen', 'w')\n{STEP}"),
    "branches on values of tensors (the function is traced once)": lambda text: text.replace(
        STEP, f"{STEP}    if dv.sum() > 0:\n        rate = rate * 2\n"
    ),
    "more than 5,000 operators": lambda text: text.replace(
        STEP, f"{STEP}    for k in range(5100):\n        rate = rate + (k + 1)\n"
    ),
    "more than four rounds from variables to clauses and back in a step": lambda text: text.replace(
        STEP, '    v = vars["v"]\n' + FLOW
    ),
    "first steps that leave the finite numbers": lambda text: text.replace(
        STEP, f"{STEP}    rate = rate / (dv.sum() - dv.sum())\n"
    ),
    "what computes a known design": lambda text: text,
}
OF_FORM: dict[str, Callable[[str], str]] = {
    "no `v`": lambda text: text.replace('"v": {"init"', '"w": {"init"'),
    "a derivative too few": lambda text: text.replace(', "xs": -rate * dxs', ""),
    "no function": lambda text: text.replace("_grad_single", "_grad"),
    "bounds in the wrong order": lambda text: text.replace('"bounds": (0.0, 1.0)', '"bounds": (1.0, 0.0)'),
}
"""Breaches of the form, which is said in the three parts of the contract."""


def blocking_rule(judge: Judge, source: str, known: dict[str, str]) -> str:
    """Return the rule that blocks a design."""
    done = judge(source, {}, known)
    return done.blocked_by.rule_id if done.blocked_by is not None else ""


@pytest.mark.parametrize("words", BLOCKED)
def test_what_the_contract_says_is_blocked_is_blocked_by_the_rule_that_it_names(words, judge_at, seed_files):
    base, judge = seed_files["baseline"].read_text(), judge_at("0001")
    planted = PLANTED[words](base)
    assert planted != base or words == "what computes a known design"
    known: dict[str, str] = {}
    if planted == base:
        traced = judge(base, {}, {}).traced
        assert traced is not None
        known = {traced.graph_sha: "f" * 64}
    assert blocking_rule(judge, planted, known) == BLOCKED[words]


@pytest.mark.parametrize("name", OF_FORM)
def test_a_file_of_another_form_is_blocked(name, judge_at, seed_files):
    base = seed_files["baseline"].read_text()
    assert OF_FORM[name](base) != base and blocking_rule(judge_at("0001"), OF_FORM[name](base), {}) in (
        "designs-contract",
        "designs-trace",
    )


def test_every_rule_on_a_design_is_named_in_the_contract_with_its_limit():
    gates = {gate.name for gate in GATES}
    rules = {
        rule.id: rule for rule in load_rules(load().seeds / "rules", "designs").rules if rule.gate in gates
    }
    assert set(BLOCKED.values()) == set(rules) and set(PLANTED) == set(BLOCKED)
    assert rules["designs-contract"].parameters == {"max_source_bytes": 64 * 1024} and rules[
        "designs-trace"
    ].parameters == {"max_nodes": 5000}
    assert rules["designs-repeated-flow"].parameters == {"max_substeps": 4}
    assert all(words in CONTRACT for words in (FORM, *BLOCKED, *FACTS))


def test_what_the_contract_says_as_a_fact_is_blocked_by_no_gate(judge_at, seed_files):
    other = (
        seed_files["baseline"]
        .read_text()
        .replace(STEP, "    rate = 1.0 / dv.abs().mean().clamp(min=math.exp(-9.0))\n")
    )
    other = other.replace("import torch\n", "import math\n\nimport torch\n", 1).replace(
        '    "lr": {', '    "pace": {'
    )
    assert "`torch` and `math` may be imported" in FACTS[0] and "another time scale is allowed" in FACTS[1]
    assert "`lr`, the step (0.01 without it)" in FORM and DEFAULT_LEARNING_RATE == 0.01
    assert blocking_rule(judge_at("0001"), other, {}) == ""


def test_planner_designer_session_and_repair_are_sent_the_same_contract():
    sent = {
        role.name
        for role in roles_of_line("designs")
        if "contract" in placeholders(load_prompt(role.prompt or role.name))
    }
    assert sent == {
        "designs_planner_directions",
        "designs_designer",
        "designs_designer_session",
        "designs_designer_repair",
    }
