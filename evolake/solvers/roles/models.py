"""What planner and coder of the solvers line are asked and what they answer: Pydantic models, shared by both
backends. Those of the roles that look back are in `review_models`.

Ids of variants in requests are short (the first twelve hex digits); the caller of a role maps them back. A
request holds all that the role may see, and nothing else. Two things are never in one: a result on the
holdout, and, before the cycle `par2_hidden_until`, a PAR-2 value. Fields whose description says "operators
only" carry edits as data for the operators backend; prompts leave them out.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

ShortText = Annotated[str, Field(max_length=600)]
LongText = Annotated[str, Field(max_length=6000)]
Diff = Annotated[str, Field(max_length=200_000)]
ObjectiveSource = Annotated[str, Field(min_length=1, max_length=20_000)]
PlanKind = Literal["tunable", "patch", "mutate", "crossover", "rewrite"]
IncidentKind = Literal["blocked", "regressed", "improved"]
Lesson = Literal["forbidden", "failure", "champion"]
SHORT_ID = 12
_WHOLE_ID = re.compile(r"\b[0-9a-f]{64}\b")

RESEARCH_GOAL = (
    "Make a sequential SAT solver, given as a source repository, solve more of a broad set of CNF "
    "formulas within a time limit, and sooner. Its answers must stay right: a model for every satisfiable "
    "formula, a DRAT proof that an independent checker verifies for every other one. A change must help "
    "formulas it has never seen, so it may not depend on names, hashes or exact sizes of formulas, nor on "
    "clocks."
)


def with_short_ids(text: str) -> str:
    """Return `text` with every whole id in it cut to a short one."""
    return _WHOLE_ID.sub(lambda result: result[0][:SHORT_ID], text)


class RoleMessage(BaseModel):
    model_config = ConfigDict(extra="forbid")


class Standing(RoleMessage):
    """One line about a variant. `rank` is 1 for the best; `ucb` combines rank and visits of the graph search; `solved` is a mean over shuffles."""

    variant_id: str
    title: str
    base: str = Field(description="the seed that it descends from")
    operator: str
    rank: int | None
    consensus: float | None = Field(description="0 is best, 1 is worst")
    ucb: float
    visits: float
    instances: int
    solved: float
    solved_sat: float
    solved_unsat: float
    solved_within: dict[str, float] = Field(
        default_factory=dict, description="share of the time limit -> solved within it"
    )
    best_of_all: int = Field(
        default=0, description="instances that it solves and on which no variant was faster"
    )
    wrong: int = 0
    memory_mb: float | None = Field(default=None, description="mean over the runs of the most memory held")
    par2: float | None = Field(
        default=None, description="unsolved counts twice the time limit; null while it is not shown"
    )
    edits: list[str] = Field(
        default_factory=list,
        description="what operators changed in the base; empty for a seed or a variant written as a diff",
    )
    changed: str = Field(default="", description="what its author said it changed")
    instances_sat: int = Field(default=0, description="instances known to be satisfiable")
    instances_unsat: int = Field(default=0, description="instances known to be unsatisfiable")
    vbs_match: int = Field(
        default=0,
        description="instances with an answer that agrees with the known truth and has a certificate",
    )
    vbs_mismatch: int = Field(
        default=0, description="instances with an answer that contradicts the known truth"
    )
    unproved: int = Field(
        default=0, description="UNSAT answers whose proof was checked and not verified: unsolved"
    )
    checked_share: float | None = Field(
        default=None,
        description="share of UNSAT answers whose proof was checked; the others count as unsolved",
    )
    failed: int = Field(
        default=0, description="runs that crashed, ran out of memory or wrote no well-formed output"
    )
    memory_max_mb: float | None = Field(default=None, description="most memory held by any run")
    additionally_solved: int = Field(default=0, description="instances solved that no (other) seed solves")
    par2_sat: float | None = Field(
        default=None, description="over satisfiable instances; null while it is not shown"
    )
    par2_unsat: float | None = Field(
        default=None, description="over unsatisfiable instances; null while it is not shown"
    )


class Attempt(RoleMessage):
    """One variant of an earlier cycle and what became of it, against the first of its parents."""

    variant_id: str
    base: str
    changed: list[str] = Field(description="edits that its parent has not, or with other values")
    outcome: Literal["accepted", "blocked"]
    gate: str = ""
    gain: float | None = Field(
        default=None,
        description="ranks gained on its parent, as a share of all ranks; null if it was never ranked",
    )
    solved_gain: float | None = Field(default=None, description="instances solved more than by its parent")


class Tried(RoleMessage):
    """One variant that was tried, with what was written: of an earlier cycle, or (gain null) of this one. `reason`: why it was blocked."""

    variant_id: str
    parent_id: str
    base: str
    title: str
    hypothesis: ShortText
    outcome: str = Field(
        description=(
            "accepted; blocked; passed: its gates, and it is not measured yet; unmade: no variant came of it"
        )
    )
    gate: str = ""
    reason: ShortText = ""
    gain: float | None = Field(
        default=None, description="ranks gained on its parent, as a share of all ranks"
    )
    solved_gain: float | None = Field(default=None, description="instances solved more than by its parent")
    places: list[str] = Field(
        default_factory=list,
        description="files that it changed, with the functions as far as the diff names them",
    )
    diff: str = Field(
        default="", description="against its parent; whole hunks, the last ones left out where it is long"
    )


class FamilyResult(RoleMessage):
    """One family of instances: how many of them each variant solves."""

    family: str
    instances: int
    solved: dict[str, float] = Field(description="variant id -> instances solved, as a mean over repetitions")
    seconds: dict[str, float] = Field(
        default_factory=dict, description="variant id -> PAR-2 on the family; empty while it is not shown"
    )
    checked: dict[str, float] = Field(
        default_factory=dict,
        description="variant id -> share of its UNSAT answers whose proof was checked; the others are unsolved",
    )
    conflicts: dict[str, float] = Field(
        default_factory=dict, description="variant id -> mean conflicts of its runs, if it reports them"
    )
    cpu_s: dict[str, float] = Field(
        default_factory=dict, description="variant id -> mean processor seconds of its solved runs"
    )


class EditModel(RoleMessage):
    """An edit as data; see `evolake.solvers.edits`."""

    kind: Literal["tunable", "patch"]
    name: str
    parameters: dict[str, float | int | bool]


class Material(RoleMessage):
    """Operators only: what a variant can be edited by, as far as it applies to its own sources in addition to
    what it carries.

    edits: None for a variant that a diff made. changed: path -> sha256 ("" for gone) of the files in which it
    differs from its base; left empty if no variant of the base was written as a diff. joined: variants that
    it was crossed with file by file before.
    """

    variant_id: str
    base: str
    edits: list[EditModel] | None
    options: list[str]
    patches: list[str]
    changed: dict[str, str] = Field(default_factory=dict)
    joined: list[str] = Field(default_factory=list)


class Option(RoleMessage):
    """Operators only: a declared option of the parent's base, with inclusive bounds (null for none)."""

    name: str
    kind: Literal["float", "int", "bool"]
    default: float | int | bool
    low: float | None
    high: float | None


