"""What the line contributes to evolake."""

from __future__ import annotations

from evolake.lines import LineSpec

LINE = LineSpec(
    "golomb", assets="golomb_assets", settings="golomb.settings:GolombSettings", profiles="golomb", commands={"golomb": "golomb.commands:golomb"},
    report="golomb.report:golomb_section", requirements="golomb.settings:requirements", tables="golomb.rulers:tables",
    bundle="golomb.bundle:BUNDLE",
)
