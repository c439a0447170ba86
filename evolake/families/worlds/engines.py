"""The sources of a constraint world's family: generator, reader and three engines that share no code.

search    values are struck out as things are decided, the thing with the fewest values left next
sat       clauses over "thing e has value v", for a SAT solver that lists models or is asked under assumptions
listing   every order, distribution or choice, each looked at as a whole
"""

from __future__ import annotations

from collections.abc import Sequence

from evolake.families.worlds.kinds import Kind
from evolake.families.worlds.laws import Law
from evolake.families.worlds.questions import Question
from evolake.families.worlds.structures import Structure
from evolake.program_templates import fill_template


def search_source(
    structure: Structure, kinds: Sequence[Kind], laws: Sequence[Law], question: Question
) -> str:
    """Return the primary."""
    known = "".join(
        f'    "{kind.name}": ({kind.name}, {0 if kind.whole else kind.things}),\n' for kind in kinds
    )
    constraints = (
        _functions(kinds, laws, f"x, {structure.more}", "check")
        + f'\n\nKINDS = {{\n{known}    "law": (law, 0),\n}}\n'
    )
    return _filled(
        "search",
        structure,
        laws,
        question,
        constraints=constraints,
        more="more, room" if structure.name == "groups" else "more",
        rest=structure.rest,
        values=structure.values,
        answer=f"{question.search}\n",
    )


def sat_source(structure: Structure, kinds: Sequence[Kind], laws: Sequence[Law], question: Question) -> str:
    """Return an independent validator."""
    given = "weights," if structure.name == "selection" else ""
    constraints = _functions(kinds, laws, "X, V, S" + (", weights" if given else ""), "clauses") + _table(
        kinds
    )
    return _filled(
        "sat",
        structure,
        laws,
        question,
        constraints=constraints,
        values=structure.values,
        given=given,
        exclusive=structure.excludes,
        answer=f"{question.sat}\n",
    )


def listing_source(
    structure: Structure, kinds: Sequence[Kind], laws: Sequence[Law], question: Question
) -> str:
    """Return an independent validator."""
    return _filled(
        "listing",
        structure,
        laws,
        question,
        constraints=view_functions(structure, kinds, laws) + _table(kinds),
        view=structure.view,
        views=structure.all_views,
        answer=f"{question.listing}\n",
    )


def view_functions(structure: Structure, kinds: Sequence[Kind], laws: Sequence[Law]) -> str:
    """Return the constraints and laws on whole arrangements, and `value` of a thing in one."""
    functions = _functions(kinds, laws, f"{structure.view}, {structure.more}", "view")
    return f"{functions}\n\ndef value({structure.view}, e):\n    return {structure.value_of}\n"


def law_constant(laws: Sequence[Law]) -> str:
    """Return the assignment that the mutation point `law` changes."""
    return f'LAW = "{laws[0].name}"\n'


def _functions(kinds: Sequence[Kind], laws: Sequence[Law], head: str, meaning: str) -> str:
    single = "".join(
        f"\n\ndef {kind.name}({head}{kind.signature}):\n    return {getattr(kind, meaning)}\n"
        for kind in kinds
    )
    several = "".join(
        f"\n\ndef law_{law.name}({head}, some):\n    return {getattr(law, meaning)}\n" for law in laws
    )
    table = "\n\nLAWS = {" + ", ".join(f'"{law.name}": law_{law.name}' for law in laws) + "}\n"
    return single + several + table + f"\n\ndef law({head}, *some):\n    return LAWS[LAW]({head}, some)\n"


def _table(kinds: Sequence[Kind]) -> str:
    return (
        "\n\nKINDS = {"
        + ", ".join(f'"{name}": {name}' for name in [*(kind.name for kind in kinds), "law"])
        + "}\n"
    )


def _filled(
    name: str, structure: Structure, laws: Sequence[Law], question: Question, **values: object
) -> str:
    """Return the source of an engine: what each of them begins with, and what is its own."""
    keys = ["names", "clues", "ask", *structure.extra]
    point = {"extreme": 'EXTREME = "smallest"\n', "force": 'FORCE = "must"\n', None: ""}[question.point]
    return fill_template(
        f"evolake.families.worlds.templates.{name}",
        constants=law_constant(laws) + point,
        keys="{" + ", ".join(f'"{key}"' for key in keys) + "}",
        detail=repr(", ".join(keys)),
        bind=f"    {structure.bind}\n",
        numbers=structure.more,
        **values,
    )
