"""One update by trl is the policy gradient computed by hand, in both recipes and in each loss."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
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
from evolake.prompts.policies import training
from evolake.prompts.policies.local import LocalPolicy
from evolake.prompts.policies.training import usable


def gradients(policy: LocalPolicy, loss: torch.Tensor) -> dict[str, torch.Tensor]:
    names = [name for name, parameter in policy.model.named_parameters() if parameter.requires_grad]
    result = torch.autograd.grad(
        loss, [policy.model.get_parameter(name) for name in names], allow_unused=False
    )
    return dict(zip(names, result, strict=True))


def espl_loss(policy: LocalPolicy, groups: list[Group]) -> torch.Tensor:
    """- sum over rows and own tokens of (r - mean r of the group) log p, over rows times the longest
    reply."""
    total, rows = torch.zeros(()), 0
    for group in groups:
        mean = np.mean(group.rewards)  # type: ignore[arg-type]
        for sample, reward in zip(group.samples, group.rewards, strict=True):
            assert reward is not None
            total = total - (reward - mean) * (log_probabilities(policy, sample) * own_tokens(sample)).sum()
            rows += 1
    return total / (rows * policy.max_tokens)


def first_gradients(policy: LocalPolicy) -> dict[str, torch.Tensor]:
    """What the optimizer was given in its first step: its first moment over (1 - beta1)."""
    share = 1 - policy.recipe.betas[0]
    return {
        name: policy.optimizer.state[parameter]["exp_avg"] / share
        for name, parameter in policy.model.named_parameters()
        if parameter.requires_grad
    }


def assert_same(computed: dict[str, torch.Tensor], wanted: dict[str, torch.Tensor]) -> None:
    assert computed.keys() == wanted.keys()
    scale = max(float(gradient.abs().max()) for gradient in wanted.values())
    assert scale > 1e-4
    for name in wanted:
        torch.testing.assert_close(computed[name], wanted[name], rtol=1e-4, atol=1e-5 * scale)


@pytest.mark.parametrize("rows_per_pass", [1, 6, 64])
def test_an_update_of_espl_is_the_policy_gradient_by_hand(rows_per_pass):
    policy = trained_once(tiny_policy(rows_per_pass=rows_per_pass))
    groups = groups_of(policy.sample([(PROMPT, problem) for problem in problems(5)], 4, 7), REWARDS)
    wanted = gradients(policy, espl_loss(policy, groups))
    before = {
        name: parameter.detach().clone()
        for name, parameter in policy.model.named_parameters()
        if parameter.requires_grad
    }

    stats = policy.update(groups, 1)

    assert_same(first_gradients(policy), wanted)
    norm = float(torch.sqrt(sum((gradient**2).sum() for gradient in wanted.values())))  # type: ignore[arg-type]
    assert stats.grad_norm == pytest.approx(norm, rel=1e-4)
    assert (stats.groups, stats.informative, stats.rejected, stats.step, stats.updated) == (5, 3, 0, 1, True)
    assert stats.tokens == sum(
        sample.tokens for group in groups for sample in group.samples if len(set(group.rewards)) > 1
    )
    for name, gradient in first_gradients(
        policy
    ).items():  # Adam's first step: the learning rate times g / (|g| + eps)
        torch.testing.assert_close(
            policy.model.get_parameter(name).detach(),
            before[name] - 4e-5 * gradient / (gradient.abs() + 1e-8),
        )


def test_the_rate_grows_and_falls_as_asked():
    recipe = replace(ESPL, learning_rate=1.0, warmup_steps=4, decay_steps=10)
    rates = [recipe.rate_at(step) for step in range(40)]
    assert rates[:4] == [0.25, 0.5, 0.75, 1.0] and rates[4] == 1.0
    assert rates[9] == pytest.approx(0.55) and rates[14:] == pytest.approx([0.1] * 26)
    assert [ESPL.rate_at(step) for step in (0, 1000)] == [4e-5, 4e-5]


def test_steps_of_a_warm_up_are_as_long_as_its_rates():
    """Adam's first step moves a weight by the rate; the steps before count."""
    moved = []
    for recipe in (ESPL, replace(ESPL, warmup_steps=4)):
        policy = trained_once(tiny_policy(recipe=recipe))
        before = {name: weights.detach().clone() for name, weights in policy.model.named_parameters()}
        groups = groups_of(policy.sample([(PROMPT, problem) for problem in problems(5)], 4, 7), REWARDS)
        policy.update(groups, 1)
        changes = [weights.detach() - before[name] for name, weights in policy.model.named_parameters()]
        moved.append(max(float(change.abs().max()) for change in changes))
    assert moved[1] == pytest.approx(moved[0] / 4, rel=0.02)
    policy.steps = 2
    policy.update(groups, 1)
    assert policy.optimizer.param_groups[0]["lr"] == pytest.approx(4e-5)


