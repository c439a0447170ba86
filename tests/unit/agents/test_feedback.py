"""Every field that decides about a candidate reaches the role that proposes the next."""

from __future__ import annotations

import pytest

from evolake.agents.feedback import Feedback, feedback_of_line
from evolake.agents.listing import roles_of_line
from evolake.agents.prompts import load_prompt, placeholders
from evolake.lake.schemas import VERDICTS, TableSchema
from evolake.lines import lines

DECLARED = {line: feedback for line in lines() if (feedback := feedback_of_line(line)) is not None}


def tables_of(line: str) -> dict[str, TableSchema]:
    """The tables that a line publishes, by name, and the verdicts of all lines."""
    named = lines()[line].tables
    return {"verdicts": VERDICTS} | (dict(named.load()) if named else {})


def faults(line: str, feedback: Feedback) -> list[str]:
    """What is wrong with a declaration."""
    tables, found = tables_of(line), []
    columns = {f"{table}.{column}" for table in feedback.tables if table in tables for column in tables[table].columns}
    found += [f"there is no table {table}" for table in feedback.tables if table not in tables]
    found += [f"{name} is no column of {', '.join(feedback.tables)}" for name in (*feedback.shown, *feedback.missing) if name not in columns]
    found += [f"{name} is shown, and listed as missing" for name in feedback.missing if name in feedback.shown]
    for named in feedback.left_out.values():
        found += [f"{name}: no such column" for name in named if name not in columns and not any(full.endswith(f".{name}") for full in columns)]
    for name in sorted(columns):
        if not feedback.place_of(*name.split(".", 1)):
            found.append(f"{name} is declared nowhere: say in which request a role reads it, or why none does")
    for name, places in feedback.shown.items():
        found += [f"{name}: {fault}" for place in places if (fault := fault_of(line, place))]
    return found


def fault_of(line: str, place: str) -> str:
    """What is wrong with `role.field`; "" if a model of the line is shown it."""
    role_name, _, path = place.partition(".")
    role = {role.name: role for role in roles_of_line(line)}.get(role_name)
    if role is None:
        return f"the line has no role {role_name}"
    first = path.partition(".")[0]
    if first not in role.request.model_fields:
        return f"{role.request.__name__} has no field {first}"
    if first not in placeholders(load_prompt(role.prompt or role.name)):
        return f"the prompt of {role_name} does not show {first}"
    return ""


@pytest.mark.parametrize("line", DECLARED)
def test_what_decides_about_a_candidate_reaches_the_role_that_proposes_the_next(line: str) -> None:
    assert faults(line, DECLARED[line]) == []


def test_the_programs_line_is_declared() -> None:
    assert "programs" in DECLARED and DECLARED["programs"].shown


def test_a_declaration_that_is_wrong_is_found() -> None:
    wrong = Feedback(
        tables=("unmade", "nothing"),
        shown={
            "unmade.reason": ("programs_writer.trials", "programs_writer.verdicts", "solvers_planner.history"), "unmade.gate": (),
        },
        left_out={"names the row": ("number", "cycle", "colour")}, missing=("unmade.reason",),
    )
    assert faults("programs", wrong) == [
        "there is no table nothing", "unmade.gate is no column of unmade, nothing", "unmade.reason is shown, and listed as missing",
        "colour: no such column",
        "unmade.generation is declared nowhere: say in which request a role reads it, or why none does",
        "unmade.project is declared nowhere: say in which request a role reads it, or why none does",
        "unmade.reason: the prompt of programs_writer does not show trials", "unmade.reason: WriterRequest has no field verdicts",
        "unmade.reason: the line has no role solvers_planner",
    ]
