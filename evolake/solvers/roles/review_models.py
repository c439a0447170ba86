"""What analyst, rule writer and objective writer of the solvers line are asked and what they answer: Pydantic
models, as in `models`."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from evolake.solvers.roles.models import (
    RESEARCH_GOAL,
    EditModel,
    FamilyResult,
    IncidentKind,
    Lesson,
    LongText,
    ObjectiveSource,
    RoleMessage,
)


class Incident(RoleMessage):
    """One variant of the cycle that something can be learnt from."""

    variant_id: str
    base: str
    kind: IncidentKind
    gate: str = Field(description="the gate that blocked it; benchmark for a regression or a gain")
    cause: str = Field(description="rule, compile error or measure by which it fell")
    detail: str
    hypothesis: str
    diff: str = Field(description="against its parent")
    solved_gain: float | None = None
    edits: list[EditModel] = Field(default_factory=list, description="operators only")
    changed: list[str] = Field(
        default_factory=list,
        description="operators only: keys of edits that its parent has not, or with other values",
    )
    lost: list[str] = Field(
        default_factory=list, description="operators only: keys of edits that its parent has and it has not"
    )


class Finding(RoleMessage):
    """What several incidents, or one, teach. `subject` names the mechanism, option or function."""

    title: str = Field(max_length=120)
    lesson: Lesson
    subject: str = Field(max_length=120)
    explanation: LongText
    evidence: list[str] = Field(min_length=1, description="ids of the incidents it rests on")


class AnalysisRequest(RoleMessage):
    """Post-mortem analyst: the incidents of one cycle."""

    goal: str = RESEARCH_GOAL
    cycle: str
    incidents: list[Incident]
    accepted: int = Field(description="variants that passed all gates")
    earlier_findings: list[str] = Field(default_factory=list)
    champion: str = Field(default="", description="short id of the champion after this cycle's contests")
    contests: list[str] = Field(default_factory=list, description="contests in words, this cycle's last")
    families: list[FamilyResult] = Field(
        default_factory=list, description="results of this cycle's variants, their parents and the champion"
    )
    attempts: str = Field(default="", description="what was tried in all cycles before, one line an attempt")


class AnalysisReply(RoleMessage):
    assessment: LongText
    findings: list[Finding]


class CheckerSpec(RoleMessage):
    """A checker that a learned rule may name."""

    name: str
    meaning: str


class RuleRequest(RoleMessage):
    """Rule writer: from one finding to a rule that a program can check."""

    goal: str = RESEARCH_GOAL
    finding: Finding
    incidents: list[Incident]
    checkers: list[CheckerSpec]
    rules: list[str] = Field(description="active rules")
    accepted: list[list[EditModel]] = Field(
        default_factory=list, description="operators only: edits of accepted variants of the same base"
    )


class RuleReply(RoleMessage):
    """`check` empty: the finding cannot be checked by a program, so it stays advice."""

    name: str = Field(max_length=48, description="lower-case words joined by dashes")
    lesson: Lesson
    check: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    rationale: LongText
    evidence: list[str] = Field(
        description="ids of failed variants that the rule must block (for a champion: of those it would have kept)"
    )


class FormulaGroup(RoleMessage):
    """Formulas of one family and known status."""

    family: str
    expected: str | None
    formulas: int
    solved_share: float = Field(description="of the runs of all variants")


class ObjectiveSummary(RoleMessage):
    """An objective that votes. `created`: the number of the cycle that it came in; `findings`: what the review of this cycle has against it."""

    description: str
    family: str
    parameters: dict[str, float | int]
    source: str
    created: int
    weight: float
    multiplier: float
    median_tau: float
    findings: list[str] = Field(default_factory=list)


class BlockedObjective(RoleMessage):
    """An objective that failed its trial. `reason` is one of ours, without a word of the objective's."""

    description: str
    family: str
    reason: str


class ObjectiveRequest(RoleMessage):
    """Objective writer: one more way to judge variants."""

    goal: str = RESEARCH_GOAL
    cycle: str
    existing: list[ObjectiveSummary] = Field(description="the heaviest first")
    blocked: list[BlockedObjective] = Field(default_factory=list, description="newest last")
    formulas: list[FormulaGroup] = Field(default_factory=list)
    contests: list[str] = Field(
        default_factory=list, description="contests of earlier cycles in words: what a rank is worth"
    )
    note: str = Field(default="", description="which request of the cycle this is")
    guidance: list[str] = Field(default_factory=list, description="what people asked for")


class ObjectiveReply(RoleMessage):
    description: str = Field(max_length=300, description="what it measures, in one line")
    source: ObjectiveSource = Field(description="the whole file, with objective(results) in it")
    family: str = Field(default="", max_length=60, description="leave empty")
    parameters: dict[str, float | int] = Field(default_factory=dict, description="leave empty")
