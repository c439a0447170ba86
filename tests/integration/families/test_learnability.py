"""What the prompts line says of families decides, through Dagster, who has children and who survives; of the
families that passed every gate."""

import shutil
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import dagster as dg
import polars as pl
import pytest
from families_fixtures import SEEDS
from one_line import OneLine

from evolake.cli.sql import all_tables
from evolake.families.gates.specs import GATES
from evolake.lake import Catalogue, Lake
from evolake.lake.catalogue import SQL_ROOT
from evolake.prompts.learnability import learnability_rows
from evolake.prompts.tables import LEARNABILITY, PROBLEMS, ROLLOUTS

NAMES = (
    "clinic-queue",
    "remainder-subsets",
    "truth-tellers",
    "digit-machine",
    "polynomial-product",
    "divisor-votes",
    "growing-words",
    "lamp-buttons",
    "letter-nesting",
    "postfix-machine",
)
EASY, IMPOSSIBLE = "clinic-queue", "truth-tellers"
SMALL = {
    "FAMILIES_PER_CYCLE": "2",
    "INSTANCES_PER_FAMILY": "4",
    "BAND_WEIGHTS": "[1,0,0]",
    "WORLD_SHARE": "0",
    "REFINEMENTS": "0",
    "CHECKED_EVIDENCE": "0",
    "LEARNABILITY": "1",
}


@dataclass(frozen=True)
class Project(OneLine):
    def ask(self, sql: str) -> list[tuple]:
        with Catalogue(self.lake, all_tables()) as catalogue:
            return catalogue.query(sql).rows


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> Iterator[Project]:
    """A lake of ten seeds, whom a policy was asked: one is too easy, one impossible. After a cycle of
    families that knows it."""
    folder = tmp_path_factory.mktemp("learnability")
    shutil.copytree(SEEDS / "rules", folder / "seeds" / "rules")
    shutil.copytree(SEEDS / "evidence", folder / "seeds" / "evidence")
    for name in NAMES:
        shutil.copytree(SEEDS / "families" / name, folder / "seeds" / "families" / name)
    given = {f"EVOLAKE_FAMILIES__{name}": value for name, value in SMALL.items()}
    given |= {"EVOLAKE_LAKE": folder / "lake", "EVOLAKE_SEEDS": folder / "seeds"}
    with pytest.MonkeyPatch.context() as monkeypatch, dg.DagsterInstance.ephemeral() as instance:
        for name, value in given.items():
            monkeypatch.setenv(name, str(value))
        from pipelines.definitions import defs

        project = Project("families", Lake(folder / "lake"), instance, defs)
        assert (
            defs.resolve_job_def("families_seeds")
            .execute_in_process(instance=instance, asset_selection=[dg.AssetKey(["families", "seeds"])])
            .success
        )
        asked(project.lake)
        project.run("0001")
        yield project


def asked(lake: Lake) -> None:
    """A finished cycle of the prompts line: four prompts on a problem of each family, of four replies all
    right, all wrong, or half."""
    names = {row["family_id"]: row["name"] for row in lake.read("families", "seeds", None).to_dicts()}
    right = {EASY: 4, IMPOSSIBLE: 0}
    problems = PROBLEMS.frame(
        {
            "cycle": "0001",
            "problem_id": name,
            "split": "train",
            "source": "families",
            "category": "logical",
            "difficulty": 1,
            "text": name,
            "answer": "1",
            "case_sensitive": True,
            "family": family,
        }
        for family, name in names.items()
    )
    rollouts = ROLLOUTS.frame(
        {
            "cycle": "0001",
            "arm": "espl",
            "iteration": 1,
            "prompt_id": f"prompt-{prompt}",
            "problem_id": name,
            "number": number,
            "reply": "",
            "tokens": 1,
            "truncated": False,
            "correct": number < right.get(name, 2),
            "formatted": True,
            "reward": float(number < right.get(name, 2)),
        }
        for name in names.values()
        for prompt in range(4)
        for number in range(4)
    )
    frame = LEARNABILITY.frame(
        learnability_rows(rollouts, problems, {1: "tiny"}, group_size=4, cycle="0001", root_seed=0)
    )
    lake.publish("prompts", "learnability", frame, cycle="0001", run_id="p", schema=LEARNABILITY)
    lake.seals.seal("prompts", "0001", "first", None, "p")
    lake.seals.seal("prompts", "0002", "second", "first", "p")