def test_replies_that_were_cut_off_carry_no_loss_where_that_is_asked():
    policy = trained_once(tiny_policy(recipe=replace(ESPL, mask_truncated=True)))
    drawn = policy.sample([(PROMPT, problem) for problem in problems(5)], 4, 7)
    end = policy.tokenizer.eos_token_id
    drawn = [
        [
            sample if place % 2 else replace(sample, reply_ids=(*sample.reply_ids[:-1], end))
            for place, sample in enumerate(some)
        ]
        for some in drawn
    ]
    groups = groups_of(drawn, REWARDS)
    whole = gradients(policy, espl_loss(policy, groups))
    cut_off = [
        replace(
            group,
            samples=tuple(
                sample
                if sample.reply_ids[-1] == end
                else replace(sample, reply_mask=(0,) * len(sample.reply_ids))
                for sample in group.samples
            ),
        )
        for group in groups
    ]
    wanted = gradients(policy, espl_loss(policy, cut_off))
    policy.update(groups, 1)
    assert_same(first_gradients(policy), wanted)
    with pytest.raises(AssertionError):
        assert_same(first_gradients(policy), whole)


def with_results(sample: Sample) -> Sample:
    """The sample with foreign tokens after its third and its sixth; its own stay what they were."""
    ids, mask = list(sample.reply_ids), [1] * len(sample.reply_ids)
    for place, tokens in ((6, [30, 31]), (3, [20, 21, 22, 23, 24])):
        if place < len(ids):
            ids[place:place], mask[place:place] = tokens, [0] * len(tokens)
    return replace(sample, reply_ids=tuple(ids), reply_mask=tuple(mask), calls=())


@pytest.mark.parametrize("shared", [True, False], ids=["prompts read once", "as trl reads them"])
def test_results_of_tools_have_no_gradient_of_their_own(shared, monkeypatch):
    """The update is the policy gradient by hand over the policy's own tokens, which read the results; over
    all tokens it would be another one."""
    if not shared:
        monkeypatch.setattr(training, "can_share", lambda model: False)
    policy = trained_once(tiny_policy())
    drawn = policy.sample([(PROMPT, problem) for problem in problems(5)], 4, 7)
    groups = groups_of([[with_results(sample) for sample in some] for some in drawn], REWARDS)
    wanted = gradients(policy, espl_loss(policy, groups))
    unmasked = [
        replace(group, samples=tuple(replace(sample, reply_mask=()) for sample in group.samples))
        for group in groups
    ]
    whole = gradients(policy, espl_loss(policy, unmasked))
    without = gradients(policy, espl_loss(policy, groups_of(drawn, REWARDS)))
    moving = [group for group in groups if len(set(group.rewards)) > 1]
    entropies = [
        entropy for group in moving for sample in group.samples for entropy in own_entropies(policy, sample)
    ]

    stats = policy.update(groups, 1)

    result = first_gradients(policy)
    assert_same(result, wanted)
    for other in (whole, without):
        with pytest.raises(AssertionError):
            assert_same(result, other)
    assert (
        stats.tokens == sum(sample.tokens for group in moving for sample in group.samples) == len(entropies)
    )
    assert stats.entropy == pytest.approx(sum(entropies) / len(entropies), rel=1e-4)


def own_entropies(policy: LocalPolicy, sample: Sample) -> list[float]:
    """Of what each of its own tokens was drawn from, in nats."""
    with torch.no_grad():
        logits = policy.model(torch.tensor([[*sample.prompt_ids, *sample.reply_ids]])).logits[
            0, len(sample.prompt_ids) - 1 : -1
        ]
    result = torch.distributions.Categorical(logits=logits.double()).entropy().tolist()
    return [entropy for entropy, mine in zip(result, own_tokens(sample).tolist(), strict=True) if mine]


def test_where_no_reward_differs_nothing_is_updated():
    policy = tiny_policy()
    samples = policy.sample([(PROMPT, problem) for problem in problems(2)], 2, 7)
    before = policy.save()
    stats = policy.update(groups_of(samples, [(1.0, 1.0), (0.0, 0.0)]), 1)
    assert (stats.updated, stats.step, stats.tokens, policy.save()) == (False, 0, 0, before)


