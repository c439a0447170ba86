"""What edited rules would change, before anything is made again: what `evolake rules preview` and the job
`preview_rules` print.

The lake is asked by `evolake.report.rules_preview`; here that is joined with the graph of assets, which says
what is based on a rule.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote

import click
import dagster as dg

from assets.guards import check_table, content_of
from assets.line import Line
from assets.package import EVERY_GATE, GATES_ASKED, SUFFIX_DIGITS
from evolake import project
from evolake import settings as settings_module
from evolake.cli.ending import end
from evolake.cli.sql import all_tables
from evolake.gates import load_rules
from evolake.lake import Catalogue, Lake
from evolake.report.rules_preview import CycleWork, Graph, PreviewText, Work, preview_rules, work_of
from evolake.report.status import sealed_cycles
from evolake.terminal import say, say_json
from pipelines.home import home_from_environment
from pipelines.line_state import CODE_VERSION_TAG
from pipelines.lines import built_lines
from resources.by_name import resources_by_name

UNCHANGED, CHANGES = "unchanged", "changes"
"""Dagster's tag of a materialization."""
PAGE = 1000


def previews(
    lake: Lake, rules: Path, names: Sequence[str], instance: dg.DagsterInstance
) -> list[PreviewText]:
    """Return the preview of each line. rules: the folder that holds a folder of rule files for each of
    `names`. instance: knows what made the assets.

    Raises:
        InputError: a rule that cannot be used. LakeError: what is stored is damaged.
    """
    built = built_lines()
    assets = [asset for line in built for asset in (line.line.incoming, *line.assets)]
    checks = [check for line in built for check in line.checks]
    definitions = dg.Definitions(assets=assets, asset_checks=checks, resources=resources_by_name())
    by_name = {line.line.name: line.line for line in built}
    with Catalogue(lake, all_tables()) as catalogue:
        return [_preview_text(lake, catalogue, rules, by_name[name], definitions, instance) for name in names]


def gates_asked(definitions: dg.Definitions, line: Line) -> dict[str, frozenset[str] | None]:
    """Return asset of the line that an edit of rules can make stale -> the gates whose rules it asks; None:
    all."""
    given = {
        spec.key.path[-1]: spec.metadata.get(GATES_ASKED)
        for spec in definitions.resolve_all_asset_specs()
        if spec.key.path[0] == line.name
    }
    return {name: None if gates == EVERY_GATE else frozenset(gates) for name, gates in given.items() if gates}


def graph_of(definitions: dg.Definitions, line: Line) -> Graph:
    """Return what a cycle of a line consists of, and what of it depends on rules."""
    graph, asked = definitions.resolve_asset_graph(), gates_asked(definitions, line)
    cycle = [
        key
        for key in graph.toposorted_asset_keys
        if graph.get(key).group_name == line.name and graph.get(key).is_materializable
    ]
    below = {
        key.path[-1]: frozenset(
            other.path[-1]
            for other in dg.AssetSelection.assets(key).downstream(include_self=False).resolve(graph)
            & set(cycle)
        )
        for key in cycle
        if key.path[-1] in asked
    }
    return Graph(tuple(key.path[-1] for key in cycle), below)


def materialized(
    instance: dg.DagsterInstance, key: dg.AssetKey, cycles: Sequence[str] | None
) -> dict[str | None, tuple[str, float]]:
    """Return cycle (None: of an asset without cycles) -> of Dagster's newest materialization of `key` the
    code version by which it was made, and when, in seconds since the epoch."""
    result: dict[str | None, tuple[str, float]] = {}
    wanted, cursor = set(cycles or (None,)), None
    while wanted - result.keys():
        page = instance.fetch_materializations(
            dg.AssetRecordsFilter(asset_key=key, asset_partitions=cycles), limit=PAGE, cursor=cursor
        )
        for record in page.records:
            made = record.asset_materialization
            if made is not None:
                version = (made.tags or {}).get(CODE_VERSION_TAG, "")
                result.setdefault(made.partition, (version, record.timestamp))
        if not page.has_more:
            break
        cursor = page.cursor
    return result


def selection(line: str, work: CycleWork) -> str:
    """Return what Dagster's UI and commands take for the assets that have to be made again of one cycle."""
    return f'group:"{line}"' if work.whole else " or ".join(f'key:"{line}/{asset}"' for asset in work.assets)


