"""What a prompt's rollouts on a problem show, and the steps of a reproduction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from evolake.prompts.model.protocol import Problem, Rollout

Step = Literal["summary", "critique", "local", "global", "recombine", "child"]
CHILD: Step = "child"
"""The step of a row of EDITS that says why there is no child."""


@dataclass(frozen=True)
class Evidence:
    """The rollouts of one prompt on one problem."""

    problem: Problem
    rollouts: tuple[Rollout, ...]

    @property
    def contrasted(self) -> bool:
        """Whether there are better and worse ones: with rewards of 0 and 1, exactly 0 < V < 1."""
        return len({worth(rollout) for rollout in self.rollouts}) > 1


def worth(rollout: Rollout) -> float:
    """Return what a rollout counts in values and ratings. Rejection keeps a failed rollout out of the update;
    it is worth nothing all the same."""
    return 0.0 if rollout.reward is None else rollout.reward
