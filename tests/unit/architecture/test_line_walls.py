"""A line imports no other line but those that its spec says it stands on, and of the rest what lies below the
lines; what lies below imports no line.

The contracts in pyproject.toml draw the rooms inside of each line. These walls between lines follow from what
is registered, so that a line brings its own.
"""

from collections.abc import Mapping
from graphlib import TopologicalSorter
from importlib import metadata

import grimp
import pytest

from evolake.lines import GROUP, LineSpec, lines

ABOVE = ("pipelines", "evolake.cli")
"""What stands above the lines."""


def packages() -> dict[str, tuple[str, str]]:
    """line -> its science and its assets, by what is registered."""
    science = {entry.name: entry.module.rpartition(".")[0] for entry in metadata.entry_points(group=GROUP)}
    return {name: (science[name], spec.assets) for name, spec in lines().items()}


@pytest.fixture(scope="module")
def imports() -> grimp.ImportGraph:
    roots = {
        "evolake",
        "assets",
        "resources",
        "pipelines",
        *(package.split(".")[0] for both in packages().values() for package in both),
    }
    return grimp.build_graph(*sorted(roots), cache_dir=None)


def within(module: str, package: str) -> bool:
    return module == package or module.startswith(f"{package}.")


def breaches(graph: grimp.ImportGraph, specs: Mapping[str, LineSpec]) -> list[str]:
    """Imports that cross a wall, as "importer -> imported"."""
    of = packages()

    def line_of(module: str) -> str | None:
        return next(
            (name for name, own in of.items() if any(within(module, package) for package in own)), None
        )

    result = []
    for importer in sorted(graph.modules):
        if any(within(importer, above) for above in ABOVE):
            continue
        line = line_of(importer)
        allowed = {line, *specs[line].stands_on} if line else set()
        for imported in sorted(graph.find_modules_directly_imported_by(importer)):
            other = line_of(imported)
            if (other and other not in allowed) or any(within(imported, above) for above in ABOVE):
                result.append(f"{importer} -> {imported}")
    return result


def test_a_line_imports_what_it_stands_on_and_no_other(imports):
    assert breaches(imports, lines()) == []


def test_no_line_stands_on_itself_by_way_of_others():
    order = list(TopologicalSorter({name: spec.stands_on for name, spec in lines().items()}).static_order())
    assert sorted(order) == sorted(lines())


@pytest.mark.parametrize(
    ("importer", "imported"),
    [
        ("evolake.families.model.contract", "evolake.utility.tables"),  # a circle: utility stands on families
        ("evolake.designs.genome.open_genetic", "evolake.solvers.tables"),  # another line
        ("assets.repair.findings", "assets.designs.line"),  # another line's assets
        ("evolake.lake.store", "evolake.designs.tables"),  # from below
        ("evolake.prompts.tables", "evolake.cli"),  # what stands above
    ],
)
def test_a_planted_import_across_a_wall_is_found(imports, importer, imported):
    imports.add_import(importer=importer, imported=imported)
    try:
        assert breaches(imports, lines()) == [f"{importer} -> {imported}"]
    finally:
        imports.remove_import(importer=importer, imported=imported)
