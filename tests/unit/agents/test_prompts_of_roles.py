"""The prompt of every role, made of a request whose every field has a mark: what models are shown, what is
hidden from them, and how long it is."""

from collections.abc import Iterator
from typing import Any

import pytest
from prompt_checks import faults_of_prompt, mark_of, marked_request, said_twice

from evolake.agents.prompts import build_messages
from evolake.agents.roles import Role
from evolake.cli.agents import known_roles

ROLES = known_roles()
LONGEST_FRAME = 1_300
"""Tokens (characters / 4) of a prompt without any data: the role's own text, the frame and the schema."""

HIDDEN = {
    "designs_designer": {"baseline_source", "goal", "parents", "taken"},
    "designs_designer_session": {"goal"},
    "designs_designer_repair": {"goal", "genome"},
    "designs_objective_repair": {"genome"},
    "families_blind_reviewer": {"reader", "strategy", "points"},
    "families_evolution_agent": {"records", "draft_record", "taken"},
    "families_quality_reviewer": {"metrics"},
    "programs_writer": {"other", "tried", "only"},
    "prompts_consolidator": {"library"},
    "prompts_critic": {"library"},
    "prompts_editor": {"library"},
    "prompts_recombiner": {"library"},
    "solvers_coder": {"plan", "material"},
    "solvers_coder_repair": {"plan", "edits", "material", "knowledge"},
    "solvers_coder_lookup": {"goal"},
    "solvers_planner": {"history", "materials", "forbidden"},
    "solvers_rule_writer": {"accepted"},
}
"""Fields that no model is shown: those of the operators, and those of earlier forms of a question."""
SHOWN_OTHERWISE = {
    "designs_objective_writer": {"baseline_source", "recent_results"},
    "families_evolution_agent": {"parents", "generation", "corpus", "tried"},
    "programs_writer": {"parent_reason"},
    "programs_writer_session": {"parent_reason", "parent"},
    "solvers_coder": {"champion"},
    "solvers_coder_session": {"champion"},
    "solvers_planner": {"champion"},
}
"""Fields that decide what a prompt says, and whose own texts are not in it where they are no real ids or
kinds."""


def prompt_of(role: Role[Any, Any]) -> str:
    """Both messages."""
    return "\n\n".join(message["content"] for message in build_messages(role, marked_request(role.request)))


def texts_of(value: Any) -> Iterator[str]:
    """All texts in a value."""
    if isinstance(value, str):
        yield value
    if isinstance(value, dict):
        parts = [*value.keys(), *value.values()]
    elif isinstance(value, list):
        parts = value
    else:
        parts = []
    for part in parts:
        yield from texts_of(part)


@pytest.mark.parametrize("name", ROLES)
def test_a_model_is_shown_each_field_that_is_for_it_and_none_that_is_hidden(name):
    role = ROLES[name]
    text = prompt_of(role)
    dumped = marked_request(role.request).model_dump(mode="json")
    marked = {
        field for field, value in dumped.items() if any(mark_of(field) in part for part in texts_of(value))
    }
    left_out = {field for field in marked if mark_of(field) not in text}
    assert left_out == HIDDEN.get(name, set()) | SHOWN_OTHERWISE.get(name, set())


@pytest.mark.parametrize("name", ROLES)
def test_a_prompt_says_nothing_twice_and_has_its_schema_once(name):
    role = ROLES[name]
    messages = build_messages(role, marked_request(role.request))
    assert faults_of_prompt(messages, None if role.tools else role.reply.model_json_schema()) == []


def test_a_text_that_is_told_twice_is_found():
    rule = "Each function keeps its name and each loop its bound, for the gate compares both. " * 3
    assert (
        said_twice(f"# Rules\n{rule}\n# Task\nmind: {rule}")
        != []
        == said_twice(f"# Rules\n{rule[:190]}\n# Task\nmind: {rule[:190]}")
    )
    table = "name | runs | solved\nuf | 3 | 2\nphp | 0 | null\nsgen | 0 | 0.0\n|  |  |  |"
    said = faults_of_prompt([{"content": f"{rule}\n{rule}"}, {"content": table}], {"type": "object"})
    assert [sentence.partition(":")[0] for sentence in said] == [
        "said twice",
        "the schema stands there 0 times",
        *["a row of nothing"] * 3,
    ]


@pytest.mark.parametrize("name", ROLES)
def test_the_text_of_a_prompt_without_data_is_short(name):
    role = ROLES[name]
    tokens = len(prompt_of(role)) // 4
    print(f"{name}: {tokens} tokens without data")
    assert tokens <= LONGEST_FRAME
