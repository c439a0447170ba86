"""What the line contributes to evolake."""

from __future__ import annotations

from evolake.lazy import Lazy
from evolake.lines import LineSpec

LINE = LineSpec(
    "golomb",
    assets="golomb_assets",
    profiles="golomb",
    settings=Lazy("golomb.settings:GolombSettings"),
    commands={"golomb": Lazy("golomb.commands:golomb")},
    report=Lazy("golomb.report:golomb_section"),
    requirements=Lazy("golomb.settings:requirements"),
    tables=Lazy("golomb.rulers:TABLES"),
    bundle=Lazy("golomb.bundle:BUNDLE"),
)
