"""A prompt that is read once for all its replies gives what reading it for each of them gives."""

from functools import cache

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from tiny_policy import PROMPT, groups_of, problems, tiny_policy

from evolake.prompts.model.prompt import prompt_of
from evolake.prompts.model.recipes import ESPL, SSLOGIC
from evolake.prompts.policies import local, training
from evolake.prompts.policies.shared_prompts import log_probabilities

REWARDS = [(1.0, 0.0, 0.0, 1.0), (0.0, None, 0.0, 1.0), (1.0, 1.0, 1.1, 0.1)]
MODEL = cache(lambda: tiny_policy().model.get_base_model())
TOKENS = st.integers(3, 200)


def padded(rows: list[tuple[list[int], list[int]]]) -> tuple[torch.Tensor, torch.Tensor, int]:
    """(prompt, reply) rows as trl lays them out: prompts padded on the left, replies on the right."""
    before, after = (max(len(row[side]) for row in rows) for side in (0, 1))
    ids = torch.zeros((len(rows), before + after), dtype=torch.long)
    mask = torch.zeros_like(ids)
    for number, (prompt, reply) in enumerate(rows):
        ids[number, before - len(prompt) : before + len(reply)] = torch.tensor(prompt + reply)
        mask[number, before - len(prompt) : before + len(reply)] = 1
    return ids, mask, after


@given(
    prompts=st.lists(st.lists(TOKENS, min_size=1, max_size=6), min_size=1, max_size=3),
    rows=st.lists(
        st.tuples(st.integers(0, 2), st.lists(TOKENS, min_size=1, max_size=5)), min_size=1, max_size=5
    ),
    temperature=st.sampled_from([0.7, 1.0]),
)
def test_log_probabilities_are_those_of_each_row_alone(prompts, rows, temperature):
    asked = [(prompts[which % len(prompts)], reply) for which, reply in rows]
    model = MODEL()
    with torch.no_grad():
        logs, entropies = log_probabilities(model, *padded(asked), temperature)
        for number, (prompt, reply) in enumerate(asked):
            wanted = torch.log_softmax(
                model(input_ids=torch.tensor([prompt + reply])).logits[0, len(prompt) - 1 : -1] / temperature,
                -1,
            )
            torch.testing.assert_close(
                logs[number, : len(reply)],
                wanted.gather(1, torch.tensor(reply)[:, None])[:, 0],
                rtol=1e-4,
                atol=1e-5,
            )
            torch.testing.assert_close(
                entropies[number, : len(reply)], -(wanted.exp() * wanted).sum(-1), rtol=1e-4, atol=1e-5
            )


def test_samples_are_the_same_tokens_as_with_the_prompt_read_for_each(monkeypatch):
    pairs = [
        (prompt, problem)
        for prompt in (PROMPT, prompt_of(["Think, then answer in one word."]))
        for problem in problems(2)
    ]
    shared = tiny_policy(rows_at_once=8).sample(pairs, 4, 7)
    monkeypatch.setattr(local, "can_share", lambda model: False)
    assert tiny_policy(rows_at_once=8).sample(pairs, 4, 7) == shared


@pytest.mark.parametrize("recipe", [ESPL, SSLOGIC], ids=lambda recipe: recipe.name)
def test_an_update_is_the_one_that_trl_makes_on_its_own(recipe, monkeypatch):
    first, other = tiny_policy(recipe), tiny_policy(recipe)
    groups = groups_of(first.sample([(PROMPT, problem) for problem in problems(3)], 4, 7), REWARDS)
    shared = first.update(groups, 1)
    monkeypatch.setattr(training, "can_share", lambda model: False)
    alone = other.update(groups, 1)
    assert shared.grad_norm == pytest.approx(alone.grad_norm, rel=1e-4) and shared.grad_norm > 0
    assert (shared.loss, shared.kl) == (
        pytest.approx(alone.loss, rel=1e-4, abs=1e-6),
        pytest.approx(alone.kl, rel=1e-3, abs=1e-8),
    )