@pytest.mark.parametrize(
    ("recipe", "kept"),
    [
        (ESPL, [(1.0, 0.0, 0.0), (0.0, 0.1, 0.0)]),
        (SSLOGIC, [(1.0, 0.0, 0.0), (1.0, 1.0, 1.0), (None, 1.0, 0.0)]),
        (replace(SSLOGIC, kl=0.0), [(1.0, 0.0, 0.0), (None, 1.0, 0.0)]),
    ],
)
def test_what_passes_through_the_model_is_what_can_move_it(recipe, kept):
    sample = Sample("", 1, False, (1,), (2,))
    rewards = [
        (1.0, 0.0, 0.0),
        (1.0, 1.0, 1.0),
        (0.0, 0.0, 0.0),
        (0.0, 0.1, 0.0),
        (None, None, 1.0),
        (None, None, None),
        (None, 0.0, 0.0),
        (None, 1.0, 0.0),
    ]
    rewards = [some for some in rewards if None not in some or recipe.rejects]
    result = usable([Group("p", str(n), (sample,) * 3, some) for n, some in enumerate(rewards)], recipe)
    assert [group.rewards for group in result] == kept


@pytest.mark.parametrize("tools", [False, True], ids=["plain", "with results of tools"])
def test_a_step_of_sslogic_leaves_out_what_is_rejected_and_pulls_towards_the_first_policy(tools):
    recipe = replace(SSLOGIC, kl=0.5, clip=None)
    policy = trained_once(tiny_policy(recipe))
    samples = policy.sample([(PROMPT, problem) for problem in problems(2)], 4, 7)
    samples = [[with_results(sample) if tools else sample for sample in some] for some in samples]
    groups = groups_of(samples, [(1.0, None, 0.0, 1.0), (1.0, 1.0, None, None)])

    total, tokens, kl_total = torch.zeros(()), 0, 0.0
    for group in groups:
        rewards = torch.tensor([reward for reward in group.rewards if reward is not None])
        for sample, reward in zip(group.samples, group.rewards, strict=True):
            if reward is None:
                continue
            own = log_probabilities(policy, sample, recipe.temperature)
            with policy.model.disable_adapter(), torch.no_grad():
                first = log_probabilities(policy, sample, recipe.temperature)
            kl = torch.exp(first - own) - (first - own) - 1
            mine = own_tokens(sample)
            total = (
                total
                - (reward - rewards.mean()) / (rewards.std() + 1e-4) * (own * mine).sum()
                + recipe.kl * (kl * mine).sum()
            )
            tokens += int(mine.sum())
            kl_total += float((kl.detach() * mine).sum())
    wanted = gradients(policy, total / tokens)

    stats = policy.update(groups, 1)

    assert_same(first_gradients(policy), wanted)
    assert list(policy.model.peft_config) == ["default"], "trl's copy of the adapter is gone"
    assert not [name for name, _ in policy.model.named_parameters() if ".ref." in name]
    assert (stats.rejected, stats.informative, stats.tokens) == (3, 1, tokens)
    assert stats.kl == pytest.approx(kl_total / tokens, rel=1e-3)


def weighted_loss(
    policy: LocalPolicy, groups: list[Group], weights: Sequence[torch.Tensor], *, by_row: bool
) -> torch.Tensor:
    """- sum over rows and tokens of weight (r - mean r of the group) log p: over the tokens of the row and
    then over the rows (grpo), else over all tokens of the groups that have an advantage (dapo, cispo).
    weights: for each row, of its tokens."""
    total, tokens, rows = torch.zeros(()), 0, 0
    given = iter(weights)
    for group in groups:
        advantages = np.array(group.rewards) - np.mean(group.rewards)  # type: ignore[arg-type]
        for sample, advantage in zip(group.samples, advantages, strict=True):
            own = next(given) * log_probabilities(policy, sample)
            total = total - float(advantage) * (own.mean() if by_row else own.sum())
            rows, tokens = rows + 1, tokens + sample.tokens * bool(advantages.any())
    return total / (rows if by_row else tokens)


@pytest.mark.parametrize("loss_type", ["grpo", "dapo", "cispo"])
def test_an_update_of_each_loss_is_the_policy_gradient_by_hand(loss_type):
    """Each with its own mean over rows or tokens; what has just been sampled weighs 1 in each."""
    policy = trained_once(tiny_policy(replace(ESPL, loss_type=loss_type)))
    drawn = policy.sample([(PROMPT, problem) for problem in problems(5)], 4, 7)
    groups = groups_of(
        [[cut(sample, 3 + 2 * number) for number, sample in enumerate(some)] for some in drawn], REWARDS
    )
    ones = [torch.ones(len(sample.reply_ids)) for group in groups for sample in group.samples]
    assert len({len(item) for item in ones}) == 4, "replies of one length would not tell the means apart"
    wanted = gradients(policy, weighted_loss(policy, groups, ones, by_row=loss_type == "grpo"))
    policy.update(groups, 1)
    assert_same(first_gradients(policy), wanted)


