"""`evolake solvers verify` as a user types it: verdict, reasons and exit codes."""

import json
import os
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import commands
import polars as pl
import pytest
from bundle_fixtures import passed
from solver_gates import SEEDS, GatesProject, open_project
from solver_mutants import MUTANTS, plant

from evolake.bundles.container import Bundle, as_json, unpack
from evolake.bundles.model import Judging, Said
from evolake.gates import load_rules
from evolake.lake import ARTIFACTS, CHAMPIONS, RULES, VERDICTS, Lake, side_table
from evolake.settings import load as load_settings
from evolake.solvers.bundle import VariantClaims, run_again
from evolake.solvers.gates.judging import VariantResults
from evolake.solvers.gates.verifying import Verified
from evolake.solvers.repository.seeding import seed_named, upstream_tree
from evolake.solvers.repository.variant import archive_variant, as_variant, source_sha
from evolake.solvers.tables import DECISIONS, RUNS, VARIANTS

FEW = {
    "EVOLAKE_SOLVERS__SMOKE_INSTANCES": "12",
    "EVOLAKE_SOLVERS__CARRY_INSTANCES": "4",
    "EVOLAKE_SOLVERS__TRAIN_INSTANCES": "4",
}
"""Formulas of the gates, where a test is about what stands around them."""


@pytest.fixture(scope="module")
def project(tmp_path_factory) -> GatesProject:
    return open_project(tmp_path_factory.mktemp("verify"))


def evolake(
    project: GatesProject, *words: str | Path, command: tuple[str, ...] = ("solvers", "verify"), **more: str
) -> tuple[int, str, str]:
    environment = os.environ | {"EVOLAKE_LAKE": str(project.root / "lake"), "EVOLAKE_PROFILE": "demo"} | more
    done = commands.evolake(*command, *words, environment=environment)
    return done.returncode, done.stdout, done.stderr


def crowned(project: GatesProject) -> str:
    """The seed as champion of the lake, one cycle finished; gives its id."""
    lake, folder = Lake(project.root / "lake"), project.seed("minisat22")
    row: dict[str, Any] = {
        "variant_id": source_sha(folder),
        "cycle": "0000",
        "state": "champion",
        "title": "minisat22",
        "base": "minisat22",
    }
    row |= {"operator": "seed", "archive_sha": archive_variant(folder, lake.blobs), "parents": []}
    known = {
        "artifact_id": row["variant_id"],
        "line": "solvers",
        "kind": "variant",
        "cycle": "0001",
        "state": "champion",
        "title": "minisat22",
    }
    crown = {"line": "solvers", "cycle": "0001", "artifact_id": row["variant_id"], "score": 0.0}
    for name, schema, content, cycle in (
        ("incoming_variants", VARIANTS, [row], "0002"),
        ("champion", DECISIONS, [], "0001"),
        (
            side_table("survivors", ARTIFACTS),
            ARTIFACTS,
            [known | {"content_sha": row["archive_sha"]}],
            "0001",
        ),
        (side_table("survivors", CHAMPIONS), CHAMPIONS, [crown], "0001"),
    ):
        lake.publish("solvers", name, schema.frame(content), cycle=cycle, run_id="r", schema=schema)
    lake.seals.seal("solvers", "0001", "v1", None, "r")
    lake.seals.seal("solvers", "0002", "v2", "v1", "r")
    return row["variant_id"]


def test_a_champion_that_was_taken_out_builds_without_evolake_and_is_accepted(project, requires, tmp_path):
    requires("c++")
    champion, out = crowned(project), tmp_path / "out"
    code, _, errors = evolake(project, "solvers", "--out", str(out), command=("champion",))
    assert code == 0, errors
    plain = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    built = subprocess.run(
        ["/bin/sh", "-c", "cd / && " + str(out / "build.sh")],
        env=plain,
        capture_output=True,
        text=True,
        check=False,
    )
    assert built.returncode == 0, built.stderr
    (tmp_path / "one.cnf").write_text("p cnf 2 2\n1 2 0\n-1 0\n")
    program = out / "program" / "bin" / "starexec_run_default"
    solved = subprocess.run(
        [program, tmp_path / "one.cnf"], env=plain, capture_output=True, text=True, check=False
    )
    assert "s SATISFIABLE" in solved.stdout and "v -1 2 0" in solved.stdout
    code, said, errors = evolake(project, str(out), "--suite", "smoke", "--instances", "12", "--json")
    result = json.loads(said)
    assert (code, result["verdict"], result["gate"], result["reasons"]) == (0, "accepted", None, []), errors
    assert (result["variant_id"], result["runs"]["correctness"]) == (champion, 32 + 12)


