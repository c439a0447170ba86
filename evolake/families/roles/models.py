"""What each role of the families line is asked and what it answers: Pydantic models, shared by both backends
(paper, appendix O.2); fields whose description says "operators only" are hidden from prompts. And what makes
a reply unusable from its text alone (`Role.fault`): a source that does not parse or lacks its function, slots
with a gap. The model gets these words in one repair turn, before anything runs in the jail."""

from __future__ import annotations

import ast
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic.json_schema import SkipJsonSchema

from evolake.agents.attempts import SiblingNote
from evolake.families.model.statement import slots
from evolake.parsing import parse_python

Judgement = Literal["pass", "revise"]
ShortText = Annotated[str, Field(max_length=1000)]
Code = Annotated[str, Field(max_length=200_000)]


class Model(BaseModel):
    model_config = ConfigDict(extra="forbid")


class QualityRequest(Model):
    """One instance to be reviewed for publication."""

    title: str
    category: str
    statement: str
    answer: str = Field(description="the label, as JSON")
    difficulty: int
    parent_statement: str = Field(default="", description="an instance of the family it came from")
    metrics: dict[str, Any] = Field(
        default_factory=dict, description="operators only: what was measured on the sample"
    )


class QualityReply(Model):
    """The paper's three criteria. `action` is revise exactly where a criterion is."""

    readability: Judgement
    novelty: Judgement
    difficulty_alignment: Judgement
    action: Literal["proceed", "revise"]
    feedback: ShortText = ""

    @model_validator(mode="after")
    def _consistent(self) -> QualityReply:
        wanted = (
            "revise" if "revise" in (self.readability, self.novelty, self.difficulty_alignment) else "proceed"
        )
        if self.action != wanted:
            raise ValueError(f"action must be {wanted!r} with these criteria (got {self.action!r})")
        return self


class ValidatorRequest(Model):
    """Write a validator of one's own for a family. `taken` are the algorithms that there are already, in one line each."""

    generator: str
    template: str
    primary: str
    taken: list[str] = Field(default_factory=list)


class ValidatorReply(Model):
    """source: a module with `solution(inputs)`; empty where none can be given. algorithm: its idea in one line."""

    source: Code
    algorithm: ShortText


class Turn(Model):
    """A program that a reviewer ran, and what it printed or how it failed."""

    code: str
    output: str


class BlindRequest(Model):
    """Solve one instance from its text. `reader`, `strategy` and `points` are for the operators only."""

    statement: str
    transcript: list[Turn] = Field(default_factory=list)
    turns_left: int
    reader: str = Field(default="", description="operators only: a source with `read(text)`")
    strategy: str = Field(
        default="",
        description="operators only: a source with `solution(inputs)`, its rules not to be trusted",
    )
    points: list[dict[str, Any]] = Field(
        default_factory=list, description="operators only: rules with alternatives, none marked as chosen"
    )


class BlindReply(Model):
    """Either a program to run, which finds the statement in the variable TEXT, or the final text with \\boxed{answer}."""

    reasoning: Annotated[str, Field(max_length=8000)] = ""
    code: Code | None = None
    final: Annotated[str, Field(max_length=200_000)] | None = None

    @model_validator(mode="after")
    def _one_of_two(self) -> BlindReply:
        if (self.code is None) == (self.final is None):
            raise ValueError("give exactly one of code and final")
        return self


class ParentMaterial(Model):
    """A family to start from. `statement` is its template with the rules in force."""

    title: str
    category: str
    language: str
    generator: str
    statement: str
    validator: str
    reader: str | None = None


class Draft(Model):
    """The version that was blocked, and why (phase III). `kind` is implementation bug, unsolvable or ambiguity.

    faults: all that the rules of the gates say of it, the one that blocked it first. rule_id: of that one, for operators. measured: no gate has blocked it yet, its author may measure it.
    """

    generator: str
    template: str
    validator: str
    validators: dict[str, str] = Field(default_factory=dict)
    reader: str | None = None
    kind: str
    gate: str
    reason: str
    traces: list[str] = Field(default_factory=list)
    faults: list[str] = Field(default_factory=list)
    measured: bool = False
    rule_id: str = ""


class EvolveRequest(Model):
    """Make a family of these parents by this operator; with `draft`, correct that version instead. The last three fields are for the operators only.

    Attributes:
        generation: which request of the cycle this is, its direction, and what the others proposed.
        corpus: what is accepted, a line for each category. tried: the attempts of all cycles, see `evolake.agents.attempts`.
        limits: what a program of a family may take, in words.
    """

    operator: str = Field(description="switch, pipe, guard, aggregate, invert, filter, series, extend or aim")
    idea: str = Field(description="what the operator does, in a sentence")
    parents: list[ParentMaterial]
    experience: list[str] = Field(default_factory=list)
    guidance: list[str] = Field(default_factory=list)
    generation: SiblingNote | None = None
    corpus: list[str] = Field(default_factory=list)
    tried: str = ""
    limits: str = ""
    draft: Draft | None = None
    records: list[dict[str, Any]] = Field(
        default_factory=list, description="operators only: the parents, every field"
    )
    draft_record: dict[str, Any] | None = Field(
        default=None, description="operators only: the draft, every field"
    )
    taken: list[str] = Field(
        default_factory=list, description="operators only: family ids that there are already"
    )


class NamedSource(Model):
    name: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,40}$")]
    source: Code


class EvolveReply(Model):
    """The triple as texts. All are empty if nothing can be made: `note` says why."""

    idea: Annotated[
        str,
        Field(
            max_length=300,
            description="what has to be reasoned about that no accepted family asks, in a sentence",
        ),
    ] = ""
    title: Annotated[str, Field(max_length=200)] = ""
    category: Literal[
        "logical", "spatial", "symbolic", "temporal", "relational", "commonsense", "causal", "other"
    ] = "other"
    language: Literal["en", "zh"] = "en"
    answer_type: Literal["integer", "number", "boolean", "string", "list", "mapping", "any"] = "any"
    operator: Annotated[str, Field(max_length=40)] = "written"
    used_parents: list[int] = Field(
        default_factory=list, description="numbers of the parents that it was made of, from 1"
    )
    generator: Code = ""
    template: Code = ""
    validator: Code = ""
    validators: list[NamedSource] = Field(
        default_factory=list, description="independent ones, by other algorithms"
    )
    reader: Code | None = None
    note: ShortText = ""
    record: SkipJsonSchema[str | None] = Field(default=None, description="operators only: the family as JSON")


class CurateRequest(Model):
    """Existing experience and new candidates, one sentence each; at most `limit` may stay. blocked: a line for each rule that blocked families."""

    existing: list[str]
    candidates: list[str]
    limit: int
    blocked: list[str] = Field(default_factory=list)


class CurateReply(Model):
    items: list[ShortText]


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
