"""The solvers line for real: two cycles, the second killed in the middle and executed again from failure,
then everything that can be asked.

At the end a compliance rule is edited: what becomes stale, and what judging again changes. No solver is built
or run again for that.
"""

import json
import sys
from dataclasses import dataclass
from pathlib import Path

import polars as pl
import pytest
from designs_fixtures import ROOT, Project
from lake_damage import damage_of
from project_steps import contents as line_contents
from project_steps import edit_rule, flips, materialize, parts_of, undescribed
from project_steps import stale as stale_parts
from re_execution import re_executed
from solvers_fixtures import SEED, journal, killed_when_journal_begins, open_project, share_proofs

from evolake.lake import Lake
from evolake.solvers.repository.variant import read_card, source_sha

pytestmark = pytest.mark.e2e
ASSETS = (
    "plan",
    "variants",
    "compliance",
    "binaries",
    "smoke",
    "correctness",
    "benchmark_runs",
    "metrics",
    "objectives",
    "objective_scores",
    "consensus_ranking",
    "champion",
    "control",
    "holdout_runs",
    "post_mortem",
    "rule_proposals",
    "survivors",
)
CYCLES = ["0001", "0002"]
RUNS = ("smoke", "correctness", "stability_runs", "benchmark_runs", "holdout_runs")
GATES = 5
JUDGED = ("compliance", "binaries", "smoke", "correctness")
"""The assets of a cycle that judge by rules."""
DOCUMENTS = "solvers-documents"


AGENT = """import os, pathlib
assert "# Files that may be changed" in pathlib.Path(os.environ["EVOLAKE_TASK"]).read_text()
source = pathlib.Path("src/core/Solver.cc")
text = source.read_text()
assert text.count("learntsize_inc(1.1)") == 1
source.write_text(text.replace("learntsize_inc(1.1)", "learntsize_inc(1.2)"))
pathlib.Path("CHANGELOG.md").write_text("The limit on learnt clauses grows by a fifth, not by a tenth.")
print("changed")
"""
"""Plays the command line of a coding agent, which writes the second cycle's variant."""
HYPOTHESIS = "More learnt clauses are kept for longer."


@dataclass(frozen=True)
class Evolved:
    """A project after two cycles, on a copy of the seeds whose rules may be edited.

    killed: the journal of the second benchmark when its run was killed, which was then executed again from
    failure.
    """

    project: Project
    killed: list[dict]


@pytest.fixture(scope="module")
def evolved(tmp_path_factory) -> Evolved:
    folder = tmp_path_factory.mktemp("evolved")
    project = open_project(folder)
    command = ("run", "--cycles", "1", "--lines", "solvers")
    assert "solvers: cycle 1 of 1 in " in project.run(*command).stdout
    agent = folder / "agent.py"
    agent.write_text(AGENT)
    project.environment.update(
        EVOLAKE_SOLVERS__CODER=f"command:{sys.executable} {agent}", EVOLAKE_SOLVERS__VARIANTS_PER_CYCLE="1"
    )
    submit(project)
    run_id, killed = killed_when_journal_begins(project, "benchmark", "0002")
    re_executed(project, "solvers", "0002", run_id)
    return Evolved(project, killed)


def submit(project: Project) -> None:
    """A tree of somebody's own, made of the seed, for the second cycle."""
    [[seed, archive]] = project.sql("SELECT variant_id, archive_sha FROM solvers.seeds")
    Lake(project.lake).blobs.get_tree(archive, tree := project.folder / "mine")
    source = tree / "src/core/Solver.cc"
    source.write_text(source.read_text().replace("learntsize_inc(1.1)", "learntsize_inc(1.3)"))
    project.run("solvers", "submit", str(tree), "--parent", seed[:12], "--hypothesis", HYPOTHESIS)


@pytest.fixture(scope="module")
def project(evolved) -> Project:
    return evolved.project


def test_every_published_column_says_what_it_means(project):
    assert undescribed(project.lake, "solvers") == []


def test_the_lake_is_intact(project):
    assert damage_of(project.lake) == []


