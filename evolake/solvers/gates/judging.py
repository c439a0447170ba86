"""The gates of a variant, in order: compliance, build, smoke, correctness, stability. Evidence is collected here, rules that are files judge it.

    0 compliance   layout and documents; code that the variant adds to its base
    1 build        a clean build in the jail
    2 smoke        small files with known answers, and copies of them
    3 correctness  every model evaluated, every proof verified by an external checker
    4 stability    two runs count alike; memory over a growing formula

Each gate may be asked alone, on stored evidence (`gate_verdicts`), so that a changed rule is judged anew without building or running; `judge_variant`
takes a repository through all of them and stops at the first block. A dead jail or checker raises; it never becomes a verdict.
"""

from __future__ import annotations

import itertools
import json
import math
import tempfile
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import evolake.solvers.rules  # noqa: F401  (registers the checkers)
from evolake.gates import GateSpec, Ruleset, Verdict, collected, replay_gate
from evolake.lake.blobs import BlobStore
from evolake.solvers.gates.build import program_evidence
from evolake.solvers.gates.carry import carry_evidence, carry_runs, is_carried
from evolake.solvers.gates.compliance import compliance_evidence
from evolake.solvers.gates.feedback import feedback_of
from evolake.solvers.gates.runs import PROOF_LIMITS, correctness_runs, smoke_runs, stability_runs
from evolake.solvers.gates.specs import GATE_NAMES
from evolake.solvers.measurement.drawing import new_key
from evolake.solvers.measurement.measuring import Rows
from evolake.solvers.process.execute import CORRECTNESS_LIMITS, SMOKE_LIMITS, STABILITY_LIMITS, Program, RunLimits
from evolake.solvers.proof import ProofLimits
from evolake.solvers.repository.adapters import Adapter
from evolake.solvers.repository.build import BuildResult, build_by, open_program
from evolake.solvers.repository.variant import read_card, source_sha
from evolake.solvers.rules.outcomes import GROWING
from evolake.solvers.suites.fresh import CARRIED
from evolake.solvers.suites.spec import Suite
from evolake.solvers.tables import LATE_GATES

ESSENCE = (
    "instance", "family", "expected", "shuffle", "repeat", "status", "answer", "certificate", "proof_status", "problems", "conflicts", "decisions",
    "propagations", "memory_mb", "timeout_s",
)


@dataclass(frozen=True)
class Bench:
    """What gates need beside the variant: formulas, limits, places.

    smoke, correctness, stability: suites with files. carried: formulas and copies of them, see `fresh.carried_suite`; None runs none.
    base_stability: the base's rows of the stability gate, none to judge by the memory limit alone; base_carried: what it took on those formulas.
    cache: folder for executables and copies of formulas. verdicts: of verdicts on proofs. draw: key by which smoke proofs are drawn.
    executor: for the runs; None is threads of this process. progress: called after each run with the gate's name, how many are done and how many
    there are.
    """

    smoke: Suite
    correctness: Suite
    stability: Suite
    blobs: BlobStore
    cache: Path
    base_stability: Rows = field(default_factory=list)
    carried: Suite | None = None
    base_carried: Rows = field(default_factory=list)
    smoke_limits: RunLimits = SMOKE_LIMITS
    correctness_limits: RunLimits = CORRECTNESS_LIMITS
    stability_limits: RunLimits = STABILITY_LIMITS
    proof_limits: ProofLimits = PROOF_LIMITS
    verdicts: Path | None = None
    draw: bytes = field(default_factory=new_key, repr=False)
    executor: Executor | None = None
    progress: Callable[[str, int, int], None] | None = None


@dataclass(frozen=True)
class Judged:
    """A variant after its gates. Rows of gates that it did not reach are empty. evidence: gate -> sha of what its rules judged."""

    variant_id: str
    verdicts: tuple[Verdict, ...]
    build: BuildResult | None = None
    smoke_runs: Rows = field(default_factory=list)
    correctness_runs: Rows = field(default_factory=list)
    stability_runs: Rows = field(default_factory=list)
    feedback: str = ""
    evidence: Mapping[str, str] = field(default_factory=dict)

    @property
    def blocked(self) -> Verdict | None:
        """The verdict that stopped it; None where all it met were passes."""
        return next((verdict for verdict in self.verdicts if verdict.outcome != "pass"), None)

    @property
    def accepted(self) -> bool:
        """Whether every gate passed it. A variant that was stopped early, also by `stop_at`, is not accepted."""
        return self.blocked is None and {verdict.gate for verdict in self.verdicts} == set(GATE_NAMES)


