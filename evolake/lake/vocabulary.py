"""What columns mean that occur in tables of several lines, each described once in `vocabulary.toml`. A schema
takes the description of a column from here if it does not describe it; words that only one line uses are in
`[terms]` of that line's `tables.toml`."""

from __future__ import annotations

import tomllib
from pathlib import Path

VOCABULARY: dict[str, str] = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
