"""Which lines there are. A package under `assets` that has a `line` (an `assets.cycle.Line`) is one; its modules' assets and checks belong to it."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Sequence
from dataclasses import dataclass
from types import ModuleType

import dagster as dg

import assets
from assets.line import Line


@dataclass(frozen=True)
class BuiltLine:
    """A line with everything defined for it."""

    line: Line
    assets: Sequence[dg.AssetsDefinition | dg.SourceAsset | dg.AssetSpec]
    checks: Sequence[dg.AssetChecksDefinition]


def built_lines(package: ModuleType = assets) -> list[BuiltLine]:
    """The lines under `package`, by name."""
    found = []
    for module_info in pkgutil.iter_modules(package.__path__, f"{package.__name__}."):
        if module_info.ispkg:
            module = importlib.import_module(module_info.name)
            line = getattr(module, "line", None)
            if isinstance(line, Line):
                found.append(BuiltLine(line, _assets_of(module), list(dg.load_asset_checks_from_package_module(module))))
    return sorted(found, key=lambda built: built.line.name)


def _assets_of(module: ModuleType) -> list[dg.AssetsDefinition | dg.SourceAsset | dg.AssetSpec]:
    return [one for one in dg.load_assets_from_package_module(module) if isinstance(one, dg.AssetsDefinition | dg.SourceAsset | dg.AssetSpec)]
