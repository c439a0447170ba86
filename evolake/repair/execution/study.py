"""A study: which problems, which budget, which proposer. Its sha is what distinguishes the cells of one study
from those of another.

Arms and seeds are not part of the sha: a study may be given more of them later, and what is there is kept.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evolake.agents.sampling import Sampling, sampling_of
from evolake.canonical_json import canonical_json
from evolake.cells import MAX_SEED
from evolake.errors import InputError
from evolake.repair.arms.budget import RoundPlan
from evolake.repair.arms.prompts import ROLES
from evolake.repair.model.problems import Problem, parse_problem
from evolake.repair.names import ARMS, KNOWN_ARMS, in_order
from evolake.repair.settings import RepairSettings
from evolake.settings import Settings

PROTOCOL = 1


@dataclass(frozen=True)
class BenchmarkProblem:
    """A problem with its place in the benchmark: main (`lia`, `none`), a perturbation, or the transfer
    suite."""

    problem: Problem
    suite: str = "lia"
    variation: str = "none"


def entries_of(rows: Iterable[Mapping[str, Any]]) -> tuple[BenchmarkProblem, ...]:
    """Return the entries that rows of the table `problems` hold, in their order."""
    return tuple(
        BenchmarkProblem(
            parse_problem(row["json"], where=f"problem {row['problem_id']}"), row["suite"], row["variation"]
        )
        for row in rows
    )


@dataclass(frozen=True)
class Study:
    """Hold what decides the rows of a cell, in addition to its arm and its seed.

    Attributes:
        candidates, rounds: K and R of the matched arms.
        model: the model's name, or `operators`. `sampling`: how its replies are drawn; None for the
            operators.
        root_seed: of the operators' generators.
    """

    entries: tuple[BenchmarkProblem, ...]
    candidates: int
    rounds: int
    timeout_ms: int
    backend: str
    model: str
    root_seed: int
    sampling: tuple[Any, ...] | None = None

    def __post_init__(self) -> None:
        RoundPlan(self.candidates, self.rounds)
        if not self.entries:
            raise InputError("a study needs at least one problem", do="raise --problems")

    @property
    def problems_sha(self) -> str:
        """sha256 of the problems' JSON lines with their places."""
        lines = [f"{entry.suite} {entry.variation} {entry.problem.to_json()}" for entry in self.entries]
        return hashlib.sha256("\n".join(lines).encode()).hexdigest()

    @property
    def sha(self) -> str:
        """sha256 of everything that decides the rows."""
        values = {
            "protocol": PROTOCOL,
            "problems": self.problems_sha,
            "candidates": self.candidates,
            "rounds": self.rounds,
            "timeout_ms": self.timeout_ms,
            "backend": self.backend,
            "model": self.model,
            "root_seed": self.root_seed,
            "sampling": self.sampling,
        }
        return hashlib.sha256(json.dumps(values, sort_keys=True).encode()).hexdigest()

    def bare(self) -> Study:
        """Return the same with its first problem alone: all that a worker needs to know next to its own
        problems."""
        return replace(self, entries=self.entries[:1])

    def row(self, arms: Sequence[str], seeds: Sequence[int]) -> dict[str, Any]:
        """Return its row of the table `study`."""
        return {
            "study_sha": self.sha,
            "problems_sha": self.problems_sha,
            "problems": len(self.entries),
            "candidates": self.candidates,
            "rounds": self.rounds,
            "solver_timeout_ms": self.timeout_ms,
            "backend": self.backend,
            "model": self.model,
            "root_seed": self.root_seed,
            "arms": list(arms),
            "seeds": list(seeds),
        }


def study_of(settings: Settings, entries: Sequence[BenchmarkProblem]) -> Study:
    """Return the study that the settings describe.

    Raises:
        InputError: the arms' prompts would be served by different models: arms would differ in more than
            their feedback.
    """
    sizes, model, sampling = settings.of(RepairSettings), "operators", None
    if settings.backend == "model":
        roles = {role.name for arm, role in ROLES.items() if arm in {*ARMS, *sizes.arms}}
        names = {name: settings.models.get(name) or settings.models.get("default") or "" for name in roles}
        if len(set(names.values())) > 1:
            raise InputError(
                "the arms would be served by different models",
                wanted="one model for all of them",
                got=", ".join(f"{role}={name or 'none'}" for role, name in sorted(names.items())),
                do="set EVOLAKE_MODELS__DEFAULT alone",
            )
        drawn = {
            canonical_json(sampling_of(settings, name).as_dict()): sampling_of(settings, name)
            for name in sorted(roles)
        }
        if len(drawn) > 1:
            raise InputError(
                "the replies of the arms would be drawn differently",
                wanted="one way for all of them",
                got=" and ".join(sorted(drawn)),
                do="set EVOLAKE_SAMPLING for `default` alone",
            )
        model, sampling = names.popitem()[1], _identity(*drawn.values())
    return Study(
        tuple(entries),
        sizes.candidates,
        sizes.rounds,
        sizes.solver_timeout_ms,
        settings.backend,
        model,
        settings.seed,
        sampling,
    )


def _identity(drawn: Sampling) -> tuple[Any, ...]:
    """Return how replies are drawn, as it is in the sha of a study."""
    return (drawn.max_output_tokens, canonical_json(drawn.options()))


def pick_arms(text: str, every: Sequence[str] = ARMS) -> tuple[str, ...]:
    """Return arms from `all`, which means `every`, or from names joined by commas, opt-in ones too, in the
    study's order. Raises InputError for a name that is none."""
    names = [name.strip() for name in text.split(",") if name.strip()]
    try:
        return in_order(every if names == ["all"] else names)
    except ValueError:
        wanted = f"all, or some of {', '.join(KNOWN_ARMS)}"
        raise InputError(
            "--arms cannot be used", wanted=wanted, got=repr(text), do="name arms joined by commas"
        ) from None


def pick_seeds(count: int) -> tuple[int, ...]:
    """Return the first `count` seeds."""
    if not 1 <= count <= MAX_SEED:
        raise InputError(
            "--seeds cannot be used",
            wanted=f"1 to {MAX_SEED}",
            got=str(count),
            do="give a number in that range",
        )
    return tuple(range(count))