def gate_verdicts(
    gate: str, evidence: Mapping[str, Any], ruleset: Ruleset, *, variant_id: str, cycle: str, run_id: str, evidence_sha: str | None = None
) -> list[Verdict]:
    """Verdicts of one gate on evidence as it was collected or stored; rules after the first block are not asked.

    Raises:
        InputError: a rule that cannot be used.
    """
    asked = GateSpec((*GATE_NAMES, *LATE_GATES).index(gate), gate, lambda _: evidence)
    return list(replay_gate(asked, evidence, ruleset, artifact_id=variant_id, cycle=cycle, run_id=run_id, evidence_sha=evidence_sha).verdicts)


def build_evidence(build: BuildResult) -> dict[str, Any]:
    """What the rules of the build gate judge."""
    values = asdict(build)
    return {"build": {name: values[name] for name in ("ok", "kind", "program", "log_sha", "warnings", "reason", "cpu_s")}}


def runs_evidence(rows: Sequence[Mapping[str, Any]], base_rows: Sequence[Mapping[str, Any]] = ()) -> dict[str, Any]:
    """What the rules of gates 2 to 4 judge: of each row what says how it ended, and memory in whole MB over a growing formula.

    Times stay out, so that two runs that end alike are one piece of evidence.
    """
    return {"runs": [_essence(row) for row in rows], "base_runs": [_essence(row) for row in base_rows]}


def gate_evidence(gate: str, rows: Sequence[Mapping[str, Any]], bench: Bench) -> dict[str, Any]:
    """What the rules of one of gates 2 to 4 judge: `runs_evidence`; at the stability gate beside that of the base, and with `carry_evidence` of the
    rows that are for it."""
    if gate != "stability":
        return runs_evidence(rows)
    others = runs_evidence([row for row in rows if not is_carried(row)], bench.base_stability)
    return others | {CARRIED: carry_evidence([row for row in rows if is_carried(row)]), "base_carried": list(bench.base_carried)}


def _essence(row: Mapping[str, Any]) -> dict[str, Any]:
    kept = {name: row.get(name) for name in ESSENCE}
    if "answer" not in row:  # a row of DUELS
        kept["answer"] = {"sat": "SAT", "unsat": "UNSAT"}.get(row["status"])
    kept["proof_bytes"] = row.get("proof_bytes") if kept["answer"] else None  # evidence of old lakes has none; a killed run's proof is cut anywhere
    return kept | ({"peak_mb": math.ceil(row["peak_mb"])} if kept["family"] == GROWING else {})


def store_evidence(evidence: Mapping[str, Any], blobs: BlobStore) -> str:
    """The sha of the evidence as a blob of JSON; equal evidence has one sha."""
    return blobs.put(json.dumps(evidence, sort_keys=True, default=str).encode())


def load_evidence(sha: str, blobs: BlobStore) -> dict[str, Any]:
    """Evidence as it was stored."""
    return json.loads(blobs.get(sha))


