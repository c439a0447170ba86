"""Gates one at a time, as the assets ask for them: evidence that is stored is judged as it is, what is missing is collected now.

A rule that has changed is thus judged anew on all old cycles without a build or a run, and only what gets further than before costs anything.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.gates import Ruleset, Verdict
from evolake.gates.boundary import Raised, contained
from evolake.solvers.evolution.workspace import Workspace, evidence_of
from evolake.solvers.gates.build import BASE_FLAGS, program_evidence
from evolake.solvers.gates.compliance import compliance_evidence
from evolake.solvers.gates.judging import Judged, build_evidence, gate_evidence, gate_verdicts, judge_variant, load_evidence, runs_of, store_evidence
from evolake.solvers.repository.build import build_variant
from evolake.solvers.repository.variant import read_card

NEWER = {"build": BASE_FLAGS, "stability": "carried"}
"""Gate -> what its evidence has held since a later version: evidence without it is collected again."""
Edits = Sequence[Sequence[Mapping[str, Any]]]


@dataclass(frozen=True)
class Staged:
    """One gate on one variant. runs: rows of RUNS that were made for it just now; None where the evidence is that of an earlier judgement."""

    row: Mapping[str, Any]
    verdicts: list[Verdict]
    evidence: Mapping[str, Any]
    runs: list[dict[str, Any]] | None

    @property
    def passed(self) -> bool:
        return all(verdict.outcome == "pass" for verdict in self.verdicts)


def judge_folder(workspace: Workspace, ruleset: Ruleset, *, cycle: str, run_id: str) -> Callable[[Path], Judged]:
    """All gates on a folder, for a coder that is to be told what objects."""

    def judge(folder: Path) -> Judged:
        base = workspace.base(read_card(folder)["base"])
        return judge_variant(
            folder, adapter=base.adapter, base=base.folder, ruleset=ruleset, bench=workspace.bench(base.name, cycle), cycle=cycle, run_id=run_id,
        )

    return judge


def judge_stage(
    workspace: Workspace, gate: str, row: Mapping[str, Any], ruleset: Ruleset, *, cycle: str, run_id: str, parent_edits: Edits = (),
) -> Staged:
    """Verdicts of one gate on one row of VARIANTS, and the evidence that they rest on.

    Raises:
        MachineryError: evidence had to be collected and the jail, a checker or the compiler failed.
    """
    stored, runs = evidence_of(row).get(gate), None
    if stored is not None and gate in NEWER and NEWER[gate] not in load_evidence(stored, workspace.blobs):
        stored = None  # of an earlier version, which did not look at this
    if stored is None or gate == "compliance":  # cheap, and the parents' edits are known only here
        found = contained(_collected, workspace, gate, row, parent_edits, cycle)
        evidence, runs = (found.evidence(), []) if isinstance(found, Raised) else found
        stored = store_evidence(evidence, workspace.blobs)
    else:
        evidence = load_evidence(stored, workspace.blobs)
    said = gate_verdicts(gate, evidence, ruleset, variant_id=row["variant_id"], cycle=cycle, run_id=run_id, evidence_sha=stored)
    return Staged(row, said, evidence, runs)


def _collected(
    workspace: Workspace, gate: str, row: Mapping[str, Any], parent_edits: Edits, cycle: str
) -> tuple[dict[str, Any], list[dict[str, Any]] | None]:
    base, bench, variant_id = workspace.base(row["base"]), workspace.bench(row["base"], cycle), row["variant_id"]
    if gate == "compliance":
        return compliance_evidence(
            workspace.folder(row["archive_sha"]), base.folder, base.name, parent_edits=parent_edits, adapter=base.adapter,
        ), None
    if gate == "build":
        built = build_variant(workspace.folder(row["archive_sha"]), base.adapter, workspace.blobs)
        return build_evidence(built) | program_evidence(built, base.folder, base.adapter, workspace.blobs), None
    of = {"variant_id": variant_id, "cycle": cycle, "executor": workspace.executor}
    runs = runs_of(gate, workspace.program(row), bench, **of)
    return gate_evidence(gate, runs, bench), runs


def parents_edits(row: Mapping[str, Any], rows: Mapping[str, Mapping[str, Any]]) -> list[list[dict[str, Any]]]:
    """The edits of each parent of `row`; none for a parent that was written as a diff. rows: id -> row of VARIANTS."""
    texts = [rows[parent]["edits"] for parent in row["parents"] or () if parent in rows]
    return [json.loads(text) for text in texts if text]
