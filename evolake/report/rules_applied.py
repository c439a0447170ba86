"""Say by which rules the cycles of a line were judged: by the files as they are now, by others, or the first
ones by these and the rest by others, as when `evolake rules apply` was stopped.

The lake alone is asked: each verdict of record names the hash of the rules of its gate. Cycles whose verdicts
name the same hashes are looked at by their first and last one.
"""

from __future__ import annotations

from itertools import groupby
from pathlib import Path
from typing import Any

from evolake.errors import InputError
from evolake.gates.rules import load_rules
from evolake.lake import Catalogue, Lake
from evolake.lines import lines
from evolake.report.rules_preview import evidence_of_line

JUDGED = """
SELECT DISTINCT origin_cycle AS cycle, gate, ruleset_hash, rule_id, rule_version FROM verdicts_all
WHERE origin_line = $line AND superseded = false AND origin_cycle IS NOT NULL AND rule_id <> ''
ORDER BY cycle"""


def half_applied(lake: Lake, catalogue: Catalogue, line: str, rules: Path) -> str:
    """Return the sentence on a line of whose cycles only some were judged by the rule files as they are; ""
    where all were, or none. Where a rule file cannot be used, the sentence is on that. rules: the folder that
    holds a folder of rule files for each line.

    Raises:
        LakeError: a table that it needs is damaged.
    """
    spec = lines().get(line)
    if spec is None or not spec.gates or not (rules / line).is_dir():
        return ""
    try:
        ruleset = load_rules(rules, line)
    except InputError as error:
        return f"its rules cannot be used: {error}"
    stored = evidence_of_line(line)
    rows = catalogue.frame(JUDGED, {"line": line}).to_dicts()
    judged = {cycle: list(verdicts) for cycle, verdicts in groupby(rows, key=lambda row: row["cycle"])}

    def different(cycle: str) -> list[dict[str, Any]]:
        in_force = stored.rules(lake, cycle, ruleset)
        return [row for row in judged[cycle] if not in_force.judged(row["gate"], row["ruleset_hash"])]

    alike = dict[frozenset[tuple[str, str]], list[str]]()
    for cycle, verdicts in judged.items():
        alike.setdefault(frozenset((row["gate"], row["ruleset_hash"]) for row in verdicts), []).append(cycle)
    by_these: dict[str, bool] = {}
    others: set[tuple[str, str]] = set()
    for cycles in alike.values():
        ends = [different(cycle) for cycle in {cycles[0], cycles[-1]}]
        if len({bool(found) for found in ends}) > 1:  # rules that a line learned came in between
            ends = [different(cycle) for cycle in cycles]
            by_these |= {cycle: not found for cycle, found in zip(cycles, ends, strict=True)}
        else:
            by_these |= dict.fromkeys(cycles, not ends[0])
        others |= {(row["rule_id"], row["rule_version"]) for found in ends for row in found}
    by_these = {cycle: by_these[cycle] for cycle in judged}
    now = [cycle for cycle, these in by_these.items() if these]
    if len(now) in (0, len(by_these)):
        return ""
    which = f"cycle {now[0]}" if len(now) == 1 else f"{len(now)} cycles from {now[0]} to {now[-1]}"
    before = dict(sorted(others))
    editions = ", ".join(
        f"version {rule.version} of {rule.id}"
        for rule in ruleset.rules
        if before.get(rule.id, str(rule.version)) != str(rule.version)
    )
    return (
        f"the rules are half applied: {which} of {len(by_these)} judged by the files as they are"
        f"{f' ({editions})' if editions else ''}; for the others: evolake rules apply --line {line}"
    )
