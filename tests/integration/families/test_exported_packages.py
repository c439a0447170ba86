"""The exports that are packages, loaded by the packages that they are for, each in a process of its own.

verifiers wants other versions of what evolake needs (openai before 3), so it is never in one environment with
it: EVOLAKE_VERIFIERS_PYTHON names the Python of one that has it. Without it that test is skipped, and under
EVOLAKE_REQUIRE_ALL=1 it installs verifiers into an environment of its own."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from families_fixtures import SETTINGS, require_module, seed_family

from evolake.errors import InputError
from evolake.families.dataset.datasets import Provenance
from evolake.families.dataset.exports import write_dataset
from evolake.families.gates.instances import sample_families
from evolake.families.model.contract import to_record
from evolake.families.sandbox.running import PRELOAD
from evolake.jail import open_pool

NAMES = ("parking-fees", "surely-older", "border-colours")
SIZES = SETTINGS.model_copy(update={"instances_per_family": 8})
RELEASE = "verifiers==0.4.0"
GYM = """
import json
import reasoning_gym
import evolake_families as exported
data = reasoning_gym.create_dataset("evolake", size=10, seed=3)
entries = list(data)
one = [reasoning_gym.create_dataset(name, seed=1) for name in exported.NAMES if name != "evolake"]
score = reasoning_gym.get_score_answer_fn("evolake")
print(json.dumps({
    "names": sorted(exported.NAMES),
    "again": entries == list(reasoning_gym.create_dataset("evolake", size=10, seed=3)),
    "other": entries != list(reasoning_gym.create_dataset("evolake", size=10, seed=4)),
    "each": [len(some) for some in one],
    "families": [len({entry["metadata"]["family_id"] for entry in some}) for some in one],
    "right": [score(entry["answer"], entry) for entry in entries],
    "boxed": [data.score_answer("so \\\\boxed{" + entry["answer"] + "}", entry) for entry in entries],
    "wrong": [score(text, entry) for entry in entries for text in ("[0]", "", None, "}{")],
    "texts": [entry["question"] for entry in entries],
}))
try:
    reasoning_gym.create_dataset("evolake", size=10_000)
except ValueError as error:
    print(error)
"""
VERIFIERS = """
import asyncio, json
import verifiers.v1 as vf
from verifiers.v1.utils.loaders import load_taskset, taskset_config_type
config = taskset_config_type("evolake-families")(id="evolake-families")
tasks = list(load_taskset(config))
print(json.dumps({
    "tasks": len(tasks),
    "keys": len({task.key for task in tasks}),
    "valid": [asyncio.run(task.validate(None)) for task in tasks],
    "wrong": [task.judged("\\\\boxed{[0]}") for task in tasks],
}))
"""


def exported(form: str, folder: Path) -> Path:
    """An export of three seeds, one with questions of many correct answers."""
    families = [seed_family(name) for name in NAMES]
    with open_pool(workers=1, preload=PRELOAD) as pool:
        rows, _ = sample_families(families, pool=pool, settings=SIZES, root_seed=0, cycle="0001", workers=1)
    known = {family.family_id: family.name for family in families}
    rows = [
        row | {"operator": "seed", "independent": "none", "title": known[row["family_id"]]} for row in rows
    ]
    made_by = Provenance([], ["rules"], ["0001"], ["0"], ["operators"], ["test"])
    records = [to_record(family) for family in families]
    assert write_dataset(form, rows, records, folder, made_by) == {"train": 24}  # type: ignore[arg-type]
    return folder


@pytest.fixture(scope="module")
def gym(tmp_path_factory) -> Path:
    return exported("reasoning-gym", tmp_path_factory.mktemp("gym"))


def printed_by(python: str, folder: Path, program: str) -> list[str]:
    done = subprocess.run(
        [python, "-c", program],
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_reasoning_gym_draws_and_scores_the_questions(gym):
    require_module("reasoning_gym", "reasoning-gym")
    first, refused = printed_by(sys.executable, gym, GYM)[-2:]
    said = json.loads(first)
    assert said["names"] == [
        "evolake",
        "evolake_border_colours",
        "evolake_parking_fees",
        "evolake_surely_older",
    ]
    assert said["again"] and said["other"] and len(set(said["texts"])) == 10
    assert (said["each"], said["families"]) == ([8, 8, 8], [1, 1, 1])
    assert said["right"] == said["boxed"] == [1.0] * 10 and said["wrong"] == [0.0] * 40
    assert refused == "wanted a size of 1 to 24 (got 10000)"


@pytest.fixture
def verifiers_python(tmp_path_factory) -> str:
    named = os.environ.get("EVOLAKE_VERIFIERS_PYTHON", "")
    if named:
        return named
    if os.environ.get("EVOLAKE_REQUIRE_ALL") != "1":
        pytest.skip(
            "EVOLAKE_VERIFIERS_PYTHON names no Python that has verifiers: pip install verifiers, apart"
        )
    folder = tmp_path_factory.mktemp("verifiers")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    python = str(folder / "bin" / "python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", "--no-compile", RELEASE], check=True)
    return python


def test_verifiers_loads_the_taskset_and_every_label_is_valid(tmp_path, verifiers_python):
    folder = exported("verifiers", tmp_path / "out")
    said = json.loads(printed_by(verifiers_python, folder, VERIFIERS)[-1])
    assert (said["tasks"], said["keys"]) == (24, 24)
    assert said["valid"] == [True] * 24 and said["wrong"] == [0.0] * 24
    done = subprocess.run(
        [
            Path(verifiers_python).with_name("vf-validate"),
            "evolake-families",
            "--runtime.type",
            "subprocess",
            "-o",
            tmp_path / "said",
        ],
        env=os.environ | {"PYTHONPATH": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    [summary] = (tmp_path / "said").rglob("summary.json")
    assert done.returncode == 0, done.stderr
    checks = json.loads(summary.read_text())["checks"]
    assert (checks["gold"]["valid"], checks["noop"]["valid"]) == (24, 24)


def test_a_package_is_written_again_in_its_own_place_and_nowhere_else(gym):
    before = sorted(
        path.relative_to(gym).as_posix() for path in gym.rglob("*") if "__pycache__" not in path.parts
    )
    assert before == [
        "README.md",
        "evolake_families",
        "evolake_families/__init__.py",
        "evolake_families/reward.py",
        "evolake_families/train.jsonl",
        "pyproject.toml",
    ]
    card = (gym / "README.md").read_text()
    assert card.startswith("---\nlicense: apache-2.0\ntask_categories:\n- question-answering\n")
    assert "size_categories:\n- n<1K\n" in card and "path: evolake_families/train.jsonl" in card
    assert card.partition("# Verifiable task families\n\n")[2].startswith(
        "Who solved a family from its text alone, other than its own programs: `none` 3 of 3 families."
    )
    exported("verifiers", gym)
    (gym / "evolake_families" / "mine.py").write_text("")
    with pytest.raises(InputError, match="not empty"):
        exported("verifiers", gym)
