"""Stepwise selection: what is offered, drawn and accepted, by rows alone, with operators and with a model."""

from typing import Any

import numpy as np
import polars as pl
import pytest
from loopback_model import LoopbackModel
from prompts_fixtures import PROBLEMS, SEEDS, SIZES, Adder, iterate, library, model_agents, operators
from prompts_scripted_model import Editor

from evolake.prompts.edit_memory import Reproduction
from evolake.prompts.evolution.iteration import ARMS, Iterations, window_of
from evolake.prompts.evolution.population import INCUMBENT, Population, found_population
from evolake.prompts.evolution.stepwise import CERTAINTY, contest, draw, offered, spare, step
from evolake.prompts.gates import replay
from evolake.prompts.model.library import load_roots
from evolake.prompts.model.prompt import Limits, SystemPrompt, prompt_of
from evolake.prompts.ratings import estimate_skills, match_variance

ROOT = load_roots(SEEDS)["plain"]
STEPWISE = SIZES.model_copy(update={"selection": "stepwise", "batch_problems": 10, "rollouts": 5})
GROUPS = 30
NAMES = [entry.name for entry in library().entries]


def population(*roots: SystemPrompt) -> Population:
    return found_population({str(number): prompt for number, prompt in enumerate(roots or (ROOT,))}, "0001")


def names(prompt: SystemPrompt) -> set[str]:
    return {name for text in prompt.texts for name in library().names_of(text)}


def run(count: int, skill: Any = None, start: Population | None = None, **more: Any) -> Iterations:
    with operators() as agents:
        return iterate(
            start or population(), Adder(skill=skill), count=count, agents=agents, settings=STEPWISE, **more
        )


def child(offer: Reproduction) -> SystemPrompt:
    assert offer.child is not None
    return offer.child


def test_the_library_offers_each_entry_and_all_together_then_drops_and_at_last_stricter_versions():
    made = [child(offer) for offer in offered(population(), library(), Limits())]
    assert [names(prompt) for prompt in made] == [*({name} for name in NAMES), set(NAMES)]
    assert len({prompt.prompt_id for prompt in made}) == len(made)
    both = prompt_of([*ROOT.texts, library().entries[0].versions[0]])
    after = [set(child(offer).texts) for offer in offered(population(both, ROOT), library(), Limits())]
    assert set(ROOT.texts) not in after, "the root is there already, in whatever order"
    assert {both.texts[1]} in after and len(after) == len(NAMES) + 1
    every = prompt_of([entry.versions[0] for entry in library().entries])
    others = [prompt_of([text for text in every.texts if text != left]) for left in every.texts]
    strict = [child(offer) for offer in offered(population(every, *others), library(), Limits())]
    assert len(strict) == len(NAMES)
    assert all(len(set(prompt.texts) - set(every.texts)) == 1 for prompt in strict)


def test_what_cannot_hold_a_place_is_not_offered():
    entry = library().entries[0].versions[0]
    made = offered(population(), library(), Limits(problems=(entry,)))
    assert entry not in {text for offer in made for text in child(offer).texts}
    assert offered(population(), library(), Limits(principles=1)) == []


def test_the_incumbent_comes_first_and_no_more_take_part_than_have_two_problems():
    start = population()
    offers = offered(start, library(), Limits())
    for problems, groups in ((4, 8), (10, GROUPS), (12, 12)):
        chosen, born = draw(start, offers, groups, problems, np.random.default_rng(1))
        assert chosen[0] == ROOT and [child(offer) for offer in born] == chosen[1:]
        assert 2 < len(chosen) <= 1 + spare(groups, problems) // 2
        assert chosen == draw(start, offers, groups, problems, np.random.default_rng(1))[0]
    assert draw(start, [], GROUPS, 10, np.random.default_rng(1)) == ([ROOT], [])


