"""A fault of ours in a checker blocks every candidate it meets: the cycle goes on, and a check that blocks
nothing warns and names the place."""

from __future__ import annotations

from pathlib import Path

import dagster as dg
import polars as pl
import pytest

from assets.line import Line, register_keys
from assets.predicates import NAME, Reasons, raised_check
from evolake.gates import Finding, GateSpec, Ruleset, checker, run_gates
from evolake.gates.rules import parse_rule
from evolake.lake import VERDICTS, TableSchema, side_table
from resources.lake import LakeResource

CANDIDATES = 12
LOST = TableSchema(
    "lost", 1, {"number": (pl.Int64, "Which one."), "cycle": pl.String, "reason": pl.String}, keys=("number",)
)
RULES = Ruleset(
    "faulty",
    (
        parse_rule(
            "---\nid: one\nversion: 1\nkind: static\ngate: form\ncheck: test.faulty\n---\nWhy.\n", "one.md"
        ),
    ),
)


def divided(number: int) -> float:
    return 1 / number


def named(number: int) -> str:
    return ("any" if number != 4 else "")[0]


FAULTS = {
    "none": lambda number: None,
    "every candidate raises": lambda number: number.no_such_attribute,
    "one candidate raises": lambda number: {3: 1 // 0 if number == 3 else 0},
    "two raise differently": lambda number: divided(number - 3) and named(number),
    "many are blocked for a reason": lambda number: Finding("no good"),
    "machinery": lambda number: Path("/no/such/file").read_bytes(),
}


@checker("test.faulty")
def faulty(evidence) -> Finding | None:
    result = FAULTS[evidence["fault"]](evidence["number"])
    return result if isinstance(result, Finding) else None


def evaluation(
    project, fault: str, lost: int = 0
) -> tuple[dg.ExecuteInProcessResult, dg.AssetCheckEvaluation]:
    """One cycle of a line whose checker has this fault: CANDIDATES candidates, one gate, `lost` replies that
    were no candidate."""
    line = Line("faulty", "A line with a fault in its checker.", owners=("team:toys",))

    @line.asset()
    def candidates(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
        gates = [GateSpec(0, "form", lambda number: {"number": number, "fault": fault})]
        verdicts = [
            verdict.row()
            for number in range(CANDIDATES)
            for verdict in run_gates(
                number,
                gates,
                RULES,
                artifact_id=f"c{number}",
                cycle=context.partition_key,
                run_id=context.run_id,
            ).verdicts
        ]
        rows = [
            {
                "number": number,
                "cycle": context.partition_key,
                "reason": "judging it raised ValueError at taking.py:3",
            }
            for number in range(lost)
        ]
        for name, schema, part in (
            (side_table("candidates", VERDICTS), VERDICTS, verdicts),
            ("lost", LOST, rows),
        ):
            lake.open().publish(
                line.name,
                name,
                schema.frame(part),
                cycle=context.partition_key,
                run_id=context.run_id,
                schema=schema,
            )
        return pl.DataFrame({"cycle": [context.partition_key]})

    @line.asset()
    def survivors(candidates: pl.DataFrame) -> pl.DataFrame:
        return candidates

    check = raised_check(
        candidates, line.name, line.cycles, judged=["candidates"], reasons=[Reasons("lost", LOST, "number")]
    )
    job = dg.Definitions(
        assets=[candidates, survivors],
        asset_checks=[check],
        resources=project.defs.resources,
        jobs=[dg.define_asset_job("cycle", "*")],
    ).resolve_job_def("cycle")
    register_keys(project.instance, line.name, ["0001"])
    result = job.execute_in_process(instance=project.instance, partition_key="0001", raise_on_error=False)
    results = result.get_asset_check_evaluations()
    return result, results[0] if results else None


def test_a_checker_that_raises_for_every_candidate_is_a_warning_with_its_place_and_the_cycle_goes_on(project):
    result, results = evaluation(project, "every candidate raises")
    assert result.success
    assert {event.step_key for event in result.all_events if event.is_step_success} >= {
        "faulty__candidates",
        "faulty__survivors",
    }
    assert (results.check_name, results.passed, results.blocking, results.severity) == (
        NAME,
        False,
        False,
        dg.AssetCheckSeverity.WARN,
    )
    assert results.partition == "0001"
    metadata = {name: value.value for name, value in results.metadata.items()}
    assert (metadata["candidates"], metadata["raised"], metadata["share"]) == (CANDIDATES, CANDIDATES, 1.0)
    head, _, row = metadata["places"].splitlines()
    assert head == "| place | error | candidates | gates | message | such as |"
    place = row.split(" | ")[0].removeprefix("| ")
    assert (
        row == f"| {place} | AttributeError | 12 | form | 'int' object has no attribute 'no_such_attribute' "
        "| c0 |"
    )
    assert place == f"{Path(__file__).name}:{FAULTS['every candidate raises'].__code__.co_firstlineno}"
    assert (
        results.description
        == f"judging 12 of 12 candidates raised an error, 12 of them at {place}, 12 of them with "
        "AttributeError"
    )
    assert "report it" in metadata["do"] and "the cached replies are judged" in metadata["do"]
    query = metadata["sql"].removeprefix("```sql\n").removesuffix("\n```")
    from evolake.lake import Catalogue

    with Catalogue(project.lake) as catalogue:
        assert catalogue.frame(query)["candidate"].n_unique() == CANDIDATES


@pytest.mark.parametrize(
    "fault", ["none", "one candidate raises", "two raise differently", "many are blocked for a reason"]
)
def test_a_normal_cycle_passes(project, fault):
    result, results = evaluation(project, fault)
    assert result.success and results.passed
    assert set(results.metadata) == {"candidates", "raised", "share"}
    assert results.metadata["raised"].value == {"one candidate raises": 1, "two raise differently": 2}.get(
        fault, 0
    )


def test_replies_that_raised_before_they_were_candidates_count_too(project):
    _, result = evaluation(project, "one candidate raises", lost=2)
    assert not result.passed
    assert (
        result.description
        == "judging 3 of 14 candidates raised an error, 2 of them at taking.py:3, 2 of them with ValueError"
    )


def test_a_failure_of_the_machinery_is_still_a_red_run(project):
    result, results = evaluation(project, "machinery")
    assert not result.success and results is None


def test_every_line_has_the_check_and_it_blocks_nothing():
    from pipelines.lines import built_lines

    specs = {
        built.line.name: [spec for check in built.checks for spec in check.check_specs if spec.name == NAME]
        for built in built_lines()
    }
    result = {line: {spec.asset_key.path[-1]: spec.blocking for spec in own} for line, own in specs.items()}
    assert result == {
        "designs": {
            "candidates": False,
            "experiments": False,
            "promoted_experiments": False,
            "tuning": False,
        },
        "families": {"accepted": False},
        "programs": {"accepted": False},
        "prompts": {"accepted": False},
        "solvers": {"correctness": False, "benchmark_runs": False},
    }
