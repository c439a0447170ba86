"""One iteration and several: arms, equal rollouts, values, ratings, children, rows, and the same bytes from
the same seed."""

from typing import Any

import polars as pl
import pytest
from prompts_fixtures import PROBLEMS, SEEDS, SIZES, Adder, iterate, operators, problem

from evolake.errors import InputError
from evolake.prompts import ratings
from evolake.prompts.edit_memory import failed_rows
from evolake.prompts.evolution.iteration import ARMS, TABLES, Iterations, draw_batch
from evolake.prompts.evolution.population import Population, found_population
from evolake.prompts.model.library import load_roots
from evolake.prompts.model.prompt import SystemPrompt, prompt_of
from evolake.prompts.model.protocol import Sample
from evolake.prompts.tables import FAILED_PROPOSALS

ROOT = load_roots(SEEDS)["plain"]


PARTS = ("espl", "evolution", "rl", "reflection")


def founded(*more: SystemPrompt) -> Population:
    return found_population(
        {"plain": ROOT, **{f"root{number}": item for number, item in enumerate(more)}}, "0001"
    )


def run(
    count: int = 1,
    policy: Adder | None = None,
    population: Population | None = None,
    arm: str = "espl",
    **more: Any,
) -> Iterations:
    with operators() as agents:
        return iterate(
            population or founded(), policy or Adder(), count=count, agents=agents, arm=arm, **more
        )


def only(frame: pl.DataFrame, **values: Any) -> pl.DataFrame:
    return frame.filter(**values)


@pytest.mark.parametrize("arm", list(ARMS))
def test_every_arm_takes_the_same_rollouts_on_the_same_problems(arm):
    done = run(3, arm=arm).frames()
    assert done["updates"]["rollouts"].to_list() == [4 * 3 * 4] * 3
    problems = done["rollouts"].group_by("iteration", "problem_id").len()
    assert problems["len"].unique().to_list() == [12]
    assert [only(problems, iteration=number)["problem_id"].sort().to_list() for number in (1, 2, 3)] == [
        sorted(
            item.problem_id for item in draw_batch(PROBLEMS, 4, root_seed=3, cycle="0001", iteration=number)
        )
        for number in (1, 2, 3)
    ]


def test_each_mutation_and_crossover_is_a_child_or_a_row_that_says_why_not():
    done = run(6)
    edits, born = done.frames()["edits"], [row for row in done.population.rows() if row["operator"] != "root"]
    unmade = FAILED_PROPOSALS.frame(failed_rows(edits.to_dicts()))
    attempts = edits.select("iteration", "operator").unique()
    assert unmade.height and born and unmade.height + len(born) == attempts.height
    assert unmade["number"].to_list() == list(range(unmade.height)) and all(unmade["reason"].to_list())


def test_arms_switch_updates_ratings_and_children():
    policies = {arm: Adder() for arm in PARTS}
    done = {arm: run(4, policies[arm], arm=arm) for arm in PARTS}
    assert {arm: len(policy.updates) for arm, policy in policies.items()} == {
        "espl": 4,
        "evolution": 0,
        "rl": 4,
        "reflection": 0,
    }
    assert {arm: result.frames()["updates"]["updated"].to_list() for arm, result in done.items()} == {
        "espl": [True] * 4,
        "evolution": [False] * 4,
        "rl": [True] * 4,
        "reflection": [False] * 4,
    }
    operators_of = {arm: set(result.population.prompts["operator"]) for arm, result in done.items()}
    assert operators_of["rl"] == {"root"} and operators_of["reflection"] == {"root", "mutation"}
    assert operators_of["espl"] == operators_of["evolution"] == {"root", "mutation", "crossover"}
    assert done["rl"].population.rating(ROOT.prompt_id) == (ratings.MU, ratings.SIGMA)
    assert done["evolution"].population.prompts.equals(
        done["espl"].population.prompts
    )  # this policy's skill does not depend on its updates


def test_ablations_leave_out_crossover_alone_and_selection_alone():
    sizes = SIZES.model_copy(update={"window": 9})
    grown = {
        arm: run(5, population=found_population(load_roots(SEEDS), "0000"), arm=arm, settings=sizes)
        for arm in ("espl", "no-crossover", "no-selection")
    }
    made = {arm: {row["operator"] for row in done.population.rows()} for arm, done in grown.items()}
    assert (
        "crossover" in made["espl"]
        and "crossover" in made["no-selection"]
        and "crossover" not in made["no-crossover"]
    )
    assert len({len(done.rows["rollouts"]) for done in grown.values()}) == 1
    chosen = {arm: [row["prompt_id"] for row in done.rows["ratings"]] for arm, done in grown.items()}
    assert chosen["no-selection"] != chosen["espl"]


def test_values_are_mean_rewards_and_ratings_follow_their_order():
    population = founded(prompt_of(["Count."]), prompt_of(["Add.", "Check."]))
    done = run(1, Adder(), population)
    frames = done.frames()
    means = frames["rollouts"].group_by("prompt_id", "problem_id").agg(pl.col("reward").mean().alias("mean"))
    joined = frames["values"].join(means, on=["prompt_id", "problem_id"])
    assert len(joined) == 12 and joined.filter((pl.col("value") - pl.col("mean")).abs() > 1e-12).is_empty()
    updates = only(frames["ratings"], source="update")
    wanted = {
        row["prompt_id"]: row["value"]
        for row in frames["values"].group_by("prompt_id").agg(pl.col("value").mean()).to_dicts()
    }
    assert {row["prompt_id"]: pytest.approx(row["mean_reward"]) for row in updates.to_dicts()} == wanted
    order = updates["prompt_id"].to_list()
    ranks = ratings.ranks_of([wanted[item] for item in order])
    assert updates["rank"].to_list() == ranks
    assert [(row["mu"], row["sigma"]) for row in updates.to_dicts()] == ratings.update(
        [(25.0, 25.0 / 3)] * 3, ranks
    )
    assert {item: done.population.rating(item) for item in order} == {
        row["prompt_id"]: (row["mu"], row["sigma"]) for row in updates.to_dicts()
    }