@pytest.mark.parametrize(
    ("groups", "problems", "others", "shared", "own"),
    [(30, 10, 10, 2, 10), (30, 10, 4, 5, 10), (30, 10, 1, 10, 20), (12, 12, 3, 2, 6), (2, 1, 1, 1, 1)],
)
def test_the_incumbent_answers_all_problems_and_the_others_the_same_ones(
    groups, problems, others, shared, own
):
    chosen = [prompt_of([f"Way {number}."]) for number in range(others + 1)]
    asked = contest(chosen, PROBLEMS[:problems], groups)
    assert len(asked) == groups
    assert [prompt for prompt, _ in asked[:own]] == [chosen[0]] * own
    assert {problem.problem_id for _, problem in asked[:own]} == {
        problem.problem_id for problem in PROBLEMS[: min(own, problems)]
    }
    assert asked[own:] == [(prompt, item) for prompt in chosen[1:] for item in PROBLEMS[:shared]]


def test_what_is_clearly_worse_takes_no_part_and_one_rival_always_does():
    good, bad = prompt_of(["Good."]), prompt_of(["Bad."])
    start = population(ROOT, good, bad).with_values(**{INCUMBENT: good.prompt_id})
    for _ in range(5):
        start = start.with_match(
            {good.prompt_id: (0.9, 500), ROOT.prompt_id: (0.5, 500), bad.prompt_id: (0.1, 500)}
        )
    chosen, _ = draw(start, [], GROUPS, 10, np.random.default_rng(2))
    assert chosen == [good, ROOT]
    assert [row["state"] for row in start.in_window(None).rows()] == ["retired", "candidate", "retired"]


def test_an_edit_is_accepted_only_beyond_the_noise():
    rival = prompt_of([*ROOT.texts, "Count."])
    start = population(ROOT, rival)

    def after(mean: float, replies: int) -> str:
        return step(
            start.with_match({ROOT.prompt_id: (0.4, replies), rival.prompt_id: (mean, replies)}),
            [ROOT, rival],
        ).incumbent_id

    assert after(0.45, 20) == after(0.3, 500) == ROOT.prompt_id
    assert after(0.6, 500) == rival.prompt_id

    grown = start.with_values(**{INCUMBENT: rival.prompt_id})
    alike = grown.with_match({ROOT.prompt_id: (0.4, 500), rival.prompt_id: (0.4, 500)})
    assert step(alike, [rival, ROOT]).best_id() == ROOT.prompt_id, "a principle that shows no gain goes"
    moved = step(start.with_match({ROOT.prompt_id: (0.1, 500), rival.prompt_id: (0.9, 500)}), [ROOT, rival])
    assert moved.incumbent_id == rival.prompt_id
    assert moved.blocked([rival.prompt_id]).incumbent_id == ROOT.prompt_id, "a gate took the incumbent out"


def test_an_iteration_asks_every_problem_and_takes_as_many_replies_as_ever():
    done = run(4).frames()
    assert done["updates"]["rollouts"].to_list() == [GROUPS * 5] * 4
    assert done["rollouts"].select("iteration", "prompt_id", "problem_id", "number").is_unique().all()
    for number in range(1, 5):
        asked = done["rollouts"].filter(iteration=number)
        assert asked["problem_id"].n_unique() == 10
        assert len(done["values"].filter(iteration=number)) == len(
            asked.select("prompt_id", "problem_id").unique()
        )
    first = done["rollouts"].filter(iteration=1)["prompt_id"].n_unique()
    assert first > 3, "single principles are measured at the same time"


