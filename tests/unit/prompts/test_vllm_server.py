"""Replies sampled by a server with vLLM's routes: what it says is what the policy here would say, and what it
forges is refused."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from tiny_policy import PROMPT, groups_of, problems, tiny_policy
from vllm_double import Double, serving

from evolake.errors import InputError, MachineryError
from evolake.prompts.policies.local import LocalPolicy
from evolake.prompts.policies.models import load_base
from evolake.prompts.policies.registry import check_sampler
from evolake.prompts.policies.vllm_server import VllmServer
from evolake.prompts.requirements import sampler
from evolake.prompts.settings import PromptsSettings

PAIRS = [(PROMPT, problem) for problem in problems(3)]


@contextmanager
def policy_by(double: Double, folder: Path | None = None, **options: Any) -> Iterator[LocalPolicy]:
    """A tiny policy whose replies the double samples."""
    server = VllmServer(
        double.url, str(folder) if folder else None, dtype="float32", vocabulary=259, room=1010, at_once=4
    )
    with tiny_policy(server=server, **options) as policy:
        yield policy


@pytest.fixture
def double() -> Iterator[Double]:
    with serving(Double()) as served:
        yield served


def learn(policy: LocalPolicy) -> None:
    """One step that moves weights: replies of two lengths of the first two problems, the longer ones
    right."""
    samples = policy.sample(PAIRS, 4, 5)
    assert policy.update(groups_of(samples, [[1.0, 0.0, 1.0, 0.0]] * 3), 7).updated


def test_greedy_replies_are_those_of_transformers_before_and_after_learning(double):
    alone = tiny_policy(max_tokens=24)
    with policy_by(double, max_tokens=24) as policy:
        first = alone.sample(PAIRS, 1, 0, greedy=True)
        assert policy.sample(PAIRS, 1, 0, greedy=True) == first
        learn(alone)
        policy.load(alone.save())
        with torch.no_grad():  # one step of so small a rate changes no greedy reply
            for item in (alone, policy):
                for name, parameter in item._trained.items():
                    if "lora_B" in name:
                        parameter.normal_(0, 0.3, generator=torch.Generator().manual_seed(len(name)))
        after = alone.sample(PAIRS, 1, 0, greedy=True)
        assert after != first
        assert policy.sample(PAIRS, 1, 0, greedy=True) == after


def test_a_policy_learns_from_what_the_server_sampled(double):
    with policy_by(double) as policy:
        before = policy.save()
        learn(policy)
        assert policy.save() != before
        assert policy.steps == 1


def test_each_reply_has_a_seed_of_its_own_and_the_same_seed_gives_the_same(double):
    with policy_by(double) as policy:
        replies = policy.sample(PAIRS[:1], 12, 3)[0]
        assert len({reply.reply_ids for reply in replies}) > 6
        assert policy.sample(PAIRS[:1], 12, 3)[0] == replies
        assert policy.sample(PAIRS[:1], 12, 4)[0] != replies
    drawn = [
        body for path, body in double.heard if path == "/v1/completions" and "prompt_logprobs" not in body
    ]
    assert len({body["seed"] for body in drawn[:12]}) == 12
    assert all(
        body["temperature"] == policy.recipe.temperature and body["top_p"] == 1.0 and body["top_k"] == 0
        for body in drawn
    )


def test_the_server_holds_the_newest_adapter_alone_and_forgets_it_at_the_end(double, tmp_path):
    with policy_by(double, tmp_path) as policy:
        policy.sample(PAIRS, 2, 1)
        (first,) = double.adapters
        policy.sample(PAIRS, 2, 2)
        assert list(double.adapters) == [first]
        learn(policy)
        policy.sample(PAIRS, 2, 3)
        (second,) = double.adapters
        assert second != first
        assert [path.name for path in tmp_path.iterdir()] == [second]
    assert not double.adapters
    assert not list(tmp_path.iterdir())


def test_an_editor_with_the_adapter_off_is_answered_by_the_base(double):
    with policy_by(double) as policy:
        said = policy.answer(
            [{"role": "user", "content": "Two plus two?"}],
            most_tokens=5,
            temperature=0.0,
            seed=1,
            adapted=False,
        )
        assert said == tiny_policy().answer(
            [{"role": "user", "content": "Two plus two?"}],
            most_tokens=5,
            temperature=0.0,
            seed=1,
            adapted=False,
        )
        assert double.heard[-1][1]["model"] == "base"
        assert not double.adapters


def test_a_server_with_another_model_is_an_error_before_any_reply():
    other = load_base("tiny", None, Path("unused"), "float32")
    with torch.no_grad():
        other.model.model.layers[0].mlp.up_proj.weight.mul_(1.5)
    with (
        serving(Double(other)) as double,
        pytest.raises(InputError, match="other weights than the policy"),
        policy_by(double),
    ):
        pass


def test_a_server_that_takes_an_adapter_and_heeds_it_not_is_found_out(double):
    with policy_by(double) as policy:
        with torch.no_grad():
            for name, parameter in policy._trained.items():
                if "lora_B" in name:
                    parameter.normal_(0, 0.3, generator=torch.Generator().manual_seed(1))
        completed = double._completed
        double._completed = lambda model, body: completed(double.base.model, body)  # type: ignore[method-assign]
        with pytest.raises(InputError, match="other weights") as caught:
            policy.sample(PAIRS, 1, 1)
        assert "with the adapter" in str(caught.value)


FORGED = {
    "no token of the vocabulary": [259],
    "a negative one": [-1],
    "a truth value": [True],
    "a text": ["5"],
    "nothing": [],
    "no list": "5 6",
    "too many": [5] * 11,
    "an end mark within": [5, 2, 6],
    "an end without a mark": [5, 6],
}


@pytest.mark.parametrize("ids", FORGED.values(), ids=FORGED)
def test_a_forged_reply_is_refused(double, ids):
    with policy_by(double) as policy:
        double.spoil = lambda body, choice: choice if "prompt_logprobs" in body else {"token_ids": ids}
        with pytest.raises(MachineryError, match="sent something else"):
            policy.sample(PAIRS, 1, 1)


def test_what_cannot_be_a_server_is_told_before_any_work(double):
    address = double.url
    for url in ("http://127.0.0.1:9", "http://", f"{address}/elsewhere"):
        with pytest.raises(InputError, match="no vLLM server answers"):
            VllmServer(url, None, dtype="float32", vocabulary=259, room=100, at_once=1)
    with pytest.raises(InputError, match="--max-model-len of at least 5000"):
        VllmServer(address, None, dtype="float32", vocabulary=259, room=5000, at_once=1)
    with pytest.raises(InputError, match="EVOLAKE_PROMPTS__VLLM_FOLDER is no folder"):
        VllmServer(address, os.devnull, dtype="float32", vocabulary=259, room=100, at_once=1)


def test_an_adapter_that_the_server_does_not_take_says_why(double):
    double.refused.add("/v1/load_lora_adapter")
    with policy_by(double) as policy, pytest.raises(MachineryError, match="--max-lora-rank") as caught:
        policy.sample(PAIRS, 1, 1)
    assert "greater than max_lora_rank" in str(caught.value)


def test_the_doctor_says_which_model_is_served(double):
    result = sampler(PromptsSettings(sampler="vllm", vllm_url=double.url))
    assert result.ok
    assert result.detail == f"vLLM at {double.url}: base, up to 4096 tokens"
    lost = sampler(PromptsSettings(sampler="vllm", vllm_url="http://127.0.0.1:9"))
    assert not lost.ok
    assert "no vLLM server answers at http://127.0.0.1:9" in lost.detail


@pytest.mark.parametrize(
    ("given", "match"),
    [
        ({}, "needs the address"),
        ({"vllm_url": "localhost:8000"}, "needs the address"),
        ({"vllm_url": "http://h:1", "policy": "endpoint"}, "has no sampler here"),
        ({"vllm_url": "http://h:1", "tools": ["python"]}, "call tools"),
    ],
)
def test_settings_that_do_not_fit(given, match):
    with pytest.raises(InputError, match=match):
        check_sampler(PromptsSettings.model_validate({"sampler": "vllm"} | given))
    check_sampler(
        PromptsSettings.model_validate({name: value for name, value in given.items() if name != "tools"})
    )