def test_the_mutant_comes_of_the_best_prompt_and_the_crossed_child_of_all():
    population = founded(prompt_of(["Count."]), prompt_of(["Add."]))
    skills = {ROOT.prompt_id: 0.2, prompt_of(["Count."]).prompt_id: 0.75, prompt_of(["Add."]).prompt_id: 0.5}
    for seed in range(30):
        done = run(1, Adder(skill=lambda prompt: skills[prompt.prompt_id]), population, root_seed=seed)
        made = {row["operator"]: row for row in done.population.rows() if row["operator"] != "root"}
        if set(made) == {"mutation", "crossover"}:
            break
    else:
        pytest.fail("no seed gave both children")
    updates = {row["prompt_id"]: row for row in only(done.frames()["ratings"], source="update").to_dicts()}
    best = min(updates.values(), key=lambda row: row["rank"])["prompt_id"]
    mutant, crossed = made["mutation"], made["crossover"]
    assert mutant["parents"] == [best] and (mutant["mu"], mutant["sigma"]) == ratings.mutated(
        (updates[best]["mu"], updates[best]["sigma"])
    )
    parents = [(updates[item]["mu"], updates[item]["sigma"]) for item in crossed["parents"]]
    assert sorted(crossed["parents"]) == sorted(updates) and (
        crossed["mu"],
        crossed["sigma"],
    ) == ratings.crossed(parents)
    weights = only(done.population.derivations, child_id=crossed["prompt_id"])
    assert dict(weights.select("parent_id", "weight").iter_rows()) == dict(
        zip(crossed["parents"], ratings.shares(parents), strict=True)
    )
    assert only(done.frames()["ratings"], source="birth").select("prompt_id", "mu", "sigma").rows() == [
        (row["prompt_id"], row["mu"], row["sigma"]) for row in (mutant, crossed)
    ]


def test_several_iterations_are_one_after_the_other_and_the_population_grows_inside_its_window():
    done = run(6)
    assert done.population.iteration == 6
    rows = done.population.rows()
    assert [row["number"] for row in rows] == list(range(len(rows))) and len(rows) > 4
    assert {row["state"] for row in rows[:-4]} == {"retired"} and "retired" not in {
        row["state"] for row in rows[-4:]
    }
    born = {row["prompt_id"]: row["number"] for row in rows}
    for number in range(1, 7):
        there = sum(row["iteration"] < number for row in rows)
        used = only(done.frames()["values"], iteration=number)["prompt_id"].unique().to_list()
        assert all(there - SIZES.window <= born[item] < there for item in used)
    sums = done.population.derivations.group_by("child_id").agg(pl.col("weight").sum())
    assert len(sums) == len(rows) - 1 and sums["weight"].to_list() == pytest.approx([1.0] * len(sums))


def test_the_same_seed_gives_the_same_rows_and_a_cut_run_goes_on_alike():
    whole = run(4)
    assert {
        name: frame.equals(run(4).frames()[name]) for name, frame in whole.frames().items()
    } == dict.fromkeys(TABLES, True)
    half = run(2)
    rest = run(2, None, half.population)
    assert rest.population.prompts.equals(whole.population.prompts)
    assert pl.concat([half.frames()["rollouts"], rest.frames()["rollouts"]]).equals(
        whole.frames()["rollouts"]
    )


def test_an_adder_that_principles_help_gets_better():
    updates = run(8, Adder(), arm="evolution").frames()["updates"]["mean_reward"].to_list()
    assert sum(updates[-3:]) / 3 > updates[0] + 0.2


def test_replies_that_never_came_are_left_out_of_values_and_updates():
    class Silent(Adder):
        def sample(self, pairs, n, seed, *, greedy=False):
            result = super().sample(pairs, n, seed)
            lost = Sample("", 0, False, failure="the endpoint refused")
            return [
                [lost, *group[1:]] if item.problem_id == first else group
                for (_, item), group in zip(pairs, result, strict=True)
            ]

    first = draw_batch(PROBLEMS, 4, root_seed=3, cycle="0001", iteration=1)[0].problem_id
    policy = Silent()
    done = run(1, policy).frames()
    assert all((group.rewards[0] is None) == (group.problem_id == first) for group in policy.updates[0])
    assert done["updates"].select("failed", "rejected").row(0) == (3, 3)
    lost = only(done["rollouts"], problem_id=first)
    assert lost["reward"].null_count() == 3
    assert only(done["values"], problem_id=first)["value"].item() == pytest.approx(lost["reward"].mean())


@pytest.mark.parametrize(
    ("problems", "policy", "what"),
    [
        ([], Adder(), "no problems"),
        ([*PROBLEMS, problem(99, "heldout")], Adder(), "held-out problems may not be trained on"),
        (PROBLEMS, Adder(learns=False), "arm espl updates weights"),
    ],
)
def test_what_cannot_be_run_is_refused_before_anything_is_sampled(problems, policy, what):
    with operators() as agents, pytest.raises(InputError, match=what):
        iterate(founded(), policy, problems, agents=agents)
    assert policy.asked == []