def test_decisions_follow_from_rows_alone():
    done = run(6, lambda prompt: 0.8 if "check" in names(prompt) else 0.2)
    frames, prompts = done.frames(), done.population.rows()
    texts = {row["number"]: done.population.prompt(row["prompt_id"]).texts for row in prompts}
    number = {row["prompt_id"]: row["number"] for row in prompts}
    matches, incumbent = [], ""
    for iteration in range(1, 7):
        played = frames["ratings"].filter(iteration=iteration, source="update").sort("place")
        values = frames["values"].filter(iteration=iteration)
        answered = values.group_by("problem_id").len().filter(len=len(played))["problem_id"].to_list()
        values = values.filter(pl.col("problem_id").is_in(answered))
        grid = np.array([values.filter(prompt_id=name)["value"].to_list() for name in played["prompt_id"]])
        replies = [int(values.filter(prompt_id=name)["rollouts"].sum()) for name in played["prompt_id"]]
        variance = match_variance(grid, sum(replies) / grid.size)
        matches.append(
            [
                (number[name], row.mean(), count, variance)
                for name, row, count in zip(played["prompt_id"], grid, replies, strict=True)
            ]
        )
        skills = estimate_skills(texts, matches)
        best = skills.best([number[name] for name in played["prompt_id"]])
        gaps = [skills.over(best, number[name]) for name in played["prompt_id"]]
        assert played["gap"].to_list() == pytest.approx([gap for gap, _ in gaps], abs=1e-6)
        assert played["deviation"].to_list() == pytest.approx([spread for _, spread in gaps], abs=1e-4)
        equal = [row for row in played.to_dicts() if row["gap"] <= CERTAINTY * row["deviation"]]
        incumbent = min(equal, key=lambda row: (len(texts[number[row["prompt_id"]]]), row["gap"]))[
            "prompt_id"
        ]
        assert played.filter(incumbent=True)["prompt_id"].to_list() == [incumbent]
        later = frames["ratings"].filter(iteration=iteration + 1, place=0)["prompt_id"].to_list()
        assert later in ([incumbent], []), "the incumbent leads the next match"
    assert done.population.best_id() == incumbent != ROOT.prompt_id
    assert "check" in names(done.population.prompt(done.population.best_id()))


def test_two_principles_that_only_help_together_are_found_without_the_one_that_hurts():
    pair, harm = {"check", "estimate"}, "be-brief"

    def skill(prompt: SystemPrompt) -> float:
        return 0.2 + 0.5 * (pair <= names(prompt)) - 0.15 * (harm in names(prompt))

    done = run(12, skill)
    best = names(done.population.prompt(done.population.best_id()))
    assert pair <= best and harm not in best


def test_every_child_follows_from_its_edits_and_edits_are_numbered_once():
    done = run(3)
    edits = done.frames()["edits"]
    assert edits.select("iteration", "operator", "step", "number").is_unique().all()
    children = [row for row in done.population.rows() if row["parents"]]
    assert children
    for row in children:
        own = edits.filter(child_id=row["prompt_id"]).to_dicts()
        parent = done.population.prompt(row["parents"][0])
        assert replay(parent, own) == (done.population.prompt(row["prompt_id"]), "")


def test_a_cut_run_goes_on_alike():
    whole, half = run(4), run(2)
    rest = run(2, start=half.population)
    assert rest.population.prompts.equals(whole.population.prompts)
    assert [*half.rows["rollouts"], *rest.rows["rollouts"]] == whole.rows["rollouts"]


@pytest.mark.parametrize("arm", ["rl", "reflection", "no-crossover", "no-selection"])
def test_arms_of_the_paper_do_not_step(arm):
    assert window_of(STEPWISE, ARMS[arm]) == STEPWISE.window
    ratings = run(2, arm=arm).frames()["ratings"]
    assert ratings.height and ratings["incumbent"].null_count() == ratings.height


def test_a_model_edits_the_incumbent_and_each_edit_is_tried_alone_before_it_is_asked_again(tmp_path):
    numbers = iter(range(100))
    editor = Editor(local=lambda user: {"edits": [{"kind": "add", "text": f"Commit, way {next(numbers)}."}]})
    sizes = STEPWISE.model_copy(update={"batch_problems": 3})
    with LoopbackModel(editor) as server, model_agents(server.base_url, tmp_path, model_threads=1) as agents:
        first = iterate(
            population(), Adder(skill=lambda prompt: 0.5), PROBLEMS, agents=agents, settings=sizes
        )
        asked = len(editor.asked)
        second = iterate(
            first.population, Adder(skill=lambda prompt: 0.5), PROBLEMS, agents=agents, settings=sizes
        )
    added = [len(row["parents"]) and row["size"] - 1 for row in first.population.rows()]
    assert added[0] == 0 and added[1] == len(added) - 2 > 1 and set(added[2:]) == {1}
    assert asked and {row["prompt_id"] for row in second.rows["rollouts"]} > {ROOT.prompt_id}
    waited = [row for row in second.population.rows("candidate") if row["iteration"] == 1]
    assert (len(editor.asked) == asked) == bool(waited)
