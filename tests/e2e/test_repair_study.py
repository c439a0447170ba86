"""The repair study through Dagster, small and for real: setup, cells, findings; checks that catch what they
are for; no cell is run twice.

Its seven arms are the five of the default and those that a setting adds: the partitions follow the setting.
"""

import importlib
import json
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass

import dagster as dg
import polars as pl
import pytest
from designs_fixtures import Project
from project_steps import inside, undescribed

from evolake.lake import Lake
from evolake.repair.names import ARMS, KNOWN_ARMS
from evolake.repair.report.material import read_report
from evolake.repair.tables import ATTEMPTS, RESULTS, cell_of
from evolake.report.figures import figures_in

pytestmark = pytest.mark.e2e
FINDINGS = ("summary", "comparisons", "convergence", "effort", "frontier", "robustness")
CELL_CHECKS = {
    "every_problem_was_run_once",
    "no_solve_without_certificate",
    "budget_is_equal",
    "attempts_are_known_once",
}


@dataclass(frozen=True)
class Site:
    """One lake, one Dagster instance, the real definitions."""

    instance: dg.DagsterInstance
    defs: dg.Definitions
    lake: Lake
    cells: tuple[str, ...]

    def run(self, job: str, cell: str | None = None) -> dg.ExecuteInProcessResult:
        return self.defs.resolve_job_def(job).execute_in_process(
            instance=self.instance, partition_key=cell, raise_on_error=False
        )


SIZES = {"PROBLEMS": "12", "SEEDS": "2", "PERTURBED": "2", "TRANSFER": "2", "ARMS": json.dumps(KNOWN_ARMS)}


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Iterator[Site]:
    """A site after the whole study."""
    folder = tmp_path_factory.mktemp("repair")
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("EVOLAKE_", "DAGSTER_"))
    }
    own = {"EVOLAKE_LAKE": str(folder / "lake"), "EVOLAKE_WORKERS": "1", "DAGSTER_DISABLE_TELEMETRY": "1"}
    project = Project(
        folder, kept | own | {f"EVOLAKE_REPAIR__{name}": value for name, value in SIZES.items()}
    )
    with inside(project), dg.DagsterInstance.ephemeral() as instance:
        definitions = importlib.import_module("pipelines.definitions")
        [study] = [built.study for built in definitions.studies if built.study.name == "repair"]
        site = Site(instance, definitions.defs, Lake(folder / "lake"), study.cells)
        assert site.run("repair_setup").success
        early = site.run("repair_findings")
        assert not early.success
        assert f"{len(study.cells)} of {len(study.cells)} cells have not passed their checks" in failure(
            early
        )
        for cell in study.cells:
            assert site.run("repair_study", cell).success
        assert site.run("repair_findings").success
        yield site


def failure(result: dg.ExecuteInProcessResult) -> str:
    """Why the first failed step failed."""
    data = next(event for event in result.all_events if event.is_step_failure).step_failure_data
    return data.user_failure_data.description if data.user_failure_data else data.error.message


def failed_checks(result: dg.ExecuteInProcessResult) -> dict[str, int]:
    """Checks that did not pass, with the number of offending rows that their SQL finds."""
    return {
        item.check_name: item.metadata["offending_count"].value
        for item in result.get_asset_check_evaluations()
        if not item.passed
    }


def test_cells_groups_and_dependencies_are_those_of_a_study(site):
    graph = site.defs.resolve_asset_graph()
    keys = [key for key in graph.get_all_asset_keys() if key.path[0] == "repair"]
    nodes = {key.path[1]: graph.get(key) for key in keys}
    result = {
        name: (
            node.group_name,
            node.partitions_def is not None,
            sorted(parent.path[1] for parent in node.parent_keys),
        )
        for name, node in nodes.items()
    }
    assert result == {
        "problems": ("repair_setup", False, []),
        "study": ("repair_setup", False, ["problems"]),
        "results": ("repair", True, ["problems", "study"]),
        **dict.fromkeys(FINDINGS, ("repair_findings", False, ["problems", "results", "study"])),
        "figures": ("repair_findings", False, sorted(FINDINGS)),
    }
    assert site.cells == tuple(cell_of(arm, seed) for seed in (0, 1) for arm in KNOWN_ARMS)
    assert {pool for node in nodes.values() for pool in node.pools} == {"study_repair"}


def test_there_is_a_job_a_group_and_no_schedule_sensor_or_cycle(site):
    repository = site.defs.get_repository_def()
    assert {"repair_setup", "repair_study", "repair_findings"} <= set(repository.job_names)
    assert not any("repair" in item.name for item in (*repository.schedule_defs, *repository.sensor_defs))
    assert site.instance.get_dynamic_partitions("repair_cycle") == []
    assert site.lake.seals.lines() == []


def test_every_published_column_says_what_it_means(site):
    assert undescribed(site.lake.root, "repair") == []


def test_every_cell_holds_every_problem_and_passed_its_checks(site):
    problems = set(site.lake.read("repair", "problems")["problem_id"])
    assert len(problems) == 12 + 3 * 2 + 2
    assert site.lake.cycles("repair", "results") == sorted(site.cells)
    for cell in site.cells:
        result = site.lake.read("repair", "results", cell)
        assert set(result["problem_id"]) == problems
        assert {cell_of(row["arm"], row["seed"]) for row in result.to_dicts()} == {cell}
    evaluations = site.instance.event_log_storage
    for name in CELL_CHECKS:
        key = dg.AssetCheckKey(dg.AssetKey(["repair", "results"]), name)
        assert len(evaluations.get_asset_check_execution_history(key, limit=100)) == len(site.cells)