def test_cispo_caps_the_weight_of_a_token_and_keeps_its_gradient(monkeypatch):
    """Where the old policy was another one: each token's weight is its ratio, at most 5; dapo drops the
    gradient of such tokens."""
    ratios = torch.tensor([0.5, 1.0, 3.0, 8.0, 20.0]).repeat(2)
    real = training._trainer_class()

    class OfAnotherOldPolicy(real):
        def compute_loss(self, model: Any, inputs: dict[str, Any], *arguments: Any, **options: Any) -> Any:
            reply = inputs["completion_ids"].shape[1]
            ids, mask = (
                torch.cat([inputs[f"prompt_{name}"], inputs[f"completion_{name}"]], 1)
                for name in ("ids", "mask")
            )
            with torch.no_grad():
                logs = self._get_per_token_logps_and_entropies(model, ids, mask, reply)[0]
            return super().compute_loss(
                model, inputs | {"old_per_token_logps": logs - ratios[:reply].log()}, *arguments, **options
            )

    monkeypatch.setattr(training, "_trainer_class", lambda: OfAnotherOldPolicy)
    result = {}
    for loss_type in ("cispo", "dapo"):
        policy = trained_once(tiny_policy(replace(ESPL, loss_type=loss_type)))
        groups = groups_of(policy.sample([(PROMPT, problem) for problem in problems(2)], 4, 7), REWARDS[:2])
        capped = [
            ratios[: len(sample.reply_ids)].clamp(max=5.0) for group in groups for sample in group.samples
        ]
        wanted = gradients(policy, weighted_loss(policy, groups, capped, by_row=False))
        policy.update(groups, 1)
        result[loss_type] = first_gradients(policy)
    assert_same(result["cispo"], wanted)
    with pytest.raises(AssertionError):
        assert_same(result["dapo"], wanted)


@pytest.mark.slow
def test_a_policy_learns_what_is_rewarded():
    """Random weights over bytes learn to end their replies: a share that starts near nothing."""
    policy = tiny_policy(replace(ESPL, learning_rate=0.03), lora_rank=8, lora_alpha=8)
    pairs = [(PROMPT, problem) for problem in problems(4)]
    shares = []
    for step in range(12):
        samples = policy.sample(pairs, 8, step)
        rewards = [tuple(float(not sample.truncated) for sample in some) for some in samples]
        shares.append(np.mean(rewards))
        policy.update(groups_of(samples, rewards), step)
    assert np.mean(shares[:2]) < 0.4
    assert np.mean(shares[-2:]) > 0.8


# Several steps of one update are those of an independent reference in torch: ratios, clipping, CISPO's
# cap, both KL terms, rejected replies.


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
def test_steps_on_mini_batches_are_those_of_the_reference_and_clipping_acts(loss_type, steps):
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


def test_a_ratio_beyond_the_cap_is_capped_in_cispo_where_grpo_drops_its_gradient():
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
def test_steps_of_sslogic_with_both_kl_terms_and_rejected_replies(kl_term, name, rewards):
    recipe = replace(SSLOGIC, kl=0.5, mini_batches=2, learning_rate=0.05, kl_term=kl_term, rejects=name)  # type: ignore[arg-type]
    policy, other, groups = both(recipe, rewards)
    kept = [group for group in groups if sum(reward is not None for reward in group.rewards) > 1]
    before = weights(other).clone()
    reference(other, groups, kept)
    policy.update(groups, 1)
    assert (weights(other) - before).abs().max() > 0.01
    assert_same_weights(policy, other)


def test_the_two_kl_terms_have_other_gradients_already_in_the_first_step():
    """Of equation 4 it is that of the divergence; of plain k3 it is not, though both have the same value
    there."""
    ends = {}
    for kl_term in ("k3", "weighted"):
        policy, _, groups = both(replace(SSLOGIC, kl=0.5, learning_rate=0.05, kl_term=kl_term), ALL_RIGHT)  # type: ignore[arg-type]
        ends[kl_term] = (policy.update(groups, 1).kl, weights(policy))
    assert ends["k3"][0] == pytest.approx(ends["weighted"][0], rel=1e-5)
    assert (ends["k3"][1] - ends["weighted"][1]).abs().max() > 0.01


def test_a_mini_batch_without_a_gradient_moves_nothing_and_is_no_step():
    recipe = replace(ESPL, mini_batches=4, learning_rate=0.05)
    policy, _, groups = both(recipe, [(1.0, 0.0, 0.0, 1.0)] * 5)
    after: list[torch.Tensor] = []
    policy.optimizer.register_step_post_hook(lambda *_: after.append(weights(policy).clone()))
    stats = policy.update(groups, 1)
    assert len(after) == 4 and stats.updated and (stats.step, policy.steps) == (3, 3)
    assert not torch.equal(after[1], after[2]), "the third part holds the fifth group"
    assert torch.equal(after[2], after[3]), "the fourth only fills up, and momentum must not move the weights"
    assert {int(state["step"]) for state in policy.optimizer.state.values()} == {3}
