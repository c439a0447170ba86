"""What an asset of the programs line reads of another one, or of the population, is an edge of Dagster's
graph: what two cycles read is compared with it."""

from __future__ import annotations

from collections import defaultdict
from contextlib import suppress
from typing import cast

import dagster as dg
from one_line import OneLine

from assets.store import SIDE_TABLES
from evolake.lake import Lake
from evolake.lake.schemas import INCOMING
from evolake.programs.commands.group import FILES

LINE = "programs"
SMALL = {
    "EVOLAKE_PROFILE": "demo",
    "EVOLAKE_WORKERS": "1",
    "EVOLAKE_PROGRAMS__GENERATIONS_PER_CYCLE": "1",
    "EVOLAKE_PROGRAMS__CANDIDATES_PER_GENERATION": "3",
    "EVOLAKE_PROGRAMS__HELDOUT_REPEATS": "2",
    "EVOLAKE_PROGRAMS__ISLANDS": "1",
}


def asset_at_work() -> str:
    """The asset whose function runs; "" outside of one, as when Dagster loads an input, which is an edge."""
    with suppress(dg.DagsterInvariantViolationError):
        return dg.AssetExecutionContext.get().asset_key.path[-1]
    return ""


def tables_shown(instance: dg.DagsterInstance, asset: str) -> set[str]:
    """The tables that the materializations of an asset name as published with it."""
    key = dg.AssetKey([LINE, asset])
    made = [record.asset_materialization for record in instance.fetch_materializations(key, limit=9).records]
    return {
        str(row.data["table"])
        for event in made
        if event and SIDE_TABLES in event.metadata
        for row in cast("dg.TableMetadataValue", event.metadata[SIDE_TABLES]).records
    }


def test_what_the_assets_of_two_cycles_read_are_the_edges_of_the_graph(tmp_path, monkeypatch):
    (tmp_path / "fit").mkdir()
    for file, text in FILES.items():
        (tmp_path / "fit" / file).write_text(text)
    places = {"EVOLAKE_LAKE": str(tmp_path / "lake"), "EVOLAKE_PROGRAMS__PROJECTS": str(tmp_path / "fit")}
    for name, value in (SMALL | places).items():
        monkeypatch.setenv(name, value)
    from pipelines.definitions import defs

    read_by, written_by = defaultdict[str, set[str]](set), dict[str, str]()
    read, publish = Lake.read, Lake.publish

    def reading(lake: Lake, line: str, table: str, cycle: str | None = None):
        asset = asset_at_work()
        if asset and not table.endswith("__checks"):  # what a seal asks: checks are no assets
            read_by[asset].add(table)
        return read(lake, line, table, cycle)

    def publishing(lake: Lake, line: str, table: str, *given, **more):
        written_by.setdefault(table, asset_at_work() or table)
        return publish(lake, line, table, *given, **more)

    monkeypatch.setattr(Lake, "read", reading)
    monkeypatch.setattr(Lake, "publish", publishing)
    with dg.DagsterInstance.ephemeral() as instance:
        assert defs.resolve_job_def(f"{LINE}_seeds").execute_in_process(instance=instance).success
        project = OneLine(LINE, Lake(tmp_path / "lake"), instance, defs)
        for cycle in ("0001", "0002"):
            project.run(cycle)
        shown = {asset: tables_shown(instance, asset) for asset in set(written_by.values())}
    published = defaultdict[str, set[str]](set)
    for table, asset in written_by.items():
        if table not in (asset, "opened") and not table.startswith(INCOMING):
            published[asset].add(f"{LINE}.{table}")
    assert published and {asset: shown[asset] for asset in published} == published, (
        "the UI shows what is published"
    )
    graph, missing = defs.resolve_asset_graph(), set[tuple[str, str]]()
    for asset, tables in read_by.items():
        edges = {key.path[-1] for key in graph.get(dg.AssetKey([LINE, asset])).parent_keys}
        sources = {"incoming" if table.startswith(INCOMING) else written_by[table] for table in tables}
        missing |= {(asset, source) for source in sources - edges - {asset}}
    assert missing == set()
    assert {asset for asset, tables in read_by.items() if any(t.startswith(INCOMING) for t in tables)} >= {
        "generations",
        "champion",
        "survivors",
    }, "what is read beside the frames was seen"
