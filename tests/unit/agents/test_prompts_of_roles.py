"""The prompt of every role, made of a request whose every field has a mark: what models are shown, what is
hidden from them, and how long it is."""

import re
from collections.abc import Iterator
from os.path import commonprefix
from typing import Any

import pytest
from prompt_checks import faults_of_prompt, mark_of, marked_request, said_twice

from evolake.agents.attempts import SiblingNote
from evolake.agents.prompts import SPLIT, build_messages, load_prompt
from evolake.agents.roles import Role
from evolake.cli.agents import known_roles
from evolake.programs.roles import WRITER_GROUP, Measured, WriterGroupRequest, WriterRequest

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


SHARED = {
    "designs_designer": ["schedule", "objectives", "outcomes", "references"],
    "designs_designer_session": ["schedule", "objectives", "outcomes", "references"],
    "designs_planner_directions": ["goal", "guidance", "schedule"],
    "families_evolution_agent": ["limits", "corpus", "experience", "guidance", "tried", "parents"],
    "families_evolution_session": ["limits", "corpus", "experience", "guidance", "tried", "parents"],
    "families_validator_author": ["template", "answer_type", "instances"],
    "programs_writer": ["brief", "files", "program"],
    "programs_writer_group": ["brief", "files", "program"],
    "prompts_critic": ["principles"],
    "prompts_editor": ["principles", "context"],
    "repair_core": ["variables", "constraints"],
    "solvers_coder": ["goal", "rules", "excerpts"],
    "solvers_coder_repair": ["goal", "rules", "excerpts"],
    "solvers_coder_lookup": ["base", "files", "parent_diff"],
    "solvers_coder_session": ["goal", "conditions", "editable", "references", "rules", "knowledge"],
    "solvers_planner": ["goal", "guidance", "conditions", "rules", "knowledge", "sources", "code"],
    "solvers_rule_writer": ["goal", "checkers", "rules"],
}
"""What many requests of a cycle have alike, in the order in which a prompt has it: before all else, so that a
server with a prompt cache reads it once."""


@pytest.mark.parametrize("name", SHARED)
def test_what_requests_of_a_cycle_share_comes_first(name):
    user = load_prompt(name).partition(SPLIT)[2]
    order = list(dict.fromkeys(re.findall(r"\{\{([a-z_]+)", user)))
    assert order[: len(SHARED[name])] == SHARED[name]


def test_a_coder_and_its_repairs_are_sent_the_sources_behind_the_same_words():
    def start(name: str) -> str:
        system, user = load_prompt(name).split(SPLIT)
        return system + user.partition("{{excerpts}}")[0]

    assert start("solvers_coder") == start("solvers_coder_repair")
    assert ROLES["solvers_coder"].reply is ROLES["solvers_coder_repair"].reply


def test_the_next_generation_of_a_project_shares_all_up_to_the_program():
    def sent(generation: int, attempts: str) -> str:
        request = WriterRequest(
            project="p",
            goal="score: higher is better",
            limits="- One evaluation: 5 s.",
            generation=f"This is generation {generation} of 9 in cycle 0001.",
            attempts=attempts,
            sibling=SiblingNote(number=1, count=2, direction="tune"),
            parent=Measured(score=float(generation), files={"a.py": "x = 1\n" * 400}),
        )
        return build_messages(WRITER_GROUP, WriterGroupRequest(first=request, others=[request]))[1]["content"]

    first, second = sent(1, ""), sent(2, "cycle | candidate\n0001 | a")
    shared = commonprefix([first, second])  # noqa: RUF071
    print(f"{len(shared)} of {len(second)} characters shared")
    assert "x = 1\n" * 400 in shared
    assert len(shared) > 0.85 * len(second)
