"""What an asset publishes beside its own table is booked to its line, its name, its cycle and its run."""

from __future__ import annotations

import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import cast

import dagster as dg
import polars as pl
import pytest

from assets.line import SEED_ROUND, Line, loaded_rules, register_keys
from assets.rules import LOADED, note_loaded
from assets.store import LineStore, _rules_of
from evolake import __version__
from evolake.errors import InputError
from evolake.lake import AGENT_CALLS, DERIVATIONS, VERDICTS, TableSchema
from evolake.project import BROUGHT
from resources.lake import LakeResource

NOTES = TableSchema("notes", 1, {"text": (pl.String, "what is noted")}, keys=("text",))
MADE = TableSchema(
    "made",
    1,
    {"toy_id": (pl.String, "the toy"), "cycle": pl.String, "state": (pl.String, "accepted or blocked")},
    keys=("toy_id",),
)
ROWS = [
    {"toy_id": "a", "cycle": "0001", "state": "accepted"},
    {"toy_id": "b", "cycle": "0001", "state": "blocked"},
]
LINES = {
    name: Line(
        name,
        "A line of toys.",
        artifact=lambda row: {
            "artifact_id": row["toy_id"],
            "kind": "toy",
            "content_sha": None,
            "title": row["toy_id"].upper(),
        },
    )
    for name in ("wood", "tin")
}


