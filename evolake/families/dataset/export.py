"""The data set as trainers take it.

    jsonl    text, hidden inputs, answer, difficulty, seed; and the families themselves
    trl      prompt (messages), answer, case_sensitive, category, difficulty, ids
    verl     data_source, prompt, answer, ability, reward_model, extra_info

Each form is a folder with a card and, for the trainers, the reward function. A text occurs once. Splits are by family: no family of the training
split is in the test split.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import polars as pl

from evolake.errors import InputError
from evolake.families.dataset.cards import TITLE, Provenance, card
from evolake.families.dataset.reward import reward_source
from evolake.families.model.contract import as_json

Form = Literal["jsonl", "trl", "verl"]
CARD, REWARD, INSTANCES_FILE, FAMILIES_FILE = "README.md", "reward.py", "instances.jsonl", "families.jsonl"
WRITTEN = {CARD, REWARD, INSTANCES_FILE, FAMILIES_FILE, "train.parquet", "test.parquet"}
DATA_SOURCE = "evolake/families"
ASKING = {
    "en": "Give your final answer inside \\boxed{...}.",
    "zh": "请把最终答案写在 \\boxed{...} 中。",
}


def write_dataset(
    form: Form, rows: Sequence[Mapping[str, Any]], families: Sequence[Mapping[str, Any]], folder: Path, made_by: Provenance, *,
    test_share: float = 0.0,
) -> dict[str, int]:
    """Write the data set below `folder`; gives split -> instances.

    Args:
        rows: columns of INSTANCES and `operator`. families: records of `contract.to_record`, for "jsonl". test_share: 0 to 1, of the families.
    """
    clear(folder)
    kept = once(rows)
    splits: dict[str, list[Mapping[str, Any]]] = {"train": [], "test": []} if test_share else {"train": []}
    for row in kept:
        splits["test" if in_test(row["family_id"], test_share) else "train"].append(row)
    if form == "jsonl":
        splits = {"train": kept}
        write_lines(folder / INSTANCES_FILE, [plain(row) for row in kept])
        write_lines(folder / FAMILIES_FILE, families)
    else:
        convert = trl_row if form == "trl" else verl_row
        for split, members in splits.items():
            converted = [convert(row, split, number) for number, row in enumerate(members)]
            write_parquet(folder / f"{split}.parquet", converted)
        (folder / REWARD).write_text(reward_source(), encoding="utf-8")
    counts = {split: len(members) for split, members in splits.items()}
    (folder / CARD).write_text(card(form, kept, made_by, counts), encoding="utf-8")
    return counts


def clear(folder: Path) -> None:
    """Make the folder, or take away what an earlier export left there. Raises InputError where it holds anything else: nothing is touched then."""
    folder.mkdir(parents=True, exist_ok=True)
    there = sorted(folder.iterdir())
    strange = [path.name for path in there if path.name not in WRITTEN]
    if there and (strange or TITLE not in (folder / CARD).read_text(encoding="utf-8", errors="replace") if (folder / CARD).is_file() else True):
        raise InputError(f"{folder} is not empty", wanted="a new folder, or that of an earlier export", got=", ".join(strange[:5]) or CARD)
    for path in there:
        path.unlink()


def once(rows: Sequence[Mapping[str, Any]]) -> list[Mapping[str, Any]]:
    """The rows without those whose text came before."""
    seen: set[str] = set()
    kept = []
    for row in rows:
        if row["text_sha"] not in seen:
            seen.add(row["text_sha"])
            kept.append(row)
    return kept


def in_test(family_id: str, share: float) -> bool:
    """Whether a family is of the test split. By its id alone: a later export never moves it."""
    return int(hashlib.sha256(f"split\x1f{family_id}".encode()).hexdigest()[:12], 16) < share * 16**12


def plain(row: Mapping[str, Any]) -> dict[str, Any]:
    """One line of instances.jsonl: text, hidden inputs, answer, difficulty, seed, and where it comes from."""
    return {
        "id": row["instance_id"], "family_id": row["family_id"], "category": row["category"], "language": row["language"],
        "difficulty": row["difficulty"], "seed": row["seed"], "text": row["text"], "inputs": json.loads(row["inputs"]),
        "answer": json.loads(row["answer"]), "case_sensitive": row["case_sensitive"], "votes": row["votes"], "voters": row["voters"],
    }


def prompt(row: Mapping[str, Any]) -> list[dict[str, str]]:
    """The question as messages, with the request to box the answer."""
    return [{"role": "user", "content": f"{row['text']}\n\n{ASKING.get(row['language'], ASKING['en'])}"}]


def trl_row(row: Mapping[str, Any], split: str, number: int) -> dict[str, Any]:
    """answer: the label as JSON text, one type for all rows."""
    return {
        "prompt": prompt(row), "answer": row["answer"], "case_sensitive": row["case_sensitive"], "category": row["category"],
        "difficulty": row["difficulty"], "family_id": row["family_id"], "instance_id": row["instance_id"],
    }


def verl_row(row: Mapping[str, Any], split: str, number: int) -> dict[str, Any]:
    """reward_model.ground_truth: the label as JSON text."""
    return {
        "data_source": DATA_SOURCE, "prompt": prompt(row), "answer": row["answer"], "ability": row["category"],
        "reward_model": {"style": "rule", "ground_truth": row["answer"]},
        "extra_info": {
            "split": split, "index": number, "instance_id": row["instance_id"], "family_id": row["family_id"], "difficulty": row["difficulty"],
            "seed": row["seed"], "case_sensitive": row["case_sensitive"],
        },
    }


def write_lines(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """One JSON object a line."""
    path.write_text("".join(as_json(record) + "\n" for record in records), encoding="utf-8")


def write_parquet(path: Path, records: Sequence[Mapping[str, Any]]) -> None:
    """A table; where there is no record, a file of no columns."""
    pl.DataFrame(list(records), infer_schema_length=None).write_parquet(path)
