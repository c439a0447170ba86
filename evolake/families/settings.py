"""Sizes of the `families` line."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from evolake.settings import LineSettings

DRIFT_PAIRS = 10
"""Pairs of a new family and its parent that a solver model is tried on in a cycle."""


class FamiliesSettings(LineSettings):
    """How much a cycle of the `families` line does, and what one family may cost."""

    families_per_cycle: int = Field(default=24, gt=0, description="families proposed a cycle")
    refinements: int = Field(default=2, ge=0, description="t_max: refinements of a blocked family")
    measured_drafts: int = Field(
        default=1,
        ge=0,
        description=(
            "times that a model which writes in one reply is sent all faults that the gates without a "
            "model find, and may correct them before validators and reviewers are asked; each costs at "
            "most one call; 0: its first version goes to the gates"
        ),
    )
    seed_review: Literal["shipped", "model"] = Field(
        default="shipped",
        description=(
            "who reviews the seeds when a model proposes: `shipped` takes the operators' reviews, by the "
            "evidence that comes with the seeds, `model` asks the model (some 270 calls before the first "
            "proposal)"
        ),
    )
    world_share: float = Field(
        default=0.5,
        ge=0,
        le=1,
        description="share of proposals that draw a new kind of puzzle and have no parent",
    )
    composition_depth: int = Field(
        default=2, gt=0, description="compositions of families that may be inside one another"
    )
    evolution_agent: Literal["one-shot", "session"] = Field(
        default="one-shot",
        description=(
            "how a model writes families: `one-shot` (one reply, and one for each refinement), or "
            "`session` (it writes the files, runs the generator, looks at samples and sees the votes by "
            "tools in the jail)"
        ),
    )
    learnability: float = Field(
        default=0.0,
        ge=0,
        le=1,
        description=(
            "how much counts what the policy of the prompts line learns from a family: in who is drawn as "
            "a parent, and, above 0, families from which it learns nothing are retired; 0: nothing of "
            "that line is read"
        ),
    )
    learnability_cycles: int = Field(
        default=5,
        gt=0,
        description="cycles of the prompts line whose scores are read, the newest finished ones",
    )
    learnability_floor: float = Field(
        default=0.05,
        ge=0,
        le=1,
        description=(
            "a family that scores below is retired; scores go from 0 (too easy, or impossible) to 1; 0: "
            "none is"
        ),
    )
    learnability_groups: int = Field(
        default=4, gt=0, description="groups of replies from which on a family may be retired"
    )
    validator_authors: Literal["separate", "together"] = Field(
        default="separate",
        description=(
            "who writes the independent validators of a model's family: `separate` calls, which see the "
            "statement and some instances and never the primary, or `together` with the primary, in one "
            "reply"
        ),
    )
    instances_per_family: int = Field(default=100, ge=0, description="instances made of each accepted family")
    band_weights: list[int] = Field(
        default=[1, 3, 5], min_length=3, max_length=3, description="instances at difficulty 1-3, 4-6 and 7-10"
    )
    instance_rounds: int = Field(
        default=5, gt=0, description="draws, the first included, to replace instances that were dropped"
    )
    trivial_steps: int = Field(
        default=12,
        ge=0,
        description="an instance that every voter solves within so many source lines is dropped; 0: none is",
    )
    gate_difficulties: list[int] = Field(
        default=[1, 3, 5, 7, 10], min_length=2, description="difficulties that the gates sample"
    )
    execution_seeds: int = Field(default=3, gt=0, description="seeds a difficulty at the execution gate")
    sample_seeds: int = Field(
        default=8, ge=4, description="seeds a difficulty of the sample for the static and the consensus gate"
    )
    guess_seeds: int = Field(
        default=40,
        ge=0,
        description=(
            "further seeds a difficulty, answered by the primary only, to see what a guesser gets at each "
            "level"
        ),
    )
    counted_seeds: int = Field(
        default=1, gt=0, description="of these, seeds whose work is counted in source lines"
    )
    benchmarks: str = Field(
        default="",
        description=(
            "folder of benchmarks (.txt, .md, .csv, .tsv, .json, .jsonl, .parquet) that no statement may "
            "be in; empty: none"
        ),
    )
    validators: int = Field(
        default=2, ge=2, description="m: independent validators that vote next to the primary"
    )
    blind_difficulties: list[int] = Field(
        default=[3, 5, 5, 7, 7], min_length=1, description="one blind review an entry"
    )
    reviewer_turns: int = Field(
        default=4, gt=0, description="programs that one blind reviewer may run, the last reply included"
    )
    checked_evidence: int = Field(
        default=2, ge=0, description="seeds with shipped evidence that go through the gates all the same"
    )
    planted_faults: int = Field(
        default=3,
        gt=0,
        description="families that each class of faults is planted into, to measure the gates",
    )
    drift_difficulties: list[int] = Field(
        default=[5, 7, 10], min_length=1, description="one instance per entry and family"
    )
    drift_samples: int = Field(default=8, gt=0, description="replies of the solver model an instance")
    instance_cpu_s: float = Field(
        default=2.0, gt=0, description="cpu seconds of one instance, one answer or one reading"
    )
    call_cpu_s: float = Field(
        default=20.0, gt=0, description="cpu seconds of one jail call, all its instances together"
    )
    memory_mb: int = Field(default=768, gt=0, description="MiB of memory one jail call may take")
