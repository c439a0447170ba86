"""Several steps of one update are those of an independent reference in torch: ratios, clipping, CISPO's cap,
both KL terms, rejected replies."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest
import torch
from tiny_policy import (
    PROMPT,
    REWARDS,
    cut,
    groups_of,
    log_probabilities,
    own_tokens,
    problems,
    tiny_policy,
    trained_once,
)

from evolake.prompts.model.protocol import Group, Sample
from evolake.prompts.model.recipes import ESPL, SSLOGIC, Recipe
from evolake.prompts.policies.local import LocalPolicy

REJECTED = [(1.0, None, 0.0, 1.0), (None, 1.0, 1.0, None), (0.0, 1.0, 0.5, None)]
ALL_RIGHT = [(1.0, None, 1.0, 1.0), (None, 1.0, 1.0, None), (None, None, None, 1.0)]
"""What is left where incorrect replies are rejected: nothing tells one reply from another. The last group has
one reply alone."""


def logs_of(policy: LocalPolicy, sample: Sample) -> torch.Tensor:
    return log_probabilities(policy, sample, policy.recipe.temperature)


def advantages(rewards: Sequence[float | None], recipe: Recipe) -> list[float | None]:
    """r - mean of the accepted replies, over their deviation where the recipe says so."""
    kept = torch.tensor([reward for reward in rewards if reward is not None], dtype=torch.float64)
    scale = float(kept.std()) + 1e-4 if recipe.scale_rewards == "group" else 1.0
    return [None if reward is None else (reward - float(kept.mean())) / scale for reward in rewards]


def reference(policy: LocalPolicy, groups: Sequence[Group], kept: Sequence[Group]) -> tuple[int, int]:
    """Take the steps by hand on a policy's weights; return (tokens whose ratio was clipped, tokens of all).

    groups: all that came; kept: those that a step passes through the model.
    """
    recipe, steps = policy.recipe, min(policy.recipe.mini_batches, len(kept))
    size = -(-len(kept) // steps)
    parameters = [parameter for parameter in policy.model.parameters() if parameter.requires_grad]
    adam = torch.optim.Adam(parameters, lr=recipe.learning_rate, betas=recipe.betas)
    rows = [
        (place // size, sample, worth)
        for place, group in enumerate(kept)
        for sample, worth in zip(group.samples, advantages(group.rewards, recipe), strict=True)
        if worth is not None
    ]
    with torch.no_grad():
        sampled = [logs_of(policy, sample) for _, sample, _ in rows]
        with policy.model.disable_adapter():
            first = [logs_of(policy, sample) for _, sample, _ in rows]
    all_rows = sum(len(group.samples) for group in groups)
    all_tokens = sum(int(own_tokens(sample).sum()) for _, sample, _ in rows)
    clipped = 0
    for step in range(steps):
        total = torch.zeros(())
        for (part, sample, worth), old, start in zip(rows, sampled, first, strict=True):
            if part != step:
                continue
            mask, new = own_tokens(sample), logs_of(policy, sample)
            ratio = torch.exp(new - old)
            if recipe.loss_type == "cispo":
                loss = -ratio.clamp(max=5.0).detach() * worth * new
                clipped += int(((ratio > 5.0) & (worth > 0)).sum())
            else:
                loss = -torch.minimum(ratio * worth, ratio.clamp(0.8, 1.2) * worth)
                clipped += int((((ratio < 0.8) & (worth < 0)) | ((ratio > 1.2) & (worth > 0))).sum())
            apart = start - new
            kl = torch.exp(apart) - apart - 1
            loss = loss + recipe.kl * kl * (ratio if recipe.kl_term == "weighted" else 1.0)
            by_row = recipe.loss_type == "grpo"
            total = total + ((loss * mask).sum() / mask.sum() if by_row else (loss * mask).sum())
        share = {"dr_grpo": all_rows * policy.max_tokens, "grpo": all_rows}.get(
            recipe.loss_type, all_tokens
        ) / steps
        adam.zero_grad()
        (total / share).backward()
        if recipe.clip is not None:
            torch.nn.utils.clip_grad_norm_(parameters, recipe.clip)
        adam.step()
    return clipped, all_tokens


def weights(policy: LocalPolicy) -> torch.Tensor:
    return torch.cat(
        [parameter.detach().flatten() for parameter in policy.model.parameters() if parameter.requires_grad]
    )


def assert_same_weights(one: LocalPolicy, other: LocalPolicy) -> None:
    """All but one in a thousand: Adam moves a weight whose gradient is near nothing by its sign, which the
    last bits of a sum decide."""
    far = (weights(one) - weights(other)).abs() > 2e-4 + 1e-3 * weights(other).abs()
    assert float(far.double().mean()) < 1e-3, f"{int(far.sum())} weights differ"


def both(
    recipe: Recipe, rewards: Sequence[Sequence[float | None]]
) -> tuple[LocalPolicy, LocalPolicy, list[Group]]:
    """Two policies of the same weights, and groups that one of them sampled, with replies of several
    lengths."""
    policy, other = (trained_once(tiny_policy(recipe)) for _ in range(2))
    drawn = policy.sample([(PROMPT, problem) for problem in problems(len(rewards))], 4, 7)
    return (
        policy,
        other,
        groups_of(
            [[cut(sample, 4 + 2 * number) for number, sample in enumerate(some)] for some in drawn], rewards
        ),
    )


@pytest.mark.parametrize(("loss_type", "steps"), [("dr_grpo", 2), ("grpo", 2), ("dapo", 3), ("cispo", 2)])
def test_steps_on_mini_batches_are_those_of_the_reference_and_clipping_acts(
    loss_type: str, steps: int
) -> None:
    recipe = replace(ESPL, loss_type=loss_type, mini_batches=steps, learning_rate=0.2)
    policy, other, groups = both(recipe, REWARDS)
    before = weights(other).clone()
    clipped, tokens = reference(other, groups, [group for group in groups if len(set(group.rewards)) > 1])
    assert clipped > 0 or loss_type == "cispo", "no ratio left its range: this would be no test of clipping"

    stats = policy.update(groups, 1)

    assert (weights(other) - before).abs().max() > 0.1
    assert_same_weights(policy, other)
    assert stats.clipped == pytest.approx(clipped / tokens, abs=1e-6) and (stats.step, policy.steps) == (
        steps,
        steps,
    )


def test_a_ratio_beyond_the_cap_is_capped_in_cispo_where_grpo_drops_its_gradient() -> None:
    """The same groups and weights: with several steps the two losses end in other weights; with one step in
    the same."""
    ends = {}
    for steps in (1, 2):
        for loss_type in ("dapo", "cispo"):
            policy, _, groups = both(
                replace(ESPL, loss_type=loss_type, mini_batches=steps, learning_rate=0.2), REWARDS
            )
            policy.update(groups, 1)
            ends[steps, loss_type] = weights(policy)
    torch.testing.assert_close(ends[1, "dapo"], ends[1, "cispo"], rtol=1e-4, atol=1e-5)
    assert (ends[2, "dapo"] - ends[2, "cispo"]).abs().max() > 0.01


@pytest.mark.parametrize("kl_term", ["k3", "weighted"])
@pytest.mark.parametrize(("name", "rewards"), [("unanswered", REJECTED), ("incorrect", ALL_RIGHT)])
def test_steps_of_sslogic_with_both_kl_terms_and_rejected_replies(
    kl_term: str, name: str, rewards: list[tuple[float | None, ...]]
) -> None:
    recipe = replace(SSLOGIC, kl=0.5, mini_batches=2, learning_rate=0.05, kl_term=kl_term, rejects=name)  # type: ignore[arg-type]
    policy, other, groups = both(recipe, rewards)
    kept = [group for group in groups if sum(reward is not None for reward in group.rewards) > 1]
    before = weights(other).clone()
    reference(other, groups, kept)
    policy.update(groups, 1)
    assert (weights(other) - before).abs().max() > 0.01
    assert_same_weights(policy, other)


def test_the_two_kl_terms_have_other_gradients_already_in_the_first_step() -> None:
    """Of equation 4 it is that of the divergence; of plain k3 it is not, though both have the same value
    there."""
    ends = {}
    for kl_term in ("k3", "weighted"):
        policy, _, groups = both(replace(SSLOGIC, kl=0.5, learning_rate=0.05, kl_term=kl_term), ALL_RIGHT)  # type: ignore[arg-type]
        ends[kl_term] = (policy.update(groups, 1).kl, weights(policy))
    assert ends["k3"][0] == pytest.approx(ends["weighted"][0], rel=1e-5)
    assert (ends["k3"][1] - ends["weighted"][1]).abs().max() > 0.01


def test_a_checkpoint_after_several_steps_continues_as_the_policy_does() -> None:
    policy, other, groups = both(replace(ESPL, mini_batches=2, learning_rate=0.05), REWARDS)
    policy.update(groups, 1)
    other.load(policy.save())
    for item in (policy, other):
        item.update(groups, 2)
    assert policy.save() == other.save() and policy.steps == 4