class Forbidden(RoleMessage):
    """Operators only: an edit that an active learned rule blocks. Ranges: parameter -> [least, most]."""

    edit: str
    parameters: dict[str, list[float | None]] = Field(default_factory=dict)
    base: str = ""


class CoderMaterial(RoleMessage):
    """Operators only: what the classical coder works with.

    edits: of the parent; None for one that a diff made. joined, dropped: of a crossover by edits. joined_diff: of a crossover by files. taken: texts
    of `edits.json` that exist on this base.
    """

    base: str = ""
    edits: list[EditModel] | None = None
    options: list[Option] = Field(default_factory=list)
    patches: list[str] = Field(default_factory=list)
    forbidden: list[Forbidden] = Field(default_factory=list)
    taken: list[str] = Field(default_factory=list)
    joined: list[EditModel] | None = None
    joined_diff: str = ""
    dropped: list[str] = Field(default_factory=list)


class Region(RoleMessage):
    """A range of lines of one source file, counted from 1, both ends included."""

    path: str
    first_line: int = Field(ge=1)
    last_line: int = Field(ge=1)


class Excerpt(RoleMessage):
    """Lines of one source file unchanged, without numbers."""

    path: str
    first_line: int
    text: str


class SourceFile(RoleMessage):
    path: str
    lines: int
    functions: list[str] = Field(default_factory=list, description="name:first line, for the larger files")


class SourceTree(RoleMessage):
    """The files of one variant that may be edited."""

    variant_id: str
    base: str
    files: list[SourceFile]


class PlanRequest(RoleMessage):
    """Planner: what to try in this cycle."""

    goal: str = RESEARCH_GOAL
    cycle: str
    plans_wanted: int
    standings: list[Standing] = Field(
        description="the variants that may be built on, best upper confidence bound first"
    )
    history: list[Attempt] = Field(description="newest last")
    findings: list[str] = Field(default_factory=list, description="what post-mortems of earlier cycles say")
    rules: list[str] = Field(default_factory=list, description="rules that block a variant")
    guidance: list[str] = Field(default_factory=list, description="what people asked for")
    cycles_without_gain: int = 0
    knowledge: list[str] = Field(
        default_factory=list, description="what is known of such solvers, and how this evolution works"
    )
    tried: list[Tried] = Field(
        default_factory=list, description="the newest attempts with their diffs, newest last"
    )
    families: list[FamilyResult] = Field(
        default_factory=list, description="results by family of instances, of the best variants"
    )
    sources: list[SourceTree] = Field(
        default_factory=list, description="files and functions of the variants that lead"
    )
    code: list[Excerpt] = Field(default_factory=list, description="whole functions of the first of them")
    champion: str = Field(default="", description="short id of the champion")
    contests: list[str] = Field(
        default_factory=list, description="contests of earlier cycles in words, with the result by family"
    )
    attempts: str = Field(default="", description="what was tried in all cycles, one line an attempt")
    conditions: list[str] = Field(default_factory=list, description="limits, cost, contest and noise")
    materials: list[Material] = Field(default_factory=list, description="operators only")
    forbidden: list[Forbidden] = Field(default_factory=list, description="operators only")


