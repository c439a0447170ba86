"""`evolake families import-task`: tasks in the shapes of Enigmata, SynLogic and reasoning-gym become drafts
with their own generator and scorer."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from commands import evolake
from families_fixtures import require_module

from evolake.families.model.family_files import read_family
from evolake.families.sandbox.running import check, generate

ENIGMATA = {
    "template.py": "PROMPT = 'Sort the digits of {text} from low to high. What is the result?'\n",
    "generator.py": """
import argparse
import random

from template import PROMPT

LENGTHS = {"easy": 4, "medium": 8, "hard": 16}


def generate(count=100, difficulty="medium", language="en", split="train"):
    for _ in range(count):
        text = "".join(random.choice("123456789") for _ in range(LENGTHS[difficulty]))
        yield {"prompt": PROMPT.format(text=text), "answer": "".join(sorted(text)), "task_name": "sort", "difficulty": difficulty}


if __name__ == "__main__":
    argparse.ArgumentParser().parse_args()
""",  # noqa: E501
    "verifier.py": """
import json


def verify(pred, answer, meta):
    meta = json.loads(meta) if isinstance(meta, str) else meta
    return 1 if pred.strip() == answer and meta["task_name"] == "sort" else 0
""",
}
SYNLOGIC = {
    "scripts/words_prompt.py": "prompts_en = ['Sort these words: {words}. Give them divided by commas.']\n",
    "scripts/words_verifier.py": """
from base.verifier import Verifier


class WordsVerifier(Verifier):
    def extract_answer(self, test_solution):
        return [word.strip() for word in test_solution.split(",")]

    def verify(self, data, test_solution):
        return self.extract_answer(test_solution) == sorted(data.metadata["words"])
""",
    "scripts/words.py": """
import random

from base.data import Data
from games.base.game import Game
from games.tasks.words.scripts.words_prompt import prompts_en
from games.tasks.words.scripts.words_verifier import WordsVerifier


class Words(Game):
    def __init__(self, most=9):
        super().__init__("words", WordsVerifier)
        self.most = most

    def generate(self, num_of_questions=100, max_attempts=100):
        result = []
        for _ in range(num_of_questions):
            words = random.sample(["ape", "bee", "cat", "dog", "emu", "fox", "gnu", "hen", "ibis"], random.randint(3, self.most))
            text = prompts_en[0].format(words=", ".join(words))
            result.append(Data(question=text, answer=", ".join(sorted(words)), difficulty=1, metadata={"words": words}))
        return result

    def verify(self, data, test_solution):
        return self.verifier.verify(data, test_solution)

    def extract_answer(self, test_solution):
        return self.verifier.extract_answer(test_solution)
""",  # noqa: E501
}


def written(folder: Path, files: dict[str, str]) -> Path:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text)
    return folder


@pytest.mark.parametrize(("files", "shown"), [(ENIGMATA, "Sort the digits"), (SYNLOGIC, "Sort these words")])
def test_a_folder_becomes_a_draft_with_its_generator_and_scorer(files, shown, tmp_path, pool):
    done = evolake(
        "families", "import-task", str(written(tmp_path / "task", files)), "--out", str(tmp_path / "draft")
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert shown in done.stdout
    assert "accepts its own answer in 3 of 3 instances, and a wrong one in 0" in done.stdout
    family = read_family(tmp_path / "draft")
    [first, again, hard] = generate(family, [(1, 5), (1, 5), (10, 5)], pool=pool)
    assert (first.status, first.text) == ("ok", again.text)
    assert len(hard.text) >= len(first.text)
    [said] = check(
        family.checkers["scorer"],
        [(first.inputs, [first.inputs["answer"], first.inputs["answer"] + "1"])],
        pool=pool,
    )
    assert said.answer == [True, False]


def test_what_a_draft_lacks_is_listed_at_once(tmp_path):
    evolake(
        "families", "import-task", str(written(tmp_path / "task", ENIGMATA)), "--out", str(tmp_path / "draft")
    )
    done = evolake("families", "check", str(tmp_path / "draft"), "--json")
    assert done.returncode == 1
    [faults] = json.loads(done.stdout)["faults"].values()
    assert [fault["gate"] for fault in faults][:1] == ["execution"]
    assert {"consensus", "blind"} <= {fault["gate"] for fault in faults}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "holds no task that is known"),
        ({"generator.py": "def generate(:\n"}, "cannot be parsed"),
        (
            {**ENIGMATA, "generator.py": "import not_there\n\n\ndef generate(count):\n    return []\n"},
            "gives no instance in the jail",
        ),
    ],
)
def test_what_cannot_be_imported_is_an_error_that_says_why(files, said, tmp_path):
    (tmp_path / "task").mkdir()
    done = evolake(
        "families", "import-task", str(written(tmp_path / "task", files)), "--out", str(tmp_path / "draft")
    )
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "draft").exists()


def test_a_folder_that_exists_and_a_task_that_does_not_are_refused(tmp_path):
    assert (
        evolake(
            "families", "import-task", str(tmp_path / "none"), "--out", str(tmp_path / "draft")
        ).returncode
        == 2
    )
    assert (
        "is there already" in evolake("families", "import-task", str(tmp_path), "--out", str(tmp_path)).stderr
    )


def test_a_dataset_of_reasoning_gym_becomes_a_draft(tmp_path):
    require_module("reasoning_gym", "reasoning-gym")
    done = evolake("families", "import-task", "reasoning-gym:spiral_matrix", "--out", str(tmp_path / "draft"))
    assert (
        done.returncode,
        "accepts its own answer in 3 of 3 instances, and a wrong one in 0" in done.stdout,
    ) == (0, True), done.stderr
    assert set(read_family(tmp_path / "draft").checkers) == {"scorer"}
    assert (
        evolake("families", "import-task", "reasoning-gym:none", "--out", str(tmp_path / "other")).returncode
        == 2
    )