def test_the_opt_in_arms_are_found_over_like_the_others(site):
    assert site.lake.read("repair", "study")["arms"].to_list() == [list(KNOWN_ARMS)]
    main = site.lake.read("repair", "summary").filter(
        (pl.col("suite") == "lia") & (pl.col("variation") == "none")
    )
    assert main["arm"].to_list() == list(KNOWN_ARMS) and set(main["runs"]) == {2 * 12}
    assert site.lake.read("repair", "comparisons").height == 2 * 45  # pairs of the ten arms with equal calls
    assert site.lake.read("repair", "robustness")["arm"].n_unique() == len(KNOWN_ARMS) > len(ARMS)


def test_the_findings_in_the_lake_are_those_of_the_report(site):
    report = read_report(site.lake.root)
    for name, frame in report.findings.tables().items():
        assert site.lake.read("repair", name).equals(frame), name
    figures = site.lake.read("repair", "figures")
    assert figures.height == 6
    assert {figure.title for figure in figures_in("evolake.repair.report.figures")} == set(figures["name"])
    assert all(site.lake.blobs.get(sha).startswith(b"\x89PNG") for sha in figures["png_sha"])


def test_a_finished_cell_is_kept_and_not_run_again(site):
    before = site.lake.record("repair", "results", site.cells[-1])
    again = site.run("repair_study", site.cells[-1])
    assert again.success
    [made] = again.asset_materializations_for_node("repair__results")
    assert made.metadata["kept"].value is True
    assert site.lake.record("repair", "results", site.cells[-1]) == before
    assert made.tags["dagster/data_version"] == before.content_sha


def test_other_settings_are_refused_until_the_setup_has_run_again(site, monkeypatch):
    monkeypatch.setenv("EVOLAKE_REPAIR__ROUNDS", "2")
    refused = site.run("repair_study", site.cells[0])
    assert "the settings describe another study" in failure(refused)
    assert "repair_setup" in failure(refused)


def test_a_model_that_does_not_answer_stops_the_setup_and_leaves_the_record_alone(site, monkeypatch):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    model = {
        "BACKEND": "model",
        "MODEL_BASE_URL": address,
        "MODEL_API_KEY": "k",
        "MODELS__DEFAULT": "m",
        "BUDGET__TOKENS_PER_RUN": "9",
    }
    for name, value in model.items():
        monkeypatch.setenv(f"EVOLAKE_{name}", value)
    before = site.lake.record("repair", "study")
    stopped = site.run("repair_setup")
    assert not stopped.success
    step = next(event for event in stopped.all_events if event.is_step_failure)
    assert (step.step_key, step.step_failure_data.error.cause.cls_name) == ("repair__study", "InputError")
    assert site.lake.record("repair", "study") == before


def _only(problem_id: str) -> pl.Expr:
    return pl.col("problem_id") == problem_id


PLANTED = {
    "a solve without a certificate": (
        "results",
        lambda solved, unsolved: (pl.col("solved") | _only(unsolved)).alias("solved"),
        "no_solve_without_certificate",
    ),
    "a certificate of the wrong label": (
        "results",
        lambda solved, unsolved: (
            pl.when(_only(solved)).then(pl.lit("other")).otherwise("claim").alias("claim")
        ),
        "no_solve_without_certificate",
    ),
    "a call beyond the budget": (
        "results",
        lambda solved, unsolved: pl.col("calls") + _only(unsolved),
        "budget_is_equal",
    ),
    "a problem twice and another not at all": (
        "results",
        lambda solved, unsolved: pl.col("problem_id").replace({solved: unsolved}),
        "every_problem_was_run_once",
    ),
    "an attempt twice": (
        "attempts",
        lambda solved, unsolved: pl.lit(1, pl.Int64).alias("candidate"),
        "attempts_are_known_once",
    ),
}


@pytest.mark.parametrize("fault", PLANTED)
def test_a_planted_fault_is_caught_by_its_check_and_stops_the_findings(site, fault):
    table, change, check = PLANTED[fault]
    schema, cell = {"results": RESULTS, "attempts": ATTEMPTS}[table], cell_of("multi_unsat_core_feedback", 0)
    main, sound = (
        site.lake.read("repair", "results", cell).filter(pl.col("suite") == "lia"),
        site.lake.read("repair", table, cell),
    )
    spoilt = sound.with_columns(
        change(main.filter("solved")["problem_id"][0], main.filter(~pl.col("solved"))["problem_id"][0])
    )
    assert not spoilt.equals(sound)
    site.lake.publish("repair", table, spoilt, cycle=cell, run_id="planted", schema=schema)
    try:
        judged = site.run("repair_study", cell)
        assert not judged.success
        assert failed_checks(judged)[check] > 0
        refused = failure(site.run("repair_findings"))
        assert f"1 of {len(site.cells)} cells" in refused
        assert f"first {cell}: repair/results:{check} (failed)" in refused
    finally:
        site.lake.publish("repair", table, sound, cycle=cell, run_id="mended", schema=schema)
        mended = site.run("repair_study", cell)
    assert mended.success


def test_a_mended_study_has_its_findings_again(site):
    assert site.run("repair_findings").success