def judge_variant(
    variant: Path | str, *, adapter: Adapter, base: Path, ruleset: Ruleset, bench: Bench, cycle: str, run_id: str,
    parent_edits: Sequence[Sequence[Mapping[str, Any]]] = (), stop_at: str | None = None,
) -> Judged:
    """Take one variant through its gates, up to and with `stop_at` (all by default); the first block ends it.

    Args:
        variant: its repository, or the sha of its archive. base: the repository of its seed.

    Raises:
        MachineryError: the jail, a checker or the compiler failed; nothing was judged. InputError: the base or a rule cannot be used.
    """
    if isinstance(variant, str):
        with tempfile.TemporaryDirectory(prefix="evolake-variant-") as parent:
            folder = Path(parent) / "variant"
            bench.blobs.get_tree(variant, folder)
            return judge_variant(
                folder, adapter=adapter, base=base, ruleset=ruleset, bench=bench, cycle=cycle, run_id=run_id, parent_edits=parent_edits,
                stop_at=stop_at,
            )
    walk = _Walk(source_sha(variant), ruleset, bench, cycle, run_id)
    named = read_card(base)["base"]
    walk.judge("compliance", collected(compliance_evidence, variant, base, named, adapter=adapter, parent_edits=parent_edits))
    if walk.open(stop_at, "compliance"):
        walk.judge("build", collected(walk.built, variant, base, adapter))
    if walk.open(stop_at, "build"):
        assert walk.build is not None
        program = open_program(walk.build, adapter, bench.blobs, bench.cache)
        walk.run(program, stop_at)
    return walk.judged()


def runs_of(gate: str, program: Program, bench: Bench, **of: Any) -> Rows:
    """The runs that the gate judges. of: variant_id, cycle, executor, progress, as for `gate_runs`."""
    proofs = {"proof_limits": bench.proof_limits, "verdicts": bench.verdicts}
    if gate == "smoke":
        return smoke_runs(program, bench.smoke, cache=bench.cache, limits=bench.smoke_limits, draw=bench.draw, **proofs, **of)
    if gate == "correctness":
        return correctness_runs(program, bench.correctness, limits=bench.correctness_limits, **proofs, **of)
    rows = stability_runs(program, bench.stability, limits=bench.stability_limits, **proofs, **of)
    return rows + (carry_runs(program, bench.carried, limits=bench.correctness_limits, **of) if bench.carried else [])


class _Walk:
    """One variant on its way: what was collected and judged so far."""

    def __init__(self, variant_id: str, ruleset: Ruleset, bench: Bench, cycle: str, run_id: str):
        self.variant_id, self.ruleset, self.bench, self.cycle, self.run_id = variant_id, ruleset, bench, cycle, run_id
        self.verdicts: list[Verdict] = []
        self.evidence: dict[str, str] = {}
        self.seen: dict[str, Mapping[str, Any]] = {}
        self.build: BuildResult | None = None
        self.rows: dict[str, Rows] = {}

    def judge(self, gate: str, evidence: Mapping[str, Any]) -> None:
        self.seen[gate] = evidence
        self.evidence[gate] = store_evidence(evidence, self.bench.blobs)
        self.verdicts += gate_verdicts(
            gate, evidence, self.ruleset, variant_id=self.variant_id, cycle=self.cycle, run_id=self.run_id, evidence_sha=self.evidence[gate]
        )

    def built(self, variant: Path, base: Path, adapter: Adapter) -> dict[str, Any]:
        """Builds it; gives the evidence."""
        self.build = build_by(self.bench.executor, variant, adapter, self.bench.blobs)
        return build_evidence(self.build) | program_evidence(self.build, base, adapter, self.bench.blobs)

    def open(self, stop_at: str | None, gate: str) -> bool:
        """Whether the gate after `gate` is to be asked."""
        return stop_at != gate and all(verdict.outcome == "pass" for verdict in self.verdicts) and gate in self.seen

    def run(self, program: Program, stop_at: str | None) -> None:
        for before, gate in itertools.pairwise(GATE_NAMES[1:]):
            if self.open(stop_at, before):
                self.rows[gate] = runs_of(gate, program, self.bench, **self.of(gate))
                self.judge(gate, collected(gate_evidence, gate, self.rows[gate], self.bench))

    def of(self, gate: str) -> dict[str, Any]:
        progress = partial(self.bench.progress, gate) if self.bench.progress else None
        return {"variant_id": self.variant_id, "cycle": self.cycle, "executor": self.bench.executor, "progress": progress}

    def judged(self) -> Judged:
        return Judged(
            self.variant_id, tuple(self.verdicts), self.build, self.rows.get("smoke", []), self.rows.get("correctness", []),
            self.rows.get("stability", []), feedback_of(self.verdicts, self.seen, self.ruleset, self.bench.blobs), dict(self.evidence),
        )
