"""Every field that decides about a candidate reaches the role that proposes the next."""

from typing import Any, Literal, get_args, get_origin

import pytest
from pydantic import BaseModel

from evolake.agents.attempts import Feedback, feedback_of_line
from evolake.agents.prompts import load_prompt, placeholders
from evolake.agents.roles import Role
from evolake.cli.agents import roles_of_line
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
    columns = {
        f"{table}.{column}"
        for table in feedback.tables
        if table in tables
        for column in tables[table].columns
    }
    found += [f"there is no table {table}" for table in feedback.tables if table not in tables]
    found += [
        f"{name} is no column of {', '.join(feedback.tables)}"
        for name in (*feedback.shown, *feedback.missing)
        if name not in columns
    ]
    found += [
        f"{name} is shown, and listed as missing" for name in feedback.missing if name in feedback.shown
    ]
    for named in feedback.left_out.values():
        places = {name: (name, *(f"{table}.{name}" for table in tables)) for name in named}
        whole = {f"{table}.*" for table in feedback.tables}
        found += [
            f"{name}: no such column"
            for name in named
            if columns.isdisjoint(places[name]) and name not in whole
        ]
    for name in sorted(columns):
        if not feedback.place_of(*name.split(".", 1)):
            found.append(
                f"{name} is declared nowhere: say in which request a role reads it, or why none does"
            )
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
    if first not in placeholders(load_prompt(role.prompt or role.name)) and first not in fields_read(role):
        return f"the prompt of {role_name} does not show {first}"
    return ""


def fields_read(role: Role[Any, Any]) -> set[str]:
    """The fields of a request that the role's values are composed of: a placeholder may hold several."""
    if role.values is None:
        return set()
    read = set[str]()

    def noted(request: BaseModel, name: str) -> Any:
        read.add(name)
        return BaseModel.__getattribute__(request, name)

    role.values(
        blank(
            type("Noted", (role.request,), {"__module__": role.request.__module__, "__getattribute__": noted})
        )
    )
    return read & set(role.request.model_fields)


def blank(kind: type[BaseModel]) -> Any:
    """A message without content: its defaults, and of what is required something empty."""
    return kind.model_construct(
        **{name: empty(field.annotation) for name, field in kind.model_fields.items() if field.is_required()}
    )


def empty(kind: Any) -> Any:
    """An empty value of a type."""
    plain = get_origin(kind) or kind
    if plain is Literal:
        return get_args(kind)[0]
    if isinstance(plain, type) and issubclass(plain, BaseModel):
        return blank(plain)
    return plain() if plain in (list, dict, str, int, float, bool) else None


@pytest.mark.parametrize("line", DECLARED)
def test_what_decides_about_a_candidate_reaches_the_role_that_proposes_the_next(line):
    assert faults(line, DECLARED[line]) == []


def test_every_line_with_roles_that_propose_is_declared():
    assert set(DECLARED) == {"designs", "families", "programs", "prompts", "solvers"}
    assert all(feedback.shown for feedback in DECLARED.values())


def test_a_declaration_that_is_wrong_is_found():
    wrong = Feedback(
        tables=("unmade", "nothing"),
        shown={
            "unmade.reason": (
                "programs_writer.trials",
                "programs_writer.verdicts",
                "solvers_planner.history",
            ),
            "unmade.gate": (),
        },
        left_out={"names the row": ("number", "cycle", "colour")},
        missing=("unmade.reason",),
    )
    assert faults("programs", wrong) == [
        "there is no table nothing",
        "unmade.gate is no column of unmade, nothing",
        "unmade.reason is shown, and listed as missing",
        "colour: no such column",
        "unmade.generation is declared nowhere: say in which request a role reads it, or why none does",
        "unmade.idea is declared nowhere: say in which request a role reads it, or why none does",
        "unmade.operator is declared nowhere: say in which request a role reads it, or why none does",
        "unmade.parent_id is declared nowhere: say in which request a role reads it, or why none does",
        "unmade.project is declared nowhere: say in which request a role reads it, or why none does",
        "unmade.reason: the prompt of programs_writer does not show trials",
        "unmade.reason: WriterRequest has no field verdicts",
        "unmade.reason: the line has no role solvers_planner",
    ]


def test_a_field_that_is_part_of_a_composed_text_counts_as_shown():
    assert [fault_of("programs", f"programs_writer.{name}") for name in ("attempts", "contest", "only")] == [
        "",
        "",
        "the prompt of programs_writer does not show only",
    ]
