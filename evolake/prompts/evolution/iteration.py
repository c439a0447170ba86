"""One iteration: problems are drawn, prompts selected, rollouts sampled and rewarded, the weights updated,
prompts rated, children made (E-SPL, Algorithm 1).

An arm says what is switched on. All arms draw the same problems and take the same number of rollouts, M
groups of N a problem. If there are fewer prompts than M, as in the arms of one prompt, these fill the places
in turn. Stepwise selection (`stepwise`) may have more prompts, not all on every problem.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import count
from typing import Any

import numpy as np
import polars as pl

from evolake.agents import Agents
from evolake.errors import InputError
from evolake.gates import Raised, contained
from evolake.lake.schemas import TableSchema
from evolake.prompts import tables
from evolake.prompts.edit_memory import LINE, Editing, Operator, Reproduction, SearchMemory
from evolake.prompts.evolution.payoff_matrix import (
    Judge,
    PayoffMatrix,
    rating_rows,
    rewarded,
    rollout_row,
    update_row,
)
from evolake.prompts.evolution.population import INCUMBENT, ITERATION, Birth, Population
from evolake.prompts.evolution.stepwise import contest, draw, gaps_of, offered, singles, step
from evolake.prompts.model.library import PrincipleLibrary
from evolake.prompts.model.prompt import Limits, SystemPrompt
from evolake.prompts.model.protocol import Policy, Problem
from evolake.prompts.model.scoring import verified
from evolake.prompts.ratings import Rating, crossed, mutated, ranks_of, select, shares, update
from evolake.prompts.reproduction import cross, mutate
from evolake.prompts.settings import PromptsSettings
from evolake.seeds import child_seed, generator

TABLES: dict[str, TableSchema] = {
    "rollouts": tables.ROLLOUTS,
    "values": tables.VALUES,
    "ratings": tables.RATINGS,
    "edits": tables.EDITS,
    "updates": tables.UPDATES,
}


@dataclass(frozen=True)
class Arm:
    """evolve: prompts are selected, rated, mutated and crossed. learn: the weights are updated. reflect: one
    prompt, replaced by its mutant.

    crossover: where prompts evolve, they are crossed too. select: by rating; else the prompts of an iteration
    are drawn from the window by chance. Without one of these, prompts evolve as in the paper.
    """

    name: str
    evolve: bool = False
    learn: bool = False
    reflect: bool = False
    crossover: bool = True
    select: bool = True


ARMS = {
    arm.name: arm
    for arm in (
        Arm("espl", evolve=True, learn=True),
        Arm("evolution", evolve=True),
        Arm("rl", learn=True),
        Arm("reflection", reflect=True),
        Arm("no-crossover", evolve=True, learn=True, crossover=False),
        Arm("no-selection", evolve=True, learn=True, select=False),
    )
}


@dataclass(frozen=True)
class Iterations:
    """What an iteration gave: the population after it, and rows of the tables in TABLES."""

    population: Population
    rows: Mapping[str, list[dict[str, Any]]]

    def frames(self) -> dict[str, pl.DataFrame]:
        """Return table name -> frame."""
        return {name: schema.frame(self.rows[name]) for name, schema in TABLES.items()}

    def with_checkpoint(self, sha: str) -> Iterations:
        """With the blob of the policy after the last iteration noted in its row of `updates`."""
        *before, last = self.rows["updates"]
        return replace(self, rows={**self.rows, "updates": [*before, last | {"checkpoint_sha": sha}]})


@dataclass(frozen=True)
class IterationContext:
    """What all iterations of a cycle share. judge: gives a sample its reward. guidance: what people asked
    for, shown to the editors. memory: edits, duels and objections of before. waves: as in `Editing`."""

    agents: Agents
    judge: Judge
    settings: PromptsSettings
    library: PrincipleLibrary
    cycle: str
    root_seed: int
    guidance: Sequence[str] = ()
    memory: SearchMemory = field(default_factory=SearchMemory)
    waves: int = 1


def run_iteration(
    population: Population,
    policy: Policy,
    problems: Sequence[Problem],
    context: IterationContext,
    *,
    arm: Arm | None = None,
    turn: int | None = None,
) -> Iterations:
    """Return the next iteration of a population. The policy is updated in place where the arm learns; all
    else is returned.

    Args:
        problems: for training, in an order that the caller fixes. arm: None means the one that
            `context.settings.arm` names.
        turn: which iteration of the cycle it is, from 1, for problems that are set for one; None: none is.

    Raises:
        InputError: no problems, a held-out one among them, or an arm that learns with a policy that cannot.
        AgentUnavailable, BudgetExhausted: as the agents do; nothing of the iteration is kept then.
    """
    agents, settings, cycle, root_seed = context.agents, context.settings, context.cycle, context.root_seed
    arm = arm or ARMS[settings.arm]
    _check(policy, problems, arm)
    number = population.iteration + 1
    tag = {"cycle": cycle, "arm": arm.name, "iteration": number}
    batch = draw_batch(
        problems, settings.batch_problems, root_seed=root_seed, cycle=cycle, iteration=number, turn=turn
    )
    groups_wanted, window = settings.prompts_per_iteration * len(batch), window_of(settings, arm)
    random = generator(root_seed, LINE, cycle, "selection", number)
    backend, entering, entered = agents.backend.name, list[Reproduction](), population
    if window is None:
        limits = Limits(problems=tuple(problem.text for problem in batch))
        offers = offered(population, context.library, limits) if backend == "operators" else []
        chosen, entering = draw(population, offers, groups_wanted, len(batch), random)
        pairs = contest(chosen, batch, groups_wanted)
    else:
        chosen = choose(population, arm, settings, random)
        places = [chosen[place % len(chosen)] for place in range(settings.prompts_per_iteration)]
        pairs = [(prompt, problem) for prompt in places for problem in batch]
    for child in entering:
        entered = _born(entered, child, (), tag, agents)
    sampled = policy.sample(pairs, settings.rollouts, child_seed(root_seed, LINE, cycle, "rollouts", number))
    samples = verified(pairs, sampled, settings.answer_format)
    groups, rollouts = rewarded(pairs, samples, context.judge)
    stats = policy.update(groups, child_seed(root_seed, LINE, cycle, "update", number)) if arm.learn else None
    payoffs = PayoffMatrix.of(chosen, batch, [rollout for rollout, failed in rollouts if not failed])
    rated = _rate(entered, payoffs)
    limits = Limits(problems=tuple(problem.text for problem in payoffs.problems))
    memory = replace(context.memory, prompts=rated.rows())
    editing = Editing(
        agents,
        context.library,
        cycle,
        number,
        root_seed,
        list(context.guidance),
        limits,
        memory,
        context.waves,
    )
    decided: dict[str, dict[str, Any]] = {}
    grown = rated.with_values(**{INCUMBENT: None})
    if window is None:
        grown = step(rated, chosen)
        decided = {
            name: {"gap": gap, "deviation": deviation, "incumbent": name == grown.incumbent_id}
            for name, (gap, deviation) in gaps_of(rated, [prompt.prompt_id for prompt in chosen]).items()
        }
    reproduce = _reproduce if window is not None else _edit_incumbent
    children = reproduce(grown, payoffs, arm, settings, editing)
    for child in children:
        grown = _born(grown, child, payoffs.prompts, tag, agents)
    grown = grown.with_values(**{ITERATION: number}).in_window(window)
    born = [*entered.rows()[len(population.prompts) :], *grown.rows()[len(rated.prompts) :]]
    edits = [row for child in (*entering, *children) for row in child.rows(**tag, backend=backend)]
    numbers = {operator: count() for operator in ("mutation", "crossover")}
    rows = {
        "rollouts": [tag | rollout_row(rollout) for rollout, _ in rollouts],
        "values": [tag | row for row in payoffs.rows([rollout for rollout, _ in rollouts])],
        "ratings": [tag | row for row in rating_rows(rated, born, payoffs, decided)],
        "edits": [row | {"number": next(numbers[row["operator"]])} for row in edits],
        "updates": [tag | update_row(policy, stats, groups, rollouts)],
    }
    return Iterations(grown, rows)


def draw_batch(
    problems: Sequence[Problem],
    count: int,
    *,
    root_seed: int,
    cycle: str,
    iteration: int,
    turn: int | None = None,
) -> list[Problem]:
    """Return the batch of an iteration, without repetition: those that are set for its turn, the rest of
    those that are set for none. All problems if there are no more than `count`."""
    random = generator(root_seed, LINE, cycle, "problems", iteration)
    given = [problem for problem in problems if problem.turn is not None and problem.turn == turn][:count]
    others = [problem for problem in problems if problem.turn is None]
    places = (
        random.choice(len(others), size=min(count - len(given), len(others)), replace=False).tolist()
        if others
        else []
    )
    return [*given, *(others[place] for place in places)]


def window_of(settings: PromptsSettings, arm: Arm | None = None) -> int | None:
    """Return how many of the latest prompts may be drawn; None: selection is stepwise. arm: None means the
    one of the settings."""
    arm = arm or ARMS[settings.arm]
    stepwise = settings.selection == "stepwise" and arm.evolve and arm.crossover and arm.select
    return None if stepwise else settings.window


def choose(
    population: Population, arm: Arm, settings: PromptsSettings, random: np.random.Generator
) -> list[SystemPrompt]:
    """Return the prompts of an iteration: selected from the window; the youngest for self-reflection; the
    first root if no prompt changes."""
    if arm.evolve:
        heat = settings.selection_temperature if arm.select else math.inf
        result = select(
            population.entrants(),
            settings.prompts_per_iteration,
            random,
            window=settings.window,
            temperature=heat,
        )
        return [population.prompt(item.prompt_id) for item in result]
    return [population.prompt(population.living()[-1 if arm.reflect else 0]["prompt_id"])]


def _check(policy: Policy, problems: Sequence[Problem], arm: Arm) -> None:
    if not problems:
        raise InputError("there are no problems to train on", wanted="one at least")
    if held := [problem.problem_id for problem in problems if problem.split != "train"]:
        raise InputError(
            "held-out problems may not be trained on",
            got=", ".join(held[:5]),
            do="pass the problems of the split `train`",
        )
    if arm.learn and not policy.learns:
        raise InputError(
            f"arm {arm.name} updates weights and policy {policy.name} has none that it can",
            wanted="a policy that learns",
            do="choose the arm evolution or reflection, or a local policy",
        )


def _rate(population: Population, payoffs: PayoffMatrix) -> Population:
    """With the ratings after the match, and the match itself; one prompt alone keeps its own."""
    before = [population.rating(prompt.prompt_id) for prompt in payoffs.prompts]
    after = update(before, ranks_of(payoffs.means)) if payoffs.means is not None else before
    rated = population.rated(
        {prompt.prompt_id: rating for prompt, rating in zip(payoffs.prompts, after, strict=True)}
    )
    return rated.with_match(payoffs.results)


def _reproduce(
    population: Population, payoffs: PayoffMatrix, arm: Arm, settings: PromptsSettings, editing: Editing
) -> list[Reproduction]:
    """Return the mutation of the best prompt, and by chance a crossover."""
    if payoffs.means is None or not (arm.evolve or arm.reflect):
        return []
    best, known = payoffs.best(population), population.known()
    mutation = _attempted(
        "mutation",
        payoffs.prompts[best],
        mutate,
        editing,
        payoffs.prompts[best],
        payoffs.evidence(best),
        edits_per_problem=settings.edits_per_problem,
        known=known,
    )
    chance = generator(editing.root_seed, LINE, editing.cycle, "crossover", editing.iteration).random()
    if not (arm.evolve and arm.crossover) or chance >= settings.crossover or len(payoffs.prompts) < 2:
        return [mutation]
    taken = known | ({mutation.child.texts} if mutation.child else set())
    crossed = _attempted(
        "crossover",
        payoffs.prompts[best],
        cross,
        editing,
        payoffs.prompts,
        payoffs.phi,
        payoffs.problems,
        best=best,
        known=taken,
        evidence=[payoffs.evidence(place) for place in range(len(payoffs.prompts))],
    )
    return [mutation, crossed]


def _edit_incumbent(
    population: Population, payoffs: PayoffMatrix, arm: Arm, settings: PromptsSettings, editing: Editing
) -> list[Reproduction]:
    """Return what a model makes of the incumbent by its rollouts, each edit alone too; nothing while a prompt
    waits for its first match."""
    waiting = [row for row in population.rows("candidate") if not row["rounds"]]
    if not editing.by_model or payoffs.means is None or waiting:
        return []
    incumbent = population.prompt(population.incumbent_id)
    made = _attempted(
        "mutation",
        incumbent,
        mutate,
        editing,
        incumbent,
        payoffs.evidence(payoffs.prompts.index(incumbent)),
        edits_per_problem=settings.edits_per_problem,
        known=population.known(),
    )
    return [made, *singles(made, population, editing.limits)]


def _attempted(
    operator: Operator,
    parent: SystemPrompt,
    make: Callable[..., Reproduction],
    *arguments: Any,
    **options: Any,
) -> Reproduction:
    """Return what `make` gives; no child, with the reason, where a reply makes our code raise."""
    result = contained(make, *arguments, **options)
    return Reproduction(operator, parent, None, result.reason) if isinstance(result, Raised) else result


def _born(
    population: Population,
    made: Reproduction,
    prompts: Sequence[SystemPrompt],
    tag: Mapping[str, Any],
    agents: Agents,
) -> Population:
    """Return the population with the child, if there is one; the calls record which child they were for.
    prompts: that a crossed child is made of."""
    for call_id in made.calls:
        agents.assign(call_id, (made.child or made.parent).prompt_id)
    if made.child is None:
        return population
    parents: dict[str, float]
    rating: Rating
    if made.operator == "mutation":
        parents = {made.parent.prompt_id: 1.0}
        rating = mutated(population.rating(made.parent.prompt_id))
    else:
        ratings = [population.rating(prompt.prompt_id) for prompt in prompts]
        parents = dict(zip((prompt.prompt_id for prompt in prompts), shares(ratings), strict=True))
        rating = crossed(ratings)
    return population.with_child(
        made.child,
        parents,
        rating,
        Birth(made.operator, tag["cycle"], tag["iteration"], agents.backend.name, made.idea),
    )
