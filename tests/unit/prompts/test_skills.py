"""Skills of prompts from all matches: the posterior, what like prompts say of each other, who may be best,
and that they find what ratings by ranks miss."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from evolake.prompts.evolution.population import MATCHES, Birth, found_population
from evolake.prompts.model.prompt import prompt_of
from evolake.prompts.ratings import (
    DEVIATION,
    DRIFT,
    LIKENESS,
    MU,
    SIGMA,
    Entrant,
    Match,
    Rating,
    estimate_skills,
    match_variance,
    mutated,
    ranks_of,
    select,
    update,
)

PROMPTS = {0: ("a",), 1: ("a", "b"), 2: ("a", "b", "c"), 3: ("b",)}
DIFFERING = [[0, 1, 2, 2], [1, 0, 1, 1], [2, 1, 0, 2], [2, 1, 2, 0]]


def by_sampling(matches: list[Match], draws: int = 400_000) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of the skills of PROMPTS by importance sampling from the prior: an independent way
    to the same posterior."""
    prior = DEVIATION**2 * LIKENESS ** np.array(DIFFERING, dtype=float)
    skill = np.random.default_rng(0).multivariate_normal(np.zeros(4), prior, size=draws).T
    logs = np.zeros(draws)
    for age, match in enumerate(reversed(matches)):
        variances = np.array(
            [
                (known[0] if known else max(mean * (1 - mean), 0.09)) / replies + DRIFT**2 * age
                for _, mean, replies, *known in match
            ]
        )
        means, numbers = np.array([row[1] for row in match]), [int(row[0]) for row in match]
        rest = means[:, None] - skill[numbers]
        weights = 1 / variances
        # the flat prior of what the batch is worth, integrated out
        centre = (weights[:, None] * rest).sum(axis=0) / weights.sum()
        logs -= 0.5 * (weights[:, None] * (rest - centre) ** 2).sum(axis=0)
    share = np.exp(logs - logs.max())
    share /= share.sum()
    mean = skill @ share
    return mean, np.sqrt((skill - mean[:, None]) ** 2 @ share)


def test_the_posterior_is_that_of_the_model_by_sampling():
    matches: list[Match] = [
        [(0, 0.2, 20), (1, 0.5, 20)],
        [(1, 0.6, 20, 0.05), (2, 0.4, 20, 0.05), (3, 0.5, 10, 0.05)],
    ]
    skills = estimate_skills(PROMPTS, matches)
    mean, deviation = by_sampling(matches)
    assert [skills.of(number)[0] for number in PROMPTS] == pytest.approx(mean, abs=0.01)
    assert [skills.of(number)[1] for number in PROMPTS] == pytest.approx(deviation, abs=0.01)


def test_more_replies_and_later_matches_count_more():
    def gap(*matches: Match) -> float:
        skills = estimate_skills({0: ["a"], 1: ["b"]}, matches)
        return skills.of(1)[0] - skills.of(0)[0]

    assert gap([(0, 0.4, 50), (1, 0.6, 50)]) > gap([(0, 0.4, 5), (1, 0.6, 5)]) > 0
    assert gap([(0, 0.4, 50, 0.1), (1, 0.6, 50, 0.1)]) > gap([(0, 0.4, 50, 0.5), (1, 0.6, 50, 0.5)])
    won, lost = [(0, 0.4, 50), (1, 0.6, 50)], [(0, 0.6, 50), (1, 0.4, 50)]
    between: list[Match] = [[(0, 0.5, 1)]] * 30
    assert gap(lost, *between, won) > 0 > gap(won, *between, lost)


def test_what_a_principle_does_in_one_prompt_is_expected_of_it_in_another():
    prompts = {0: ["a"], 1: ["a", "good"], 2: ["a", "bad"], 3: ["a", "b", "good"], 4: ["a", "b", "bad"]}
    skills = estimate_skills(prompts, [[(0, 0.4, 50), (1, 0.8, 50), (2, 0.1, 50)]])
    lead, deviation = skills.over(3, 4)
    assert lead > 2 * deviation


def test_of_equal_skills_the_youngest_is_best_and_unknown_prompts_are_left_out():
    assert estimate_skills(PROMPTS, []).best([0, 2, 1]) == 2
    unknown = estimate_skills(PROMPTS, [[(9, 1.0, 50), (0, 0.0, 50)]])
    assert unknown.of(0)[0] == pytest.approx(0.0, abs=1e-9)


