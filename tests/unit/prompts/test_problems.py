"""Problem sets: the first source with enough is used and says so; the split holds by family and by text."""

from __future__ import annotations

import json
import random
from collections import Counter
from pathlib import Path

import pytest

from evolake.errors import InputError
from evolake.families.tables import FAMILIES, INSTANCES
from evolake.lake import Lake, TableSchema
from evolake.prompts.model.gym_problems import gym_problems
from evolake.prompts.model.problems import (
    family_problems,
    finished_families,
    problem_set,
    read_problems,
    split,
)
from evolake.prompts.model.protocol import Problem
from evolake.prompts.settings import PromptsSettings


def make(number: int, *, family: str | None = None, text: str | None = None, difficulty: int = 1) -> Problem:
    name = f"problem-{number}"
    return Problem(
        name, text or f"text {number}", str(number), True, "kind", difficulty, "train", "test", family or name
    )


def shipped(folder: Path, problems: list[Problem]) -> Path:
    """A folder of seeds with these problems."""
    (folder / "prompts").mkdir(parents=True)
    fields = ("problem_id", "text", "answer", "case_sensitive", "category", "difficulty", "family")
    lines = [
        json.dumps({name: getattr(problem, name) for name in fields} | {"note": "passed over"})
        for problem in problems
    ]
    (folder / "prompts" / "problems.jsonl").write_text("\n".join(lines) + "\n\n")
    return folder


def test_families_and_texts_are_on_one_side_and_nothing_is_lost_but_repeated_texts() -> None:
    draw = random.Random(4)
    problems = [
        make(n, family=f"family-{draw.randrange(60)}", text=f"Text  {draw.randrange(300)}")
        for n in range(400)
    ]
    train, heldout = split(problems, 0.3)
    assert {item.split for item in train} == {"train"} and {item.split for item in heldout} == {"heldout"}
    assert not {item.family for item in train} & {item.family for item in heldout}
    texts = [item.text for item in [*train, *heldout]]
    assert Counter(texts).most_common(1)[0][1] == 1
    assert set(texts) == {problem.text for problem in problems}


def test_no_held_out_family_shares_a_root_with_one_to_train_on_and_those_of_both_sides_are_left_out() -> None:
    roots = {f"child-{n}": {f"root-{n}", f"root-{n * 7 % 20}"} for n in range(20)} | {
        f"root-{n}": {f"root-{n}"} for n in range(20)
    }
    train, heldout = split([make(n, family=family) for n, family in enumerate(roots)], 0.4, roots)
    sides = [set().union(*(roots[item.family] for item in some)) for some in (train, heldout)]
    assert sides[0] and sides[1] and not sides[0] & sides[1]
    assert len(train) + len(heldout) < len(roots)


def test_a_text_that_is_held_out_is_not_trained_on_whatever_its_spaces_and_case() -> None:
    problems = [make(n, family=f"family-{n}") for n in range(40)]
    train, heldout = split(problems, 0.5)
    copy = make(99, family=train[0].family, text=f"  {heldout[0].text.upper()}\n")
    again, held = split([*problems, copy], 0.5)
    assert (again, held) == (train, heldout)


def test_the_first_source_with_enough_problems_is_used_and_says_why_the_others_are_not(
    tmp_path: Path,
) -> None:
    seeds = shipped(tmp_path / "seeds", [make(n, difficulty=1 + n % 2) for n in range(100)])
    settings = PromptsSettings(
        problem_sources=["families", "shipped"],
        families_share=1,
        batch_problems=10,
        heldout_problems=8,
        difficulties=[2],
    )
    result = problem_set(settings, lake=Lake(tmp_path / "lake"), seeds=seeds, seed=3)
    assert (result.source, result.passed_over) == (
        "shipped",
        ("families: the lake holds no finished cycle of the families line",),
    )
    assert {item.difficulty for item in result.all} == {2}
    assert len(result.heldout) == 8 and len(result.train) > 30
    assert result.all == result.train + result.heldout
    assert problem_set(settings, lake=None, seeds=seeds, seed=3).all == result.all
    other = problem_set(settings, lake=Lake(tmp_path / "lake"), seeds=seeds, seed=4)
    assert other.train == result.train and set(other.heldout) != set(result.heldout)


def test_where_families_are_a_part_of_the_problems_what_is_held_out_is_of_another_source(
    tmp_path: Path,
) -> None:
    seeds = shipped(tmp_path / "seeds", [make(n) for n in range(60)])
    alone = problem_set(
        PromptsSettings(problem_sources=["shipped"], heldout_problems=5), lake=None, seeds=seeds, seed=3
    )
    beside = problem_set(
        PromptsSettings(problem_sources=["families", "shipped"], heldout_problems=5),
        lake=None,
        seeds=seeds,
        seed=3,
    )
    assert beside == alone and beside.passed_over == ()
    with pytest.raises(InputError, match="families: there is no lake"):
        problem_set(PromptsSettings(problem_sources=["families"]), lake=None, seeds=seeds, seed=3)


