"""Skills of prompts from all matches: the posterior, what a child inherits, who is drawn, and that they find
what ratings by ranks miss."""

from collections import Counter
from typing import Any

import numpy as np
import pytest

from evolake.prompts.evolution.population import MATCHES, Birth, found_population
from evolake.prompts.model.prompt import prompt_of
from evolake.prompts.ratings import (
    DRIFT,
    EDIT_DEVIATION,
    MU,
    ROOT_DEVIATION,
    SIGMA,
    Entrant,
    Match,
    Rating,
    estimate_skills,
    mutated,
    ranks_of,
    select,
    select_by_skill,
    update,
)

TREE = {0: [], 1: [0], 2: [1], 3: [0, 1]}


def by_sampling(matches: list[Match], draws: int = 400_000) -> tuple[np.ndarray, np.ndarray]:
    """Mean and deviation of TREE's skills by importance sampling from the prior: an independent way to the
    same posterior."""
    random = np.random.default_rng(0)
    skill = np.zeros((4, draws))
    skill[0] = ROOT_DEVIATION * random.standard_normal(draws)
    skill[1] = skill[0] + EDIT_DEVIATION * random.standard_normal(draws)
    skill[2] = skill[1] + EDIT_DEVIATION * random.standard_normal(draws)
    skill[3] = (skill[0] + skill[1]) / 2 + EDIT_DEVIATION * random.standard_normal(draws)
    logs = np.zeros(draws)
    for age, match in enumerate(reversed(matches)):
        variances = np.array(
            [max(mean * (1 - mean), 0.09) / replies + DRIFT**2 * age for _, mean, replies in match]
        )
        rest = np.array([mean for _, mean, _ in match])[:, None] - skill[[number for number, _, _ in match]]
        weights = 1 / variances
        centre = (weights[:, None] * rest).sum(
            axis=0
        ) / weights.sum()  # the flat prior of what the batch is worth, integrated out
        logs -= 0.5 * (weights[:, None] * (rest - centre) ** 2).sum(axis=0)
    share = np.exp(logs - logs.max())
    share /= share.sum()
    mean = skill @ share
    return mean, np.sqrt((skill - mean[:, None]) ** 2 @ share)


def test_the_posterior_is_that_of_the_model_by_sampling():
    matches: list[Match] = [[(0, 0.2, 20), (1, 0.5, 20)], [(1, 0.6, 20), (2, 0.4, 20), (3, 0.5, 10)]]
    skills = estimate_skills(TREE, matches)
    mean, deviation = by_sampling(matches)
    assert [skills.of(number)[0] for number in TREE] == pytest.approx(mean, abs=0.01)
    assert [skills.of(number)[1] for number in TREE] == pytest.approx(deviation, abs=0.01)


def test_more_replies_and_later_matches_count_more():
    def gap(*matches: Match) -> float:
        skills = estimate_skills({0: [], 1: []}, matches)
        return skills.of(1)[0] - skills.of(0)[0]

    assert gap([(0, 0.4, 50), (1, 0.6, 50)]) > gap([(0, 0.4, 5), (1, 0.6, 5)]) > 0
    won, lost = [(0, 0.4, 50), (1, 0.6, 50)], [(0, 0.6, 50), (1, 0.4, 50)]
    between: list[Match] = [[(0, 0.5, 1)]] * 30
    assert gap(lost, *between, won) > 0 > gap(won, *between, lost)


def test_of_equal_skills_the_youngest_is_best_and_unknown_prompts_are_left_out():
    assert estimate_skills(TREE, []).best([0, 2, 1]) == 2
    assert estimate_skills(TREE, [[(9, 1.0, 50), (0, 0.0, 50)]]).of(0)[0] == pytest.approx(0.0, abs=1e-9)
    with pytest.raises(ValueError, match="parent of prompt 1"):
        estimate_skills({0: [], 1: [7]}, [])
    with pytest.raises(ValueError, match="parent of prompt 0"):
        estimate_skills({0: [1], 1: []}, [])


def test_a_prompt_is_drawn_as_often_as_it_may_be_the_best():
    skills = estimate_skills({0: [], 1: [], 2: []}, [[(0, 0.5, 20), (1, 0.6, 20), (2, 0.1, 20)]])
    random = np.random.default_rng(5)
    exact = random.multivariate_normal(skills.mean, skills.covariance, size=20_000).argmax(axis=1)
    counts = Counter(skills.draw([0, 1, 2], 1, random)[0] for _ in range(4000))
    for number in (0, 1, 2):
        assert counts[number] / 4000 == pytest.approx(float((exact == number).mean()), abs=0.03)


def test_selection_by_skill_stays_in_the_window_and_takes_no_prompt_twice():
    entrants = [Entrant(f"id{number}", number, (MU, SIGMA)) for number in range(6)]
    skills = estimate_skills(
        {number: [number - 1] if number else [] for number in range(6)}, [[(0, 0.9, 50), (5, 0.1, 50)]]
    )
    for seed in range(50):
        chosen = select_by_skill(entrants, skills, 3, np.random.default_rng(seed), window=4)
        assert len({item.number for item in chosen}) == 3 and {item.number for item in chosen} <= {2, 3, 4, 5}
        assert chosen == select_by_skill(entrants[::-1], skills, 3, np.random.default_rng(seed), window=4)
    assert len(select_by_skill(entrants, skills, 9, np.random.default_rng(0), window=4)) == 4


def test_a_population_names_the_best_by_its_matches_and_without_any_the_youngest():
    roots = {name: prompt_of([name]) for name in ("a", "b")}
    a, b = (prompt.prompt_id for prompt in roots.values())
    older = found_population(roots, "0001").rated({a: (30.0, 1.0), b: (20.0, 1.0)})
    assert (older.matches, older.best_id()) == ([], b)
    newer = older.with_match({a: (0.8, 50), b: (0.3, 50)})
    assert newer.matches == [[[0, 0.8, 50], [1, 0.3, 50]]]
    assert newer.best_id() == a and newer.value(MATCHES) == newer.matches
    assert newer.with_match({b: (0.9, 50)}).matches == newer.matches, "one prompt alone has met no other"
    child = newer.with_child(
        prompt_of(["a", "c"]), {a: 1.0}, (20.0, 2.0), Birth("mutation", "0001", 1, "operators")
    )
    assert child.best_id() == a, "a prompt that never took part is not named"


def lineage(random: np.random.Generator, iterations: int, *, ranks: bool) -> float:
    """Return the regret after iterations of three prompts: a child of the best of them is .3 better, .1 worse
    (half of them) or like it."""
    parents: dict[int, list[int]] = {0: []}
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
        best, child = max(chosen, key=lambda number: means[number]), len(parents)
        parents[child], ratings[child] = [best], mutated(ratings[best])
        truth[child] = min(0.9, max(0.1, truth[best] + float(random.choice([0.3, -0.1, -0.1, 0.0]))))
    skills: Any = estimate_skills(parents, matches)
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
