"""Stepwise selection: single edits of one prompt, the incumbent, race against it and against each other; the
simplest of those that may be the best is edited next.

    offered    operators: what the library knows of the incumbent (one principle more, one less, all that are
               missing together; stricter versions when all of these were tried). A model: each of its edits
               alone, and all together.
    drawn      each of the iteration's groups of replies is for the prompt that is best in one sample of the
               posterior of skills (`evolake.prompts.ratings`): replies go where the best may be, and what is
               clearly worse costs none. An edit becomes a child when it is drawn.
    contest    the incumbent answers all problems of the batch, the others the first of these, fewer if they
               are many. So an iteration takes M x B groups, as with every selection.
    accepted   of the prompts that are worse than the best one by no more than CERTAINTY deviations, by all
               matches so far, the one with the fewest principles is the next incumbent. So a principle stays
               only if the contest shows that it helps, and one more is taken only beyond the noise.

Interactions are found by steps, since the edits of a new incumbent are offered again, and by the edit that
adds all at once. What a decision rests on is in `prompts.rollouts`, `values` and `ratings`.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import cycle, islice, product

import numpy as np

from evolake.prompts.edit_memory import Reproduction, Step, idea_of
from evolake.prompts.evolution.population import BLOCKED, INCUMBENT, Population
from evolake.prompts.model.library import PrincipleLibrary
from evolake.prompts.model.prompt import Applied, Hunk, Limits, Outcome, SystemPrompt, apply, from_json
from evolake.prompts.model.protocol import Problem

CERTAINTY = 1.28
"""One-sided 90 %. Other values were not compared."""
LEAST_PROBLEMS = 2
"""Problems of a contest: with more prompts, those that were drawn least take no part."""


def spare(groups: int, problems: int) -> int:
    """Return how many groups of an iteration are for other prompts than the incumbent: what is left when it
    has answered every problem, but half of them at least."""
    return max(groups - problems, groups // 2)


def offered(population: Population, library: PrincipleLibrary, limits: Limits) -> list[Reproduction]:
    """Return the children that the library offers the incumbent, none of which says what a prompt says."""
    parent = population.prompt(population.incumbent_id)
    known = {frozenset(texts) for texts in population.known()}
    for offers in (library.offers(parent), library.stricter_offers(parent)):
        done = [apply(parent, hunks, limits) for hunks in offers]
        fresh = [item for item in done if item.changed and frozenset(item.prompt.texts) not in known]
        if fresh:
            return [child_of(parent, item, "local") for item in fresh]
    return []


def child_of(parent: SystemPrompt, done: Applied, stage: Step) -> Reproduction:
    """Return a mutation by one diff."""
    hunks: tuple[tuple[Step, Outcome], ...] = tuple((stage, outcome) for outcome in done.outcomes)
    return Reproduction("mutation", parent, done.prompt, "", hunks, idea=idea_of(done.outcomes))


def singles(made: Reproduction, population: Population, limits: Limits) -> list[Reproduction]:
    """Return a child for each applied edit of a mutation that applies alone; none for a mutation of one edit,
    and none that says what a prompt says."""
    applied: list[tuple[Step, Hunk]] = [
        (stage, outcome.hunk) for stage, outcome in made.hunks if outcome.applied
    ]
    known = {frozenset(texts) for texts in population.known()} | {frozenset(made.parent.texts)}
    if made.child is not None:
        known.add(frozenset(made.child.texts))
    result: list[Reproduction] = []
    for stage, hunk in applied if len(applied) > 1 else []:
        done = apply(made.parent, [hunk], limits)
        texts = frozenset(done.prompt.texts)
        if done.changed and texts and texts not in known:
            known.add(texts)
            result.append(child_of(made.parent, done, stage))
    return result


def draw(
    population: Population,
    offers: Sequence[Reproduction],
    groups: int,
    problems: int,
    random: np.random.Generator,
) -> tuple[list[SystemPrompt], list[Reproduction]]:
    """Return the prompts of an iteration, the incumbent first, and which of the offers are among them.

    Args:
        groups: of replies. problems: of the batch.
    """
    prompts: dict[int, SystemPrompt | Reproduction] = {
        row["number"]: from_json(row["principles"])
        for row in population.rows()
        if row["state"] not in (BLOCKED, "retired")
    }
    prompts |= {len(population.rows()) + place: offer for place, offer in enumerate(offers)}
    incumbent = population.row(population.incumbent_id)["number"]
    skills = population.skills([offer.child for offer in offers if offer.child])
    leaders = skills.leaders(list(prompts), groups, random)
    if leaders == [incumbent]:
        others = [number for number in prompts if number != incumbent]
        leaders += [skills.best(others)] if others else []
    drawn = [prompts[number] for number in leaders if number != incumbent]
    free = spare(groups, problems)
    drawn = drawn[: max(min(1, free), free // LEAST_PROBLEMS)]
    chosen = [item.child if isinstance(item, Reproduction) else item for item in drawn]
    return (
        [population.prompt(population.incumbent_id), *(prompt for prompt in chosen if prompt)],
        [item for item in drawn if isinstance(item, Reproduction)],
    )


def contest(
    chosen: Sequence[SystemPrompt], batch: Sequence[Problem], groups: int
) -> list[tuple[SystemPrompt, Problem]]:
    """Return what is asked: the incumbent, which comes first, all problems of the batch as far as groups
    reach, and the others the same ones of them."""
    incumbent, *others = chosen
    shared = batch[: spare(groups, len(batch)) // len(others)] if others else []
    own = islice(cycle(batch), groups - len(others) * len(shared))
    return [*((incumbent, problem) for problem in own), *product(others, shared)]


def step(population: Population, took_part: Sequence[SystemPrompt]) -> Population:
    """With the incumbent that follows from all matches: the simplest of these prompts that may be the best;
    of equals, the best."""
    prompts = {prompt.prompt_id: prompt for prompt in took_part}
    gaps = gaps_of(population, list(prompts))
    simplest = min(
        (name for name, (gap, deviation) in gaps.items() if gap <= CERTAINTY * deviation),
        key=lambda name: (len(prompts[name].principles), gaps[name][0]),
    )
    return population.with_values(**{INCUMBENT: simplest})


def gaps_of(population: Population, prompt_ids: Sequence[str]) -> dict[str, tuple[float, float]]:
    """Return by how much the best of these prompts is estimated to be better than each, with the deviation of
    that difference."""
    skills, numbers = population.skills(), [population.row(name)["number"] for name in prompt_ids]
    best = skills.best(numbers)
    return {name: skills.over(best, number) for name, number in zip(prompt_ids, numbers, strict=True)}
