"""What each gate looks at, of a variant that is in a folder or in the lake: one function per gate."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from evolake.solvers.gates.build import program_evidence, same_program
from evolake.solvers.gates.compliance import compliance_evidence
from evolake.solvers.gates.context import GateContext, runs_of
from evolake.solvers.gates.evidence import build_evidence, gate_evidence
from evolake.solvers.gates.filling import filling_fault
from evolake.solvers.measurement.measuring import COMPLAINT, Rows
from evolake.solvers.process.execute import Program
from evolake.solvers.repository.adapters import Adapter
from evolake.solvers.repository.build import BuildResult, build_by, open_program
from evolake.solvers.repository.variant import source_sha


@dataclass
class Subject:
    """A variant on its way through the gates: what they collect from, and what they leave for those after
    them.

    folder, base: its repository and its seed's. base_name: the seed's name. parent_edits: the edits of each
    parent. context: formulas and limits. opened: opens its built solver; None: of the build that its gate
    made.
    built: what came of that. runs: gate -> rows of RUNS that it made. complaints: instance -> the end of what
    its run wrote that did not end well.
    """

    variant_id: str
    cycle: str
    folder: Callable[[], Path]
    base: Path
    base_name: str
    adapter: Adapter
    parent_edits: Sequence[Sequence[Mapping[str, Any]]]
    context: Callable[[], GateContext]
    opened: Callable[[], Program] | None = None
    built: BuildResult | None = None
    runs: dict[str, Rows] = field(default_factory=dict)
    complaints: dict[str, str] = field(default_factory=dict)

    @cached_property
    def program(self) -> Program:
        """Its built solver."""
        if self.opened is not None:
            return self.opened()
        assert self.built is not None, "what runs comes after the build"
        context = self.context()
        return open_program(self.built, self.adapter, context.blobs, context.cache)


def compliance(subject: Subject) -> dict[str, Any]:
    """Return its layout, and its sources next to those of its seed."""
    return compliance_evidence(
        subject.folder(),
        subject.base,
        subject.base_name,
        parent_edits=subject.parent_edits,
        adapter=subject.adapter,
    )


def build(subject: Subject) -> dict[str, Any]:
    """Return what came of its build, and the program next to its seed's."""
    context = subject.context()
    of_seed = source_sha(subject.folder()) == source_sha(subject.base)
    subject.built = build_by(context.executor, subject.folder(), subject.adapter, context.blobs, seed=of_seed)
    asked = subject.built, subject.folder(), subject.base, subject.adapter, context.blobs
    others = {code: name for code, name in context.programs().items() if name != subject.variant_id}
    return (
        build_evidence(subject.built)
        | program_evidence(subject.built, subject.base, subject.adapter, context.blobs, subject.folder())
        | same_program(*asked, others)
    )


def smoke(subject: Subject) -> dict[str, Any]:
    """Return its runs on small formulas and their copies."""
    return _runs("smoke", subject)


def correctness(subject: Subject) -> dict[str, Any]:
    """Return its runs with every model and proof checked."""
    return _runs("correctness", subject)


def stability(subject: Subject) -> dict[str, Any]:
    """Return its runs on growing formulas and on secret copies, next to those of its seed; `unfilled`: why it
    has no filling build."""
    filling, fault = filling_fault(subject.folder(), subject.base, subject.adapter, subject.context())
    return _runs("stability", subject, filling) | ({"unfilled": fault} if fault else {})


def _runs(gate: str, subject: Subject, filling: Program | None = None) -> dict[str, Any]:
    context = subject.context()
    rows = runs_of(
        gate, subject.program, context, variant_id=subject.variant_id, cycle=subject.cycle, filling=filling
    )
    subject.complaints |= {row["instance"]: said for row in rows if (said := row.pop(COMPLAINT, ""))}
    subject.runs[gate] = rows
    return gate_evidence(gate, subject.runs[gate], context)
