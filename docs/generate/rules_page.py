"""Reference of rules: the seed rules of each line, what they block and by which checker."""

from __future__ import annotations

import json
from pathlib import Path

from cells import code, table

from evolake.gates.rules import load_rules

SEEDS = Path(__file__).resolve().parent.parent.parent / "data_lake" / "seeds" / "rules"
HEAD = """# Rules

A rule is one file in `data_lake/seeds/rules/<line>/`. Edit it, reload the definitions, and materialize what is stale: the same evidence is judged
again. These are the rules that evolution starts from; the solvers line learns further ones.
"""  # noqa: E501


def rules_page() -> str:
    """Return the page, one section a line."""
    return HEAD + "".join(
        f"\n## {folder.name}\n\n{of_line(folder.name)}"
        for folder in sorted(SEEDS.iterdir())
        if folder.is_dir()
    )


def of_line(line: str) -> str:
    """Return the rules of a line in the order of their ids."""
    rules = load_rules(SEEDS, line).rules
    return table(["rule", "gate", "checker", "parameters", "meaning"], (
        [code(rule.id), rule.gate, code(rule.check), code(json.dumps(rule.parameters)) if rule.parameters else "", rule.text] for rule in rules  # noqa: E501
    ))  # fmt: skip
