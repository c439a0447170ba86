"""reasoning-gym's datasets as families, in the real jail: instances by difficulty and seed, replies judged by
the dataset's own verifier."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from families_fixtures import judged, require_module

from evolake.families.sandbox.driver import MOST_SLOW
from evolake.families.sandbox.foreign import (
    GYM_CAPS,
    GYM_PRELOAD,
    external_family,
    external_names,
    external_rows,
)
from evolake.families.sandbox.running import Caps, generate
from evolake.jail import open_pool
from evolake.verifiers.external import Asked, score_replies

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
def test_an_instance_is_a_function_of_difficulty_and_seed_and_its_answer_is_worth_1(pool, name: str):
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
def test_a_reply_that_changes_what_judges_it_changes_nothing_for_the_next(pool, what: str):
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
    command = [sys.executable, "-c", "from evolake.cli import main; main()", "families", "external"]
    done = subprocess.run(
        [*command, "chain_sum", "--each", "3", "--out", str(tmp_path / "x.jsonl")],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.startswith("3 instances of 1 datasets")
    assert [json.loads(line)["dataset"] for line in (tmp_path / "x.jsonl").read_text().splitlines()] == [
        "chain_sum"
    ] * 3
    wrong = subprocess.run([*command, "chain_sums"], capture_output=True, text=True, check=False)
    assert (wrong.returncode, "no dataset 'chain_sums'" in wrong.stderr) == (2, True)
