"""A base model in bfloat16 under an adapter in float32: it learns, goes on from its checkpoints, and is never
mixed with another dtype."""

import pytest
import torch
from tiny_policy import PROMPT, groups_of, problems, tiny_policy

from evolake.errors import InputError
from evolake.prompts.model.protocol import Sample
from evolake.prompts.model.recipes import ESPL, SSLOGIC
from evolake.prompts.policies import models as dtypes
from evolake.prompts.policies.local import LocalPolicy
from evolake.prompts.policies.models import describe_dtype, with_dtype
from evolake.prompts.policies.registry import open_policy
from evolake.prompts.policies.shared_prompts import log_probabilities
from evolake.prompts.settings import PromptsSettings
from evolake.settings import load

REWARDS = [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0)]
UNIT = 2.0**-9
"""The largest relative error of one rounding to bfloat16, which has eight significant bits."""


def iteration(policy: LocalPolicy, seed: int) -> bool:
    samples = policy.sample([(PROMPT, problem) for problem in problems(2)], 3, seed)
    return policy.update(groups_of(samples, REWARDS), seed).updated


def scored(policy: LocalPolicy, sample: Sample) -> torch.Tensor:
    ids = torch.tensor([[*sample.prompt_ids, *sample.reply_ids]])
    with torch.no_grad():
        return log_probabilities(
            policy.model.get_base_model(), ids, torch.ones_like(ids), len(sample.reply_ids), 1.0
        )[0][0]


@pytest.mark.parametrize("recipe", [ESPL, SSLOGIC], ids=["espl", "sslogic"])
def test_an_update_moves_an_adapter_of_float32_on_a_base_that_stays_as_it_is(recipe):
    policy = tiny_policy(recipe, dtype="bfloat16")  # type: ignore[arg-type]
    trained = {
        name: item.detach().clone() for name, item in policy.model.named_parameters() if item.requires_grad
    }
    base = {
        name: item.detach().clone()
        for name, item in policy.model.named_parameters()
        if not item.requires_grad
    }
    assert iteration(policy, 1) and iteration(policy, 2)
    parameters = dict(policy.model.named_parameters())
    assert {item.dtype for item in base.values()} == {torch.bfloat16}
    assert {item.dtype for item in trained.values()} == {torch.float32}
    assert {value.dtype for state in policy.optimizer.state.values() for value in state.values()} == {
        torch.float32
    }
    assert [name for name, before in trained.items() if torch.equal(before, parameters[name])] == []
    assert [name for name, before in base.items() if not torch.equal(before, parameters[name])] == []


def test_log_probabilities_are_near_those_of_float32():
    """On the way to a logit some k results are rounded one after the other, each by a share of UNIT at most:
    k is 2 for the embedding and the head, and 12 a layer (two norms, seven products, the cache, two sums). To
    first order a logit is off by k UNIT of the largest one, and what log_softmax makes of it by twice
    that."""
    whole, half = tiny_policy(), tiny_policy(dtype="bfloat16")
    [samples] = whole.sample([(PROMPT, problems(1)[0])], 8, 3)
    layers = whole.model.get_base_model().config.num_hidden_layers
    apart = 0.0
    for sample in samples:
        ids = torch.tensor([[*sample.prompt_ids, *sample.reply_ids]])
        with torch.no_grad():
            largest = float(whole.model(input_ids=ids).logits.abs().max())
        wanted, result = scored(whole, sample), scored(half, sample)
        assert result.dtype == torch.float32
        torch.testing.assert_close(result, wanted, rtol=0, atol=2 * (2 + 12 * layers) * UNIT * largest)
        apart = max(apart, float((result - wanted).abs().max()))
    assert apart > UNIT  # it was computed in another precision


@pytest.mark.parametrize(("mine", "other"), [("float32", "bfloat16"), ("bfloat16", "float32")])
def test_a_checkpoint_of_another_dtype_is_refused_and_named(mine, other):
    policy = tiny_policy(dtype=mine)
    before = policy.save()
    with pytest.raises(InputError, match=f"EVOLAKE_PROMPTS__DTYPE={other}"):
        policy.load(tiny_policy(dtype=other).save())
    assert policy.save() == before


def test_auto_is_bfloat16_where_a_card_has_it_and_float32_elsewhere(monkeypatch, tmp_path):
    tiny = load("demo").of(PromptsSettings).model_copy(update={"policy": "tiny"})
    assert tiny.dtype == "auto"
    result = {}
    for card in (False, True):
        monkeypatch.setattr(dtypes, "card_has_bfloat16", lambda card=card: card)
        result[card] = with_dtype(tiny).dtype, describe_dtype(tiny)
    assert result[False] == ("float32", "float32 (auto): there is no card that computes in bfloat16")
    assert result[True] == ("bfloat16", "bfloat16 (auto): the card computes in it")
    assert open_policy(load("demo").with_section(tiny), tmp_path, "0001", "run").dtype == "bfloat16"  # type: ignore[attr-defined]
    asked = tiny.model_copy(update={"dtype": "float32"})
    assert (with_dtype(asked), describe_dtype(asked)) == (asked, "float32, as EVOLAKE_PROMPTS__DTYPE says")
    endpoint = tiny.model_copy(update={"policy": "endpoint"})
    assert with_dtype(endpoint) == endpoint


def test_what_is_scored_is_what_was_drawn_from():
    policy = tiny_policy(dtype="bfloat16")
    [[sample]] = policy.sample([(PROMPT, problems(1)[0])], 1, 1, greedy=True)
    ids = torch.tensor([[*sample.prompt_ids, *sample.reply_ids]])
    with torch.no_grad():
        logits = policy.model(input_ids=ids).logits[0, len(sample.prompt_ids) - 1 : -1].float()
    likeliest = torch.log_softmax(logits, -1).max(-1).values
    torch.testing.assert_close(
        scored(policy, sample), likeliest, rtol=0, atol=4 * UNIT * float(logits.abs().max())
    )
