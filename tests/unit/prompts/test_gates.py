"""Gates of the prompts line: what is right passes every rule, and each fault planted in a child is blocked by
the rule that is there for it."""

from dataclasses import replace
from typing import Any

import polars as pl
import pytest
from prompts_fixtures import PROBLEMS, SEEDS, problem

from evolake.gates import load_rules
from evolake.prompts.edit_memory import Reproduction
from evolake.prompts.evolution.population import Birth, Population, found_population
from evolake.prompts.gate_specs import GATES
from evolake.prompts.gates import Newborn, replay, run_gates
from evolake.prompts.model.prompt import Hunk, Principle, SystemPrompt, apply, prompt_of
from evolake.prompts.tables import ARCHIVE

RULES = load_rules(SEEDS.parent / "rules", "prompts")
ROOT = prompt_of(["Work in small steps.", "State the answer at the end."])
HUNKS = [
    ("local", Hunk("add", text="Check the sum once more by adding in the other order.")),
    ("local", Hunk("modify", ("p1",), "Work in small steps and write each of them.")),
    ("global", Hunk("modify", ("p2",), "State the answer at the end, as one number.")),
]
HELD_OUT = [problem(100 + number, "heldout") for number in range(3)]
SHOWN = [{"text": problem.text, "split": problem.split} for problem in (*PROBLEMS, *HELD_OUT)]


def born(hunks=HUNKS, parent: SystemPrompt = ROOT) -> tuple[dict[str, Any], Population, list[dict[str, Any]]]:
    """(row of the child, population with it, rows of edits) as an iteration makes them."""
    population = found_population({"root": parent}, "0000")
    adds, plan, modifies = (
        [h for s, h in hunks if test(s, h)]
        for test in (
            lambda s, h: s == "local" and h.kind == "add",
            lambda s, h: s == "global",
            lambda s, h: s == "local" and h.kind != "add",
        )
    )
    first = apply(parent, adds)
    second = apply(first.prompt, [*plan, *modifies])
    outcomes = {id(outcome.hunk): outcome for outcome in (*first.outcomes, *second.outcomes)}
    made = Reproduction(
        "mutation", parent, second.prompt, "", tuple((step, outcomes[id(hunk)]) for step, hunk in hunks)
    )
    grown = population.with_child(
        second.prompt, {parent.prompt_id: 1.0}, (25.0, 8.0), Birth("mutation", "0001", 1, "operators")
    )
    return grown.rows()[-1], grown, made.rows(cycle="0001", arm="espl", iteration=1, backend="operators")


def judged(child, population, edits, problems=SHOWN):
    return run_gates(Newborn(child, population, edits, problems), RULES, cycle="0001", run_id="run")


@pytest.mark.parametrize(
    ("texts", "rule"),
    [
        (["Read the question twice."], None),
        (list(ROOT.texts), "prompts-new"),
        (["Read twice.", PROBLEMS[0].text], "prompts-no-problem-texts"),
    ],
)
def test_a_root_that_immigrates_meets_the_gates_of_a_child_without_a_lineage(texts, rule):
    population = found_population({"root": ROOT}, "0000")
    prompt = SystemPrompt(tuple(Principle(f"p{number}", text) for number, text in enumerate(texts, 2)))
    row = population.root(prompt, "mine", "0003")
    assert (row["number"], row["operator"], row["parents"], row["origin"], row["cycle"]) == (
        1,
        "root",
        [],
        "mine",
        "0003",
    )
    result = judged(row, population, [])
    assert (result.accepted, result.blocked_by.rule_id if result.blocked_by else None) == (rule is None, rule)


def with_text(
    child: dict[str, Any], population: Population, texts: list[str]
) -> tuple[dict[str, Any], Population]:
    """The child saying something else, under its old id: what forged rows would look like."""
    prompt = SystemPrompt(tuple(Principle(f"p{number}", text) for number, text in enumerate(texts, 1)))
    forged = child | {"principles": prompt.to_json(), "text": prompt.text(), "size": len(texts)}
    return forged, replace(population, prompts=ARCHIVE["prompts"].frame([*population.rows()[:-1], forged]))


