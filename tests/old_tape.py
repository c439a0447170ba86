"""A tape as evolake 0.1.0 left it: no entry names its endpoint, neither in its key nor in its words."""

from __future__ import annotations

import json
from pathlib import Path

from evolake.canonical_json import canonical_json, text_sha

SINCE = ("endpoint", "answered", "odd_usage")
"""Fields that entries have had since."""


def as_of_0_1_0(lake: Path) -> None:
    """Writes every entry of a lake's tape, and the accounts, as 0.1.0 would have."""
    for path in sorted((lake / "tape").glob("??/*.json")):
        entry = json.loads(path.read_text())["entry"]
        old = {name: value for name, value in entry.items() if name not in SINCE} | {"key": entry["key"][:64]}
        path.unlink()
        body = {"format": 1, "sha": text_sha(canonical_json(old)), "entry": old}
        path.with_name(f"{old['key'][2:]}.json").write_text(json.dumps(body, ensure_ascii=False, indent=1))
    for path in (lake / "tape" / "accounts").glob("*.jsonl"):
        spent = [json.loads(line) for line in path.read_text().splitlines() if line]
        path.write_text("".join(f"\n{json.dumps(item | {'key': _old(item['key'])})}\n" for item in spent))


def _old(key: str) -> str:
    asked, lost, rest = key.partition("/")
    return asked[:64] + lost + rest
