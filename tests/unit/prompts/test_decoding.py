"""How replies of an evaluation are drawn: by settings of their own, and greedily without any; pass@k of a
comparison's arms."""

from dataclasses import replace
from typing import Any

import pytest
from prompts_fixtures import Adder, problem
from tiny_policy import PROMPT, problems, tiny_policy

from evolake.errors import InputError
from evolake.prompts.arms_study import ArmRun, summary
from evolake.prompts.evolution.iteration import ARMS
from evolake.prompts.evolution.population import found_population
from evolake.prompts.evolution.prompt_contest import decoding_of, evaluate
from evolake.prompts.model.protocol import Decoding, Sample
from evolake.prompts.policies.endpoint import EndpointPolicy
from evolake.prompts.settings import PromptsSettings

PAIRS = [(PROMPT, item) for item in problems(2)]


class Noting(Adder):
    """Keeps how it was asked to draw."""

    def sample(
        self, pairs: Any, n: int, seed: int, *, greedy: bool = False, **more: Any
    ) -> list[list[Sample]]:
        self.drawn = (greedy, more)
        return super().sample(pairs, n, seed)


@pytest.mark.parametrize(
    ("settings", "decoding"),
    [
        ({}, None),
        ({"eval_temperature": 0.6, "eval_top_p": 0.95, "eval_top_k": 20}, Decoding(0.6, 0.95, 20)),
        ({"eval_temperature": 0.0}, Decoding(0.0)),
        ({"eval_top_k": 5, "recipe": "sslogic"}, Decoding(0.85, 1.0, 5)),
    ],
)
def test_settings_name_the_decoding(settings, decoding):
    assert decoding_of(PromptsSettings(**settings)) == decoding


@pytest.mark.parametrize(
    ("samples", "decoding", "drawn"),
    [
        (1, None, (True, {})),
        (4, None, (False, {})),
        (4, Decoding(0.0), (True, {})),
        (1, Decoding(0.6, 0.95, 20), (False, {"decoding": Decoding(0.6, 0.95, 20)})),
    ],
)
def test_an_evaluation_asks_for_it(samples, decoding, drawn):
    policy = Noting()
    evaluate(
        policy,
        [PROMPT],
        [problem(1, "heldout")],
        samples=samples,
        answer_format="last",
        seed=1,
        decoding=decoding,
    )
    assert policy.drawn == drawn


def test_the_policy_here_draws_by_it():
    policy = tiny_policy()
    greedy = policy.sample(PAIRS, 1, 3, greedy=True)
    plain = policy.sample(PAIRS, 1, 3)
    assert greedy != plain == policy.sample(PAIRS, 1, 3, decoding=Decoding(policy.recipe.temperature))
    for decoding in (Decoding(1.0, 1.0, 1), Decoding(1.0, 1e-6), Decoding(1e-4)):
        assert policy.sample(PAIRS, 1, 3, decoding=decoding) == greedy
    assert policy.sample(PAIRS, 1, 3) == plain


def test_an_endpoint_has_no_decoding_of_its_own():
    with pytest.raises(InputError, match="EVAL_TEMPERATURE=0"):
        EndpointPolicy(None, "m").sample(PAIRS, 1, 1, decoding=Decoding(0.6))  # type: ignore[arg-type]


def test_arms_report_pass_at_k_where_there_are_several_replies():
    right = {"a": [True, False, False, False], "b": [False] * 4}
    rows = [
        {"iteration": number, "problem_id": name, "sample": place, "correct": value, "formatted": True}
        for number in (0, 1)
        for name, values in right.items()
        for place, value in enumerate(values)
    ]
    update = {"rollouts": 1, "updated": True, "mean_reward": 0.5}
    run = ArmRun(
        ARMS["rl"],
        found_population({"root": PROMPT}, "0001"),
        PROMPT,
        {"updates": [update], "heldout": rows, "rollouts": []},
    )
    found = summary([run], 0)["arms"]["rl"]["heldout"][-1]["pass_at"]
    assert {k: item["share"] for k, item in found.items()} == {"2": 0.25, "4": 0.5}
    once = replace(run, rows={**run.rows, "heldout": [row for row in rows if row["sample"] == 0]})
    assert summary([once], 0)["arms"]["rl"]["heldout"][-1]["pass_at"] == {}
