"""Each gate alone on stored evidence: verdict rows, the feedback built from them, and edits read as data."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from evolake.gates import load_rules
from evolake.lake.blobs import BlobStore
from evolake.solvers.gates.compliance import read_edits
from evolake.solvers.gates.evidence import load_evidence, runs_evidence, store_evidence
from evolake.solvers.gates.feedback import LONGEST_FEEDBACK, feedback_of
from evolake.solvers.gates.judging import gate_verdicts

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


def test_a_gate_alone_gives_a_verdict_a_rule_on_stored_rows(tmp_path: Path):
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
def test_a_broken_list_of_edits_is_evidence(tmp_path: Path, text: bytes, problem: str):
    (tmp_path / "edits.json").write_bytes(text)
    edits, problems = read_edits(tmp_path)
    assert edits == [] and problem in problems[0]