def test_every_asset_of_the_list_is_there_for_every_cycle(project):
    for name in ASSETS:
        assert parts_of(project, "solvers", name) == CYCLES, name


def test_each_cycle_starts_from_what_the_one_before_handed_on(project):
    lake = Lake(project.lake)
    for before, cycle in (("0000", "0001"), ("0001", "0002"), ("0002", "0003")):
        seal = lake.seals.read("solvers", cycle)
        assert seal is not None
        assert seal.tables == {
            asset: sha for asset, sha in contents(project, cycle).items() if asset.startswith("incoming_")
        }
        if before != "0000":
            handed_on = lake.read("solvers", "incoming_variants", cycle).filter(
                pl.col("state").is_in(["accepted", "champion"])
            )
            survived = lake.read("solvers", "survivors", before)
            assert handed_on.sort("variant_id").equals(survived.sort("variant_id"))
    entered = set(lake.read("solvers", "survivors", "0001")["variant_id"])
    ranked = set(lake.read("solvers", "consensus_ranking", "0002")["variant_id"])
    assert ranked == entered | set(accepted(project, "0002"))
    assert set(lake.read("solvers", "plan", "0002").explode("parent_ids")["parent_ids"]) <= entered


def contents(project: Project, cycle: str) -> dict[str, str]:
    return dict(
        project.sql(
            "SELECT asset, content_sha FROM parts WHERE line = 'solvers' AND state = 'current' AND cycle "
            f"= '{cycle}'"
        )
    )


def accepted(project: Project, cycle: str) -> list[str]:
    return [
        row[0]
        for row in project.sql(
            f"SELECT artifact_id FROM artifacts WHERE line = 'solvers' AND cycle = '{cycle}' AND state = "
            "'accepted'"
        )
    ]


def test_whatever_runs_or_is_ranked_passed_all_five_gates(project):
    passes = """
        SELECT r.variant_id, count(DISTINCT v.gate) FILTER (v.outcome = 'pass' AND v.gate_no < 5) AS passes,
            count(*) FILTER (v.outcome <> 'pass') AS objections
        FROM (SELECT variant_id FROM solvers.consensus_ranking UNION SELECT variant_id
          FROM solvers.benchmark_runs) AS r
        JOIN verdicts AS v ON v.artifact_id = r.variant_id GROUP BY ALL"""
    rows = project.sql(passes)
    assert {row[0] for row in rows} == {
        row[0] for row in project.sql("SELECT artifact_id FROM artifacts WHERE state = 'accepted'")
    }
    assert {(row[1], row[2]) for row in rows} == {(GATES, 0)}


def test_what_became_of_every_variant_is_known(project):
    made = dict(project.sql("SELECT variant_id, cycle FROM solvers.variants"))
    assert len(made) == 4
    rows = project.sql(
        "SELECT artifact_id, cycle, state FROM artifacts WHERE cycle > '0000' AND state <> 'champion'"
    )
    blocked = {
        row[0]
        for row in project.sql("SELECT artifact_id FROM verdicts WHERE outcome = 'block' AND cycle > '0000'")
    }
    states = {(name, cycle, state) for name, cycle, state in rows if state != "retired"}
    assert states == {(name, cycle, "candidate") for name, cycle in made.items()} | {
        (name, cycle, "blocked" if name in blocked else "accepted") for name, cycle in made.items()
    }
    # Ranks rest on processor time: which of the accepted is overtaken once there are more than survive
    # differs from host to host.
    overtaken = {(name, cycle) for name, cycle, state in rows if state == "retired" and name in made}
    assert all(name not in blocked and cycle >= made[name] for name, cycle in overtaken)


