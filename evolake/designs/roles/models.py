"""What each role of the designs line is asked and what it answers: Pydantic models, shared by both backends
(paper, section S5).

Ids of designs in requests are short (the first twelve hex digits); the caller of a role maps them back. A
request holds all that the role may see, and nothing else. Fields whose description says "operators only"
carry genomes for the operators backend; prompts leave them out.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

from evolake.agents.waves import SiblingNote

Phase = Literal["early_exploration", "systematic_search", "exploitation", "stagnation", "breakthrough_needed"]
ReviewPhase = Literal["exploring", "converging", "stuck", "breakthrough_needed", "refining"]
SuccessLevel = Literal["poor", "moderate", "good", "excellent"]
ShortText = Annotated[str, Field(max_length=600)]
LongText = Annotated[str, Field(max_length=6000)]
Code = Annotated[str, Field(min_length=1, max_length=60_000)]
WEIGHT_SLACK = 0.02
SHORT_ID = 12

RESEARCH_GOAL = (
    "Find a dynamical system that solves hard planted 3-SAT instances with little work, and above all "
    "when there are many variables. Work is the median number of steps times the cost of a step relative "
    "to one of the baseline. What counts is how it grows with the number of variables: it should stay a "
    "low power of it, better than quadratic. Beware of designs that look polynomial on small instances "
    "and blow up on large ones."
)


class RoleMessage(BaseModel):
    model_config = ConfigDict(extra="forbid")


class ReferenceWeight(RoleMessage):
    """How much one referenced design shaped the new one."""

    design_id: str
    weight: float = Field(ge=0, le=1)


def normalised(weights: list[ReferenceWeight]) -> list[ReferenceWeight]:
    """Return weights that sum to 1, from some that nearly do.

    Raises:
        ValueError: the sum is off by more than `WEIGHT_SLACK`, or an id appears twice.
    """
    if not weights:
        return weights
    total = sum(item.weight for item in weights)
    if abs(total - 1) > WEIGHT_SLACK:
        raise ValueError(f"reference weights must sum to 1 (got {total:g})")
    if len({item.design_id for item in weights}) != len(weights):
        raise ValueError("each referenced design may appear once in reference_weights")
    return [ReferenceWeight(design_id=item.design_id, weight=item.weight / total) for item in weights]


class DesignSummary(RoleMessage):
    """One line about a design. `rank` is 1 for the best; `ucb` combines rank and visits of the graph search."""

    design_id: str
    title: str
    operator: str
    rank: int
    consensus: float
    ucb: float
    visits: float
    largest_solved: int = Field(description="largest number of variables solved")
    median_step: int | None = Field(description="median steps at that size")
    median_work: float | None = Field(
        default=None, description="median steps times the work of a step, in steps of the baseline"
    )
    fidelity: str
    tuned: bool = False
    terms: list[str] = Field(
        default_factory=list, description="terms of its genome; empty for a design that came as a file"
    )
    against_parent: str = Field(
        default="", description="work of its main parent over its own, with its interval"
    )


class LevelResult(RoleMessage):
    """One experiment of a design."""

    N: int
    max_work: int = Field(description="work that was allowed, in steps of the baseline")
    median_step: int
    work_per_step: float
    median_work: float
    unsolved_fraction: float
    fidelity: str
    kind: str = "planted"
    steps_run: int | None = None
    timed_out: bool = False
    diverged: int = Field(default=0, description="instances that left the finite numbers")
    failure: str = Field(default="", description="why the runs broke")


class DesignDetail(RoleMessage):
    """A design as a reference: what it is, how it did, and what was learnt from it."""

    design_id: str
    title: str
    rationale: str
    source: str
    results: list[LevelResult]
    key_insight: str = ""
    success_level: str = ""
    terms: list[str] = Field(default_factory=list)
    against_parent: str = ""
    scaling: str = Field(
        default="",
        description="work that a power law through its sizes expects at the largest size, with its interval",
    )


class LookupRequest(RoleMessage):
    """Planner, stage 1: which designs to look at closely."""

    goal: str = RESEARCH_GOAL
    directions_wanted: int
    max_lookups: int
    total_designs: int
    best: DesignSummary | None
    recent: list[DesignSummary]
    summaries: list[DesignSummary] = Field(description="ranked by upper confidence bound, best first")
    guidance: list[str] = Field(default_factory=list, description="what people asked for")
    outcomes: list[str] = Field(
        default_factory=list, description="who is champion, and how the last contests went"
    )


class LookupReply(RoleMessage):
    lookup_experiment_ids: list[str] = Field(description="ids of the designs to review in detail")
    context_rationale: LongText = Field(description="why these, in a few sentences")


class DirectionsRequest(RoleMessage):
    """Planner, stage 2: the directions of this cycle."""

    goal: str = RESEARCH_GOAL
    directions_wanted: int
    max_references: int
    context_rationale: str
    summaries: list[DesignSummary]
    details: list[DesignDetail]
    cycles_without_gain: int = 0
    guidance: list[str] = Field(default_factory=list)
    outcomes: list[str] = Field(
        default_factory=list, description="who is champion, and how the last contests went"
    )
    tried: str = Field(default="", description="what was tried in all cycles, as a table")
    schedule: str = ""


class DirectionsReply(RoleMessage):
    """All lists from `research_directions` on have one entry a direction."""

    current_phase: Phase
    key_insights: list[ShortText] = Field(default_factory=list)
    success_patterns: list[ShortText] = Field(default_factory=list)
    failure_patterns: list[ShortText] = Field(default_factory=list)
    research_directions: list[LongText] = Field(min_length=1)
    strategy_rationales: list[LongText]
    focus_areas: list[ShortText]
    avoid_areas: list[ShortText]
    reference_design_ids: list[list[str]]

    @model_validator(mode="after")
    def aligned(self) -> DirectionsReply:
        """Check that all lists have one entry for each direction."""
        wanted = len(self.research_directions)
        for name in ("strategy_rationales", "focus_areas", "avoid_areas", "reference_design_ids"):
            if len(getattr(self, name)) != wanted:
                raise ValueError(
                    f"{name} must have one entry a direction: wanted {wanted}, got {len(getattr(self, name))}"
                )
        return self


class ParentMaterial(RoleMessage):
    """Operators only: what the genetic operators need of one reference."""

    design_id: str
    title: str
    genome: str | None
    source: str
    values: dict[str, float | int | str]
    scales: list[dict[str, Any]]


class Direction(RoleMessage):
    """What a designer is sent first, whichever way it works.

    outcomes: who is champion, and how the last contests went. tried: what is most like this direction of what was tried, as a table. sibling: which
    request of the cycle it is, and what those before it proposed.
    """

    goal: str = RESEARCH_GOAL
    phase: str
    direction: str
    rationale: str
    focus: str
    avoid: str
    key_insights: list[str]
    outcomes: list[str] = Field(default_factory=list)
    tried: str = ""
    sibling: SiblingNote | None = None


class DesignRequest(Direction):
    """Designer, first turn: write one new design."""

    baseline_source: str
    references: list[DesignDetail]
    objectives: list[str] = Field(description="what the objectives measure, heaviest first")
    schedule: str
    parents: list[ParentMaterial] = Field(default_factory=list, description="operators only")
    taken: list[str] = Field(default_factory=list, description="operators only: keys of known designs")


class DesignReply(RoleMessage):
    explanation: LongText = Field(
        description="what was changed, on what evidence, and what it should improve"
    )
    solver_code: Code = Field(description="the whole design file")
    short_name: str = Field(max_length=40, description="a title of at most 40 characters")
    reference_weights: list[ReferenceWeight] = Field(
        description="share of each reference in this design; they sum to 1"
    )
    operator: str | None = Field(default=None, description="leave null")
    genome: str | None = Field(default=None, description="leave null")
    hyper: dict[str, float | int | str] = Field(default_factory=dict, description="leave empty")

    @model_validator(mode="after")
    def weights_sum_to_one(self) -> DesignReply:
        """Scale the reference weights so that they sum to 1."""
        self.reference_weights = normalised(self.reference_weights)
        return self


class RevisionRequest(RoleMessage):
    """Designer, second turn: what a trial at small sizes measured of its design next to the one that it starts from.

    request: of the cycle, from 1, so that equal designs of two requests are two questions.
    """

    request: int
    source: str
    trial: str


class RevisionReply(RoleMessage):
    """`solver_code` is null where the design shall stay as it is."""

    explanation: LongText = Field(description="what the trial showed, and what was changed")
    solver_code: Code | None = Field(
        default=None, description="the whole revised file; null to keep the design"
    )


class RepairRequest(RoleMessage):
    """Error recovery: a file that was blocked, and why."""

    goal: str = RESEARCH_GOAL
    direction: str
    source: str
    error: str
    genome: str | None = Field(default=None, description="operators only")


class DesignRepairReply(RoleMessage):
    error_summary: LongText
    solver_code: Code
    genome: str | None = Field(default=None, description="leave null")


class MeasuredDesign(RoleMessage):
    """A design with its results, for the analysis. source: left out of prompts where most of it differs from its first reference."""

    design_id: str
    title: str
    direction: str
    explanation: str
    source: str
    fidelity: str
    results: list[LevelResult]
    rank: int
    ranked_designs: int
    consensus: float = Field(description="0 is best, 1 is worst")
    references: list[DesignDetail]
    reference_ranks: dict[str, int]
    creation_weights: list[ReferenceWeight] = Field(
        description="the weights stated when the design was written"
    )
    against_parent: str = ""
    scaling: str = ""
    seconds: float | None = Field(
        default=None, description="counted seconds of a core that its experiments took"
    )


class AnalysisRequest(RoleMessage):
    """Designer, last turn: what the results of some designs of a cycle say."""

    goal: str = RESEARCH_GOAL
    designs: list[MeasuredDesign]
    outcomes: list[str] = Field(default_factory=list)


class DesignAnalysis(RoleMessage):
    design_id: str
    key_insight: ShortText
    success_level: SuccessLevel
    reference_weights: list[ReferenceWeight] = Field(
        default_factory=list, description="only if they differ from those at creation"
    )
    short_name: str = Field(default="", max_length=40, description="leave empty")
    detailed_analysis: LongText = Field(default="", description="leave empty")
    comparison_to_references: LongText = Field(default="", description="leave empty")
    recommended_next_steps: LongText = Field(default="", description="leave empty")

    @model_validator(mode="after")
    def weights_sum_to_one(self) -> DesignAnalysis:
        """Scale the reference weights so that they sum to 1."""
        self.reference_weights = normalised(self.reference_weights)
        return self


class AnalysisReply(RoleMessage):
    """One entry for each design, in any order."""

    analyses: list[DesignAnalysis]


class ObjectiveSummary(RoleMessage):
    """One objective as others may see it."""

    objective_id: str
    description: str
    family: str
    parameters: dict[str, Any] = Field(default_factory=dict)
    source: str
    created_round: int
    weight: float
    multiplier: float
    median_tau: float | None
    nearest_tau: float | None = Field(
        default=None, description="operators only: agreement with the objective that agrees with it most"
    )
    genome: str | None = Field(default=None, description="operators only")
    assessment: str = Field(default="", description="what the last meta review says of it")
    without_score: int = Field(default=0, description="designs of the last cycle that it gave no score")


class ObjectiveRequest(RoleMessage):
    """Objective writer: one more proxy objective."""

    goal: str = RESEARCH_GOAL
    review_guidance: str
    schedule: str
    baseline_source: str
    existing: list[ObjectiveSummary]
    recent_results: list[dict[str, Any]]
    guidance: list[str] = Field(default_factory=list)
    outcomes: list[str] = Field(default_factory=list)
    blocked: list[str] = Field(default_factory=list, description="objectives that a gate blocked, and why")


class ObjectiveReply(RoleMessage):
    objective_description: ShortText = Field(description="what it measures, in one line")
    objective_code: Code = Field(description="the whole file, with `objective(experiment_results) -> float`")
    family: str | None = Field(default=None, description="leave null")
    parameters: dict[str, Any] = Field(default_factory=dict, description="leave empty")


class ObjectiveRepairReply(RoleMessage):
    error_summary: LongText
    objective_code: Code
    objective_description: ShortText | None = Field(
        default=None, description="only if the mended file measures something else"
    )
    family: str | None = Field(default=None, description="leave null")
    parameters: dict[str, Any] = Field(default_factory=dict, description="leave empty")


class ProgramReply(ObjectiveReply):
    """What the operators reply: a program, with what made it. A model is asked for no more than an `ObjectiveReply`."""

    operator: str
    parents: dict[str, float] = Field(default_factory=dict, description="objective -> share in this one")


class ProgramRepairReply(ObjectiveRepairReply):
    """A mended program, with what made it."""

    operator: str


class ProgressEntry(RoleMessage):
    """What the champion of one cycle achieved."""

    cycle: str
    reach: int = Field(description="largest number of variables solved")
    steps: int = Field(description="median steps there")


class ReviewRequest(RoleMessage):
    """Meta reviewer: the state of the portfolio. `tau` is square, in the order of `objectives`; null where undefined."""

    goal: str = RESEARCH_GOAL
    round: int = Field(description="the current round; objectives age by it")
    schedule: str
    objectives: list[ObjectiveSummary]
    tau: list[list[float | None]]
    scores: dict[str, list[float | None]] = Field(
        description="objective id -> score of each design in `design_ids`, null when missing"
    )
    design_ids: list[str]
    largest_solved: list[int] = Field(description="largest number of variables each design solved")
    top_designs: list[DesignSummary]
    progress: list[ProgressEntry] = Field(description="one entry a cycle, oldest first")
    previous_guidance: str
    guidance: list[str] = Field(default_factory=list)
    outcomes: list[str] = Field(default_factory=list)


class ObjectiveAnalysis(RoleMessage):
    objective_id: str
    assessment: ShortText
    weight_multiplier: float = Field(ge=0, le=10)


class ReviewReply(RoleMessage):
    research_assessment: LongText
    research_phase: ReviewPhase
    objective_analysis: list[ObjectiveAnalysis]
    objective_directions: LongText = Field(description="what the next objectives should measure")