def commands(line: str, work: Work, root: Path) -> Iterator[str]:
    """Yield what makes it all again, in order: each cycle up to the first that changes by a selection, those
    after it whole. root: of the lake."""
    home, where = (
        quote(str(project.home(root))),
        "-f definitions.py" if project.INSTALLED else "-m pipelines.definitions",
    )
    for cycle in work.cycles:
        if not cycle.whole:
            chosen = quote(selection(line, cycle))
            yield (
                f"DAGSTER_HOME={home} dagster asset materialize {where} --partition {cycle.cycle} "
                f"--select {chosen}"
            )
    for asset in work.once:
        chosen = quote(f'key:"{line}/{asset}"')
        yield f"DAGSTER_HOME={home} dagster asset materialize {where} --select {chosen}"
    if whole := sum(item.whole for item in work.cycles):
        yield f"evolake run --lines {line} --cycles {whole}"


def _preview_text(
    lake: Lake,
    catalogue: Catalogue,
    rules: Path,
    line: Line,
    definitions: dg.Definitions,
    instance: dg.DagsterInstance,
) -> PreviewText:
    graph, asked = graph_of(definitions, line), gates_asked(definitions, line)
    ruleset, done = load_rules(rules, line.name), sealed_cycles(lake, line.name)
    preview = preview_rules(lake, catalogue, ruleset)
    recorded = {
        asset: materialized(instance, line.key(asset), done) if done else {}
        for asset in sorted(graph.downstream)
    }

    checks_of = {
        asset: definitions.resolve_asset_graph().get_check_keys_for_assets({line.key(asset)})
        for asset in sorted(graph.downstream)
    }

    def is_of_these_rules(asset: str, code_version: str) -> bool:
        gates = asked[asset]
        return code_version.endswith(
            f"+{(ruleset.hash if gates is None else ruleset.hash_of(gates))[:SUFFIX_DIGITS]}"
        )

    def made_by(asset: str, cycle: str) -> bool | None:
        return is_of_these_rules(asset, recorded[asset][cycle][0]) if cycle in recorded[asset] else None

    def is_left(asset: str, cycle: str) -> bool:
        """Whether an asset was made before what it is based on became what it is."""
        sources = [
            lake.record(line.name, name, cycle) for name, below in graph.below.items() if asset in below
        ]
        return cycle in recorded[asset] and any(
            source is not None and recorded[asset][cycle][1] < source.created_at.timestamp()
            for source in sources
        )

    def is_unjudged(asset: str, cycle: str) -> bool:
        """Whether a run was cut off between an asset and its checks: they judged what it held before."""
        made = lake.record(line.name, asset, cycle)
        tables = [check_table(asset, key.name) for key in checks_of[asset]]
        older = [
            lake.read(line.name, table, cycle).row(0, named=True)["judged_sha"]
            for table in tables
            if made and (said := lake.record(line.name, table, cycle)) and said.created_at < made.created_at
        ]
        held = content_of(lake, line.name, asset, cycle) if older else None
        return any(judged is not None and judged != held for judged in older)

    asking = sorted(asked.keys() - set(graph.everything))
    once = [
        name
        for name in asking
        for made, _ in materialized(instance, line.key(name), None).values()
        if not is_of_these_rules(name, made)
    ]
    left = {
        cycle: frozenset(
            name for name in graph.downstream if is_left(name, cycle) or is_unjudged(name, cycle)
        )
        for cycle in done
    }
    work = work_of(preview, graph, catalogue, done, made_by, once, left)
    return PreviewText(
        preview,
        work,
        {cycle.cycle: selection(line.name, cycle) for cycle in work.cycles},
        tuple(commands(line.name, work, lake.root)),
    )


@click.command()
@click.option("--rules", type=click.Path(path_type=Path), required=True)
@click.option("--json", "as_json", is_flag=True)
@click.argument("names", nargs=-1)
def main(rules: Path, as_json: bool, names: tuple[str, ...]) -> int:
    """Print the preview of lines."""
    lake = Lake(settings_module.load().require_lake())
    home_from_environment(lake)
    with dg.DagsterInstance.get() as instance:
        result = previews(lake, rules, names, instance)
    if as_json:
        verdict = (
            CHANGES
            if any(item.preview.flips or item.work.cycles or item.work.once for item in result)
            else UNCHANGED
        )
        say_json(
            {
                "verdict": verdict,
                "reasons": [],
                "lines": {item.preview.line: item.to_json() for item in result},
            }
        )
        return 0
    for element in result:
        say(*element.lines())
    return 0


if __name__ == "__main__":
    sys.exit(end(main))
