"""Sizes of the `designs` line."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator

from evolake.settings import LineSettings


class FidelitySettings(BaseModel):
    """One level of the multi-fidelity schedule: sizes up to `max_n` variables, at most `max_steps` steps of the baseline's work, and all sizes of a
    design together at most what a core computes in `core_s` seconds. Both are counted, so that neither the machine nor its load decides."""  # noqa: E501

    model_config = ConfigDict(extra="forbid")
    max_n: int = Field(gt=0, description="variables of the largest instances")
    max_steps: int = Field(
        gt=0,
        description=(
            "work that a level may take, in steps of the baseline: a step that costs twice as much counts "
            "as two"
        ),
    )
    core_s: float = Field(
        gt=0,
        description=(
            "seconds of a core that all sizes of a design may take together; counted, at 50 million steps "
            "times instances times variables a second, and not timed"
        ),
    )


class RaceSettings(BaseModel):
    """The race of a cycle: children of its designs, run on sizes up to `max_n`, before its experiments.

    What ends it is counted, so that two races with one seed are the same. A row that a clock cut all the same says `timed_out`.
    """  # noqa: E501

    model_config = ConfigDict(extra="forbid")
    candidates: int = Field(
        default=0, ge=0, description="children that race per cycle where operators write designs; 0: none"
    )
    work: int = Field(
        default=20_000,
        gt=0,
        description=(
            "work times instances times variables, in millions, after which no further generation of a "
            "race begins; a core does some 50 million per second"
        ),
    )
    enter: int = Field(default=4, gt=0, description="the best of a race that enter the cycle's experiments")
    max_n: int = Field(default=320, ge=12, description="variables of the largest instances of a race")
    batch: int = Field(default=24, gt=0, description="instances per budget level of a race")
    max_steps: int = Field(
        default=20_000,
        gt=0,
        description="work that a racer may take at a budget level, in steps of the baseline, if "
        "no cutoff is lower",
    )
    uniform_share: float = Field(
        default=0.4,
        ge=0,
        lt=1,
        description="share of a race's budget levels that have uniform satisfiable formulas, which hide no "
        "assignment; 0: none",
    )
    uniform_max_n: int = Field(
        default=226,
        ge=12,
        description=(
            "variables of the largest uniform formulas of a race: a SAT solver decides which are "
            "satisfiable, in half a second to more than one each at 226 variables (4.1 to 4.2 clauses per "
            "variable), and far longer above 320"
        ),
    )
    p0: tuple[float, ...] = Field(
        default=(0.08, 0.04),
        min_length=1,
        description=(
            "p0 of the planted formulas of a race, the share of clauses with three true literals; the "
            "budget levels use them in turn, the largest one the first value; each from 0 to 0.25"
        ),
    )

    @field_validator("p0")
    @classmethod
    def _possible_p0(cls, value: tuple[float, ...]) -> tuple[float, ...]:
        if any(not 0 <= p0 <= 0.25 for p0 in value):
            raise ValueError(f"p0 has to be between 0 and 0.25, got {', '.join(f'{p0:g}' for p0 in value)}")
        return value


class UniformSettings(BaseModel):
    """Experiments on uniform satisfiable formulas next to the planted ones: at low fidelity, on the sizes of its schedule up to `max_n`.

    A design is ranked by its worse place over the two kinds, under each objective.
    """  # noqa: E501

    model_config = ConfigDict(extra="forbid")
    share: float = Field(
        default=0.0,
        ge=0,
        lt=1,
        description="share of an experiment's formulas that are uniform; 0: planted formulas only",
    )
    ratio: float = Field(
        default=4.1, gt=0, description="clauses per variable; above 4.2 hardly any is satisfiable"
    )
    max_n: int = Field(
        default=226,
        ge=3,
        description="variables of the largest; a SAT solver has to decide which are satisfiable",
    )


class DesignsSettings(LineSettings):
    """Sizes of the `designs` line."""

    batch: int = Field(default=100, gt=0, description="instances per experiment")
    n_start: int = Field(default=10, ge=3, description="variables of the smallest instances")
    steps_start: int = Field(
        default=50,
        gt=0,
        description="work at the first level, in steps of the baseline; doubled from level to level",
    )
    ratio: float = Field(default=4.3, gt=0, description="clauses per variable")
    low: FidelitySettings = FidelitySettings(max_n=640, max_steps=10_000, core_s=60)
    medium: FidelitySettings = FidelitySettings(max_n=1280, max_steps=100_000, core_s=300)
    high: FidelitySettings = FidelitySettings(max_n=2560, max_steps=1_000_000, core_s=1800)
    medium_share: float = Field(
        default=0.5, gt=0, le=1, description="share of designs that continues to medium"
    )
    promotion: Literal["consensus", "scaling"] = Field(
        default="consensus",
        description=(
            "which designs continue to a higher fidelity: the best by `consensus` rank, or by `scaling`, "
            "the lower end of what their steps are expected to be at its largest size"
        ),
    )
    designs_per_cycle: int = Field(default=8, gt=0, description="designs proposed a cycle")
    designer: Literal["auto", "one-shot", "session"] = Field(
        default="auto",
        description=(
            "how a model writes a design: `one-shot` (one reply, one repair, one revision), `session` (it "
            "writes the file, has it traced and tries it on small instances by tools in the jail), or "
            "`auto`: sessions if the token budget allows `session_tokens` for each design of a cycle, "
            "else one-shot"
        ),
    )
    session_tokens: int = Field(
        default=150_000,
        gt=0,
        description="tokens for each design that `auto` wants of the smaller of the budgets of cycle and run",
    )
    revise: bool = Field(
        default=True,
        description=(
            "a design that a model wrote in one reply is tried at small sizes next to its parent, and the "
            "model may revise it once if it broke there or solved less"
        ),
    )
    directions_per_cycle: int = Field(
        default=4, gt=0, description="directions planned a cycle; each is asked for its share of the designs"
    )
    objectives_per_cycle: int = Field(default=2, ge=0, description="objectives written a cycle")
    initial_objectives: int = Field(default=4, gt=0, description="objectives of the first cycle")
    meta_review_every: int = Field(default=20, gt=0, description="designs between two meta reviews")
    uniform: UniformSettings = UniformSettings()
    ablation_n: int = Field(
        default=0,
        ge=0,
        description=(
            "variables of the formulas, planted and uniform, on which a new champion with a genome "
            "runs without one term at a time; the report shows the effect of each term. 0: off"
        ),
    )
    race: RaceSettings = RaceSettings()
    tuning_trials: int = Field(
        default=50, ge=0, description="trials that tune one design's hyperparameters; 0: none is tuned"
    )
    tuning_fidelity: Literal["low", "medium", "high"] = Field(
        default="low",
        description=(
            "how far a trial of tuning goes at most: up to the sizes of this fidelity, as far as "
            "`tuning_work` allows; what wins at small ones may fail at large"
        ),
    )
    tuning_work: int = Field(
        default=0,
        ge=0,
        description=(
            "work times instances times variables, in millions, that the trials of a cycle may take: the "
            "largest size that a trial goes to follows from it; 0: no bound. A core does some 50 million "
            "per second"
        ),
    )
    tuned_share: float = Field(
        default=0.05, ge=0, le=1, description="tune when fewer than this share of designs is tuned"
    )
    champion_repeats: int = Field(
        default=8,
        gt=0,
        description=(
            "seeds on which challenger and incumbent are compared at most; a hopeless challenger is given "
            "up after 3. With fewer than 6 only large gains can be seen, with fewer than 3 none"
        ),
    )
