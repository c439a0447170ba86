"""Sizes of the `solvers` line."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, Self

from pydantic import Field, model_validator

from evolake.settings import LineSettings

STRONG = ("cadical", "kissat")
"""How the names of seeds begin that solve most of the suite `train` in milliseconds."""
STRONG_LIMIT_S = 5.0
STRONG_SUITES = {"train_suite": "strong", "duel_suite": "strong-duel", "holdout_suite": "strong-holdout"}
"""The suites of such seeds alone, where none is named and a run may take at most `STRONG_LIMIT_S`: of CaDiCaL
they take 5 to 60 % of 3 s."""


class SolversSettings(LineSettings):
    """How much a cycle of the `solvers` line does.

    `train_instances` and its like take the first so many formulas of a suite; the suites' specs put a balanced quick selection on top. 0 means all.
    """  # noqa: E501

    seeds: list[str] = Field(
        default=["minisat22", "glucose421", "maplechrono", "mergesat3", "cadical195"],
        description="seeds to start from",
    )
    variants_per_cycle: int = Field(default=6, gt=0, description="variants planned a cycle")
    survivors: int = Field(
        default=8,
        gt=0,
        description="variants that enter the next cycle, the champion and one per seed among them",
    )
    repair_attempts: int = Field(
        default=2, ge=0, description="times a coder sees a gate's objection before its variant dies"
    )
    coder: str = Field(
        default="one-shot",
        pattern=r"^(one-shot|session|command:.*\S.*)$",
        description=(
            "who writes the code from a plan: `one-shot` (lookup, diff, repairs), `session` (a "
            "model with tools in the jail), or `command:PROGRAM ARGUMENTS`, an agent of your own, which "
            "runs on the host"
        ),
    )
    coder_timeout_s: float = Field(
        default=1800, gt=0, description="wall seconds a coder that is a command may take for one plan"
    )
    trial_formulas: int = Field(
        default=8,
        ge=0,
        le=12,
        description=(
            "fresh formulas on which a one-shot coder's variant is run next to its parent, so that the "
            "model may revise it once before the benchmark if it costs at least 10 % more; 0: no such "
            "round"
        ),
    )
    analyst: Literal["one-shot", "session"] = Field(
        default="one-shot",
        description=(
            "how a model makes the post-mortem of a cycle: `one-shot`, from excerpts, or `session`, which "
            "reads whole diffs, what the gates said and the sources by tools in the jail"
        ),
    )
    timeout_s: float = Field(
        default=10.0, gt=0, description="cpu seconds a benchmark run may take; the competitions allow 5000"
    )
    memory_mb: int = Field(default=2048, gt=0, description="MiB of memory a benchmark run may take")
    proof_mb: int = Field(
        default=512, gt=0, description="MiB of a proof; a longer one ends the run without an answer"
    )
    proof_timeout_s: float = Field(default=200.0, gt=0, description="cpu seconds a proof checker may take")
    proof_memory_mb: int = Field(default=4096, gt=0, description="MiB of memory a proof checker may take")
    proof_share: float = Field(
        default=1.0,
        ge=0,
        le=1,
        description="share of UNSAT answers whose proofs are checked; others count unsolved",
    )
    train_suite: str = Field(
        default="train",
        min_length=1,
        description=(
            "suite that variants are bred on, by name, or a locked folder of formulas; if all seeds are "
            "CaDiCaL or Kissat, timeout_s is at most 5 and no suite is named: strong (and strong-duel, "
            "strong-holdout)"
        ),
    )
    holdout_suite: str = Field(
        default="holdout",
        min_length=1,
        description="suite that nothing in the evolution sees; likewise a name or a folder",
    )
    duel_suite: str = Field(
        default="",
        description="suite that duels draw again (of a folder: copies, shuffled); empty: train_suite",
    )
    correctness_suite: str = Field(
        default="", description="suite or folder that the correctness gate adds to what it draws; empty: none"
    )
    train_instances: int = Field(
        default=0, ge=0, description="how many formulas of train_suite are used; 0: all"
    )
    holdout_instances: int = Field(
        default=0, ge=0, description="how many formulas of holdout_suite are used; 0: all"
    )
    holdout_repeats: int = Field(default=2, gt=0, description="runs of each holdout formula")
    smoke_instances: int = Field(
        default=0, ge=0, description="how many formulas of the suite `smoke` are used; 0: all"
    )
    smoke_timeout_s: float = Field(default=10.0, gt=0, description="cpu seconds a smoke run may take")
    correctness_instances: int = Field(
        default=32,
        ge=32,
        description="small formulas on which the correctness gate checks every model and proof",
    )
    carry_instances: int = Field(
        default=24,
        ge=0,
        description="formulas of train_suite that are run next to renamed copies; less than 4 show nothing",
    )
    filling_build: bool = Field(
        default=False,
        description=(
            "build each variant once more, with local variables filled that the source does not "
            "initialise, to see whether its search depends on them; false: only what it allocates is "
            "filled, which needs no build"
        ),
    )
    challengers: int = Field(
        default=2, gt=0, description="variants a cycle that may fight the champion, by consensus rank"
    )
    race_entrants: int = Field(
        default=0,
        ge=0,
        description="variants that enter the race before the duels, by consensus rank; "
        "further ones enter if stopped variants saved seconds; no race unless larger than challengers",
    )
    race_formulas: int = Field(
        default=6,
        gt=0,
        description="formulas of a race's first budget level; each level doubles them and drops "
        "half of the variants",
    )
    control_share: float = Field(
        default=0.25,
        ge=0,
        description=(
            "processor seconds that random options of the champion's seed run on train_suite, as a share of "
            "what the cycle's new variants ran; 0: no control"
        ),
    )
    duel_instances: int = Field(
        default=0, ge=0, description="formulas of a duel where more than `train_instances`; 0: just as many"
    )
    pairs: int = Field(
        default=3, gt=0, description="interleaved repetitions of champion and challenger a formula"
    )
    initial_objectives: int = Field(
        default=7, gt=0, description="objectives of the first cycle, PAR-2 among them"
    )
    objectives_per_cycle: int = Field(
        default=1, ge=0, description="objectives written a cycle from the second on; as many calls of a model"
    )
    portfolio_size: int = Field(
        default=12, gt=0, description="objectives that vote at most; those least heard retire, PAR-2 never"
    )
    par2_hidden_until: int = Field(default=33, ge=0, description="cycle before which agents see no PAR-2")

    @property
    def held_out(self) -> frozenset[str]:
        """Names that runs on the holdout may bear."""
        return titles_of(self.holdout_suite)

    @model_validator(mode="after")
    def _suites_with_teeth(self) -> Self:
        """Give seeds of CaDiCaL's class formulas that take them a fair share of a short limit."""
        strong = bool(self.seeds) and all(name.startswith(STRONG) for name in self.seeds)
        if strong and self.timeout_s <= STRONG_LIMIT_S and not self.model_fields_set & STRONG_SUITES.keys():
            for name, suite in STRONG_SUITES.items():
                setattr(self, name, suite)
        return self

    @model_validator(mode="after")
    def _holdout_apart(self) -> Self:
        if "smoke" in self.held_out:
            raise ValueError(
                "holdout_suite is 'smoke', which every variant runs at its gates: name another suite"
            )
        for name in ("train_suite", "duel_suite", "correctness_suite"):
            other = getattr(self, name)
            if titles_of(other) & self.held_out:
                raise ValueError(
                    f"holdout_suite bears the name of {name}, {self.holdout_suite!r}: nothing in the "
                    "evolution may see it; name another suite, "
                    "or rename the folder"
                )
            if _overlap(other, self.holdout_suite):
                raise ValueError(
                    f"holdout_suite, {self.holdout_suite!r}, shares files with {name}, {other!r}: nothing "
                    "in the evolution may see it; "
                    "move one of the two folders out of the other, or name another suite"
                )
        return self


def folder_title(folder: Path) -> str:
    """Return what a folder of formulas is called as a suite."""
    return f"competition:{folder.name}"


def titles_of(suite: str) -> frozenset[str]:
    """Return names that runs of a suite may bear, which a setting gives by the name of its spec or as a
    folder; none for ""."""
    if not suite:
        return frozenset()
    return frozenset({suite, folder_title(Path(suite))} if _is_folder(suite) else {suite})


def _is_folder(suite: str) -> bool:
    return "/" in suite or Path(suite).is_dir()


def _overlap(item: str, other: str) -> bool:
    """Return whether both are folders and one is or holds the other, by whatever path or link."""
    if not (item and other and _is_folder(item) and _is_folder(other)):
        return False
    first, second = Path(item).resolve(), Path(other).resolve()
    return first.is_relative_to(second) or second.is_relative_to(first)
