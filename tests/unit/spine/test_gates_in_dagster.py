"""Blocking, partitioned checks: a planted bad row stops the cycle, and is shown with the SQL that finds all
of its kind."""

import dagster as dg
import polars as pl
import pytest

from assets.checks import Judgement, judge, suite_check
from evolake.errors import MachineryError


def unique(gxe):
    return [
        gxe.ExpectColumnValuesToBeUnique(column="member"),
        gxe.ExpectColumnValuesToNotBeNull(column="member"),
    ]


def test_a_planted_bad_row_fails_the_check_and_stops_the_cycle(project):
    project.grow("gated", 1)
    remove = project.plant("twice-gated-0002")
    result = project.cycle("gated", "0002")
    assert not result.success
    [evaluation] = result.get_asset_check_evaluations()
    assert (evaluation.passed, evaluation.blocking, evaluation.partition) == (False, True, "0002")
    assert [event.step_key for event in result.all_events if event.is_step_success] == ["gated__candidates"]
    assert project.lake.seals.read("gated", "0003") is None
    metadata = {name: value.value for name, value in evaluation.metadata.items()}
    assert metadata == {
        "rows": 2,
        "expectations": 2,
        "offending_count": 1,
        "broken": "- expect_column_values_to_be_unique(column=member): 2 of 2 rows",
        "offending_rows": "| cycle | member | times |\n| --- | --- | --- |\n| 0002 | seed>0001>0002 | 2 |",
        "sql": (
            "```sql\nSELECT cycle, member, count(*) AS times FROM gated.candidates WHERE cycle = '0002' "
            "GROUP BY ALL HAVING times > 1 ORDER BY member\n```"
        ),
    }
    remove()
    assert project.cycle("gated", "0002").success
    assert project.lake.seals.broken_link("gated", "0003") is None


def test_the_closing_asset_alone_cannot_go_round_a_check_that_failed(project):
    project.grow("gated", 1)
    project.plant("twice-gated-0002")
    assert not project.cycle("gated", "0002").success
    result = project.cycle("gated", "0002", only=["survivors"])
    failure = next(
        event for event in result.all_events if event.is_step_failure
    ).step_failure_data.user_failure_data
    assert failure.description == (
        "cycle 0002 cannot be sealed: these checks have not passed on its current parts: "
        "gated/candidates:members_are_unique (failed). Materialize the whole group for this cycle, with "
        "its checks."
    )


def test_a_check_of_one_cycle_says_nothing_about_another(project):
    project.grow("gated", 1)
    project.plant("twice-gated-0002")
    assert not project.cycle("gated", "0002").success
    assert project.cycle("gated", "0001", only=["survivors"]).success


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        (["a", "b"], Judgement(True, 2, ())),
        ([], Judgement(True, 2, ())),
        (
            ["a", "a", None],
            Judgement(
                False,
                2,
                (
                    "expect_column_values_to_be_unique(column=member): 2 of 3 rows",
                    "expect_column_values_to_not_be_null(column=member): 1 of 3 rows",
                ),
            ),
        ),
    ],
)
def test_great_expectations_alone_decides(members, expected):
    assert judge(pl.DataFrame({"member": members}, schema={"member": pl.String}), "suite", unique) == expected


def test_a_suite_that_cannot_be_evaluated_is_our_fault_not_a_verdict():
    with pytest.raises(MachineryError, match="the suite 'suite' could not be evaluated"):
        judge(pl.DataFrame({"other": [1]}), "suite", unique)


def test_a_prepared_frame_is_what_the_suite_judges(project):
    line = project.lines["left"].line
    [candidates] = [asset for asset in project.lines["left"].assets if asset.key == line.key("candidates")]
    check = suite_check(
        candidates,
        "has_five",
        "Five members.",
        candidates.partitions_def,
        lambda gxe: [gxe.ExpectTableRowCountToEqual(value=5)],
        "SELECT 1 AS never WHERE false",
        prepare=lambda frame, lake, cycle: pl.concat([frame] * 5),
    )
    project.grow("left", 1)
    job = dg.Definitions(
        assets=[line.incoming, *project.lines["left"].assets],
        asset_checks=[check],
        resources=project.defs.resources,
        jobs=[dg.define_asset_job("checks", dg.AssetSelection.assets(candidates))],
    ).resolve_job_def("checks")
    [evaluation] = job.execute_in_process(
        instance=project.instance, partition_key="0001"
    ).get_asset_check_evaluations()
    assert (evaluation.passed, evaluation.partition) == (True, "0001")
