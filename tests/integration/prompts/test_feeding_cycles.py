"""Families feed the prompts line, through Dagster: the draw moves to those that teach, and families that go
on change no cycle that is sealed.

The policy is the tiny one; what it says to problems of families is planted, by family: half of a group right,
all, or none.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from one_line import OneLine
from prompts_lake import family_lake, finish_families

from evolake.cli.sql import all_tables
from evolake.lake import Catalogue
from evolake.lake.catalogue import SQL_ROOT
from evolake.prompts.model.protocol import Sample
from evolake.prompts.policies import registry
from evolake.prompts.policies.local import LocalPolicy
from evolake.settings import default_lake_root

FAMILIES = {
    f"{kind}-{number}": ()
    for kind, count in (("half", 4), ("never", 6), ("always", 2))
    for number in range(count)
}
SMALL = {
    "POLICY": "tiny",
    "MAX_TOKENS": "4",
    "LORA_RANK": "4",
    "LORA_ALPHA": "4",
    "BATCH_PROBLEMS": "12",
    "FAMILIES_SHARE": "0.75",
    "PROMPTS_PER_ITERATION": "1",
    "SELECTION": "espl",  # one prompt an iteration, which answers every problem
    "ROLLOUTS": "2",
    "HELDOUT_PROBLEMS": "2",
    "DUEL_PROBLEMS": "2",
    "ANSWER_FORMAT": "last",
    "REPLY_START": "",
    "DIFFICULTIES": "null",
}


def planted(policy: LocalPolicy) -> LocalPolicy:
    """The policy, with what it says to problems of families in place of what it would say."""
    sampled = policy.sample

    def sample(pairs: Any, n: int, seed: int, **options: Any) -> list[list[Sample]]:
        result = sampled(pairs, n, seed, **options)
        return [
            [replace(item, reply=said) for item, said in zip(given, words(problem.family, n), strict=True)]
            if problem.source == "families"
            else given
            for (_, problem), given in zip(pairs, result, strict=True)
        ]

    policy.sample = sample  # type: ignore[method-assign]
    return policy


def words(family: str, replies: int) -> list[str]:
    right = {"half": replies // 2, "always": replies, "never": 0}[family.partition("-")[0]]
    return ["7"] * right + ["8"] * (replies - right)


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Iterator[OneLine]:
    """Two cycles of prompts, then another one of families, then the opening of a third of prompts."""
    root: Path = tmp_path_factory.mktemp("feeding")
    given = {f"EVOLAKE_PROMPTS__{name}": value for name, value in SMALL.items()}
    given |= {
        "EVOLAKE_LAKE": str(root),
        "EVOLAKE_SEEDS": str(default_lake_root() / "seeds"),
        "EVOLAKE_PROFILE": "demo",
    }
    with pytest.MonkeyPatch.context() as monkeypatch, dg.DagsterInstance.ephemeral() as instance:
        for name, value in given.items():
            monkeypatch.setenv(name, value)
        opened = registry.open_policy
        monkeypatch.setattr(registry, "open_policy", lambda *arguments: planted(opened(*arguments)))  # type: ignore[arg-type]
        from pipelines.definitions import defs

        lake = finish_families(family_lake(root), "0001", FAMILIES, difficulties=(1,), each=3)
        project = OneLine("prompts", lake, instance, defs)
        assert defs.resolve_job_def("prompts_seeds").execute_in_process(instance=instance).success
        project.run("0001")
        project.run("0002")
        finish_families(lake, "0002", {"half-later": ()}, difficulties=(1,))
        project.run("0003", "problems")
        yield project


def kinds(project: OneLine, cycle: str) -> Counter[str]:
    return Counter(row["family"].partition("-")[0] for row in project.rows("feed", cycle))


def test_the_draw_moves_from_families_that_teach_nothing_to_those_that_do(project):
    first, third = kinds(project, "0001"), kinds(project, "0003")
    assert {row["reason"] for row in project.rows("feed", "0001")} == {"new"} and first["never"] + first[
        "always"
    ] > first["half"]
    assert third["half"] > third["never"] + third["always"]
    assert {row["family"] for row in project.rows("feed", "0003") if row["reason"] == "learnable"} <= {
        name for name in FAMILIES if "half" in name
    }


def test_the_cookbook_tells_who_was_asked_why_and_how_many_replies_were_right(project):
    with Catalogue(project.lake, all_tables()) as catalogue:
        answer = catalogue.query((SQL_ROOT / "cookbook" / "prompts_feed.sql").read_text())
    rows = [dict(zip(answer.columns, row, strict=True)) for row in answer.rows]
    asked = [row for row in rows if row["cycle"] in ("0001", "0002")]
    details = {
        cycle: len({(row["family"], row["reason"]) for row in project.rows("feed", cycle)})
        for cycle in ("0001", "0002", "0003")
    }
    assert Counter(row["cycle"] for row in rows) == details
    assert all((row["score"] > 0) == (0 < row["correct"] < row["replies"]) for row in asked)
    assert all(row["score_before"] > 0 for row in rows if row["reason"] == "learnable")


def test_replies_to_families_are_of_problems_that_were_set_and_as_many_as_the_places(project):
    set_for = {row["problem_id"]: row["family"] for row in project.rows("feed", "0002")}
    asked = [row for row in project.rows("rollouts", "0002") if row["problem_id"] in set_for]
    assert {row["problem_id"] for row in asked} == set(set_for)
    by_source = Counter(
        row["source"] for row in project.rows("learnability", "0002") for _ in range(row["replies"])
    )
    assert by_source["families"] == len(asked) and sum(by_source.values()) == 12 * 2


def test_families_that_go_on_change_no_cycle_of_prompts_that_was_opened_before(project):
    def contents(cycle: str) -> dict[str, str]:
        result = {
            name: project.lake.record("prompts", name, cycle)
            for name in ("problems", "feed", "feed_read", "survivors")
        }
        return {name: record.content_sha for name, record in result.items() if record is not None}

    before, seal = contents("0002"), project.lake.seals.read("prompts", "0003")
    project.run("0002")
    assert contents("0002") == before and len(before) == 4
    after = project.lake.seals.read("prompts", "0003")
    assert seal is not None and after is not None and after.version == seal.version
    read = [row["of_cycle"] for row in project.rows("feed_read", "0003") if row["asset"] == "instances"]
    assert read == ["0001", "0002"]
