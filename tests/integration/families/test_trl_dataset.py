"""The TRL export as a trainer sees it: loaded by the library `datasets`, scored by the shipped reward
function, called as TRL calls it."""

import importlib.util
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from families_fixtures import SETTINGS, require_module, seed_family

from evolake.families.dataset.datasets import Provenance
from evolake.families.dataset.exports import write_dataset
from evolake.families.gates.consensus import wrong_answers
from evolake.families.gates.instances import sample_families
from evolake.families.sandbox.running import PRELOAD
from evolake.jail import open_pool

NAMES = ("clinic-queue", "truth-tellers", "pouring-glasses", "parking-fees", "surely-older", "hidden-code")
SIZES = SETTINGS.model_copy(update={"instances_per_family": 18})


@pytest.fixture(scope="module")
def exported(tmp_path_factory) -> Path:
    """A data set of six seeds with answers of different types."""
    folder = tmp_path_factory.mktemp("trl")
    families = [seed_family(name) for name in NAMES]
    with open_pool(workers=1, preload=PRELOAD) as pool:
        rows, _ = sample_families(families, pool=pool, settings=SIZES, root_seed=0, cycle="0001", workers=1)
    made_by = Provenance(
        [(family.name, family.family_id) for family in families],
        ["rules"],
        ["0001"],
        ["0"],
        ["operators"],
        ["test"],
    )
    rows = [row | {"operator": "seed", "independent": "none"} for row in rows]
    write_dataset("trl", rows, [], folder, made_by)
    return folder


@pytest.fixture(scope="module")
def loaded(exported, tmp_path_factory) -> Any:
    """The split `train`."""
    require_module("datasets", "training")
    import datasets

    return datasets.load_dataset(
        "parquet", data_files=str(exported / "train.parquet"), cache_dir=str(tmp_path_factory.mktemp("cache"))
    )["train"]


@pytest.fixture(scope="module")
def shipped(exported) -> ModuleType:
    """reward.py of the export."""
    spec = importlib.util.spec_from_file_location("shipped_reward", exported / "reward.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def scored(shipped: ModuleType, loaded: Any, replies: list[str]) -> list[float]:
    """As TRL calls it for conversational data: completions are lists of messages, columns come by name."""
    columns = {name: loaded[name][:] for name in loaded.column_names if name != "prompt"}
    completions = [[{"role": "assistant", "content": text}] for text in replies]
    return shipped.reward(prompts=loaded["prompt"][:], completions=completions, **columns)


def test_columns_are_those_that_a_trainer_reads(loaded):
    assert {"prompt", "answer", "case_sensitive"} <= set(loaded.column_names)
    assert loaded.num_rows == 18 * len(NAMES)
    first = loaded[0]["prompt"]
    assert [message["role"] for message in first] == ["user"]
    assert "\\boxed" in first[0]["content"]


def as_text(answer: Any) -> str:
    return answer if isinstance(answer, str) else json.dumps(answer, ensure_ascii=False)


def test_the_reward_is_1_for_every_label_and_0_for_every_answer_that_is_nearly_right(loaded, shipped):
    answers = [json.loads(answer) for answer in loaded["answer"]]
    assert len({type(answer) for answer in answers}) >= 3
    right = [f"So it is \\boxed{{{as_text(answer)}}}." for answer in answers]
    assert scored(shipped, loaded, right) == [1.0] * len(answers)
    wrong = [wrong_answers(answer) for answer in answers]
    for number in range(max(map(len, wrong))):
        replies = [f"\\boxed{{{as_text(result[number % len(result)])}}}" for result in wrong]
        assert scored(shipped, loaded, replies) == [0.0] * len(answers)


def test_a_reply_is_never_run(loaded, shipped, tmp_path):
    touched = tmp_path / "touched"
    for code in (
        f"__import__('pathlib').Path({str(touched)!r}).touch()",
        f"open({str(touched)!r}, 'w')",
        f"[open({str(touched)!r}, 'w')]",
    ):
        assert scored(shipped, loaded, [f"\\boxed{{{code}}}"] * loaded.num_rows) == [0.0] * loaded.num_rows
    assert not touched.exists()
