"""The assets of the lines and studies that are installed (`evolake.lines`): each spec names a package that
has a `line` (assets.line.Line) or a `study` (assets.study.Study), and its modules' assets and checks belong
to it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from types import ModuleType
from typing import TypeVar

import dagster as dg

from assets.line import Line
from assets.study import Study
from evolake.errors import InputError
from evolake.lines import lines

T = TypeVar("T")
Asset = dg.AssetsDefinition | dg.SourceAsset | dg.AssetSpec


@dataclass(frozen=True)
class BuiltLine:
    """A line with everything defined for it."""

    line: Line
    assets: Sequence[Asset]
    checks: Sequence[dg.AssetChecksDefinition]


@dataclass(frozen=True)
class BuiltStudy:
    """A study with everything defined for it."""

    study: Study
    assets: Sequence[Asset]
    checks: Sequence[dg.AssetChecksDefinition]


def built_lines(names: Collection[str] | None = None) -> list[BuiltLine]:
    """Return the installed lines, by name. names: only these."""
    return [
        BuiltLine(module.line, *_parts_of(module))
        for module in _packages(names)
        if isinstance(getattr(module, "line", None), Line)
    ]


def built_studies(names: Collection[str] | None = None) -> list[BuiltStudy]:
    """Return the installed studies, by name. names: only these."""
    return [
        BuiltStudy(module.study, *_parts_of(module))
        for module in _packages(names)
        if isinstance(getattr(module, "study", None), Study)
    ]


def _packages(names: Collection[str] | None) -> list[ModuleType]:
    chosen = {name: spec.assets for name, spec in lines().items() if names is None or name in names}
    return [_package(name, importlib.import_module(assets)) for name, assets in chosen.items()]


def _package(name: str, package: ModuleType) -> ModuleType:
    """Return a line's package of assets. Raises InputError where it cannot be one."""
    if not hasattr(package, "__path__"):
        raise InputError(
            f"the assets of the line {name!r} are a single module",
            wanted="a package: a folder with an __init__.py",
            got=str(package.__file__),
            do=f"move it to {package.__name__.replace('.', '/')}/__init__.py",
        )
    if not isinstance(getattr(package, "line", None), Line) and not isinstance(
        getattr(package, "study", None), Study
    ):
        raise InputError(
            f"the package of the assets of the line {name!r} says of no line what it is",
            wanted="a variable `line` (assets.line.Line) or `study` (assets.study.Study)",
            got=f"neither in {package.__name__}",
            do=f"write line = Line({name!r}, ...) into it, or import it there",
        )
    return package


def _parts_of(package: ModuleType) -> tuple[list[Asset], list[dg.AssetChecksDefinition]]:
    """Return what the package's modules define. Not by Dagster's own loaders: those make every definition
    again, twice."""
    modules = [
        importlib.import_module(info.name)
        for info in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")
    ]
    assets: list[Asset] = []
    checks: list[dg.AssetChecksDefinition] = []
    for held in (item for module in (package, *modules) for item in vars(module).values()):
        for item in _each(held):
            if isinstance(item, dg.AssetChecksDefinition):
                _add_once(checks, item)
            elif isinstance(item, Asset):
                _add_once(assets, item)
    return assets, checks


def _add_once(known: list[T], item: T) -> None:
    """Append `item`, which several modules may name."""
    if not any(item is other for other in known):
        known.append(item)


def _each(held: object) -> Iterable[object]:
    """Yield what a module's variable holds: itself, or the members of a collection."""
    if isinstance(held, Asset):  # a spec is a tuple, too
        return (held,)
    if isinstance(held, dict):
        return held.values()
    if isinstance(held, list | tuple):
        return held
    return (held,)