def test_a_child_made_by_its_edits_passes_every_gate():
    result = judged(*born())
    assert result.accepted
    assert {verdict.gate for verdict in result.verdicts} == {gate.name for gate in GATES}
    assert {verdict.rule_id for verdict in result.verdicts} == {rule.id for rule in RULES.rules}
    assert result.blocked_by is None


def dropped_hunk(child, population, edits):
    return child, population, [row | {"applied": False} if row["kind"] == "add" else row for row in edits]


def swapped_text(child, population, edits):
    return child, population, [row | {"text": "Guess."} if row["kind"] == "add" else row for row in edits]


def unknown_target(child, population, edits):
    return child, population, [row | {"targets": ["p9"]} if row["step"] == "global" else row for row in edits]


def no_edits(child, population, edits):
    return child, population, []


def too_long(child, population, edits):
    hunks = [("local", Hunk("add", text="word " * 110 + "end"))]
    child, population, edits = born(hunks)
    return *with_text(child, population, ["x" * 601]), edits


def too_many(child, population, edits):
    return *with_text(child, population, [f"Principle number {number}." for number in range(41)]), edits


def empty(child, population, edits):
    return *with_text(child, population, []), edits


FORM = {
    dropped_hunk: "prompts-strict-edits",
    swapped_text: "prompts-strict-edits",
    unknown_target: "prompts-strict-edits",
    no_edits: "prompts-strict-edits",
    too_long: "prompts-size",
    too_many: "prompts-size",
    empty: "prompts-size",
}


@pytest.mark.parametrize(("plant", "rule"), FORM.items(), ids=[plant.__name__ for plant in FORM])
def test_a_planted_fault_of_form_is_blocked_by_its_rule(plant, rule):
    sound = born()
    faulty = plant(*sound)
    assert faulty != sound
    result = judged(*faulty)
    assert not result.accepted
    objections = {verdict.rule_id for verdict in result.verdicts if verdict.outcome == "block"}
    every = {item.id: judged_by(item, result.seen) for item in RULES.rules}
    assert objections == {next(name for name in (item.id for item in RULES.of_gate("form")) if every[name])}
    assert every[rule]


def judged_by(rule, evidence) -> bool:
    """Whether this rule alone objects."""
    from evolake.gates.checkers import apply as run

    return run(rule.check, evidence[rule.gate], rule.parameters) is not None


@pytest.mark.parametrize("split", ["train", "heldout"])
def test_a_principle_that_carries_a_problem_is_blocked_whichever_side_it_is_from(split):
    text = next(row["text"] for row in SHOWN if row["split"] == split)
    child, population, edits = born([("local", Hunk("add", text=f"For example: {text} It is easy."))])
    result = judged(child, population, edits)
    assert result.blocked_by is not None
    assert (result.blocked_by.rule_id, result.blocked_by.gate) == ("prompts-no-problem-texts", "leak")
    assert split in result.blocked_by.reason


def test_a_prompt_that_is_there_already_is_blocked():
    child, population, edits = born()
    twin = SystemPrompt(
        tuple(
            Principle(f"p{number + 5}", principle.text)
            for number, principle in enumerate(apply_all(child).principles)
        )
    )
    elder = population.rows()[-1] | {"prompt_id": twin.prompt_id, "principles": twin.to_json(), "number": 0}
    frame = ARCHIVE["prompts"].frame([elder, population.rows()[0] | {"number": 1}, child | {"number": 2}])
    result = judged(child | {"number": 2}, replace(population, prompts=frame), edits)
    assert result.blocked_by is not None
    assert result.blocked_by.rule_id == "prompts-new"


def apply_all(child: dict[str, Any]) -> SystemPrompt:
    from evolake.prompts.model.prompt import from_json

    return from_json(child["principles"])


def test_replaying_no_edits_gives_the_parent():
    assert replay(ROOT, []) == (ROOT, "")


def test_a_rule_file_is_there_for_every_gate(tmp_path):
    assert {rule.gate for rule in RULES.rules} == {gate.name for gate in GATES}
    assert all(isinstance(rule.text, str) and rule.text for rule in RULES.rules)
    assert isinstance(pl.DataFrame(RULES.rows()), pl.DataFrame)