def test_a_command_of_the_users_own_and_a_submitted_tree_go_the_way_of_every_variant(project):
    made = {
        origin: row
        for origin, *row in project.sql(
            "SELECT origin, variant_id, plan_id, parents, hypothesis, diff_sha, edits FROM "
            "solvers.variants WHERE cycle = '0002'"
        )
    }
    assert set(made) == {"command", "submitted"}
    [[seed]] = project.sql("SELECT variant_id FROM solvers.seeds")
    command, submitted = made["command"][0], made["submitted"][0]
    assert made["submitted"][2:4] == [[seed], HYPOTHESIS]
    assert project.sql("SELECT submission_id, cycle, parent_id FROM solvers.submissions") == [
        [made["submitted"][1], "0002", seed]
    ]
    assert project.sql("SELECT plan_id FROM solvers.plan WHERE cycle = '0002' AND origin = 'submitted'") == [
        [made["submitted"][1]]
    ]
    [[*ran, output]] = project.sql(
        "SELECT plan_id, program, exit_code, variant_id, reason, output_sha FROM solvers.coder_runs"
    )
    assert ran == [made["command"][1], Path(sys.executable).name, 0, command, None]
    blobs = Lake(project.lake).blobs
    assert blobs.get(output) == b"changed\n"
    for name, growth in (("command", "1.2"), ("submitted", "1.3")):
        changed = [
            line
            for line in blobs.get(made[name][4]).decode().splitlines()
            if line[:1] in "+-" and line[:3] not in ("+++", "---")
        ]
        assert (
            [line[0] for line in changed] == ["-", "+"]
            and f"learntsize_inc({growth})" in changed[1]
            and made[name][5] is None
        )
    lineage = "SELECT child_id, parent_id, weight FROM derivations WHERE cycle = '0002' ORDER BY child_id"
    assert project.sql(lineage) == sorted([row[0], row[2][0], 1.0] for row in made.values())
    assert {command, submitted} <= {
        row["variant_id"]
        for row in Lake(project.lake).read("solvers", "consensus_ranking", "0002").to_dicts()
    }
    sealed = (
        Lake(project.lake)
        .read("solvers", "incoming_variants", "0003")
        .filter(pl.col("variant_id").is_in([command, submitted]))
    )
    assert sealed.height == 2 and "blocked" not in sealed["state"].to_list()


def test_no_answer_is_wrong_and_none_counts_without_its_certificate(project):
    for name in RUNS:
        [[runs, wrong]] = project.sql(
            f"SELECT count(*), count(*) FILTER (status = 'wrong') FROM solvers.{name}"
        )
        assert runs > 0
        assert wrong == 0, name
        unproved = project.sql(
            f"SELECT DISTINCT answer, proof_status FROM solvers.{name} WHERE solved AND certificate IS NULL"
        )
        assert unproved == [], name
    assert project.sql("SELECT count(*) > 0 FROM solvers.benchmark_runs WHERE proof_status = 'verified'") == [
        [True]
    ]
    shares = project.sql("SELECT variant_id, proof_share FROM solvers.metrics")
    assert len(shares) == 3 + 5
    assert all(0 <= share <= 1 for _, share in shares)


def test_a_proof_of_every_unsatisfiable_answer_of_the_correctness_gate_was_verified(project):
    result = project.sql(
        "SELECT DISTINCT answer, solved, certificate, proof_status FROM solvers.correctness WHERE "
        "expected = 'UNSAT'"
    )
    assert result == [["UNSAT", True, "proof", "verified"]]


def test_the_champion_its_ancestors_and_the_cookbook_answer(project):
    champion = json.loads(project.run("champion", "solvers", "--json").stdout)
    assert champion["verdict"] == "champion"
    champions = project.sql(
        "SELECT variant_id FROM solvers.survivors WHERE cycle = '0002' AND state = 'champion'"
    )
    assert champions == [[champion["artifact_id"]]]
    for (variant_id,) in project.sql("SELECT variant_id FROM solvers.variants"):
        assert SEED in {row[0] for row in project.sql(f"SELECT title FROM ancestors('{variant_id}')")}
    assert all(
        abs(row[0] - 1) < 1e-9
        for row in project.sql("SELECT sum(weight) FROM derivations GROUP BY child_id, cycle")
    )
    run_id = project.sql("SELECT run_id FROM artifacts LIMIT 1")[0][0]
    parameters = {
        "line": "solvers",
        "run_id": run_id,
        "gate_no": "2",
        "rule_id": "solvers-build",
        "before": "1",
        "after": "1",
        "since": "2026-01-01",
    }
    for path in sorted((ROOT / "sql" / "cookbook").glob("*.sql")):
        project.cookbook(path.stem, **parameters)


