"""An asset names all that it reads; Dagster's graph has the transitive reduction, and a change of what is
read past an asset is seen all the same."""

from __future__ import annotations

from itertools import pairwise

import dagster as dg
import polars as pl
import pytest

from assets.line import Line, register_keys
from evolake.families.gates.specs import GATES
from evolake.gate_spec import gates_of_assets
from resources.compute import ComputeResource
from resources.lake import LakeIOManager, LakeResource

DATA_VERSION = "dagster/data_version"


def implied(parents: dict[dg.AssetKey, set[dg.AssetKey]]) -> dict[str, list[str]]:
    """Asset -> the parents that another parent implies."""

    def above(key: dg.AssetKey) -> set[dg.AssetKey]:
        return set().union(*({parent} | above(parent) for parent in parents[key]))

    result = {
        key.to_user_string(): sorted(
            item.to_user_string() for item in direct if any(item in above(other) for other in direct - {item})
        )
        for key, direct in parents.items()
    }
    return {name: names for name, names in result.items() if names}


def test_no_asset_of_any_group_depends_on_what_its_other_dependencies_imply():
    from pipelines.definitions import defs

    graph = defs.resolve_asset_graph()
    parents = {key: set(graph.get(key).parent_keys) for key in graph.get_all_asset_keys()}
    assert len(parents) > 50
    assert implied(parents) == {}


def test_each_gate_depends_on_the_gate_before_it_and_nothing_further_back():
    from pipelines.definitions import defs

    graph = defs.resolve_asset_graph()
    chains = {
        "families": ["candidates", *gates_of_assets(GATES), "accepted"],
        "solvers": ["variants", "compliance", "binaries", "smoke", "correctness", "benchmark_runs"],
    }
    for line, chain in chains.items():
        parents = {
            name: {key.path[1] for key in graph.get(dg.AssetKey([line, name])).parent_keys}
            for name in chain[1:]
        }
        assert parents == {
            name: {before} | ({"rules"} if number == 0 else set())
            for number, (before, name) in enumerate(pairwise(chain))
        }


def version_of(done: dg.ExecuteInProcessResult, key: dg.AssetKey) -> str:
    [made] = done.asset_materializations_for_node(key.to_python_identifier())
    return (made.tags or {})[DATA_VERSION]


@pytest.fixture
def chained(tmp_path, monkeypatch):
    """(materialize, versions): a line whose `third` reads `first` past `second`, and what its tables hold."""
    monkeypatch.setenv("EVOLAKE_LAKE", str(tmp_path / "lake"))
    line, holds = Line("chained", "A toy."), {"first": 1}

    @line.asset()
    def first(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
        return pl.DataFrame({"number": [holds["first"]]})

    @line.asset()
    def second(context: dg.AssetExecutionContext, lake: LakeResource, first: pl.DataFrame) -> pl.DataFrame:
        return pl.DataFrame({"rows": [first.height]})

    @line.asset()
    def third(
        context: dg.AssetExecutionContext, lake: LakeResource, first: pl.DataFrame, second: pl.LazyFrame
    ) -> pl.DataFrame:
        return pl.DataFrame({"both": [first["number"].item() + second.collect()["rows"].item()]})

    lake, assets = LakeResource(), [first, second, third]
    with dg.DagsterInstance.ephemeral() as instance:
        register_keys(instance, line.name, ["0001"])

        def materialize(*names: str) -> dict[str, str]:
            chosen = [line.key(name) for name in names]
            done = dg.materialize(
                assets,
                selection=chosen,
                partition_key="0001",
                instance=instance,
                resources={
                    "lake": lake,
                    "io_manager": LakeIOManager(lake=lake),
                    "compute": ComputeResource(),
                },
            )
            return {key.path[-1]: version_of(done, key) for key in chosen}

        yield holds, materialize, lambda: lake.open().read("chained", "third", "0001")["both"].item(), assets


def test_a_table_that_is_read_past_another_asset_is_loaded_without_an_edge(chained):
    _, materialize, both, (_, _, third) = chained
    materialize("first", "second", "third")
    assert both() == 2
    assert [key.path[-1] for key in third.asset_deps[third.key]] == ["second"]


def test_what_is_read_past_an_asset_changes_its_data_version_and_an_equal_table_does_not(chained):
    holds, materialize, both, _ = chained
    before = materialize("first", "second")
    assert materialize("first", "second") == before
    holds["first"] = 5
    after = materialize("first", "second")
    assert after["first"] != before["first"] and after["second"] != before["second"]
    materialize("third")
    assert both() == 6


RULE = (
    "---\nid: {gate}-rule\nversion: {version}\nkind: static\ngate: {gate}\ncheck: toy.{gate}\n---\n{prose}\n"
)


def test_an_edit_of_a_rule_is_a_new_code_version_of_what_asks_it_and_of_nothing_else(tmp_path):
    from assets.lake import rules_asset

    def write(gate: str, version: int = 1, prose: str = "Why.") -> None:
        (tmp_path / f"{gate}.md").write_text(RULE.format(gate=gate, version=version, prose=prose))

    def code_versions(name: str) -> list[str | None]:
        line = Line(name, "A toy.")
        rules = rules_asset(line, tmp_path)

        @line.seed_asset(deps=[rules], gates=())
        def seeds(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
            return pl.DataFrame()

        @line.asset(deps=[rules], gates=["form"])
        def form(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
            return pl.DataFrame()

        @line.asset(deps=[rules, "form"], gates=["size"])
        def size(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
            return pl.DataFrame()

        @line.asset(deps=[rules, "size"])
        def report(context: dg.AssetExecutionContext, lake: LakeResource) -> pl.DataFrame:
            return pl.DataFrame()

        return [next(iter(asset.specs)).code_version for asset in (seeds, form, size, report)]

    def changed(first: list[str | None], after: list[str | None]) -> list[bool]:
        return [before != now for before, now in zip(first, after, strict=True)]

    write("form")
    write("size")
    first = code_versions("ruled_before")
    write("form", prose="Why, in other words.")
    assert code_versions("ruled_again") == first
    write("size", version=2)
    second = code_versions("ruled_after")
    assert changed(first, second) == [False, False, True, True]
    write("form", version=2)
    assert changed(second, code_versions("ruled_at_last")) == [False, True, False, True]
