"""What tests of the prompts line share: problems of sums, a policy whose skill is known, and agents of both
backends.

`Adder` is a policy in full: with the chance that the principles it reads earn it adds rightly, so that
evolution has something to find. It keeps what it was asked and what it was updated with.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from loopback_model import KEY
from pydantic import SecretStr

from evolake.agents import Agents, open_agents
from evolake.agents.prompts import schema_text
from evolake.agents.roles import OperatorsBackend
from evolake.cli.agents import roles_of_line
from evolake.prompts.evolution.iteration import ARMS, TABLES, IterationContext, Iterations, run_iteration
from evolake.prompts.evolution.population import Population
from evolake.prompts.model.library import PrincipleLibrary, load_library
from evolake.prompts.model.prompt import SystemPrompt
from evolake.prompts.model.protocol import Group, Policy, Problem, Rollout, Sample, UpdateStats
from evolake.prompts.settings import PromptsSettings
from evolake.settings import BudgetSettings, Settings, default_lake_root

SEEDS = default_lake_root() / "seeds/prompts"
SIZES = PromptsSettings(
    batch_problems=4, prompts_per_iteration=3, rollouts=4, window=4, crossover=1.0, selection="espl"
)


def library() -> PrincipleLibrary:
    """The one that ships."""
    return load_library(SEEDS)


def problem(number: int, split: Any = "train") -> Problem:
    return Problem(
        problem_id=f"sum-{number}",
        text=f"What is {number} + {number + 3}?",
        answer=json.dumps(2 * number + 3),
        case_sensitive=True,
        category="sums",
        difficulty=1,
        split=split,
        source="tests",
        family=f"sum-{number}",
    )


PROBLEMS = [problem(number) for number in range(1, 13)]


def judge(prompt: SystemPrompt, problem: Problem, number: int, sample: Sample) -> Rollout:
    """Reward 1 for the right number as the last word of the reply."""
    last = sample.reply.split()[-1] if sample.reply.split() else ""
    formatted = last.isdigit()
    correct = formatted and int(last) == json.loads(problem.answer)
    return Rollout(
        prompt.prompt_id,
        problem.problem_id,
        number,
        sample.reply,
        sample.tokens,
        sample.truncated,
        correct,
        formatted,
        float(correct),
    )


class Adder:
    """Adds rightly with chance `skill(prompt)`, else says something else."""

    name = "adder"

    def __init__(self, *, learns: bool = True, skill: Callable[[SystemPrompt], float] | None = None):
        self.learns = learns
        self.skill = skill or (lambda prompt: min(0.9, 0.3 + 0.15 * len(prompt.principles)))
        self.updates: list[list[Group]] = []
        self.asked: list[tuple[str, str]] = []

    def sample(
        self, pairs: Sequence[tuple[SystemPrompt, Problem]], n: int, seed: int, *, greedy: bool = False
    ) -> list[list[Sample]]:
        random = np.random.default_rng(seed)
        self.asked += [(prompt.prompt_id, item.problem_id) for prompt, item in pairs]
        return [[self._reply(prompt, item, random) for _ in range(n)] for prompt, item in pairs]

    def _reply(self, prompt: SystemPrompt, posed: Problem, random: np.random.Generator) -> Sample:
        true = json.loads(posed.answer)
        if random.random() < self.skill(prompt):
            return Sample(f"The sum is {true}", 4, False)
        kind = random.integers(3)
        reply = [f"It is {true} I think", f"The sum is {true + 5}", "Let me think about it once"][kind]
        return Sample(reply, len(reply.split()), bool(kind == 2))

    def update(self, groups: Sequence[Group], seed: int) -> UpdateStats:
        self.updates.append(list(groups))
        informative = sum(len(set(group.rewards)) > 1 for group in groups)
        tokens = sum(sample.tokens for group in groups for sample in group.samples)
        return UpdateStats(
            step=len(self.updates),
            loss=0.5,
            grad_norm=1.0,
            kl=0.0,
            tokens=tokens,
            groups=len(groups),
            informative=informative,
            rejected=0,
            updated=bool(informative),
        )

    def save(self) -> bytes:
        return str(len(self.updates)).encode()

    def load(self, state: bytes) -> None:
        self.updates = [[] for _ in range(int(state))]


def iterate(
    population: Population,
    policy: Policy,
    problems: Sequence[Problem] = PROBLEMS,
    *,
    count: int = 1,
    agents: Agents,
    arm: str | None = None,
    **more: Any,
) -> Iterations:
    """`count` iterations, one after the other: the last population, the rows of all. arm: None means the
    settings'. more: of an `IterationContext`, or turn."""
    turn = more.pop("turn", None)
    course = IterationContext(
        agents,
        **({"judge": judge, "settings": SIZES, "library": library(), "cycle": "0001", "root_seed": 3} | more),
    )
    rows: dict[str, list[dict[str, Any]]] = {name: [] for name in TABLES}
    for _ in range(count):
        done = run_iteration(
            population, policy, problems, course, arm=None if arm is None else ARMS[arm], turn=turn
        )
        population = done.population
        rows = {name: rows[name] + list(done.rows[name]) for name in TABLES}
    return Iterations(population, rows)


def operators(cycle: str = "0001") -> Agents:
    """Agents of the operators backend."""
    return Agents(OperatorsBackend(cycle), line="prompts", cycle=cycle)


def model_settings(base_url: str, **more: Any) -> Settings:
    """Settings of the model backend with that endpoint."""
    return Settings(
        backend="model",
        model_base_url=base_url,
        model_api_key=SecretStr(KEY),
        models={"default": "loopback"},
        budget=BudgetSettings(tokens_per_run=10_000_000),
        model_repairs=1,
        model_max_retries=0,
        **more,
    )


def model_agents(base_url: str, lake: Path, cycle: str = "0001", **more: Any) -> Agents:
    """Agents of the model backend."""
    return open_agents(model_settings(base_url, **more), lake, cycle, "run", line="prompts")


def reply_asked_for(system: str) -> str:
    """The name of the model whose schema a system message ends with, among the replies of the line's
    roles."""
    return next(
        role.reply.__name__
        for role in roles_of_line("prompts")
        if system.endswith(schema_text(role.reply.model_json_schema()))
    )