def test_the_champion_that_is_told_follows_from_the_duels(project):
    held_by = None
    for cycle in CYCLES:
        duels = project.sql(
            "SELECT champion_id, challenger_id, wins, ratio FROM solvers.champion WHERE cycle = "
            f"'{cycle}' ORDER BY ratio DESC"
        )
        assert duels
        assert held_by in (None, duels[0][0])
        held_by = next((row[1] for row in duels if row[2]), duels[0][0])
        assert project.sql(
            f"SELECT artifact_id FROM champions WHERE line = 'solvers' AND cycle = '{cycle}'"
        ) == [[held_by]]


def test_costs_and_yields_count_what_was_accepted(project):
    made = {cycle: len(accepted(project, cycle)) for cycle in CYCLES}
    counted = {row[0]: row[3] for row in project.cookbook("cost_per_accepted", line="solvers")}
    assert {cycle: counted[cycle] for cycle in CYCLES} == made, "a champion that is carried counts once"
    yields = project.cookbook("operator_yield", line="solvers")
    assert sum(row[5] for row in yields) == sum(made.values())
    status = json.loads(project.run("status", "--json").stdout)["lines"]
    assert [(row["line"], row["sealed_cycles"], row["next_cycle"], row["broken"]) for row in status] == [
        ("solvers", 2, "0003", None)
    ]
    assert status[0]["accepted"] == 1 + sum(made.values())


def test_operators_calls_are_rows_and_never_pose_as_a_model(project):
    assert project.sql("SELECT DISTINCT backend, model, usd FROM agent_calls") == [
        ["operators", "operators", 0.0]
    ]
    assert {row[0] for row in project.sql("SELECT DISTINCT role FROM agent_calls")} >= {
        "solvers_planner",
        "solvers_coder",
        "solvers_objective_writer",
    }


def test_the_portfolio_of_objectives_evolves(project):
    new = (
        "SELECT objective_id, state, reason FROM solvers.objectives WHERE created_round = {} AND cycle = '{}'"
    )
    written = {cycle: project.sql(new.format(int(cycle), cycle)) for cycle in CYCLES}
    assert [len(rows) for rows in written.values()] == [5, 1]
    [[name, state, reason]] = written["0002"]
    assert (state, reason is None) in {("accepted", True), ("blocked", False)}
    voters = "SELECT DISTINCT objective_id FROM solvers.objective_scores WHERE cycle = '{}'"
    votes = [{row[0] for row in project.sql(voters.format(cycle))} for cycle in CYCLES]
    assert votes[0] == {row[0] for row in written["0001"]}
    assert votes[1] == votes[0] | ({name} if state == "accepted" else set())
    said = project.sql("SELECT objective_id, multiplier, multiplier_before FROM solvers.objective_reviews")
    assert {row[0] for row in said} == votes[0]
    moved = project.sql(
        "SELECT objective_id, multiplier FROM solvers.objectives WHERE cycle = '0002' AND created_round = 1"
    )
    assert dict(moved) == {row[0]: row[1] for row in said if row[1] != row[2]}
    assert project.sql("SELECT artifact_id FROM agent_calls WHERE role = 'solvers_objective_writer'") == [
        [name]
    ]


def test_results_are_written_back_and_the_identity_stays(project, tmp_path):
    lake = Lake(project.lake)
    after = {row["variant_id"]: row for row in lake.read("solvers", "incoming_variants", "0003").to_dicts()}
    for row in lake.read("solvers", "variants").to_dicts():
        before, then = (
            tmp_path / f"{row['variant_id'][:8]}-before",
            tmp_path / f"{row['variant_id'][:8]}-after",
        )
        lake.blobs.get_tree(row["archive_sha"], before)
        lake.blobs.get_tree(after[row["variant_id"]]["archive_sha"], then)
        assert (before / "RESULTS.md").read_text() == "# Results\n\nNot evaluated yet.\n"
        assert f"Evaluated in cycle {row['cycle']}." in (then / "RESULTS.md").read_text()
        assert source_sha(before) == source_sha(then) == row["variant_id"]
        assert read_card(then)["base"] == SEED
        for document in ("HYPOTHESIS.md", "CHANGELOG.md"):
            assert (before / document).read_bytes() == (then / document).read_bytes()