def materialized(project, line: Line, *, fails: bool = False) -> dg.ExecuteInProcessResult:
    """Cycle 0001 of one asset that publishes a bit of everything; with `fails` it raises while its roles are
    open."""

    @line.asset(schema=MADE)
    def made(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
        store = LineStore(line, context, lake)
        store.artifacts(ROWS)
        store.derivations(
            [{"child_id": "b", "parent_id": "a", "operator": "cut", "weight": 1.0, "cycle": store.cycle}]
        )
        store.champion("a", 0.5)
        store.extra(NOTES, [{"text": "one"}])
        store.extra(NOTES, [{"text": "other"}], "further")
        with store.roles() as served:
            assert (served.line, served.cycle) == (line.name, "0001")
            if fails:
                raise ValueError("no such toy")
        assert (store.rows("notes"), store.has("notes"), store.has("nothing")) == (
            [{"text": "one"}],
            True,
            False,
        )
        assert store.rows("made", DERIVATIONS)[0]["parent_id"] == "a"
        return MADE.frame(ROWS)

    register_keys(project.instance, line.name, ["0001"])
    job = dg.Definitions(
        assets=[made],
        resources=project.defs.resources,
        jobs=[dg.define_asset_job("cycle", "*", partitions_def=line.cycles)],
    )
    return job.resolve_job_def("cycle").execute_in_process(
        instance=project.instance, partition_key="0001", raise_on_error=False
    )


@pytest.mark.parametrize("name", LINES)
def test_rows_are_booked_to_the_asset_of_the_line_that_publishes_them(project, name):
    result = materialized(project, LINES[name])
    assert result.success
    names = ("made__artifacts", "made__champions", "notes", "further", "made__agent_calls")
    tables = {asset: project.lake.read(name, asset, "0001") for asset in names}
    assert tables["made__artifacts"].drop("created_at").to_dicts() == [
        {
            "artifact_id": row["toy_id"],
            "line": name,
            "kind": "toy",
            "cycle": "0001",
            "state": row["state"],
            "content_sha": None,
            "title": row["toy_id"].upper(),
            "run_id": result.run_id,
            "code_version": __version__,
        }
        for row in ROWS
    ]
    assert tables["made__champions"].to_dicts() == [
        {"line": name, "cycle": "0001", "artifact_id": "a", "score": 0.5}
    ]
    assert (tables["notes"]["text"].to_list(), tables["further"]["text"].to_list()) == (["one"], ["other"])
    assert tables["made__agent_calls"].equals(AGENT_CALLS.empty())
    [other] = set(LINES) - {name}
    assert project.lake.record(other, "made", "0001") is None


def test_a_verdict_carries_when_it_was_given_which_is_no_content_and_stays_if_nothing_else_is_said(project):
    line, said = LINES["wood"], ["1"]

    @line.asset(schema=MADE)
    def judged(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
        row = {"artifact_id": "a", "cycle": "0001", "gate_no": 0, "rule_id": "r", "rule_version": said[-1]}
        LineStore(line, context, lake).side(VERDICTS, [row])
        return MADE.empty()

    def judge() -> tuple[str, datetime]:
        register_keys(project.instance, line.name, ["0001"])
        given = {"instance": project.instance, "resources": project.defs.resources}
        assert dg.materialize([judged], partition_key="0001", **given).success
        table = ("wood", "judged__verdicts", "0001")
        record = project.lake.record(*table)
        assert record is not None
        return record.content_sha, project.lake.read(*table)["judged_at"].item()

    before = datetime.now(UTC)
    first = judge()
    assert before <= first[1] <= datetime.now(UTC) and judge() == first
    said.append("2")
    second = judge()
    assert second[0] != first[0] and second[1] > first[1]
    said.append("1")
    assert judge()[0] == first[0], "the same seal, whenever it was judged"


def test_a_rule_that_is_edited_without_a_reload_judges_nothing_until_it_is_loaded(tmp_path, monkeypatch):
    rules = Path(shutil.copytree(BROUGHT / "data_lake" / "seeds" / "rules", tmp_path / "rules"))
    monkeypatch.setenv("EVOLAKE_SEEDS", str(tmp_path))
    monkeypatch.setenv(LOADED, "")  # put back at the end
    monkeypatch.delenv(LOADED)
    line, file = Line("programs", "Programs."), rules / "programs" / "readable.md"

    def store() -> LineStore:
        return LineStore(line, cast("dg.AssetExecutionContext", None), LakeResource())

    def started() -> None:
        """Another process starts, of which this is the beginning."""
        _rules_of.cache_clear()
        loaded_rules.cache_clear()
        note_loaded([line])

    started()
    before = store().rules()
    file.write_text(file.read_text().replace("version: 1", "version: 2"))
    assert store().rules() == before, "a run ends by the rules that it began by"
    started()  # a run of the code server that has not loaded the edit
    with pytest.raises(InputError, match="programs were edited after the definitions were loaded") as refusal:
        store().rules()
    assert "Reload definitions" in str(refusal.value)
    monkeypatch.delenv(LOADED)
    started()
    assert {rule.version for rule in store().rules().rules if rule.id == "programs-readable"} == {2}


def test_a_block_that_fails_publishes_no_calls(project):
    assert not materialized(project, LINES["wood"], fails=True).success
    assert project.lake.record("wood", "notes", "0001") is not None
    assert project.lake.record("wood", "made__agent_calls", "0001") is None


def test_seeds_publish_without_a_cycle_and_name_round_0000(project):
    line, seen = LINES["tin"], []

    @line.seed_asset(schema=MADE)
    def seeds(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
        store = LineStore(line, context, lake)
        seen.append((store.cycle, store.partition, store.asset))
        store.extra(NOTES, [{"text": "seed"}])
        return MADE.empty()

    assert dg.materialize([seeds], instance=project.instance, resources=project.defs.resources).success
    assert seen == [(SEED_ROUND, None, "seeds")]
    assert project.lake.read("tin", "notes", None)["text"].to_list() == ["seed"]


def test_seeds_of_which_none_was_accepted_say_what_is_lacking(project):
    line = LINES["tin"]

    @line.seed_asset(schema=MADE)
    def seeds(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
        store = LineStore(line, context, lake)
        blocked = [row | {"state": "blocked", "reason": "it is hollow"} for row in ROWS]
        store.seal_seeds(blocked, {"made": MADE.frame(ROWS)}, lacking="no toy can be used", do="Carve one.")
        return MADE.empty()

    def rules(self: LineStore):
        from evolake.gates import Ruleset

        return Ruleset("none", ())

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(LineStore, "rules", rules)
        result = dg.materialize(
            [seeds], instance=project.instance, resources=project.defs.resources, raise_on_error=False
        )
    failure = next(
        event for event in result.all_events if event.is_step_failure
    ).step_failure_data.user_failure_data
    assert failure.description == "no toy can be used (A: it is hollow; B: it is hollow). Carve one."
