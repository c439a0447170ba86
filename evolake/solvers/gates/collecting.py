"""What each gate looks at, of a variant that the lake holds. (`judging` takes one through all gates in the folder where a coder wrote it.)"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evolake.solvers.gates.build import program_evidence
from evolake.solvers.gates.compliance import compliance_evidence
from evolake.solvers.gates.judging import Bench, build_evidence, gate_evidence, runs_of
from evolake.solvers.process.execute import Program
from evolake.solvers.repository.adapters import Adapter
from evolake.solvers.repository.build import build_by


@dataclass(frozen=True)
class Subject:
    """A variant at one gate.

    folder, base: its repository and its seed's. base_name: the seed's name. parent_edits: the edits of each parent. bench: formulas and limits.
    program: opens its built solver. runs: rows of RUNS, filled by gates that run it.
    """

    variant_id: str
    gate: str
    cycle: str
    folder: Callable[[], Path]
    base: Path
    base_name: str
    adapter: Adapter
    parent_edits: Sequence[Sequence[Mapping[str, Any]]]
    bench: Callable[[], Bench]
    program: Callable[[], Program]
    runs: list[dict[str, Any]] = field(default_factory=list)


def compliance(subject: Subject) -> dict[str, Any]:
    """Its layout, and its sources beside those of its seed."""
    return compliance_evidence(subject.folder(), subject.base, subject.base_name, parent_edits=subject.parent_edits, adapter=subject.adapter)


def build(subject: Subject) -> dict[str, Any]:
    """What came of its build, and the program beside its seed's."""
    bench = subject.bench()
    blobs = bench.blobs
    built = build_by(bench.executor, subject.folder(), subject.adapter, blobs)
    return build_evidence(built) | program_evidence(built, subject.base, subject.adapter, blobs)


def runs(subject: Subject) -> dict[str, Any]:
    """The runs that the gate judges."""
    bench = subject.bench()
    subject.runs.extend(
        runs_of(subject.gate, subject.program(), bench, variant_id=subject.variant_id, cycle=subject.cycle, executor=bench.executor)
    )
    return gate_evidence(subject.gate, subject.runs, bench)
