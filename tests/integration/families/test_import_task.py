"""`evolake families import-task`: tasks in the shapes of Enigmata, SynLogic and reasoning-gym become drafts
with their own generator and scorer."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from commands import evolake
from families_fixtures import judged, require_module

from evolake.families.model.family_files import read_family
from evolake.families.sandbox.driver import MOST_SLOW
from evolake.families.sandbox.foreign import (
    GYM_CAPS,
    GYM_PRELOAD,
    external_family,
    external_names,
    external_rows,
)
from evolake.families.sandbox.running import Caps, check, generate
from evolake.jail import open_pool
from evolake.verifiers.external import Asked, score_replies

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


# reasoning-gym's datasets as families, in the real jail: instances by difficulty and seed, replies judged
# by the dataset's own verifier.


NAMES = ("chain_sum", "countdown", "spell_backward", "caesar_cipher")
GYM = "__import__('reasoning_gym.factory', fromlist=['DATASETS'])"
TAMPERING = {
    "the verifier": f"setattr({GYM}.DATASETS['string_insertion'][0], 'score_answer', lambda self, answer, entry: 1.0)",  # noqa: E501
    "what makes the entry": (
        f"setattr({GYM}.DATASETS['string_insertion'][0], '__getitem__', lambda self, idx: {{'answer': "
        "'wrong'})"
    ),
    "what makes the dataset": "setattr(__import__('evolake.verifiers.gym', fromlist=['make']), 'make', "
    "lambda *some: (type('Generous', (), {'score_answer': lambda self, answer, entry: 1.0})(), {}))",
    "Python itself": "setattr(__import__('builtins'), 'float', lambda value: 1.0)",
}
"""Replies to `string_insertion`, whose verifier hands a reply to `eval`: each changes what would judge the
next."""
SCORE_CAPS = Caps(cpu_s=10.0, call_s=10.0, memory_mb=2048)
ENDLESS = "[0 for _ in iter(int, 1)]"
HOSTILE = ("__import__('os').system('touch /tmp/evolake-was-here')", "9**9**9", "(" * 50_000, "\x00")


def score_external(
    name: str,
    instances: Sequence[dict[str, Any]],
    replies: Sequence[str],
    *,
    pool: Any,
    caps: Caps = SCORE_CAPS,
) -> list[float]:
    """Scores of replies by the dataset's `score_answer`, 0 to 1; a reply that its verifier fails on is worth
    0. instances: what made them."""
    asked = [
        Asked({"dataset": name, "difficulty": instance["difficulty"], "seed": instance["seed"]}, reply)
        for instance, reply in zip(instances, replies, strict=True)
    ]
    return [reply.score for reply in score_replies(asked, pool=pool, limits=caps.limits())]


@pytest.fixture(scope="module")
def pool():
    require_module("reasoning_gym", "reasoning-gym")
    with open_pool(workers=1, preload=GYM_PRELOAD) as pool:
        yield pool


@pytest.mark.parametrize("name", NAMES)
def test_an_instance_is_a_function_of_difficulty_and_seed_and_its_answer_is_worth_1(pool, name):
    family, pairs = (
        external_family(name),
        [(difficulty, seed) for difficulty in (1, 5, 10) for seed in (1, 2)],
    )
    made = generate(family, pairs, pool=pool, caps=GYM_CAPS)
    assert {(item.status, item.reason) for item in made} == {("ok", "")}
    assert [item.content for item in made] == [
        item.content for item in generate(family, pairs[::-1], pool=pool, caps=GYM_CAPS)[::-1]
    ]
    assert all(first.text != other.text for first, other in zip(made[::2], made[1::2], strict=True))
    inputs = [item.inputs for item in made]
    assert score_external(name, inputs, [item["answer"] for item in inputs], pool=pool) == [1.0] * len(made)
    assert max(score_external(name, inputs, ["no answer"] * len(made), pool=pool)) < 1.0


def test_difficulty_makes_harder_instances(pool):
    made = generate(
        external_family("chain_sum"),
        [(difficulty, seed) for difficulty in (1, 10) for seed in range(20)],
        pool=pool,
        caps=GYM_CAPS,
    )
    easy, hard = (sum(len(item.text) for item in part) for part in (made[:20], made[20:]))
    assert hard > easy


def test_hostile_replies_harm_nothing(pool):
    """countdown's verifier evaluates a reply: here that is inside the jail."""
    made = generate(external_family("countdown"), [(3, 1)] * len(HOSTILE), pool=pool, caps=GYM_CAPS)
    caps = Caps(cpu_s=2.0, call_s=2.0, memory_mb=2048)
    assert (
        max(score_external("countdown", [item.inputs for item in made], HOSTILE, pool=pool, caps=caps)) < 1.0
    )
    assert not Path("/tmp/evolake-was-here").exists()