class Plan(RoleMessage):
    """One change to try on one parent (on two for a crossover)."""

    parent_id: str
    second_parent_id: str | None = Field(
        default=None, description="only for a crossover; of another base, its idea is carried over"
    )
    kind: PlanKind = Field(
        description=(
            "tunable: option defaults; patch, rewrite: code; mutate: values of an earlier change; "
            "crossover: join two"
        )
    )
    hypothesis: LongText = Field(description="what should improve, and why")
    instructions: LongText = Field(description="what to change, in which functions")
    target: str = Field(
        default="", max_length=120, description="leave empty, or the name of the option or mechanism"
    )

    @model_validator(mode="after")
    def two_parents_only_for_a_crossover(self) -> Plan:
        """Check that a second parent is given for a crossover and for nothing else."""
        if (self.kind == "crossover") != (self.second_parent_id is not None):
            raise ValueError("second_parent_id is given for a crossover and for nothing else")
        return self


class PlanReply(RoleMessage):
    assessment: LongText = Field(description="where the search stands, what worked and what did not")
    plans: list[Plan] = Field(min_length=1)


class LookupRequest(RoleMessage):
    """Coder, first turn: which parts of the sources to read."""

    goal: str = RESEARCH_GOAL
    hypothesis: str
    instructions: str
    base: str
    files: list[SourceFile]
    parent_diff: str = Field(description="what the parent changed in its base")
    max_regions: int
    max_lines: int


class LookupReply(RoleMessage):
    regions: list[Region] = Field(min_length=1)
    rationale: ShortText


class Change(RoleMessage):
    """What a coder is sent first, whichever way it works."""

    goal: str = RESEARCH_GOAL
    hypothesis: str
    instructions: str
    base: str
    parent: Standing
    parent_diff: str
    champion: str = Field(default="", description="short id of the champion")
    contests: list[str] = Field(
        default_factory=list, description="the newest contests in words, with the result by family"
    )
    families: list[FamilyResult] = Field(
        default_factory=list, description="results of parent and champion by family of instances"
    )
    conditions: list[str] = Field(default_factory=list, description="limits, cost, contest and noise")
    note: str = Field(default="", description="which request of the cycle this is")


class CodeRequest(Change):
    """Coder, second turn: write the change."""

    second_parent_diff: str = Field(
        default="", description="for a crossover: what the second parent changed in its base"
    )
    second_base: str = Field(
        default="", description="for a crossover: the second parent's base, where it is another one"
    )
    excerpts: list[Excerpt]
    rules: list[str]
    knowledge: list[str] = Field(
        default_factory=list, description="what is known of such solvers, and how this evolution works"
    )
    tried: list[Tried] = Field(
        default_factory=list,
        description="what became of the plans of this cycle that were carried out before this one",
    )
    plan: Plan = Field(description="operators only")
    material: CoderMaterial = Field(default_factory=CoderMaterial, description="operators only")


class CodeReply(RoleMessage):
    title: str = Field(max_length=60)
    changelog: LongText = Field(description="what was changed and why, for CHANGELOG.md")
    diff: Diff = Field(
        default="", description="one unified diff over all files, paths as given with a/ and b/ before them"
    )
    edits: list[EditModel] | None = Field(default=None, description="leave null")
    dropped: list[str] = Field(default_factory=list, description="leave empty")
    operator: str | None = Field(default=None, description="leave null")


class ReviseRequest(RoleMessage):
    """Coder, last turn: the change passed its gates and was measured next to its parent."""

    hypothesis: str
    diff: str = Field(description="the change as it was judged, against the parent")
    measured: str = Field(description="runs of variant and parent on fresh formulas, and their ratio")
    excerpts: list[Excerpt] = Field(description="what the diff changes")
    note: str = Field(default="", description="which request of the cycle this is")


class RepairRequest(RoleMessage):
    """Coder, further turns: the change could not be used, and why."""

    goal: str = RESEARCH_GOAL
    hypothesis: str
    instructions: str
    diff: str = Field(description="the change as it was written, against the parent")
    error: str
    output: str = Field(default="", description="what the program wrote in runs that did not end well")
    excerpts: list[Excerpt]
    rules: list[str]
    knowledge: list[str] = Field(
        default_factory=list, description="what is known of such solvers, and how this evolution works"
    )
    note: str = Field(default="", description="which request of the cycle this is, and which repair")
    plan: Plan = Field(description="operators only")
    edits: list[EditModel] | None = Field(default=None, description="operators only")
    material: CoderMaterial = Field(default_factory=CoderMaterial, description="operators only")