def test_a_champion_in_a_bundle_is_built_and_judged_again_and_a_claim_that_is_not_so_is_refused(
    project, requires, tmp_path, monkeypatch
):
    requires("c++")
    monkeypatch.setenv("EVOLAKE_SOLVERS__TIMEOUT_S", "5")  # that of the runs, which a demo does not allow
    champion, lake, file = crowned(project), Lake(project.root / "lake"), tmp_path / "champion.tar"
    runs = tmp_path / "runs.parquet"
    measure = ("--suite", "smoke", "--instances", "4", "--runs", str(runs), "--timeout", "5", "--json")
    assert evolake(project, str(project.seed("minisat22")), *measure, command=("solvers", "bench"))[0] == 0
    tables = (
        ("benchmark_runs", RUNS, pl.read_parquet(runs).to_dicts()),
        (side_table("judged", VERDICTS), VERDICTS, passed("solvers", champion)),
    )
    for name, schema, content in (
        *tables,
        (side_table("judged", RULES), RULES, load_rules(SEEDS / "rules", "solvers").rows()),
    ):
        lake.publish("solvers", name, schema.frame(content), cycle="0001", run_id="r", schema=schema)
    code, _, errors = evolake(project, "export", "solvers", "-o", str(file), command=("bundle",))
    assert code == 0, errors
    code, said, errors = evolake(project, "verify", str(file), "--all", "--json", command=("bundle",), **FEW)
    summary = json.loads(said)
    assert (code, summary["verdict"], summary["artifact_id"]) == (0, "holds", champion), errors
    assert {item["what"] for item in summary["run_again"]} == {"identity", "gates", "benchmark runs"}
    result = unpack(file.read_bytes())
    assert isinstance(result, Bundle)
    claims = json.loads(result.members["claims.json"])
    claims["runs"] = [
        claim | {"status": "unsat" if claim["status"] == "sat" else "sat"} for claim in claims["runs"]
    ]
    judging = judging_of(
        replace(result, members=dict(result.members) | {"claims.json": as_json(claims)}),
        project.root / "lake",
        tmp_path,
    )
    judged = project.judge(project.seed("minisat22"), "minisat22", stop_at="build")
    against = check_runs(judging, project.seed("minisat22"), judged)
    assert [(item.what, item.outcome) for item in against] == [
        ("benchmark runs", "fails")
    ] and "it claims" in against[0].said


def judging_of(bundle: Bundle, lake: Path, folder: Path) -> Judging:
    settings = load_settings("demo", lake=lake)
    ruleset = load_rules(settings.seeds / "rules", "solvers")
    return Judging(bundle, settings, ruleset, ruleset, None, folder, lake)


def check_runs(judging: Judging, folder: Path, judged: VariantResults) -> list[Said]:
    """What the runs that a bundle claims come to, without its gates."""
    claims = VariantClaims.model_validate(judging.bundle.read("claims.json"))
    return list(run_again(judging, claims, Verified(folder, "smoke", judged, ""), judging.settings))


def test_an_upstream_tree_is_the_same_variant_to_layout_bench_and_verify(project, requires, tmp_path):
    requires("c++")
    accepted = source_sha(project.seed("minisat22"))  # what verify accepts above
    tree = upstream_tree(
        seed_named("minisat22", SEEDS / "solvers.toml"), project.context.blobs, project.root / "cache"
    )
    words = [str(tree), "--adapter", "minisat22", "--out", str(tmp_path / "out"), "--json"]
    code, said, errors = evolake(project, *words, command=("solvers", "layout"))
    assert (code, json.loads(said)["variant_id"], source_sha(tmp_path / "out")) == (0, accepted, accepted), (
        errors
    )
    assert (
        source_sha(as_variant(tree, "minisat22", tmp_path, SEEDS / "solvers" / "adapters")[0]) == accepted
    )  # what verify judges
    measure = ("--adapter", "minisat22", "--suite", "smoke", "--instances", "3", "--json")
    code, said, errors = evolake(project, str(tree), *measure, command=("solvers", "bench"))
    report = json.loads(said)
    assert (
        code,
        report["verdict"],
        [(row["variant_id"], row["instances"]) for row in report["metrics"]],
    ) == (0, "measured", [(accepted, 3)]), errors


def test_a_bad_variant_is_blocked_by_a_named_gate(project, requires):
    requires("c++")
    mutant = next(mutant for mutant in MUTANTS if mutant.name == "crash-on-empty-clause")
    folder = project.copy("minisat22", mutant.name)
    plant(mutant, folder)
    code, said, _ = evolake(project, str(folder), "--json")
    result = json.loads(said)
    assert (code, result["verdict"], result["gate"], result["rule"]) == (
        1,
        "blocked",
        "smoke",
        "solvers-smoke-ended",
    )
    assert "crashed" in result["reasons"][0]


def test_an_upstream_tree_needs_an_adapter(project, tmp_path):
    (tmp_path / "core").mkdir()
    code, said, errors = evolake(project, str(tmp_path), "--json")
    assert (code, json.loads(said)["verdict"]) == (2, "error") and "--adapter NAME" in errors
    code, said, errors = evolake(project, str(tmp_path), "--adapter", "none-such", "--json")
    assert (code, json.loads(said)["verdict"]) == (2, "error") and "there is no adapter 'none-such'" in errors
    code, said, errors = evolake(project, str(tmp_path / "absent"), "--json")
    assert (code, json.loads(said)["verdict"]) == (2, "error") and "there is no folder" in errors
