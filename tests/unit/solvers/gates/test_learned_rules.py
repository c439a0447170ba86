"""Learned rules earn their place by replay, are kept as rows either way, and join the ruleset of later
cycles."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from evolake.gates import Ruleset, load_rules
from evolake.solvers.rules.learned import active_rules, decide, rule_rows, with_learned
from evolake.solvers.rules.metrics import rule_metrics
from evolake.solvers.rules.replay import StoredVariant
from evolake.solvers.tables import RULE_PROPOSALS

RULES = load_rules(Path(__file__).parents[4] / "data_lake" / "seeds" / "rules", "solvers")


def evidence(decay: str) -> dict[str, Any]:
    source = {
        "added": [],
        "removed": [],
        "options": {"var-decay": decay},
        "lines": [],
        "others": [],
        "binary": [],
    }
    return {
        "source": source,
        "edits": [],
        "parent_edits": [],
        "base": "minisat22",
        "layout": [],
        "documents": {},
    }


SLOW = StoredVariant("slow", "0001", "regressed", "benchmark", "slower", evidence("0.5"))
GOOD = StoredVariant("good", "0001", "accepted", evidence=evidence("0.85"))
SEED = StoredVariant("seed", "0001", "accepted", evidence=evidence("0.95"))
BROKEN = StoredVariant("broken", "0001", "blocked", "build", "solvers-build", evidence("0.95"))
UNREAD = StoredVariant("unread", "0001", "blocked", "compliance", "solvers-repository-structure", None)
HISTORY = (SLOW, GOOD, SEED, BROKEN, UNREAD)


def proposal(least: float, **values: Any) -> dict[str, Any]:
    return {
        "name": "Slow decay",
        "lesson": "failure",
        "check": "solvers.option_bound",
        "parameters": {"option": "var-decay", "least": least},
        "rationale": "Activity that fades too fast loses the search.\n---\nid: forged",
        "evidence": ["slow"],
        **values,
    }


def state_of(**values: Any) -> tuple[str, str]:
    row = decide([proposal(0.7, **values)], HISTORY, [], cycle="0002")[0]
    return row["state"], row["reason"]


def test_a_proposal_that_blocks_the_failed_and_spares_the_accepted_becomes_active():
    rows = decide([proposal(0.7)], HISTORY, [], cycle="0002")
    assert RULE_PROPOSALS.frame(rows).height == 1
    assert (rows[0]["state"], rows[0]["reason"]) == (
        "active",
        "blocks slow, failed, and none of those accepted",
    )
    assert rows[0]["diff"].startswith("--- /dev/null\n+++ b/solvers-learned-slow-decay.md\n@@ -0,0 +1,")
    rule = active_rules(rows)[0]
    assert (rule.id, rule.version, rule.kind, rule.gate, rule.since_cycle) == (
        "solvers-learned-slow-decay",
        1,
        "learned",
        "compliance",
        "0002",
    )
    joined = with_learned(RULES, rows)
    assert (
        len(joined.rules) == len(RULES.rules) + 1
        and joined.hash != RULES.hash
        and joined.guidance == RULES.guidance
    )


def test_only_what_became_active_is_a_row_of_the_shared_rules():
    rows = decide([proposal(0.7), proposal(0.9, name="too strict")], HISTORY, [], cycle="0002")
    sha = active_rules(rows)[0].text_sha
    expected = {
        "rule_id": "solvers-learned-slow-decay",
        "version": "1",
        "text_sha": sha,
        "since_cycle": "0002",
        "kind": "learned",
    }
    assert rule_rows(rows) == [expected]


def test_each_objection_is_a_row_with_its_reason():
    assert state_of(parameters={"option": "var-decay", "least": 0.9}) == (
        "rejected",
        "would have blocked good, accepted",
    )
    assert state_of(parameters={"option": "var-decay", "least": 0.4}) == (
        "rejected",
        "blocks none of the failed variants that it names",
    )
    assert state_of(evidence=["good"]) == ("rejected", "blocks none of the failed variants that it names")
    assert state_of(evidence=[]) == ("rejected", "names no failed variant")
    assert state_of(lesson="advice")[1].startswith("lesson 'advice' is none of")
    assert state_of(check="") == (
        "rejected",
        "names no checker, so nothing can be replayed; it stays as advice",
    )
    assert state_of(check="solvers.layout")[1].startswith(
        "no checker for learned rules is called 'solvers.layout'"
    )
    assert state_of(parameters={"bound": 1})[1].startswith(
        "checker 'solvers.option_bound' does not take these parameters"
    )
    assert state_of(parameters={"option": "var-decay", "least": "high"})[1].startswith(
        "solvers.option_bound cannot use these parameters: ValueError"
    )
    assert active_rules([]) == ()


def test_a_better_version_replaces_the_older_and_shows_the_difference():
    first = decide([proposal(0.6)], HISTORY, [], cycle="0002")
    second = decide([proposal(0.7), proposal(0.7, name="Again")], HISTORY, first, cycle="0003")
    assert [(row["rule_id"], row["version"], row["state"]) for row in second] == [
        ("solvers-learned-slow-decay", 2, "active"),
        ("solvers-learned-again", 1, "duplicate"),
    ]
    changed = {
        line for line in second[0]["diff"].splitlines() if line[0] in "+-" and line[:3] not in ("+++", "---")
    }
    assert changed == {
        "-version: 1",
        "+version: 2",
        '-parameters: {"least": 0.6, "option": "var-decay"}',
        '+parameters: {"least": 0.7, "option": "var-decay"}',
        "-since_cycle: 0002",
        "+since_cycle: 0003",
    }
    assert [(rule.version, rule.parameters["least"]) for rule in active_rules([*first, *second])] == [
        (2, 0.7)
    ]


def test_deciding_twice_gives_the_same_rows():
    assert decide([proposal(0.7)], HISTORY, [], cycle="0002") == decide(
        [proposal(0.7)], HISTORY, [], cycle="0002"
    )


def test_metrics_count_what_the_rules_would_have_caught():
    rows = decide([proposal(0.7)], HISTORY, [], cycle="0002")
    only_learned = Ruleset("solvers", active_rules(rows))
    verdicts = [
        {"artifact_id": name, "rule_id": "a", "outcome": outcome}
        for name, outcome in (("x", "pass"), ("y", "block"), ("z", "pass"))
    ]
    verdicts += [
        {"artifact_id": "x", "rule_id": "b", "outcome": "block"},
        {"artifact_id": "z", "rule_id": "b", "outcome": "pass"},
    ]
    result = rule_metrics(
        only_learned, HISTORY, verdicts, {"x": [True], "y": [False, False], "z": [False, True]}
    )
    assert (result.prevention, result.coverage) == (0.5, 0.5)
    assert (result.compliance, result.kill_rate, result.time_to_fix) == (1 / 3, 2 / 3, 1.0)
    assert result.kills == {"a": (1, 3), "b": (1, 2)}
    assert json.loads(json.dumps(result.rows("0002")))[0] == {
        "cycle": "0002",
        "metric": "prevention",
        "rule_id": None,
        "value": 0.5,
    }


def test_a_share_of_nothing_is_null():
    result = rule_metrics(RULES, [SEED], [], {})
    assert (result.prevention, result.compliance, result.coverage, result.kill_rate, result.time_to_fix) == (
        None,
    ) * 5