@pytest.mark.parametrize("what", TAMPERING)
def test_a_reply_that_changes_what_judges_it_changes_nothing_for_the_next(pool, what):
    rows = external_rows(["string_insertion"], 3, pool=pool, root_seed=3)
    alone = score_external("string_insertion", rows[1:], ["wrong", rows[2]["answer"]], pool=pool)
    assert alone == [0.0, 1.0]
    assert (
        score_external("string_insertion", rows, [TAMPERING[what], "wrong", rows[2]["answer"]], pool=pool)[1:]
        == alone
    )


def test_a_reply_whose_verifier_evaluates_it_can_claim_its_own_score_which_is_not_mended(pool):
    """Known not to hold, see docs/trust.md: within its own process nothing is safe from a reply that runs
    there."""
    [row] = external_rows(["string_insertion"], 1, pool=pool, root_seed=3)
    own = "__import__('evolake.jail.inside.candidate', fromlist=['frame'])"
    claim = f"""setattr({own}, 'frame', lambda nonce, body, real={own}.frame: real(nonce, b'{{"status": "ok", "value": 1.0}}'))"""  # noqa: E501
    assert score_external("string_insertion", [row], [claim], pool=pool) == [1.0]


def test_replies_that_use_up_their_time_take_none_of_the_next(pool):
    caps = Caps(cpu_s=1.0, call_s=1.0, memory_mb=2048)
    rows = external_rows(["string_insertion"], MOST_SLOW + 1, pool=pool, root_seed=3)
    replies = [ENDLESS] * MOST_SLOW + [rows[-1]["answer"]]
    assert score_external("string_insertion", rows, replies, pool=pool, caps=caps) == [0.0] * MOST_SLOW + [
        1.0
    ]


def test_without_independent_validators_it_never_enters_the_archive(pool):
    seen = judged(external_family("chain_sum"), pool)
    assert not seen.accepted
    assert seen.blocked_by is not None


def test_what_cannot_be_verified_is_not_offered(pool):
    known = external_names(pool)
    assert set(NAMES) <= set(known)
    assert not {"knight_swap", "game_of_life_halting", "composite"} & set(known)


def test_rows_say_where_they_come_from_and_whose_verifier_judges(pool):
    rows = external_rows(["leg_counting"], 12, pool=pool, root_seed=3)
    assert [row["difficulty"] for row in rows] == [*range(1, 11), 1, 2]
    assert rows == external_rows(["leg_counting"], 12, pool=pool, root_seed=3)
    assert {row["verifier"].rpartition(" ")[2] for row in rows} == {"leg_counting.score_answer"}
    assert score_external("leg_counting", rows, [row["answer"] for row in rows], pool=pool) == [1.0] * 12


def test_the_command_writes_jsonl_and_names_an_unknown_dataset(pool, tmp_path):
    command = ("families", "external")
    done = evolake(*command, "chain_sum", "--each", "3", "--out", tmp_path / "x.jsonl")
    assert done.stdout.startswith("3 instances of 1 datasets")
    assert [json.loads(line)["dataset"] for line in (tmp_path / "x.jsonl").read_text().splitlines()] == [
        "chain_sum"
    ] * 3
    wrong = evolake(*command, "chain_sums")
    assert (wrong.returncode, "no dataset 'chain_sums'" in wrong.stderr) == (2, True)
