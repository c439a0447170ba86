"""What an asset reads is an edge of Dagster's graph, and a change of a rule makes stale what asks it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import pairwise

import dagster as dg
import polars as pl
import pytest

from assets.line import Line
from evolake.families.gates.specs import GATES
from evolake.gate_spec import gates_of_assets
from evolake.project import BROUGHT
from resources.lake import LakeResource


def test_every_frame_and_every_dependency_of_an_asset_is_an_edge_of_the_graph():
    line = Line("chained", "A toy.")

    @line.asset()
    def first(context: dg.AssetExecutionContext) -> pl.DataFrame:
        return pl.DataFrame()

    @line.asset(deps=["first"])
    def second(context: dg.AssetExecutionContext) -> pl.DataFrame:
        return pl.DataFrame()

    @line.asset(deps=["second"])
    def third(
        context: dg.AssetExecutionContext, lake: LakeResource, first: pl.DataFrame, second: pl.LazyFrame
    ) -> pl.DataFrame:
        return first

    parents = {
        asset.key.path[-1]: {key.path[-1] for key in asset.asset_deps[asset.key]}
        for asset in (first, second, third)
    }
    assert parents == {"first": set(), "second": {"first"}, "third": {"first", "second"}}


def test_the_gates_follow_each_other():
    from pipelines.definitions import defs

    graph = defs.resolve_asset_graph()
    chains = {
        "families": ["candidates", *gates_of_assets(GATES), "accepted"],
        "solvers": ["variants", "compliance", "binaries", "smoke", "correctness", "benchmark_runs"],
    }
    for line, chain in chains.items():
        for before, name in pairwise(chain):
            assert dg.AssetKey([line, before]) in graph.get(dg.AssetKey([line, name])).parent_keys, (
                line,
                name,
            )


RULE = (
    "---\nid: {gate}-rule\nversion: {version}\nkind: static\ngate: {gate}\ncheck: toy.{gate}\n---\n{prose}\n"
)


def test_an_edit_of_a_rule_is_a_new_code_version_of_what_asks_it_and_of_nothing_else(tmp_path):
    from assets.rules import rules_asset

    def write(gate: str, version: int = 1, prose: str = "Why.") -> None:
        (tmp_path / f"{gate}.md").write_text(RULE.format(gate=gate, version=version, prose=prose))

    def code_versions(name: str) -> list[str | None]:
        line = Line(name, "A toy.", rules=tmp_path)
        rules = rules_asset(line)

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


LINES = ("designs", "families", "programs", "prompts", "solvers")
POPULATION = {"population", "read_population"}


def functions_of(line: str) -> dict[str, ast.FunctionDef]:
    """The functions of a line's assets, and of what all lines do with added seeds, by name."""
    files = [BROUGHT / "assets" / "added_seeds.py", *(BROUGHT / "assets" / line).glob("*.py")]
    nodes = (node for file in files for node in ast.walk(ast.parse(file.read_text())))
    return {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}


def always(node: ast.AST) -> Iterator[ast.Call]:
    """Calls below a node; those under a condition are left out, unless they are the condition."""
    if isinstance(node, ast.Call):
        yield node
    children = [node.test] if isinstance(node, ast.If | ast.IfExp) else ast.iter_child_nodes(node)
    for child in children:
        yield from always(child)


def read_by(functions: dict[str, ast.FunctionDef], name: str, seen: set[str]) -> set[str]:
    """The assets of its line that a function reads beside its frames, through helpers too, by their text."""
    result = set[str]()
    seen.add(name)
    for call in always(functions[name]):
        called = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        if called in POPULATION:
            result.add("incoming")
        of_store = isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) == "store"
        if of_store and called in ("read", "rows") and isinstance(call.args[0], ast.Constant):
            result.add(str(call.args[0].value))
        if called in functions and called not in seen:
            result |= read_by(functions, called, seen)
    return result


@pytest.mark.parametrize("line", LINES)
def test_what_an_asset_reads_beside_its_frames_is_an_edge_too(line):
    """By the text of assets; `test_reads_are_edges.py` of programs compares what two cycles do read."""
    from pipelines.definitions import defs

    graph, functions = defs.resolve_asset_graph(), functions_of(line)
    assets = {key.path[-1] for key in graph.get_all_asset_keys() if key.path[0] == line}
    judged = {
        name for name in assets & functions.keys() if graph.get(dg.AssetKey([line, name])).is_partitioned
    }
    missing, reading = set[tuple[str, str]](), set[str]()
    for name in judged:
        edges = {key.path[-1] for key in graph.get(dg.AssetKey([line, name])).parent_keys}
        read = read_by(functions, name, set()) & assets
        missing |= {(name, other) for other in read - edges - {name}}
        reading |= {name} if "incoming" in read else set()
    assert missing == set() and len(reading) >= 4
