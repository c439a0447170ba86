"""What edited rules would change, before anything is made again: what `evolake rules preview` and the job `preview_rules` print.

The lake is asked by `evolake.report.rules_preview`; here that is joined with the graph of assets, which says what stands on a rule.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from shlex import quote

import click
import dagster as dg

from assets.line import Line
from evolake import project
from evolake import settings as settings_module
from evolake.cli.ending import end
from evolake.cli.known_tables import all_tables
from evolake.gates import load_rules
from evolake.lake import Catalogue, Lake
from evolake.report.rules_preview import preview_rules
from evolake.report.rules_text import PreviewText
from evolake.report.rules_work import CycleWork, Graph, Work, work_of
from evolake.report.status import sealed_cycles
from evolake.terminal import say, say_json
from pipelines.lines import built_lines
from resources.by_name import resources_by_name
from resources.reads import readers

UNCHANGED, CHANGES = "unchanged", "changes"


def previews(lake: Lake, rules: Path, names: Sequence[str]) -> list[PreviewText]:
    """The preview of each line. rules: the folder that holds a folder of rule files for each of `names`.

    Raises:
        InputError: a rule that cannot be used. LakeError: what is stored is damaged.
    """
    built = built_lines()
    assets = [asset for line in built for asset in (line.line.incoming, *line.assets)]
    definitions, by_name = dg.Definitions(assets=assets, resources=resources_by_name()), {line.line.name: line.line for line in built}
    with Catalogue(lake, all_tables()) as catalogue:
        return [_preview_text(lake, catalogue, rules, by_name[name], graph_of(definitions, by_name[name])) for name in names]


def graph_of(definitions: dg.Definitions, line: Line) -> Graph:
    """What a cycle of a line consists of, and what of it stands on the rules."""
    graph, rules = definitions.resolve_asset_graph(), line.key("rules")
    cycle = [key for key in graph.toposorted_asset_keys if graph.get(key).group_name == line.name and graph.get(key).is_materializable]
    below = dg.AssetSelection.assets(rules).downstream().resolve(graph) if graph.has(rules) else set[dg.AssetKey]()
    reading = readers(tuple(rules.path))
    return Graph(
        tuple(key.path[-1] for key in cycle), tuple(key.path[-1] for key in cycle if tuple(key.path) in reading),
        tuple(key.path[-1] for key in cycle if key in below),
    )


def selection(line: str, work: CycleWork) -> str:
    """What Dagster's UI and commands take for the assets that have to be made again of one cycle."""
    return f'group:"{line}"' if work.whole else " or ".join(f'key:"{line}/{asset}"' for asset in work.assets)


def commands(line: str, work: Work) -> Iterator[str]:
    """What makes it all again, in order: each cycle up to the first that changes by a selection, those after it whole."""
    home, where = quote(str(project.home())), "-f definitions.py" if project.INSTALLED else "-m pipelines.definitions"
    for cycle in work.cycles:
        if not cycle.whole:
            chosen = quote(selection(line, cycle))
            yield f"DAGSTER_HOME={home} dagster asset materialize {where} --partition {cycle.cycle} --select {chosen}"
    if whole := sum(item.whole for item in work.cycles):
        yield f"evolake run --lines {line} --cycles {whole}"


def _preview_text(lake: Lake, catalogue: Catalogue, rules: Path, line: Line, graph: Graph) -> PreviewText:
    preview = preview_rules(lake, catalogue, load_rules(rules, line.name))
    work = work_of(preview, graph, catalogue, sealed_cycles(lake, line.name))
    return PreviewText(preview, work, {cycle.cycle: selection(line.name, cycle) for cycle in work.cycles}, tuple(commands(line.name, work)))


@click.command()
@click.option("--rules", type=click.Path(path_type=Path), required=True)
@click.option("--json", "as_json", is_flag=True)
@click.argument("names", nargs=-1)
def main(rules: Path, as_json: bool, names: tuple[str, ...]) -> int:
    """Print the preview of lines."""
    result = previews(Lake(settings_module.load().require_lake()), rules, names)
    if as_json:
        verdict = CHANGES if any(item.preview.flips or item.work.cycles for item in result) else UNCHANGED
        say_json({"verdict": verdict, "reasons": [], "lines": {item.preview.line: item.to_json() for item in result}})
        return 0
    for element in result:
        say(*element.lines())
    return 0


if __name__ == "__main__":
    sys.exit(end(main))
