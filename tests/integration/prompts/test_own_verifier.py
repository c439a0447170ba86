"""Problems of reasoning-gym in the prompts line, judged by their dataset's own verifier in the real jail:
rewards, held-out replies, benchmarks."""

import json
from typing import Any

import pytest
from families_fixtures import require_module
from prompts_fixtures import SIZES, Adder, iterate, operators

from evolake.errors import JailUnavailable
from evolake.families.sandbox.foreign import GYM_PRELOAD, external_rows
from evolake.jail import open_pool
from evolake.prompts.evolution.population import found_population
from evolake.prompts.evolution.prompt_contest import evaluate
from evolake.prompts.model import scoring as verifying
from evolake.prompts.model.problem_files import gym_problems, read_side
from evolake.prompts.model.problem_files import problem as read_row
from evolake.prompts.model.prompt import prompt_of
from evolake.prompts.model.protocol import Sample
from evolake.prompts.model.recipes import ESPL
from evolake.prompts.model.scoring import judge_with, verify
from evolake.utility.drawing import benchmark_rows, problem_of
from evolake.utility.settings import UtilitySettings
from evolake.utility.tables import PROBLEMS
from evolake.verifiers.external import Asked, Verified, score_replies
from evolake.verifiers.gym import made

GYM = "__import__('reasoning_gym.factory', fromlist=['DATASETS'])"
TAMPERING = f"setattr({GYM}.DATASETS['string_insertion'][0], 'score_answer', lambda self, answer, entry: 1.0)"
FORGED = (
    "setattr(__import__('evolake.verifiers.gym', fromlist=['made']), 'made', lambda entry: (None, "
    "{'question': 'another'}))"
)
ENDLESS = "[0 for _ in iter(int, 1)]"


@pytest.fixture(scope="module", autouse=True)
def _library() -> None:
    require_module("reasoning_gym", "reasoning-gym")


def boxed(text: str) -> str:
    return f"Thus \\boxed{{{text}}}."


class Scripted(Adder):
    """Gives each problem the same replies, in turn."""

    def __init__(self, replies: Any):
        super().__init__()
        self.replies = replies

    def sample(self, pairs: Any, n: int, seed: int, *, greedy: bool = False) -> list[list[Sample]]:
        return [
            [Sample(self.replies(item)[number % len(self.replies(item))], 3, False) for number in range(n)]
            for _, item in pairs
        ]


def test_the_verifier_takes_what_a_comparison_of_answers_would_refuse_and_gives_partial_credit():
    asked = gym_problems(["countdown", "chain_sum"], 2, 3)
    rows = [(item, boxed(json.loads(item.answer)), False) for item in asked]
    own = verify(rows, "boxed")
    assert own == [Verified(1.0)] * 4
    numbers = made(json.loads(asked[0].entry or ""))[1]["metadata"]["numbers"]
    other = " + ".join(map(str, numbers))
    wrong, partial, none = verify(
        [
            (asked[0], boxed(other), False),
            (asked[2], boxed(f"{json.loads(asked[2].answer)} apples"), False),
            (asked[2], "no box", False),
        ],
        "boxed",
    )
    assert (wrong, none) == (Verified(wrong.score), Verified(0.0)) and wrong.score < 1  # type: ignore[union-attr]
    assert 0 < partial.score < 1 and partial.failure is None  # type: ignore[union-attr]


def test_an_iteration_is_rewarded_by_the_verifier_and_a_reply_that_breaks_it_is_worth_0_and_counted():
    problems = gym_problems(["string_insertion"], 4, 3)
    policy = Scripted(
        lambda item: [boxed(TAMPERING), boxed("wrong"), boxed(json.loads(item.answer)), boxed("(" * 5000)]
    )
    root = prompt_of(["Think."])
    with operators() as agents:
        done = iterate(
            found_population({"root": root}, "0001"),
            policy,
            problems,
            agents=agents,
            judge=judge_with(ESPL, "boxed"),
            arm="rl",
            settings=SIZES.model_copy(
                update={"batch_problems": 2, "prompts_per_iteration": 1, "answer_format": "boxed"}
            ),
        )
    rows = done.frames()["rollouts"].sort("problem_id", "number").to_dicts()
    assert len(rows) == 8
    for part in (rows[:4], rows[4:]):
        tampered, wrong, right, broken = part
        assert (wrong["reward"], wrong["correct"], wrong["unverified"]) == (0.0, False, None), (
            "what the first reply changed is not met"
        )
        assert (right["reward"], right["correct"]) == (1.0, True)
        assert (broken["reward"], broken["correct"]) == (0.0, False)
        assert not tampered["correct"]


def test_replies_that_break_their_verifier_are_counted_and_harm_no_other(monkeypatch):
    monkeypatch.setattr(verifying, "score_replies", _short(verifying.score_replies))
    [asked] = gym_problems(["string_insertion"], 1, 3)
    result = verify(
        [(asked, boxed(text), False) for text in (ENDLESS, FORGED, json.loads(asked.answer))], "boxed"
    )
    endless, forged, right = result
    assert endless is not None and endless.score == 0.0 and endless.failure in ("cpu", "timeout")
    assert forged is not None and forged.score < 1
    assert right == Verified(1.0)


def _short(score: Any) -> Any:
    from evolake.jail.protocol import Limits

    return lambda asked, *, pool: score(asked, pool=pool, limits=Limits(cpu_s=1.0, wall_s=4.0))


def test_held_out_replies_and_rows_of_a_file_are_judged_by_it_too():
    with open_pool(workers=1, preload=GYM_PRELOAD) as pool:
        rows = [
            json.loads(json.dumps(row)) for row in external_rows(["leg_counting"], 3, pool=pool, root_seed=3)
        ]
    asked = [read_row(row, "heldout", source="bench", where="here") for row in rows]
    right = {item.text: boxed(json.loads(item.answer)) for item in asked}
    policy = Scripted(lambda item: [right[item.text], boxed("0 or so")])
    result = evaluate(policy, [prompt_of(["Think."])], asked, samples=2, answer_format="boxed", seed=1)
    assert [(row["correct"], row["unverified"]) for row in result] == [(True, None), (False, None)] * 3
    with pytest.raises(JailUnavailable):
        score_replies([Asked(json.loads(asked[0].entry or ""), "1")], pool=pool)


def test_a_benchmark_keeps_what_makes_its_entries():
    place = "reasoning-gym:countdown"
    rows = PROBLEMS.frame(benchmark_rows(place, UtilitySettings(benchmark_problems=3))).to_dicts()
    asked = read_side(place, "heldout", gym_problems=3, seed=0)
    assert [(item.scorer, item.entry, item.text) for item in map(problem_of, rows)] == [
        ("reasoning-gym", item.entry, item.text) for item in asked
    ]
    assert (
        verify([(problem_of(row), boxed(json.loads(row["answer"])), False) for row in rows], "boxed")
        == [Verified(1.0)] * 3
    )
