"""Sizes of the `programs` line."""

from __future__ import annotations

from typing import Literal

from pydantic import ConfigDict, Field, field_validator

from evolake.settings import LineSettings

APART = {"projects", "jail_folders", "baseline_share", "searches", "simplify_s", "audit_s"}
"""Settings that no candidate, score or decision depends on."""


class ProgramsSettings(LineSettings):
    """How much a cycle of the `programs` line does for each project, and where projects are."""

    model_config = ConfigDict(allow_inf_nan=False)

    projects: str = Field(
        default="",
        description="folders of projects, comma-separated, and no others; empty: those in `programs` of the seeds",  # noqa: E501
    )
    generations_per_cycle: int = Field(default=4, gt=0, description="generations a project has in a cycle")
    candidates_per_generation: int = Field(
        default=8, gt=0, description="candidates of a generation, over all islands"
    )
    batch: int = Field(
        default=2,
        gt=0,
        description=(
            "candidates that operators propose at a time, knowing how those before them scored; as many "
            "are evaluated at the same time. A model is asked in waves (EVOLAKE_AGENTS__WAVES)"
        ),
    )
    islands: int = Field(
        default=3, gt=0, description="islands of a project whose config.yaml names no num_islands"
    )
    elites: int = Field(
        default=8,
        gt=0,
        description="best programs that an island keeps in addition to one for each cell of features",
    )
    most_programs: int = Field(
        default=200,
        gt=0,
        description="living programs of a project at the end of a cycle; config.yaml: population_size",
    )
    jail_folders: str = Field(
        default="/usr/share",
        description=(
            "folders of this machine, comma-separated; a project may name folders in them in `[jail] "
            "folders`: programs of others could read them"
        ),
    )
    writer: Literal["auto", "one-shot", "session"] = Field(
        default="auto",
        description=(
            "how a model writes a program: `session` (it reads, changes and evaluates the program by "
            "tools in the jail), `one-shot` (one reply, and `revisions` after an evaluation), or `auto` "
            "(sessions with the backend model)"
        ),
    )
    candidates_per_call: int = Field(
        default=4,
        gt=0,
        description=(
            "children of one parent that a one-shot writer is asked for in one call, if their texts come "
            "to at most 12,000 characters; 1: a call for each"
        ),
    )
    session_evaluations: int = Field(
        default=12, gt=0, description="evaluations and scratch runs that a session of a writer may ask for"
    )
    revisions: int = Field(
        default=1,
        ge=0,
        le=1,
        description=(
            "whether a one-shot writer may revise its program after one evaluation of it, if it failed or "
            "has the best score so far: 1, or 0 for never"
        ),
    )
    repeats: int = Field(
        default=1,
        gt=0,
        description="evaluations of a candidate, each under its own seed; the score is their mean",
    )
    heldout_repeats: int = Field(
        default=40,
        ge=2,
        description=(
            "seeds, which the search never had, under which champion and challenger are compared at most. "
            "A loss in fewer than 1 of a third of them can go unseen; with fewer than 6 only large gains can "
            "be seen, with 2 none; 3 are used if nothing can be drawn, and no score has noise"
        ),
    )
    heldout_s: float = Field(
        default=120,
        gt=0,
        description=(
            "processor seconds up to which `heldout_repeats` seeds are used; if they would take longer, 8 are"
        ),
    )
    polish_s: float = Field(
        default=20,
        ge=0,
        description=(
            "processor seconds of one polish of the numbers that a program returns, if the operators draw "
            "it; 0: never"
        ),
    )
    baseline_share: float = Field(
        default=1.0,
        ge=0,
        description=(
            "processor seconds of the dumb searches that a project's search is compared with, all together, "
            "as a share of those that the search took; 0: none"
        ),
    )
    searches: str = Field(
        default="hill,restart",
        description=(
            "dumb searches with equal shares of that time, comma-separated: hill, restart, cma, de, and what "
            "packages register as `evolake.searches`"
        ),
    )
    simplify_s: float = Field(
        default=20,
        ge=0,
        description="processor seconds in which a new champion is simplified, at most; 0: never",
    )
    audit_s: float = Field(
        default=20,
        ge=0,
        description=(
            "processor seconds, about, in which attacks try to forge the score of a project that enters; "
            "0: never"
        ),
    )
    cpu_s: float = Field(
        default=30, gt=0, description="processor seconds of one evaluation, unless the project says otherwise"
    )
    wall_s: float = Field(
        default=60,
        gt=0,
        description="seconds on the clock of one evaluation, unless the project says otherwise",
    )
    memory_mb: int = Field(
        default=2048, gt=0, description="MiB of memory of one evaluation, unless the project says otherwise"
    )
    processes: int = Field(
        default=16, ge=0, description="processes that an evaluator may start; 0 under EVOLAKE_JAIL=rlimits"
    )

    @field_validator("searches")
    @classmethod
    def _some_searches(cls, value: str) -> str:
        names = _names(value)
        if not names or len(set(names)) < len(names):
            raise ValueError("name at least one search, and each once")
        return value

    @property
    def search_names(self) -> list[str]:
        """The names in `searches`."""
        return _names(self.searches)


def _names(text: str) -> list[str]:
    return [name for item in text.split(",") if (name := item.strip())]