def test_held_out_problems_that_share_their_words_with_another_lineage_are_left_out(tmp_path: Path) -> None:
    text = (
        "Five houses stand in a row, and in each of them lives somebody who keeps another animal than all "
        "the others do"
    )
    own = [" ".join(str(50 * n + word) for word in range(20)) for n in range(200)]
    problems = [
        make(n, family=f"family-{n}", text=f"{text if n % 4 == 0 else words} {n}?")
        for n, words in enumerate(own)
    ]
    seeds, sizes = (
        shipped(tmp_path / "seeds", problems),
        {"problem_sources": ["shipped"], "heldout_problems": 10},
    )
    alike = {problem.problem_id for problem in problems if problem.text.startswith(text)}
    result = problem_set(PromptsSettings(**sizes), lake=None, seeds=seeds, seed=3)
    assert alike & {item.problem_id for item in result.train} and not alike & {
        item.problem_id for item in result.heldout
    }
    assert result.contamination.endswith("in common with problems to train on, and are left out")
    with pytest.raises(InputError, match=r"held out, \d+ contaminated ones left out"):
        problem_set(PromptsSettings(**sizes | {"heldout_problems": 20}), lake=None, seeds=seeds, seed=3)


@pytest.mark.parametrize("line", ["no json", "[1]", '{"problem_id": "a"}', '{"answer": 3}'])
def test_a_line_that_is_no_problem_is_named(tmp_path: Path, line: str) -> None:
    path = shipped(tmp_path / "seeds", [make(1)]) / "prompts" / "problems.jsonl"
    path.write_text(path.read_text() + line)
    with pytest.raises(InputError, match="line 3 of"):
        read_problems(path)


def test_problems_of_reasoning_gym_depend_on_the_seed_alone() -> None:
    pytest.importorskip("reasoning_gym")
    first = gym_problems(["chain_sum", "letter_counting"], 5, 3)
    assert (
        first
        == gym_problems(["chain_sum", "letter_counting"], 5, 3)
        != gym_problems(["chain_sum", "letter_counting"], 5, 4)
    )
    assert [item.category for item in first] == ["chain_sum"] * 5 + ["letter_counting"] * 5
    assert len({item.problem_id for item in first}) == 10
    terms = first[0].text.partition(":")[2].partition("=")[0]
    assert json.loads(first[0].answer) == str(eval(terms, {}))
    with pytest.raises(InputError, match="no task"):
        gym_problems(["no such task"], 1, 3)


def test_families_whose_answers_only_checkers_can_judge_give_no_problems(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    shas = {
        name: lake.blobs.put(json.dumps(record).encode())
        for name, record in (("many", {"checkers": {"a": "x"}}), ("one", {}))
    }
    rows = [
        dict.fromkeys(INSTANCES.described)
        | {
            "instance_id": family,
            "family_id": family,
            "category": "logic",
            "language": "en",
            "difficulty": 3,
            "text": f"Text of {family}",
            "answer": "1",
            "case_sensitive": True,
        }
        for family in shas
    ]
    lake.publish("families", "instances", INSTANCES.frame(rows), cycle="0001", run_id="run", schema=INSTANCES)
    states = FAMILIES.frame(
        {"family_id": family, "state": "accepted", "record_sha": sha} for family, sha in shas.items()
    )
    for cycle in ("0001", "0002"):
        lake.publish("families", "incoming_families", states, cycle=cycle, run_id="run", schema=FAMILIES)
        lake.seals.seal(
            "families", cycle, f"version {cycle}", "version 0001" if cycle == "0002" else None, "run"
        )
    assert [problem.family for problem in family_problems(lake)] == ["one"]


def test_problems_of_families_are_those_of_accepted_families_in_finished_cycles(tmp_path: Path) -> None:
    lake = Lake(tmp_path)
    wanted = (
        "instance_id",
        "family_id",
        "category",
        "language",
        "difficulty",
        "text",
        "answer",
        "case_sensitive",
    )
    instances = TableSchema(
        "instances", 1, {name: INSTANCES.described[name] for name in wanted}, keys=("instance_id",)
    )
    families = TableSchema(
        "families",
        1,
        {name: FAMILIES.described[name] for name in ("family_id", "state")},
        keys=("family_id",),
    )
    for cycle in ("0001", "0002"):
        rows = [
            {
                "instance_id": f"{cycle}-{family}",
                "family_id": family,
                "category": "logic",
                "language": language,
                "difficulty": 3,
                "text": f"{cycle} {family}",
                "answer": "[1, 2]",
                "case_sensitive": False,
            }
            for family, language in (("good", "en"), ("chinese", "zh"), ("bad", "en"))
        ]
        lake.publish(
            "families", "instances", instances.frame(rows), cycle=cycle, run_id="run", schema=instances
        )
    states = families.frame(
        {"family_id": family, "state": state}
        for family, state in (("good", "accepted"), ("chinese", "accepted"), ("bad", "blocked"))
    )
    before = None
    for cycle in ("0001", "0002"):
        lake.publish("families", "incoming_families", states, cycle=cycle, run_id="run", schema=families)
        lake.seals.seal("families", cycle, f"version {cycle}", before, "run")
        before = f"version {cycle}"

    assert finished_families(lake) == ["0001"]
    problems = family_problems(lake)
    rows = [(problem.problem_id, problem.family, problem.source) for problem in problems]
    assert rows == [("0001-good", "good", "families"), ("0001-chinese", "chinese", "families")]
    assert (
        problems[0].text
        == "0001 good\n\nGive your final answer, a list in square brackets, inside \\boxed{...}."
    )
    assert (
        family_problems(lake, answer_format="last")[0].text
        == "0001 good\n\nReply with a list in square brackets and nothing else."
    )
    assert problems[1].text.endswith("\\boxed{...} 中。")
    with pytest.raises(InputError, match="no finished cycle"):
        family_problems(lake, [])