def test_a_killed_cycle_goes_on_and_repeats_no_run(evolved):
    project, killed = evolved.project, evolved.killed
    fresh = project.sql("SELECT variant_id, instance, cpu_s FROM solvers.benchmark_runs WHERE cycle = '0002'")
    assert 0 < len(killed) < len(fresh)
    kept = {
        (line["value"]["variant_id"], line["value"]["instance"], line["value"]["cpu_s"]) for line in killed
    }
    assert kept <= {tuple(row) for row in fresh}
    [whole] = [lines for path in journals(project) if (lines := journal(path))[: len(killed)] == killed]
    assert len({line["key"] for line in whole}) == len(whole) == len(fresh)


def journals(project: Project) -> list[Path]:
    return sorted((project.lake / "work" / "solvers" / "journals").glob("benchmark-*.jsonl"))


def test_the_holdout_holds_other_formulas_and_only_who_reigned_or_is_its_seed(project):
    seen = {row[0] for row in project.sql("SELECT DISTINCT formula_sha FROM solvers.benchmark_runs")}
    unseen = {row[0] for row in project.sql("SELECT DISTINCT formula_sha FROM solvers.holdout_runs")}
    assert len(unseen) == 2
    assert not seen & unseen
    ran = {row[0] for row in project.sql("SELECT DISTINCT variant_id FROM solvers.holdout_runs")}
    ever = {row[0] for row in project.sql("SELECT DISTINCT artifact_id FROM champions")}
    assert ran == ever | {row[0] for row in project.sql("SELECT variant_id FROM solvers.seeds")}
    assert project.sql("SELECT DISTINCT suite FROM solvers.metrics") == [["small-train"]]


def test_the_same_seed_plans_and_writes_the_same_variants_in_another_lake(project, tmp_path):
    other = open_project(tmp_path)
    share_proofs(project, other)
    materialize(other, "solvers", None, "seeds")
    materialize(other, "solvers", "0001", "plan", "variants", "compliance")
    shas = (
        "SELECT asset, content_sha FROM parts WHERE state = 'current' AND cycle = '0001' AND asset IN "
        "('plan', 'variants__derivations')"
    )
    assert sorted(other.sql(shas)) == sorted(project.sql(shas))
    made = (
        "SELECT variant_id, title, hypothesis, archive_sha, diff_sha, edits FROM solvers.variants WHERE "
        "cycle = '0001' ORDER BY 1"
    )
    assert other.sql(made) == project.sql(made)
    judged = (
        "SELECT artifact_id, rule_id, outcome, reason, evidence_sha FROM verdicts WHERE gate = "
        "'compliance' AND cycle = '0001' ORDER BY ALL"
    )
    assert other.sql(judged) == project.sql(judged)


def test_an_ablation_takes_both_arms_through_the_real_gates_and_leaves_the_lake_alone(project, tmp_path):
    def arms(seed: int) -> list[dict]:
        words = (
            "solvers",
            "ablate",
            "--without",
            "rules",
            "--repeats",
            "1",
            "--out",
            str(tmp_path / str(seed)),
            "--json",
        )
        settings = {
            "EVOLAKE_SEED": str(seed),
            "EVOLAKE_SOLVERS__CODER": "one-shot",
            "EVOLAKE_SOLVERS__VARIANTS_PER_CYCLE": "1",
        }
        return json.loads(project.run(*words, **settings).stdout)["arms"]

    before = line_contents(project, "solvers")
    # which plans can be made hangs on who survived two cycles, and that on times
    drawn = ((seed, arms(seed)) for seed in range(1, 9))
    seed, result = next(
        (seed, results) for seed, results in drawn if any(arm["made"]["share"] > 0 for arm in results)
    )
    assert [(arm["arm"], arm["plans"]) for arm in result] == [("all", 1), ("without rules", 1)]
    for arm in result:
        made = round(arm["made"]["share"])
        assert round(arm["passed"]["share"]) + sum(arm["blocked"].values()) == made, (
            "a gate let it through, or one has blocked it"
        )
    journal = tmp_path / str(seed) / "journal.jsonl"
    noted = journal.read_bytes()
    assert (arms(seed), journal.read_bytes(), line_contents(project, "solvers")) == (result, noted, before)


