"""The four arms side by side: RL alone, self-reflection alone, evolution alone, evolution with RL (E-SPL, section 4.1).

Every arm starts from the same weights, the same root and the same seed, draws the same problems, and takes the same number of rollouts an iteration.
After every few iterations the prompt that an arm would use by then answers the same held-out problems under the arm's weights.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evolake.agents import Agents
from evolake.errors import InputError
from evolake.prompts.evolution.iteration import ARMS, TABLES, Arm, run_iteration
from evolake.prompts.evolution.payoff_matrix import Judge
from evolake.prompts.evolution.population import Population, found_population
from evolake.prompts.model.library import PrincipleLibrary
from evolake.prompts.model.problems import ProblemSet
from evolake.prompts.model.prompt import SystemPrompt
from evolake.prompts.model.protocol import Policy
from evolake.prompts.rating.evaluating import evaluate
from evolake.prompts.settings import PromptsSettings
from evolake.seeds import child_seed, generator
from evolake.stats.bootstrap import bootstrap_interval

LINE, CYCLE = "prompts", "compare"
BASE = "rl"
"""The arm that the others are compared with, where it is among them."""


@dataclass(frozen=True)
class ArmRun:
    """What one arm did. rows: table name -> rows, those of `iteration.TABLES` and `heldout`. prompt: what it would use in the end."""

    arm: Arm
    population: Population
    prompt: SystemPrompt
    rows: Mapping[str, list[dict[str, Any]]]


def compare(
    arms: Sequence[str], policy: Policy, problems: ProblemSet, root: SystemPrompt, *, iterations: int, every: int,
    agents: Callable[[str], Agents], judge: Judge, settings: PromptsSettings, library: PrincipleLibrary, root_seed: int,
    report: Callable[[str, int], None] = lambda arm, done: None,
) -> list[ArmRun]:
    """Run the arms one after the other.

    Args:
        arms: names of `iteration.ARMS`. policy: as it starts; one that learns is put back to that before each arm and after the last.
        every: iterations between evaluations; the start and the end are always evaluated. agents: arm -> the editors of that arm, closed here.
        report: called with (arm, iterations done).

    Raises:
        InputError: an arm is unknown or twice, or learns with a policy that cannot. As `run_iteration` and `evaluate` besides.
    """
    if not arms or len(set(arms)) < len(arms) or set(arms) - ARMS.keys():
        raise InputError("these arms cannot be compared", wanted=f"each once, of {', '.join(ARMS)}", got=", ".join(arms) or "none")
    if not policy.learns and (learning := [name for name in arms if ARMS[name].learn]):
        raise InputError(
            f"policy {policy.name} cannot learn", wanted="a policy that learns", got=f"arms {', '.join(learning)}",
            do="choose the arms evolution and reflection, or set EVOLAKE_PROMPTS__POLICY=local",
        )
    start = policy.save() if policy.learns else None
    runs = []
    for name in arms:
        arm = ARMS[name]
        rows: dict[str, list[dict[str, Any]]] = {table: [] for table in (*TABLES, "heldout")}
        population = found_population({"root": root}, CYCLE)
        with agents(name) as editors:
            rows["heldout"] += _heldout(policy, root, problems, arm, 0, settings, root_seed)
            for number in range(1, iterations + 1):
                done = run_iteration(
                    population, policy, problems.train, agents=editors, judge=judge, settings=settings, library=library, cycle=CYCLE,
                    root_seed=root_seed, arm=arm,
                )
                population = done.population
                for table in TABLES:
                    rows[table] += done.rows[table]
                if number % every == 0 or number == iterations:
                    rows["heldout"] += _heldout(policy, in_use(population, arm), problems, arm, number, settings, root_seed)
                report(name, number)
        runs.append(ArmRun(arm, population, in_use(population, arm), rows))
        if start is not None:
            policy.load(start)
    return runs


def in_use(population: Population, arm: Arm) -> SystemPrompt:
    """The prompt that an arm would answer with now: the best rated; the latest of self-reflection; the root where no prompt changes."""
    if arm.evolve:
        return population.prompt(population.best_id())
    return population.prompt(population.rows()[-1 if arm.reflect else 0]["prompt_id"])


def summary(runs: Sequence[ArmRun], root_seed: int) -> dict[str, Any]:
    """What the arms came to, as JSON values.

    For each: rollouts, updates, the curve of held-out shares with 95% bootstrap intervals over problems, correct and formatted apart, and the mean
    reward of each iteration. `differences`: of the last shares correct between each arm and the base, paired by problem.
    """
    found = {run.arm.name: _arm_summary(run, root_seed) for run in runs}
    last = {run.arm.name: _by_problem(run, run.rows["heldout"][-1]["iteration"], "correct") for run in runs}
    base = BASE if BASE in last else runs[0].arm.name
    differences = {}
    for name, shares in last.items():
        if name != base:
            values = np.array([shares[problem] - last[base][problem] for problem in sorted(shares)])
            spread = bootstrap_interval(values, generator(root_seed, LINE, CYCLE, f"difference {name}"))
            differences[name] = {"base": base, "difference": spread.estimate, "low": spread.low, "high": spread.high}
    return {"arms": found, "differences": differences}


def _heldout(
    policy: Policy, prompt: SystemPrompt, problems: ProblemSet, arm: Arm, iteration: int, settings: PromptsSettings, root_seed: int
) -> list[dict[str, Any]]:
    rows = evaluate(
        policy, [prompt], problems.heldout, samples=settings.heldout_samples, answer_format=settings.answer_format,
        seed=child_seed(root_seed, LINE, CYCLE, "heldout", iteration),
    )
    return [{"cycle": CYCLE, "arm": arm.name, "iteration": iteration} | row for row in rows]


def _arm_summary(run: ArmRun, root_seed: int) -> dict[str, Any]:
    updates = run.rows["updates"]
    curve = []
    for iteration in sorted({row["iteration"] for row in run.rows["heldout"]}):
        point: dict[str, Any] = {"iteration": iteration}
        for what in ("correct", "formatted"):
            shares = list(_by_problem(run, iteration, what).values())
            spread = bootstrap_interval(shares, generator(root_seed, LINE, CYCLE, f"{run.arm.name} {what}", iteration))
            point[what] = {"share": spread.estimate, "low": spread.low, "high": spread.high}
        curve.append(point)
    return {
        "rollouts": sum(row["rollouts"] for row in updates), "updates": sum(row["updated"] for row in updates),
        "prompts": len(run.population.prompts), "prompt_id": run.prompt.prompt_id, "prompt": run.prompt.text(),
        "mean_reward": [row["mean_reward"] for row in updates], "heldout": curve,
    }


def _by_problem(run: ArmRun, iteration: int, what: str) -> dict[str, float]:
    """problem id -> share of its replies, in the order of the rows."""
    found: dict[str, list[bool]] = {}
    for row in run.rows["heldout"]:
        if row["iteration"] == iteration:
            found.setdefault(row["problem_id"], []).append(row[what])
    return {problem: sum(values) / len(values) for problem, values in found.items()}
