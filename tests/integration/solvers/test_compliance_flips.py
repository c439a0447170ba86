"""A compliance rule changes: real sources judged anew by the new version, published over the old verdicts,
and the cookbook names who flipped."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from solver_fixtures import toy_adapter, toy_tree

from evolake.gates import load_rules
from evolake.lake import VERDICTS, Catalogue, Lake, side_table
from evolake.lake.catalogue import SQL_ROOT
from evolake.solvers.gates.collecting import compliance_evidence
from evolake.solvers.gates.evidence import load_evidence, store_evidence
from evolake.solvers.gates.judging import gate_verdicts
from evolake.solvers.repository.variant import create_variant

RULE = """---
id: solvers-no-calls
version: {version}
kind: static
gate: compliance
check: solvers.forbidden_code
parameters: {parameters}
---
A variant calls nothing of these.
"""


ADDED = {
    "reads-a-clock": "int when() { return clock(); }\n",
    "asks-a-name": "int who() { return getuid(); }\n",
    "plain": "int two() { return 2; }\n",
}


def verdicts(lake: Lake, rules: Path, version: int, calls: list[str], evidence: dict[str, str]) -> list[dict]:
    """Every variant judged by the rule in `version`, from evidence that lies in the lake."""
    (rules / "solvers").mkdir(parents=True, exist_ok=True)
    parameters = json.dumps({"what": "calls what it must not", "calls": calls})
    (rules / "solvers" / "no-calls.md").write_text(RULE.format(version=version, parameters=parameters))
    ruleset = load_rules(rules, "solvers")
    return [
        verdict.row()
        for name, sha in sorted(evidence.items())
        for verdict in gate_verdicts(
            "compliance",
            load_evidence(sha, lake.blobs),
            ruleset,
            variant_id=name,
            cycle="0001",
            run_id=f"v{version}",
            evidence_sha=sha,
        )
    ]


@pytest.fixture
def lake(tmp_path) -> Iterator[Lake]:
    """Three variants of the toy, judged under version 1 and then under version 2 of one rule."""
    lake = Lake(tmp_path / "lake")
    adapter, upstream, base = toy_adapter(), toy_tree(tmp_path / "upstream"), tmp_path / "base"
    create_variant(upstream, adapter, base, base="toy")
    evidence = {}
    for name, added in ADDED.items():
        folder = tmp_path / name
        create_variant(upstream, adapter, folder, base="toy")
        source = folder / "src" / "main.cc"
        source.write_text(source.read_text() + added)
        evidence[name] = store_evidence(compliance_evidence(folder, base, "toy", adapter=adapter), lake.blobs)
    for version, calls in ((1, ["clock"]), (2, ["getuid"])):
        rows = verdicts(lake, tmp_path / "rules", version, calls, evidence)
        table = side_table("compliance", VERDICTS)
        lake.publish(
            "solvers", table, VERDICTS.frame(rows), cycle="0001", run_id=f"v{version}", schema=VERDICTS
        )
    yield lake


def test_the_cookbook_names_every_variant_whose_verdict_flipped(lake):
    with Catalogue(lake) as catalogue:
        statement = (SQL_ROOT / "cookbook" / "verdict_flips.sql").read_text()
        flips = catalogue.query(statement, {"rule_id": "solvers-no-calls", "before": "1", "after": "2"}).rows
        assert [row[:3] for row in flips] == [
            ("reads-a-clock", "block", "pass"),
            ("asks-a-name", "pass", "block"),
        ]
        assert flips[0][3] == ""
        assert "getuid" in flips[1][3]
        assert (
            catalogue.query(statement, {"rule_id": "solvers-no-calls", "before": "2", "after": "2"}).rows
            == []
        )
        now = catalogue.query(
            "SELECT artifact_id, outcome, rule_version FROM verdicts ORDER BY artifact_id"
        ).rows
        assert now == [("asks-a-name", "block", "2"), ("plain", "pass", "2"), ("reads-a-clock", "pass", "2")]
