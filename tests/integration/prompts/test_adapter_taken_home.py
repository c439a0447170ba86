"""A policy that was taken out is loaded by transformers and peft alone, in a new process, and replies as it
did here."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file
from tiny_policy import PROMPT, log_probabilities, problems, tiny_policy, trained_once

from evolake.errors import InputError
from evolake.prompts.policies.adapter import card, reply_settings, write_policy
from evolake.prompts.policies.models import tiny_base
from evolake.prompts.settings import PromptsSettings

ALONE = (
    "import sys; sys.modules['evolake'] = None; import runpy; runpy.run_path('run.py', run_name='__main__')"
)
"""Runs the script without evolake: an import of it raises."""
LOGITS = """
import json, sys, torch
from peft import PeftModel
from transformers import AutoModelForCausalLM
base = AutoModelForCausalLM.from_pretrained(sys.argv[1], dtype=torch.float32)
model = PeftModel.from_pretrained(base, sys.argv[2]).eval()
print(json.dumps(model(input_ids=torch.tensor([json.loads(sys.argv[3])])).logits[0].tolist()))
"""


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", ALONE, *arguments], cwd=folder, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def policy():
    with trained_once(tiny_policy(reply_start="Answer:")) as result:
        yield result


@pytest.fixture(scope="module")
def base(tmp_path_factory) -> Path:
    folder, made = tmp_path_factory.mktemp("base"), tiny_base()
    made.model.save_pretrained(folder)
    made.tokenizer.save_pretrained(folder)
    return folder


@pytest.fixture(scope="module")
def taken(policy, base, tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("taken")
    own = PromptsSettings(
        policy="local",
        reply_start="Answer:",
        answer_format="last",
        max_tokens=policy.max_tokens,
        dtype="float32",
    )
    asked = problems(4)
    pairs = [(PROMPT, item) for item in asked]
    replies = [some[0].reply for some in policy.sample(pairs, 1, 0, greedy=True)]
    rows = [
        {"question": item.text, "reply": reply, "correct": number == 0}
        for number, (item, reply) in enumerate(zip(asked, replies, strict=True))
    ]
    state = with_base(policy.save(), base)
    written = write_policy(
        folder, state, as_asked(own), str(base), PROMPT.text(), rows, folder / "unused", models=["merge"]
    )
    assert (written.base_model, written.rank) == (str(base), 4)
    head, body = card(written, as_asked(own), len(rows))
    assert head.startswith(f"---\nbase_model: {json.dumps(str(base))}\n") and "not tested" in "\n".join(body)
    return folder


def as_asked(own: PromptsSettings) -> dict[str, object]:
    return reply_settings(own)


def with_base(state: bytes, base: Path) -> bytes:
    """The same checkpoint, of the base model as it lies in a folder."""
    from evolake.prompts.policies.local import pack, unpack
    from evolake.prompts.policies.models import find_base

    tensors, facts = unpack(state)
    return pack(tensors, facts | {"base": find_base(str(base), base)[2]})


def test_the_folder_holds_the_adapter_and_all_that_replies_depend_on(taken):
    assert {path.name for path in taken.iterdir()} == {
        "adapter_config.json",
        "adapter_model.safetensors",
        "chat_template.jinja",
        "merged",
        "replies.jsonl",
        "reply.json",
        "run.py",
        "tokenizer.json",
        "tokenizer_config.json",
    }
    names = set(load_file(taken / "adapter_model.safetensors"))
    assert names and all(name.endswith((".lora_A.weight", ".lora_B.weight")) for name in names)
    settings = json.loads((taken / "reply.json").read_text())
    assert settings["system_prompt"] == PROMPT.text()
    assert (settings["reply_start"], settings["answer_format"]) == ("Answer:", "last")


@pytest.mark.parametrize("options", [["--check"], ["--check", "--merged"]])
def test_a_new_process_without_evolake_gives_the_stored_replies(taken, options):
    done = run(taken, *options)
    assert (done.returncode, done.stdout) == (0, "4 of 4 replies are as stored, 1 of these are right\n"), (
        done.stderr
    )


def test_peft_loads_the_adapter_and_the_logits_are_those_of_the_policy(taken, base, policy):
    [[sample]] = policy.sample([(PROMPT, problems(1)[0])], 1, 0, greedy=True)
    ids = [*sample.prompt_ids, *sample.reply_ids]
    done = subprocess.run(
        [sys.executable, "-c", LOGITS, str(base), str(taken), json.dumps(ids)],
        capture_output=True,
        text=True,
        check=True,
    )
    logits = torch.tensor(json.loads(done.stdout))[len(sample.prompt_ids) - 1 : -1]
    here = log_probabilities(policy, sample)
    there = torch.log_softmax(logits, -1).gather(1, torch.tensor(sample.reply_ids)[:, None])[:, 0]
    assert torch.allclose(here, there, atol=1e-5)
    with policy.model.disable_adapter():
        assert not torch.allclose(log_probabilities(policy, sample), there, atol=1e-3)


def test_other_weights_are_noticed(taken, tmp_path):
    folder = tmp_path / "changed"
    shutil.copytree(taken, folder)
    weights = load_file(folder / "adapter_model.safetensors")
    save_file(
        {name: -tensor if "lora_B" in name else tensor for name, tensor in weights.items()},
        folder / "adapter_model.safetensors",
        metadata={"format": "pt"},
    )
    done = run(folder, "--check")
    assert done.returncode == 1 and "of 4 replies are as stored" in done.stdout, done.stderr


def test_a_question_is_answered_after_the_start_of_the_reply(taken):
    done = run(taken, "1 + 1?")
    assert done.returncode == 0 and done.stdout.startswith("Answer:"), done.stderr


def test_an_adapter_of_another_model_is_refused_and_so_is_merging_nothing(policy, base, tmp_path):
    own = as_asked(PromptsSettings(policy="local", dtype="float32"))
    with pytest.raises(InputError, match="another base model"):
        write_policy(tmp_path, policy.save(), own, str(base), "", [], tmp_path)
    with pytest.raises(InputError, match="no adapter to merge"):
        write_policy(tmp_path, None, own, str(base), "", [], tmp_path, models=["merge"])
