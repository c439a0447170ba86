"""Which lines and studies there are. A package under `assets` that has a `line` (assets.line.Line) or a `study` (assets.study.Study) is one;
its modules' assets and checks belong to it.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import dagster as dg

import assets
from assets.line import Line
from assets.study import Study

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


def built_lines(package: ModuleType = assets) -> list[BuiltLine]:
    """The lines under `package`, by name."""
    found = [BuiltLine(line, *_parts_of(module)) for module in _packages(package) if isinstance(line := getattr(module, "line", None), Line)]
    return sorted(found, key=lambda built: built.line.name)


def built_studies(package: ModuleType = assets) -> list[BuiltStudy]:
    """The studies under `package`, by name."""
    found = [BuiltStudy(study, *_parts_of(module)) for module in _packages(package) if isinstance(study := getattr(module, "study", None), Study)]
    return sorted(found, key=lambda built: built.study.name)


def _packages(package: ModuleType) -> list[ModuleType]:
    return [importlib.import_module(info.name) for info in pkgutil.iter_modules(package.__path__, f"{package.__name__}.") if info.ispkg]


def _parts_of(module: ModuleType) -> tuple[list[Asset], list[dg.AssetChecksDefinition]]:
    loaded = [one for one in dg.load_assets_from_package_module(module) if isinstance(one, Asset)]
    return loaded, list(dg.load_asset_checks_from_package_module(module))
