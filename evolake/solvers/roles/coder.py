"""The coder: its classical answers (edits drawn for a plan, the repair of a blocked variant, which source
lines to read), and the coder as a session, which reads, edits, builds and tries a repository by tools before
it is done. The session has no classical answer.

A drawn variant that exists already, that takes an option back to its declared default, or that an active
learned rule forbids, is drawn again. The repair of a blocked variant goes half the way back to known values,
and gives the newest edit up when it is there.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, Field

from evolake.agents.roles import Role
from evolake.agents.session_roles import session_role
from evolake.agents.session_tools import Arguments
from evolake.solvers.edits.anchors import Span, Tunable
from evolake.solvers.edits.catalogue import PATCHES, Edit, write_edits
from evolake.solvers.edits.draw import mutated, new_patch, new_tunable, placed, shadowed
from evolake.solvers.roles.models import (
    Change,
    CodeReply,
    CodeRequest,
    CoderMaterial,
    EditModel,
    Forbidden,
    LongText,
    LookupReply,
    LookupRequest,
    Option,
    Plan,
    Region,
    RepairRequest,
    ReviseRequest,
    Tried,
)
from evolake.solvers.roles.shown import change_values, code_text, outline_text, stated

TRIES = 30
NOTHING_NEW = "nothing new found"
NOWHERE = Span("", 0, 0)


def write_change(request: CodeRequest, random: np.random.Generator) -> CodeReply:
    """Return a child of the parent by the plan's edit. Where every try is known already, the parent again: it
    will be dropped as a repeat."""
    material = request.material
    if request.plan.kind == "crossover":
        return _crossover(material, request.plan, random)
    if material.edits is None and request.plan.kind == "mutate":
        return CodeReply(
            title=NOTHING_NEW,
            changelog="A variant written as a diff has no values to move.",
            edits=None,
            operator="repeat",
        )
    start = edits_of(material.edits or [])
    for number in range(TRIES):
        edit = _drawn(request.plan, material, start, random, anything=number >= TRIES // 2)
        if edit is None:
            continue
        edits = placed(start, edit, PATCHES)
        if write_edits(edits) not in material.taken and not forbidden(
            edits, material.forbidden, material.base
        ):
            return CodeReply(
                title=edit.described()[:60],
                changelog=f"{_verb(edit, start)} {edit.described()}.",
                edits=models_of(edits),
                operator="mutate" if edit.key in {other.key for other in start} else edit.kind,
            )
    return CodeReply(
        title=NOTHING_NEW,
        changelog="Every change tried is known already.",
        edits=models_of(start),
        operator="repeat",
    )


def repair_change(request: RepairRequest, random: np.random.Generator) -> CodeReply:
    """Half the way back to values that are known to work (a patch's default, an option's declared one); else
    without the newest edit."""
    edits = edits_of(request.edits or [])
    before = edits_of(request.material.edits or [])
    newest = next((edit for edit in reversed(edits) if edit not in before), None)
    if newest is None:
        return CodeReply(
            title=NOTHING_NEW, changelog="Nothing to take back.", edits=request.edits, operator="repair"
        )
    gentler = _gentler(newest, {option.name: option for option in request.material.options})
    if gentler is not None and gentler != newest:
        mended = placed(edits, gentler, PATCHES)
        return CodeReply(
            title=gentler.described()[:60],
            changelog=f"Took {newest.described()} back to {gentler.described()} after it was blocked.",
            edits=models_of(mended),
            operator="repair",
        )
    left = tuple(edit for edit in edits if edit != newest)
    return CodeReply(
        title=f"without {newest.name}"[:60],
        changelog=f"Dropped {newest.described()}, which was blocked.",
        edits=models_of(left),
        operator="repair",
    )


def choose_regions(request: LookupRequest, random: np.random.Generator) -> LookupReply:
    """Return the files that hold most functions, from their beginning. The operators never need this turn; it
    is here so that both backends serve it."""
    ranked = sorted(request.files, key=lambda item: (-len(item.functions), -item.lines, item.path))
    regions = [
        Region(path=item.path, first_line=1, last_line=min(item.lines, request.max_lines))
        for item in ranked[: request.max_regions]
        if item.lines
    ]
    return LookupReply(
        regions=regions or [Region(path="src", first_line=1, last_line=1)],
        rationale="The files with most functions.",
    )


def edits_of(items: Sequence[EditModel]) -> tuple[Edit, ...]:
    """Return edits from their models."""
    return tuple(Edit(item.kind, item.name, dict(item.parameters)) for item in items)


def models_of(edits: Sequence[Edit]) -> list[EditModel]:
    """Return models of edits, in the order of `edits.json`."""
    return [
        EditModel(kind=edit.kind, name=edit.name, parameters=dict(edit.parameters))
        for edit in sorted(edits, key=lambda edit: edit.key)
    ]


def tunable_of(option: Option) -> Tunable:
    """Return an option as the operators draw it; it has no place in a file."""
    low, high = (
        (-math.inf if option.low is None else option.low),
        (math.inf if option.high is None else option.high),
    )
    return Tunable(option.name, option.kind, option.default, low, high, "", NOWHERE)


def _crossover(material: CoderMaterial, plan: Plan, random: np.random.Generator) -> CodeReply:
    """Return the union; where that exists already, the union with one more edit."""
    lost = f" Dropped: {'; '.join(material.dropped)}." if material.dropped else ""
    if material.joined is not None:
        edits = edits_of(material.joined)
        for _ in range(TRIES):
            if write_edits(edits) not in material.taken and not forbidden(
                edits, material.forbidden, material.base
            ):
                break
            further = _drawn(plan, material, edits, random, anything=True)
            edits = placed(edits_of(material.joined), further, PATCHES) if further else edits
        names = ", ".join(edit.described() for edit in edits)
        return CodeReply(
            title=f"{plan.parent_id[:6]} x {(plan.second_parent_id or '')[:6]}",
            changelog=f"Joined: {names}.{lost}"[:6000],
            edits=models_of(edits),
            dropped=list(material.dropped),
            operator="crossover",
        )
    return CodeReply(
        title=f"{plan.parent_id[:6]} x {(plan.second_parent_id or '')[:6]}",
        changelog=f"Joined the changed files of both parents.{lost}"[:6000],
        diff=material.joined_diff,
        dropped=list(material.dropped),
        operator="crossover",
    )


def _drawn(
    plan: Plan,
    material: CoderMaterial,
    start: tuple[Edit, ...],
    random: np.random.Generator,
    *,
    anything: bool,
) -> Edit | None:
    """Return an edit for the plan, or any; None if none exists, or if it would take an option back to what
    the base declares."""
    options = {option.name: tunable_of(option) for option in material.options}
    edit = _drawn_of(options, plan, material, start, random, anything=anything)
    back = (
        edit is not None
        and edit.kind == "tunable"
        and edit.name in options
        and edit.parameters["value"] == options[edit.name].default
    )
    return None if back else edit


def _drawn_of(
    options: Mapping[str, Tunable],
    plan: Plan,
    material: CoderMaterial,
    start: tuple[Edit, ...],
    random: np.random.Generator,
    *,
    anything: bool,
) -> Edit | None:
    kind, _, name = plan.target.partition(":")
    if plan.kind == "mutate" and not anything:
        result = next((edit for edit in start if f"{edit.kind}:{edit.name}" == plan.target), None)
        return mutated(result, options, PATCHES, random) if result else None
    if (
        anything
        or (kind == "patch" and name not in material.patches)
        or (kind == "tunable" and name not in options)
    ):
        kind, name = _any(material, options, start, random)
    if kind == "patch" and name in PATCHES:
        return new_patch(PATCHES[name], random)
    if kind == "tunable" and name in options:
        now = next((edit.parameters["value"] for edit in start if edit.key == f"tunable:{name}"), None)
        return new_tunable(options[name], random, now=now)
    return None


def _any(
    material: CoderMaterial,
    options: Mapping[str, Tunable],
    start: Sequence[Edit],
    random: np.random.Generator,
) -> tuple[str, str]:
    """Return an edit at random among those that would decide something."""
    dead = shadowed(start, PATCHES)
    choices = [("patch", name) for name in sorted(material.patches)] + [
        ("tunable", name) for name in sorted(options) if name not in dead
    ]
    return choices[int(random.integers(len(choices)))] if choices else ("", "")


def forbidden(edits: Sequence[Edit], rules: Sequence[Forbidden], base: str) -> bool:
    """Return whether a learned rule blocks a variant of `base` that carries these edits."""
    return any(_blocks(rule, edit) for rule in rules if rule.base in ("", base) for edit in edits)


def _blocks(rule: Forbidden, edit: Edit) -> bool:
    if rule.edit != edit.name:
        return False
    for name, bounds in rule.parameters.items():
        value, (least, most) = edit.parameters.get(name), (bounds[0], bounds[1])
        if value is None or (least is not None and value < least) or (most is not None and value > most):
            return False
    return True


def _verb(edit: Edit, start: Sequence[Edit]) -> str:
    return "Moved" if edit.key in {other.key for other in start} or edit.kind == "tunable" else "Added"


def _gentler(edit: Edit, options: Mapping[str, Option]) -> Edit | None:
    """Return values half the way (by ratio if both are positive) to the defaults; None if that moves none."""
    if edit.kind == "tunable":
        option = options.get(edit.name)
        value = edit.parameters["value"]
        if option is None or isinstance(value, bool) or isinstance(option.default, bool):
            return None
        halved = _between(float(value), float(option.default), whole=option.kind == "int")
        return None if halved in (value, option.default) else Edit("tunable", edit.name, {"value": halved})
    spec = PATCHES.get(edit.name)
    if spec is None:
        return None
    moved = {
        name: _between(float(edit.parameters[name]), parameter.default, whole=parameter.whole)
        for name, parameter in sorted(spec.parameters.items())
    }
    return None if moved == dict(edit.parameters) else Edit("patch", edit.name, moved)


def _between(value: float, default: float, *, whole: bool) -> float | int:
    middle = math.sqrt(value * default) if value > 0 and default > 0 else (value + default) / 2
    return round(middle) if whole else float(f"{middle:.4g}")


def _lookup_values(request: LookupRequest) -> Mapping[str, Any]:
    """Return the request with a line for each file."""
    return (
        request.model_dump(mode="json", exclude={"goal"})
        | {"files": outline_text(request.files)}
        | stated({"parent_diff": request.parent_diff})
    )


LOOKUP = Role("solvers_coder_lookup", LookupRequest, LookupReply, choose_regions, values=_lookup_values)


def _code_values(request: CodeRequest) -> Mapping[str, Any]:
    return change_values(request) | stated({"excerpts": code_text(request.excerpts)})


def _repair_values(request: RepairRequest) -> Mapping[str, Any]:
    """Return the request as a model is sent it; what is known of solvers repairs nothing and is left out."""
    return {
        name: getattr(request, name)
        for name in ("goal", "hypothesis", "instructions", "diff", "error", "rules", "note")
    } | stated({"output": request.output, "excerpts": code_text(request.excerpts)})


def _revise_values(request: ReviseRequest) -> Mapping[str, Any]:
    return request.model_dump(mode="json", exclude={"excerpts"}) | {"excerpts": code_text(request.excerpts)}


def keep_change(request: ReviseRequest, random: np.random.Generator) -> CodeReply:
    """Return no diff: the operators keep what they made. They are never asked; it is here so that both
    backends serve the role."""
    return CodeReply(title="kept", changelog="Kept as it is.")


CODER_REVISE = Role("solvers_coder_revise", ReviseRequest, CodeReply, keep_change, values=_revise_values)
CODER = Role("solvers_coder", CodeRequest, CodeReply, write_change, values=_code_values)
CODER_REPAIR = Role("solvers_coder_repair", RepairRequest, CodeReply, repair_change, values=_repair_values)


MOST_SMOKE, MOST_BENCH = 12, 12
"""Formulas that one command may run."""


class SessionRequest(Change):
    """What the session is for, and what it starts from."""

    second_parent_diff: str = ""
    second_base: str = Field(
        default="", description="for a crossover: the second parent's base, where it is another one"
    )
    rules: list[str]
    editable: list[str] = Field(description="globs of the files that may be changed")
    knowledge: list[str] = Field(
        default_factory=list, description="what is known of such solvers, and how this evolution works"
    )
    tried: list[Tried] = Field(
        default_factory=list,
        description="what became of the plans of this cycle that were carried out before this one",
    )
    references: list[str] = Field(default_factory=list, description="folders of other solvers, to be read")
    turns: int = Field(default=0, description="replies that the session has; 0 if that is not known")


class SessionReply(BaseModel):
    """What the session ends with; its files are the change."""

    model_config = ConfigDict(extra="forbid")
    title: str = Field(max_length=60, description="the change in a few words")
    changelog: LongText = Field(description="what was changed and why, for CHANGELOG.md")


class Build(Arguments):
    """Without arguments."""


class Smoke(Arguments):
    formulas: int = Field(
        default=3,
        ge=1,
        le=MOST_SMOKE,
        description="how many fresh formulas, each with a renamed and a shuffled copy",
    )
    draw: int = Field(
        default=1,
        ge=1,
        description="another number draws other formulas; so does every change of the sources",
    )


class RunFormula(Arguments):
    formula: str = Field(max_length=200, description="name of a formula that smoke or bench has named")


class BenchFormulas(Arguments):
    formulas: int = Field(
        default=6,
        ge=1,
        le=MOST_BENCH,
        description="how many fresh formulas of the training families, each run by the parent too",
    )
    draw: int = Field(
        default=1,
        ge=1,
        description="another number draws other formulas; so does every change of the sources",
    )


def _prompt_values(request: SessionRequest) -> dict[str, Any]:
    return change_values(request) | {
        "editable": request.editable,
        "references": request.references,
        "turns": request.turns or "some",
    }


CODER_SESSION = session_role(
    "solvers_coder_session",
    SessionRequest,
    SessionReply,
    setting="EVOLAKE_SOLVERS__CODER",
    values=_prompt_values,
    commands=(
        ("build", "Build the repository from scratch. Says what the compiler says.", Build),
        (
            "smoke",
            "Build it and run it on fresh formulas that need search, and on the small ones of the gate; "
            "checks models and some proofs.",
            Smoke,
        ),
        ("run_formula", "Build it and run it on one formula; shows the end of its output.", RunFormula),
        (
            "bench",
            "Build it and run it next to its parent on fresh formulas. Ends with the ratio of costs and "
            "its interval.",
            BenchFormulas,
        ),
    ),
)