def test_leaders_are_those_that_may_be_the_best_and_as_many_as_are_drawn():
    skills = estimate_skills({0: ["a"], 1: ["b"], 2: ["c"]}, [[(0, 0.5, 20), (1, 0.6, 20), (2, 0.1, 20)]])
    random = np.random.default_rng(5)
    exact = random.multivariate_normal(skills.mean, skills.covariance, size=20_000).argmax(axis=1)
    counts = Counter(skills.leaders([0, 1, 2], 1, random)[0] for _ in range(4000))
    for number in (0, 1, 2):
        assert counts[number] / 4000 == pytest.approx(float((exact == number).mean()), abs=0.03)
    assert skills.leaders([0, 1, 2], 500, random)[0] == 1
    assert len(skills.leaders([0, 1, 2], 1, random)) == 1


def test_the_variance_of_a_reply_leaves_out_what_problems_and_prompts_are_worth():
    problems = np.array([0.1, 0.9, 0.1, 0.9] * 5)
    paired = match_variance(np.array([problems, problems]), 5.0)
    noisy = match_variance(np.array([problems, problems[::-1]]), 5.0)
    assert paired == pytest.approx(0.25 * 8 / 27) and noisy > 0.5
    assert match_variance(np.array([[0.5], [0.9]]), 5.0) == pytest.approx(0.17), "one problem says nothing"


def test_a_population_names_the_best_by_its_matches_and_without_any_the_youngest():
    roots = {name: prompt_of([name]) for name in ("a", "b")}
    a, b = (prompt.prompt_id for prompt in roots.values())
    older = found_population(roots, "0001").rated({a: (30.0, 1.0), b: (20.0, 1.0)})
    assert (older.matches, older.best_id()) == ([], b)
    newer = older.with_match({a: (0.8, 50, 0.2), b: (0.3, 50, 0.2)})
    assert newer.matches == [[[0, 0.8, 50, 0.2], [1, 0.3, 50, 0.2]]]
    assert newer.best_id() == a and newer.value(MATCHES) == newer.matches
    assert newer.with_match({b: (0.9, 50)}).matches == newer.matches, "one prompt alone has met no other"
    child = newer.with_child(
        prompt_of(["a", "c"]), {a: 1.0}, (20.0, 2.0), Birth("mutation", "0001", 1, "operators")
    )
    assert child.best_id() == a, "a prompt that never took part is not named"


def lineage(random: np.random.Generator, iterations: int, *, ranks: bool) -> float:
    """Return the regret after iterations of three prompts: a child of the best of them is .3 better, .1 worse
    (half of them) or like it."""
    prompts: dict[int, list[str]] = {0: ["0"]}
    truth, ratings, matches = {0: 0.3}, {0: (MU, SIGMA)}, list[Match]()
    met: set[int] = set()
    for _ in range(iterations):
        entrants = [Entrant(str(number), number, rating) for number, rating in ratings.items()]
        chosen = [item.number for item in select(entrants, 3, random)]
        means = {number: float(random.binomial(50, truth[number]) / 50) for number in chosen}
        met |= set(chosen)
        after: list[Rating] = update([ratings[number] for number in chosen], ranks_of(list(means.values())))
        ratings |= dict(zip(chosen, after, strict=True))
        if len(chosen) > 1:
            matches.append([(number, mean, 50) for number, mean in means.items()])
        best, child = max(chosen, key=lambda number: means[number]), len(prompts)
        prompts[child], ratings[child] = [*prompts[best], str(child)], mutated(ratings[best])
        truth[child] = min(0.9, max(0.1, truth[best] + float(random.choice([0.3, -0.1, -0.1, 0.0]))))
    skills: Any = estimate_skills(prompts, matches)
    named = (
        max(met, key=lambda number: ratings[number][0] - 3 * ratings[number][1])
        if ranks
        else skills.best(sorted(met))
    )
    return max(truth[number] for number in met) - truth[named]


def test_skills_miss_less_than_ratings_by_ranks():
    """The same runs, named both ways; the figures of the whole line come from
    benchmarks/prompts_selection.py."""
    regrets = {
        ranks: np.mean([lineage(np.random.default_rng(seed), 20, ranks=ranks) for seed in range(60)])
        for ranks in (True, False)
    }
    assert regrets[False] < 0.5 * regrets[True]
