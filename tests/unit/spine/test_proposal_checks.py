"""An endpoint that answers nonsense: a cycle without a proposal warns, the second in a row is an error that
says what to do; then it is mended."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg
import polars as pl
import pytest
from agent_backend_fixtures import AddReply, AddRequest, add_role, sum_asked, values
from loopback_model import KEY, Asked, LoopbackModel, say

from assets.cycle import Line
from assets.line import register_keys
from assets.proposals import NAME, proposal_checks, roles_of
from assets.store import LineStore
from evolake.agents import Role
from evolake.lazy import Lazy
from pipelines.outcome import MACHINERY_FAILED, explain
from resources.agents import AgentsResource
from resources.lake import LakeResource

ADDER = Role(
    "toys_adder", AddRequest, AddReply, lambda request, random: AddReply(total=request.a + request.b)
)
REQUESTS = [AddRequest(a=number, b=1) for number in range(3)]


class ScriptedModel:
    """Adds, or talks nonsense where `well` is not set."""

    well = False

    def __call__(self, asked: Asked):
        return say(sum_asked(asked.messages)) if self.well else say("I am a teapot.")


@pytest.fixture
def asked_by_a_model(monkeypatch):
    scripted = ScriptedModel()
    with LoopbackModel(scripted) as server:
        for name, value in {
            "NO_PROXY": "127.0.0.1",
            "EVOLAKE_BACKEND": "model",
            "EVOLAKE_MODEL_API_KEY": KEY,
            "EVOLAKE_MODEL_BASE_URL": server.base_url,
            "EVOLAKE_MODELS": '{"default": "gpt-test"}',
            "EVOLAKE_BUDGET__TOKENS_PER_RUN": "100000",
            "EVOLAKE_MODEL_REPAIRS": "1",
        }.items():
            monkeypatch.setenv(name, value)
        yield scripted, server


class Toy:
    """A line whose one asset asks for sums, in the project of a test."""

    def __init__(self, project, folder: Path):
        self.project, role = project, add_role(folder, ADDER.name)
        line = Line(
            "toys",
            "A line that asks.",
            owners=("team:toys",),
            proposers={"candidates": (Lazy(f"{__name__}:ADDER"),)},
        )

        @line.asset()
        def candidates(
            context: dg.AssetExecutionContext, lake: LakeResource, agents: AgentsResource
        ) -> pl.DataFrame:
            store = LineStore(line, context, lake)
            with store.roles(agents) as served:
                replies = values(served.call_many(role, REQUESTS, seeds=[0] * len(REQUESTS)))
            return pl.DataFrame(
                {"total": [reply.total for reply in replies if isinstance(reply, AddReply)]},
                schema={"total": pl.Int64},
            )

        self.line = line
        self.job = dg.Definitions(
            assets=[candidates],
            asset_checks=proposal_checks(line, candidates),
            resources=project.defs.resources | {"agents": AgentsResource()},
            jobs=[dg.define_asset_job("cycle", "*")],
        ).resolve_job_def("cycle")

    def run(self, cycle: str) -> tuple[dg.ExecuteInProcessResult, Any]:
        register_keys(self.project.instance, self.line.name, [cycle])
        result = self.job.execute_in_process(
            instance=self.project.instance, partition_key=cycle, raise_on_error=False
        )
        results = result.get_asset_check_evaluations()
        return result, results[0] if results else None

    def totals(self, cycle: str) -> list[int]:
        return self.project.lake.read("toys", "candidates", cycle)["total"].to_list()


@pytest.fixture
def toy(project, tmp_path, asked_by_a_model) -> Toy:
    return Toy(project, tmp_path)


def test_a_cycle_without_a_proposal_warns_and_the_second_in_a_row_is_an_error_until_the_endpoint_is_mended(
    toy, asked_by_a_model
):
    scripted, server = asked_by_a_model
    result, results = toy.run("0001")
    assert result.success and toy.totals("0001") == []
    assert (results.check_name, results.passed, results.blocking, results.severity) == (
        NAME,
        False,
        False,
        dg.AssetCheckSeverity.WARN,
    )
    assert (
        results.description
        == "every proposal of cycle 0001 failed: 6 attempts, 0 with a valid reply (invalid 6)"
    )
    metadata = {name: value.value for name, value in results.metadata.items()}
    assert {name: metadata[name] for name in metadata if name != "sql"} == {
        "attempts": 6,
        "valid": 0,
        "proposals": 0,
        "withdrawn": 0,
        "failed: invalid": 6,
    }
    result, results = toy.run("0002")
    assert not result.success and results is None
    code, reason = explain(result)
    assert code == MACHINERY_FAILED
    for said in (
        "toys: every proposal failed in 2 cycles in a row: 0001, 0002",
        "a valid reply of toys_adder",
        "6 attempts, 0 with a valid reply (invalid 6)",
        "the last: toys_adder: not JSON",
        "evolake agents tape list --line toys --cycle 0002 --invalid",
        "EVOLAKE_AGENTS__FAILED_CYCLES_ALLOWED",
    ):
        assert said in reason
    asked, scripted.well = len(server.requests), True
    result, results = toy.run("0002")
    assert result.success and results.passed and toy.totals("0002") == [1, 2, 3]
    assert len(server.requests) == asked + 3
    scripted.well = False
    assert toy.run("0002")[0].success and toy.totals("0002") == [1, 2, 3]
    assert len(server.requests) == asked + 3


def test_by_setting_more_such_cycles_pass_or_none(toy, monkeypatch):
    monkeypatch.setenv("EVOLAKE_AGENTS__FAILED_CYCLES_ALLOWED", "2")
    assert [toy.run(cycle)[0].success for cycle in ("0001", "0002", "0003")] == [True, True, False]
    monkeypatch.setenv("EVOLAKE_AGENTS__FAILED_CYCLES_ALLOWED", "0")
    result, _ = toy.run("0001")
    assert not result.success and "every proposal failed in the cycle: 0001" in explain(result)[1]


def test_a_cycle_with_one_proposal_starts_the_count_anew(toy, asked_by_a_model):
    scripted, _ = asked_by_a_model
    for cycle, well in (("0001", False), ("0002", True), ("0003", False)):
        scripted.well = well
        assert toy.run(cycle)[0].success


def test_every_line_names_its_proposers_and_has_the_check_which_blocks_nothing():
    from evolake.agents.roles import roles_in
    from pipelines.lines import built_lines

    for built in built_lines():
        specs = {
            spec.asset_key.path[-1]: spec.blocking
            for check in built.checks
            for spec in check.check_specs
            if spec.name == NAME
        }
        assert specs == dict.fromkeys(built.line.proposers, False) and specs
        roles = {role.name for role in roles_in(f"evolake.{built.line.name}.roles")}
        assert all(
            roles_of(built.line, asset) and roles_of(built.line, asset) <= roles
            for asset in built.line.proposers
        )


def test_all_proposing_assets_have_the_check(project):
    line = Line("toys", "A line that asks.", owners=("team:toys",), proposers={"candidates": (), "plan": ()})
    with pytest.raises(ValueError, match=r"toys: proposers are \['candidates', 'plan'\] \(got \[\]\)"):
        proposal_checks(line)
