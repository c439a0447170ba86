"""Gates one at a time, as the assets ask for them: evidence that is stored is judged as it is, what is
missing is collected now.

A rule that has changed is thus judged again on all old cycles without a build or a run, and only what gets
further than before costs anything.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evolake import gates
from evolake.gate_spec import GateSpec
from evolake.gates import GateResult, Ruleset, collected
from evolake.gates.boundary import raised_in
from evolake.solvers.evolution.workspace import Workspace, evidence_of
from evolake.solvers.gates.collecting import Subject
from evolake.solvers.gates.evidence import load_evidence, store_evidence
from evolake.solvers.gates.judging import VariantResults, judge_variant
from evolake.solvers.repository.variant import read_card

Edits = Sequence[Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class VariantGateResult(GateResult):
    """One gate on one row of VARIANTS. runs: rows of RUNS that were made for it just now; None where the
    evidence is that of an earlier judgement."""

    row: Mapping[str, Any] = field(default_factory=dict)
    runs: Sequence[Mapping[str, Any]] | None = None

    def gated(self) -> dict[str, Any]:
        """Return a row of GATED."""
        last = self.verdicts[-1]
        return {
            "variant_id": self.row["variant_id"],
            "cycle": last.cycle,
            "gate": self.gate,
            "passed": self.passed,
            "rule_id": None if self.passed else last.rule_id,
            "reason": last.reason or None,
            "evidence_sha": last.evidence_sha,
        }


def judge_folder(
    workspace: Workspace, ruleset: Ruleset, *, cycle: str, run_id: str
) -> Callable[[Path], VariantResults]:
    """Return all gates on a folder, for a coder that is to be shown what objects. Safe under threads."""
    laying_out = threading.Lock()

    def judge(folder: Path) -> VariantResults:
        base = workspace.base(read_card(folder)["base"])
        with laying_out:
            context = workspace.context(base.name, cycle)
        return judge_variant(
            folder,
            adapter=base.adapter,
            base=base.folder,
            ruleset=ruleset,
            context=context,
            cycle=cycle,
            run_id=run_id,
        )

    return judge


def replay_gate(
    workspace: Workspace,
    gate: GateSpec,
    row: Mapping[str, Any],
    ruleset: Ruleset,
    *,
    cycle: str,
    run_id: str,
    parent_edits: Edits = (),
) -> VariantGateResult:
    """Return verdicts of one gate on one row of VARIANTS, and the evidence that they rest on. Evidence that
    is not there, or of a version that looked at less, is made; that of the gate `compliance` always, for it
    is cheap, and the parents' edits are known only here.

    Raises:
        MachineryError: evidence had to be collected and the jail, a checker or the compiler failed.
    """
    sha = evidence_of(row).get(gate.name)
    evidence = load_evidence(sha, workspace.blobs) if sha is not None and gate.name != "compliance" else {}
    runs: list[dict[str, Any]] | None = None
    reused = bool(evidence) and gates.is_usable(gate, evidence)
    if not reused:
        base = workspace.base(row["base"])
        subject = Subject(
            row["variant_id"],
            cycle,
            lambda: workspace.folder(row["archive_sha"]),
            base.folder,
            base.name,
            base.adapter,
            parent_edits,
            lambda: workspace.context(base.name, cycle),
            lambda: workspace.program(row),
        )
        evidence = collected(gate.collector(), subject)
        sha, runs = (
            store_evidence(evidence, workspace.blobs),
            [] if raised_in(evidence) else subject.runs.get(gate.name, []),
        )
    said = gates.replay_gate(
        gate, evidence, ruleset, artifact_id=row["variant_id"], cycle=cycle, run_id=run_id, evidence_sha=sha
    )
    return VariantGateResult(gate.name, said.verdicts, evidence, sha, reused, row, runs)


def parents_edits(
    row: Mapping[str, Any], rows: Mapping[str, Mapping[str, Any]]
) -> list[list[dict[str, Any]]]:
    """Return the edits of each parent of `row`; none for a parent that was written as a diff. rows: id -> row
    of VARIANTS."""
    texts = [rows[parent]["edits"] for parent in row["parents"] or () if parent in rows]
    return [json.loads(text) for text in texts if text]