def content(project: Project, line: str, asset: str) -> str:
    """The hash of what is published for cycle 0001."""
    record = project.lake.record(line, asset, "0001")
    assert record is not None
    return record.content_sha


def names_of(project: Project, families: Iterable[str]) -> dict[str, str]:
    """family_id -> name."""
    known = {row["family_id"]: row["name"] for row in project.rows("incoming_families", "0002")}
    return {family: known[family] for family in families}


def test_the_too_easy_and_the_impossible_family_pass_every_gate_and_do_not_survive(project):
    survive = {row["name"] for row in project.rows("survivors", "0001")}
    assert set(NAMES) - survive == {EASY, IMPOSSIBLE}
    archive = {row["name"]: row["state"] for row in project.rows("incoming_families", "0002")}
    assert {name for name, state in archive.items() if state == "retired"} == {EASY, IMPOSSIBLE}
    rows = project.ask("""
        SELECT count(DISTINCT v.gate) FILTER (v.outcome = 'pass'), count(*) FILTER (v.outcome <> 'pass')
        FROM (SELECT family_id FROM families.incoming_families WHERE cycle = '0002'
          AND state <> 'blocked') AS f
        JOIN verdicts AS v ON v.artifact_id = f.family_id GROUP BY f.family_id""")
    assert set(rows) == {(len(GATES), 0)}


def test_the_cookbook_tells_who_goes_and_by_which_replies(project):
    rows = project.ask((SQL_ROOT / "cookbook" / "families_learnability.sql").read_text())
    assert {(row[0], row[3], row[-2], *row[-1]) for row in rows if row[2] == "retired"} == {
        ("0001", 0.0, "16 of 16 replies right, 0 of 4 groups teach: too easy", "0001"),
        ("0001", 0.0, "0 of 16 replies right, 0 of 4 groups teach: impossible", "0001"),
    }
    assert len([row for row in rows if row[2] == "accepted" and 0 < row[3] < 1]) == len(NAMES) - 2


def test_what_was_read_is_noted_by_content_and_the_factors_of_the_draw_by_family(project):
    sha = content(project, "prompts", "learnability")
    assert [
        (row["prompts_cycle"], row["content_sha"]) for row in project.rows("learnability_read", "0001")
    ] == [("0001", sha)]
    scores = {row["family_id"]: row for row in project.rows("learnability", "0001")}
    factor = {name: scores[family]["factor"] for family, name in names_of(project, scores).items()}
    assert factor[EASY] == factor[IMPOSSIBLE] < 0.02
    assert all(value > 1 for name, value in factor.items() if name not in (EASY, IMPOSSIBLE))


def test_who_is_drawn_as_a_parent_is_learnable(project):
    parents = {parent for row in project.rows("candidates", "0001") for parent in row["parents"]}
    assert parents and not set(names_of(project, parents).values()) & {EASY, IMPOSSIBLE}


def test_the_same_cycle_again_reads_what_it_read_and_proposes_the_same(project):
    """Last: it opens the cycle anew."""
    before = {
        name: content(project, "families", name)
        for name in ("candidates", "learnability", "learnability_read")
    }
    newer = project.lake.read("prompts", "learnability", "0001").with_columns(score=pl.lit(0.9))
    project.lake.publish("prompts", "learnability", newer, cycle="0002", run_id="p", schema=LEARNABILITY)
    project.lake.seals.seal("prompts", "0003", "third", "second", "p")
    project.run("0001", "candidates")
    assert {name: content(project, "families", name) for name in before} == before
