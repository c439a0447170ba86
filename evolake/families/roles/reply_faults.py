"""Find what makes a reply unusable from its text alone: a source that does not parse or lacks its function,
slots with a gap.

Functions of request and reply (`Role.fault`): the model gets the words in one repair turn, before anything
runs in the jail.
"""

from __future__ import annotations

import ast

from evolake.families.model.statement import slots
from evolake.families.roles.models import EvolveReply, EvolveRequest, Model, ValidatorReply
from evolake.parsing import parse_python


def family_fault(request: EvolveRequest, reply: EvolveReply) -> str:
    """Return what is wrong with the texts of a family; "" for a usable reply, and for one that gives none and
    says why in `note`."""
    texts = {"generator": reply.generator, "template": reply.template, "validator": reply.validator}
    missing = [name for name, text in texts.items() if not text.strip()]
    if len(missing) == len(texts):
        return (
            ""
            if reply.note.strip()
            else "all texts are empty: write the family, or say in `note` why none can be made"
        )
    if missing:
        return f"`{missing[0]}` is empty: give all texts of the family"
    programs = {
        "generator": (reply.generator, "input"),
        "validator": (reply.validator, "solution"),
        **({"reader": (reply.reader, "read")} if reply.reader else {}),
        **{f"validators.{item.name}": (item.source, "solution") for item in reply.validators},
    }
    faults = [
        fault
        for name, (source, function) in programs.items()
        if (fault := program_fault(name, source, function))
    ]
    return "; ".join([*faults, *filter(None, [slots_fault(reply.template)])])


def validator_fault(request: Model, reply: ValidatorReply) -> str:
    """Return what is wrong with a validator's source; "" for a usable one, and for an empty one, which says
    that none can be given."""
    return program_fault("source", reply.source, "solution") if reply.source.strip() else ""


def program_fault(name: str, source: str, function: str) -> str:
    """Return why a source cannot be a program with this function of one argument; "" if it can."""
    try:
        tree = parse_python(source)
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        return f"`{name}` is no Python: {error}"[:300]
    defined = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name == function]
    if not defined:
        # a name that is bound in another way, e.g. by an import or an assignment, is left to the jail
        bound = any(
            (isinstance(node, ast.Name) and node.id == function)
            or (isinstance(node, ast.alias) and function in (node.name, node.asname))
            for node in ast.walk(tree)
        )
        return "" if bound else f"`{name}` has no function `{function}` at the top of the module"
    given = defined[-1].args
    most = len(given.posonlyargs) + len(given.args)
    fits = (
        most - len(given.defaults) <= 1
        and (most >= 1 or given.vararg is not None)
        and None not in given.kw_defaults
    )
    return "" if fits else f"`{name}`: `{function}` must take one argument"


def slots_fault(template: str) -> str:
    """Return which slot of the template is missing; "" if they are numbered without gaps."""
    found = slots(template)
    wanted = list(range(1, max(found, default=0) + 1))
    if not found:
        return "`template` has no [Input Slot 1]: every instance would have the same text"
    return (
        f"`template` has no [Input Slot {next(number for number in wanted if number not in found)}]"
        if sorted(set(found)) != wanted
        else ""
    )
