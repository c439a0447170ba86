"""The policy behind an endpoint, over real HTTP on loopback: free text, tape, budget, rows."""

from pathlib import Path
from typing import Any

import pytest
from loopback_model import KEY, USAGE, Asked, LoopbackModel, raw, say, status

from evolake.errors import BudgetExhausted, InputError, MachineryError
from evolake.prompts.model.prompt import SystemPrompt, prompt_of
from evolake.prompts.model.protocol import Problem
from evolake.prompts.policies.endpoint import EndpointPolicy
from evolake.prompts.policies.registry import open_policy
from evolake.settings import BudgetSettings, Settings, load

PROMPT = prompt_of(["Be brief."])


def problem(number: int) -> Problem:
    return Problem(
        f"problem-{number}",
        f"What is {number} + 1?",
        str(number + 1),
        True,
        "sum",
        1,
        "train",
        "test",
        f"problem-{number}",
    )


def settings(base_url: str, **overrides: Any) -> Settings:
    result = load("demo")
    values: dict[str, Any] = {
        "prompts": result.prompts.model_copy(
            update={"policy": "endpoint", "max_tokens": 33, "temperature": 0.9}
        ),
        "model_base_url": base_url,
        "model_api_key": KEY,
        "models": {"default": "editor", "prompts_policy": "small"},
        "budget": BudgetSettings(tokens_per_cycle=100_000),
        "model_threads": 3,
    }
    return result.model_copy(update=values | overrides)


def endpoint(base_url: str, lake: Path, cycle: str = "0001", **overrides: Any) -> EndpointPolicy:
    result = open_policy(settings(base_url, **overrides), lake, cycle, "run")
    assert isinstance(result, EndpointPolicy)
    return result


def counting() -> Any:
    """A script that numbers its replies."""
    count = iter(range(10_000))
    return lambda asked: say(f"reply {next(count)} to {asked.messages[-1]['content']}")


def test_a_reply_is_drawn_as_the_settings_say_from_the_prompt_and_the_problem_and_is_a_priced_row(tmp_path):
    with LoopbackModel(counting()) as server, endpoint(server.base_url, tmp_path) as policy:
        ((sample,), (other,)) = policy.sample([(PROMPT, problem(1)), (SystemPrompt(), problem(2))], 1, 7)
        assert sample.reply.endswith("to What is 1 + 1?") and other.reply.endswith("to What is 2 + 1?")
        assert (sample.tokens, policy.learns) == (USAGE["completion_tokens"], False)
        asked = {request.messages[-1]["content"]: request for request in server.requests}
        assert asked["What is 1 + 1?"].messages[0] == {"role": "system", "content": PROMPT.text()}
        assert len(asked["What is 2 + 1?"].messages) == 1
        assert {
            (item.model, item.form, item.body["max_completion_tokens"], item.body["temperature"])
            for item in asked.values()
        } == {("small", "text", 33, 0.9)}
        rows = policy.agents.rows()
        assert [(row["role"], row["model"], row["status"]) for row in rows] == [
            ("prompts_policy", "small", "ok")
        ] * 2
        assert policy.agents.spent.tokens == 2 * USAGE["total_tokens"]


def test_the_same_seed_replays_at_no_cost_and_another_seed_draws_anew(tmp_path):
    with LoopbackModel(counting()) as server:
        pairs = [(PROMPT, problem(1))]
        with endpoint(server.base_url, tmp_path) as policy:
            first = policy.sample(pairs, 3, 7)
        with endpoint(server.base_url, tmp_path) as policy:
            assert policy.sample(pairs, 3, 7) == first
            assert (len(server.requests), policy.agents.spent.tokens) == (3, 0)
            assert [row["status"] for row in policy.agents.rows()] == ["replayed"] * 3
            second = policy.sample(pairs, 3, 8)
            assert len(server.requests) == 6
        assert not {sample.reply for sample in first[0]} & {sample.reply for sample in second[0]}


def test_a_reply_that_is_cut_off_is_a_sample_and_one_that_never_came_is_a_failure(tmp_path):
    replies = {
        "What is 1 + 1?": say("it is t", finish="length"),
        "What is 2 + 1?": say("", finish="stop"),
        "What is 3 + 1?": say("no", refusal="I will not"),
        "What is 4 + 1?": raw(b'{"choices": 3}'),
        "What is 5 + 1?": status(400, error_code="context_length_exceeded", message="too long"),
    }

    def script(asked: Asked) -> Any:
        return replies[asked.messages[-1]["content"]]

    with LoopbackModel(script) as server, endpoint(server.base_url, tmp_path, model_max_retries=0) as policy:
        result = [samples[0] for samples in policy.sample([(PROMPT, problem(n)) for n in range(1, 6)], 1, 7)]
        assert [(item.reply, item.truncated, item.failure is None) for item in result] == [
            ("it is t", True, True),
            ("", False, True),
            ("", False, False),
            ("", False, False),
            ("", False, False),
        ]
        assert [row["status"] for row in policy.agents.rows()] == [
            "truncated",
            "empty",
            "refused",
            "empty+no_usage",
            "rejected",
        ]


def test_the_budget_stops_sampling_and_what_was_paid_for_replays(tmp_path):
    tight = {"budget": BudgetSettings(tokens_per_cycle=4 * USAGE["total_tokens"]), "model_threads": 1}
    with LoopbackModel(counting()) as server:
        with endpoint(server.base_url, tmp_path, **tight) as policy, pytest.raises(BudgetExhausted):
            policy.sample([(PROMPT, problem(1))], 10, 7)
        paid = len(server.requests)
        assert 0 < paid <= 5
        with endpoint(server.base_url, tmp_path) as policy:
            policy.sample([(PROMPT, problem(1))], 10, 7)
        assert len(server.requests) == 10


def test_it_cannot_learn_and_says_so(tmp_path):
    with LoopbackModel(counting()) as server, endpoint(server.base_url, tmp_path) as policy:
        for act in (lambda: policy.update([], 1), policy.save, lambda: policy.load(b"")):
            with pytest.raises(MachineryError, match="no weights to update"):
                act()


def test_without_an_endpoint_it_is_refused_before_any_work(tmp_path):
    with pytest.raises(InputError, match="the model backend lacks"):
        open_policy(settings("").model_copy(update={"model_base_url": None}), tmp_path, "0001", "run")
