"""Each gate alone on stored evidence: verdict rows, the feedback built from them, and edits read as data."""

import json
from pathlib import Path
from typing import Any

import pytest

from evolake.gates import Ruleset, load_rules
from evolake.lake.blobs import BlobStore
from evolake.solvers.gates.collecting import read_edits
from evolake.solvers.gates.evidence import load_evidence, runs_evidence, store_evidence
from evolake.solvers.gates.judging import LONGEST_FEEDBACK, feedback_of, gate_verdicts
from evolake.solvers.rules.learned import StoredVariant, active_rules, decide, rule_metrics, with_learned
from evolake.solvers.tables import RULE_PROPOSALS

RULES = load_rules(Path(__file__).parents[4] / "data_lake" / "seeds" / "rules", "solvers")


def row(instance: str, **values: Any) -> dict[str, Any]:
    good = {
        "instance": instance,
        "family": "f",
        "shuffle": 0,
        "repeat": 0,
        "timeout_s": 5.0,
        "cpu_s": 0.1,
        "expected": "UNSAT",
        "status": "unsat",
        "answer": "UNSAT",
        "certificate": "proof",
        "proof_status": "verified",
        "conflicts": 5,
        "decisions": 9,
        "propagations": 40,
        "peak_mb": 10.0,
        "memory_mb": 256,
        "problems": None,
    }
    return {**good, **values}


def sat(instance: str) -> dict[str, Any]:
    return row(instance, expected="SAT", status="sat", answer="SAT", certificate="model", proof_status=None)


GOOD = [sat("s"), row("u"), row("v")]


def verdicts(gate: str, evidence: dict[str, Any], sha: str | None = None):
    return gate_verdicts(gate, evidence, RULES, variant_id="v1", cycle="0003", run_id="r", evidence_sha=sha)


def test_a_gate_alone_gives_a_verdict_a_rule_on_stored_rows(tmp_path):
    blobs = BlobStore(tmp_path)
    sha = store_evidence(runs_evidence(GOOD), blobs)
    result = verdicts("correctness", load_evidence(sha, blobs), sha)
    assert [verdict.rule_id for verdict in result] == [rule.id for rule in RULES.of_gate("correctness")]
    assert {
        (verdict.outcome, verdict.gate_no, verdict.cycle, verdict.evidence_sha) for verdict in result
    } == {("pass", 3, "0003", sha)}
    assert sha == store_evidence(
        runs_evidence([{**item, "cpu_s": 0.2, "peak_mb": 11.0} for item in GOOD]), blobs
    )


def test_a_block_ends_the_gate_and_becomes_feedback_with_its_runs():
    bad = runs_evidence(
        [sat("s"), row("u", proof_status="refuted", problems="lemma 7 is no ``` consequence"), row("v")]
    )
    result = verdicts("correctness", bad)
    assert [(verdict.rule_id, verdict.outcome) for verdict in result][-1] == (
        "solvers-correctness-proofs",
        "block",
    )
    text = feedback_of(result, {"correctness": bad}, RULES)
    assert text.startswith(
        "Blocked at gate 3 (correctness) by the rule solvers-correctness-proofs: u: its proof is refuted"
    )
    assert "unverified is not verified" in text
    assert "instance=u  expected=UNSAT  status=unsat" in text and "instance=v" not in text
    assert len(text) <= LONGEST_FEEDBACK


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        (b"[", "cannot be read"),
        (b"{}", "is no list of edits"),
        (b'[{"kind": "tunable"}]', "is no list of edits"),
        (b"\xff", "cannot be read"),
    ],
)
def test_a_broken_list_of_edits_is_evidence(tmp_path, text, problem):
    (tmp_path / "edits.json").write_bytes(text)
    edits, problems = read_edits(tmp_path)
    assert edits == [] and problem in problems[0]


# Learned rules earn their place by replay, are kept as rows either way, and join the ruleset of later
# cycles.


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
GOOD_VARIANT = StoredVariant("good", "0001", "accepted", evidence=evidence("0.85"))
SEED = StoredVariant("seed", "0001", "accepted", evidence=evidence("0.95"))
BROKEN = StoredVariant("broken", "0001", "blocked", "build", "solvers-build", evidence("0.95"))
UNREAD = StoredVariant("unread", "0001", "blocked", "compliance", "solvers-repository-structure", None)
HISTORY = (SLOW, GOOD_VARIANT, SEED, BROKEN, UNREAD)


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
