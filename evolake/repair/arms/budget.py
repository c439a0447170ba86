"""The budget of a trial, in model calls and in solver calls alike: K candidates a round in R rounds.

Every arm is run by the one loop of `trial`, which takes from a budget before each call, so the
compute-matched arms have equal budgets by construction; the counts are in every row, and a check compares
them.
"""

from __future__ import annotations

from dataclasses import dataclass

from evolake.errors import InputError, MachineryError
from evolake.repair.names import ONE_SHOT

MOST = 64


@dataclass(frozen=True)
class RoundPlan:
    """K candidates a round, R rounds."""

    candidates: int
    rounds: int

    def __post_init__(self) -> None:
        if not (1 <= self.candidates <= MOST and 1 <= self.rounds <= MOST):
            raise InputError(
                "a trial's budget cannot be used",
                wanted=f"1 to {MOST} candidates and 1 to {MOST} rounds",
                got=f"{self.candidates} and {self.rounds}",
                do="fix EVOLAKE_REPAIR__CANDIDATES or EVOLAKE_REPAIR__ROUNDS",
            )

    @property
    def calls(self) -> int:
        """Model calls a trial may take, and solver calls too."""
        return self.candidates * self.rounds


def plan_of(arm: str, candidates: int, rounds: int) -> RoundPlan:
    """Return what an arm may spend: K by R, the same for every arm but `one_shot`, which has one call."""
    return RoundPlan(1, 1) if arm == ONE_SHOT else RoundPlan(candidates, rounds)


class Budget:
    """What is left of a plan. Taking more than there is, is an error of ours and not of a candidate."""

    def __init__(self, plan: RoundPlan):
        self.plan = plan
        self.calls = 0
        self.solver_calls = 0

    def take_calls(self, count: int) -> None:
        """Book model calls. Raises MachineryError where they pass the plan."""
        self.calls += count
        self._check(self.calls, "model")

    def take_solver_call(self) -> None:
        """Book one certification. Raises MachineryError where it passes the plan."""
        self.solver_calls += 1
        self._check(self.solver_calls, "solver")

    def _check(self, used: int, kind: str) -> None:
        if used > self.plan.calls:
            raise MachineryError(
                f"a trial passed its budget of {kind} calls",
                wanted=f"at most {self.plan.calls}",
                got=str(used),
                do="report it",
            )
