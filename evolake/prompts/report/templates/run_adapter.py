"""Ask a small model with the system prompt and the LoRA adapter of this folder. Needs transformers and peft.

    python run.py "What is 7 + 5?"     print the reply to each question
    python run.py --check              ask the questions of replies.jsonl and compare with the stored replies

--merged uses the model in the folder `merged` in place of base model and adapter. Replies are greedy.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import torch
from transformers import AutoModelForCausalLM, AutoTokenizer, GenerationConfig

HERE = Path(__file__).resolve().parent


def load(settings: dict[str, Any], merged: bool) -> tuple[Any, Any]:
    """Return model and tokenizer. A base model that is named without a path is in this folder."""
    place = HERE / ("merged" if merged else settings["base_model"])
    model: Any = AutoModelForCausalLM.from_pretrained(place, dtype=getattr(torch, settings["dtype"]))
    tokenizer = AutoTokenizer.from_pretrained(HERE)
    ends = model.generation_config.eos_token_id
    ends = sorted({tokenizer.eos_token_id, *(ends if isinstance(ends, list) else [ends])} - {None})
    model.generation_config = GenerationConfig(
        do_sample=False,
        max_new_tokens=settings["max_tokens"],
        eos_token_id=ends,
        pad_token_id=tokenizer.eos_token_id if tokenizer.pad_token_id is None else tokenizer.pad_token_id,
    )
    if not merged and (HERE / "adapter_config.json").is_file():
        from peft import PeftModel

        model = PeftModel.from_pretrained(model, str(HERE))
    return model.to("cuda" if torch.cuda.is_available() else "cpu").eval(), tokenizer


def reply_to(question: str, settings: dict[str, Any], model: Any, tokenizer: Any) -> str:
    """Return what the model writes after the start of the reply."""
    messages = [
        {"role": "system", "content": settings["system_prompt"]},
        {"role": "user", "content": question},
    ]
    ids = tokenizer.apply_chat_template(
        messages, add_generation_prompt=True, tokenize=True, return_dict=False
    )
    if settings["reply_start"]:
        ids = [*ids, *tokenizer(settings["reply_start"], add_special_tokens=False)["input_ids"]]
    read = torch.tensor([ids], device=model.device)
    with torch.no_grad():
        output = model.generate(input_ids=read, attention_mask=torch.ones_like(read))
    return tokenizer.decode(output[0, len(ids) :], skip_special_tokens=True)


def main() -> int:
    """Print replies, or how many are as stored; 1 if some are not."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("questions", nargs="*")
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--merged", action="store_true")
    chosen = parser.parse_args()
    stored = HERE / "replies.jsonl"
    if not chosen.questions and not chosen.check:
        parser.error("give a question, or --check")
    if chosen.merged and not (HERE / "merged").is_dir():
        parser.error(
            "no folder `merged`: write this folder with `evolake champion prompts --out DIR --merge`"
        )
    if chosen.check and not stored.is_file():
        parser.error("no replies.jsonl: no greedy replies of this prompt with these weights were stored")
    settings = json.loads((HERE / "reply.json").read_text(encoding="utf-8"))
    place = HERE / settings["base_model"]
    if not chosen.merged and not (place / "config.json").is_file():
        parser.error(
            f"the base model is not in {place}: write this folder with `evolake champion prompts --out DIR --base`"
        )
    model, tokenizer = load(settings, chosen.merged)
    for question in chosen.questions:
        # as in training, a question that asks for no form of its answer is followed by the request for one
        asked = question if "\\boxed" in question else f"{question}\n\n{settings['request']}"
        print(settings["reply_start"] + reply_to(asked, settings, model, tokenizer))
    if not chosen.check:
        return 0
    rows = [json.loads(line) for line in stored.read_text(encoding="utf-8").splitlines()]
    same = [row for row in rows if reply_to(row["question"], settings, model, tokenizer) == row["reply"]]
    right = sum(row["correct"] for row in same)
    print(f"{len(same)} of {len(rows)} replies are as stored, {right} of these are right")
    return 0 if len(same) == len(rows) else 1


if __name__ == "__main__":
    raise SystemExit(main())
