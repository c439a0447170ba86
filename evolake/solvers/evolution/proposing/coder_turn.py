"""The coder's turn in a cycle: who is asked, who judges, under which settings, rules and seeds."""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evolake.agents import Agents
from evolake.cycle_seeds import CycleSeeds
from evolake.solvers.evolution.authors import Author, CoderFacts, Commission
from evolake.solvers.evolution.proposing.proposal import Judge
from evolake.solvers.evolution.trials import Trial
from evolake.solvers.roles.rules_to_show import ShownRules
from evolake.solvers.settings import SolversSettings

WhoElse = Callable[[Mapping[str, Any]], Author | None]
"""Plan -> who else than the roles of the coder carries it out; None: they do."""


TryVariant = Callable[[Commission, Path], Trial]
"""(commission, folder of a variant that was built) -> how it compares with its parent on formulas drawn for
the plan."""


@dataclass(frozen=True)
class CoderTurn:
    """What all plans of a cycle share.

    into: an empty folder; each attempt gets one in it. judge: the gates, or those of them that the caller
    wants fed back. workers: how many plans of the operators are carried out at one time. facts: what decides,
    for the coders. trial: runs a variant that passed its gates next to its parent, so that a one-shot coder
    may revise it; None: there is no such round.
    """

    agents: Agents
    judge: Judge
    into: Path
    settings: SolversSettings
    seeds: CycleSeeds
    rules: ShownRules = field(default_factory=ShownRules)
    author: WhoElse = lambda plan: None
    workers: int = 1
    facts: CoderFacts = field(default_factory=CoderFacts)
    trial: TryVariant | None = None

    @property
    def operators(self) -> bool:
        """Return whether operators propose, not a model."""
        return self.agents.backend.name == "operators"

    def fresh(self, number: int, attempt: int | str) -> Path:
        """Return the path of an attempt's folder, which does not exist."""
        folder = self.into / f"{number:03d}-{attempt}"
        if folder.exists():
            shutil.rmtree(folder)
        return folder