def stale(project: Project) -> set[tuple[str, str]]:
    return stale_parts(project, "solvers", ASSETS, CYCLES)


def changelogs(project: Project, cycle: str) -> dict[str, int]:
    """variant -> characters of its changelog beside white space."""
    result, lake = {}, Lake(project.lake)
    for row in lake.read("solvers", "variants", cycle).to_dicts():
        folder = project.folder / "unpacked" / row["variant_id"]
        lake.blobs.get_tree(row["archive_sha"], folder)
        result[row["variant_id"]] = len("".join((folder / "CHANGELOG.md").read_text().split()))
    return result


def test_a_stricter_rule_blocks_what_it_touches_and_the_flips_can_be_asked_for(project):
    """From here on tests change the lake."""
    sizes = changelogs(project, "0001")
    short = {variant for variant, size in sizes.items() if size < max(sizes.values())}
    assert 0 < len(short) < len(sizes)
    edit_rule(project, "solvers", "documents", "version: 1", "version: 2")
    edit_rule(project, "solvers", "documents", '"CHANGELOG.md": 20', f'"CHANGELOG.md": {max(sizes.values())}')
    assert ("compliance", "0001") in stale(project)
    materialize(project, "solvers", "0001", *JUDGED)
    assert flips(project, DOCUMENTS, 1, 2) == [
        [variant, "pass", "block", flips(project, DOCUMENTS, 1, 2)[0][3]] for variant in sorted(short)
    ]
    blocked = project.sql(
        "SELECT variant_id, rule_id FROM solvers.compliance WHERE cycle = '0001' AND NOT passed ORDER BY ALL"
    )
    assert blocked == [[variant, DOCUMENTS] for variant in sorted(short)]
    built = {row[0] for row in project.sql("SELECT variant_id FROM solvers.binaries WHERE cycle = '0001'")}
    assert built == set(sizes) - short
    now = stale(project)
    assert {("benchmark_runs", "0001"), ("compliance", "0002")} <= now
    assert not {(gate, "0001") for gate in JUDGED} & now


def test_what_was_blocked_teaches_the_operators_a_rule_that_spares_what_was_accepted(project):
    """The analyst and the rule writer of the backend `operators`, on a cycle whose verdicts have changed."""
    blocked = {
        row[0]
        for row in project.sql(
            "SELECT variant_id FROM solvers.compliance WHERE cycle = '0001' AND NOT passed"
        )
    }
    edits = {
        row[0]: json.loads(row[1])
        for row in project.sql("SELECT variant_id, edits FROM solvers.variants WHERE edits IS NOT NULL")
    }
    materialize(project, "solvers", "0001", "post_mortem", "rule_proposals")
    findings = project.sql(
        "SELECT title, lesson, evidence FROM solvers.post_mortem WHERE cycle = '0001' AND lesson = "
        "'forbidden'"
    )
    assert {name for row in findings for name in row[2]} == {variant[:12] for variant in blocked}
    assert all("was blocked at compliance" in row[0] for row in findings)
    rows = project.sql("""
        SELECT "check", parameters, evidence, blocked_failed, blocked_accepted, state
          FROM solvers.rule_proposals
        WHERE cycle = '0001' AND lesson = 'forbidden'""")
    assert len(rows) == len(findings)
    for check, parameters, evidence, blocked_failed, blocked_accepted, state in rows:
        forbidden = json.loads(parameters)["edit"]
        carriers = {
            variant for variant, made in edits.items() if forbidden in {edit["name"] for edit in made}
        }
        assert check == "solvers.forbidden_edit"
        assert set(json.loads(evidence)) == carriers & blocked == set(json.loads(blocked_failed))
        assert (state, json.loads(blocked_accepted)) == ("active", [])
