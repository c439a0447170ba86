"""Run one solver on one instance: a jailed process, its answer read strictly, its use of time and memory from the kernel.

The program sees its own folder as /solver, the instance as /work/instance.cnf and, when a proof is wanted, one empty file /work/proof: neither
the instance's name nor its place. Exit codes alone are never believed, nor is the answer line: where the two disagree the run is malformed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np

ProofFormat = Literal["none", "drat-text", "drat-binary"]
RunStatus = Literal["sat", "unsat", "unknown", "timeout", "memory", "crash", "malformed"]
"""sat, unsat: one well-formed answer that agrees with the exit code. unknown: it ended without an answer, or its proof outgrew the limit. timeout:
past the processor time or the clock. memory: out of memory. crash: a signal, or an exit code that says so. malformed: `problems` say why."""


@dataclass(frozen=True)
class Program:
    """A built solver.

    folder: bound read-only as /solver; argv[0] is relative to it. argv: may hold {cnf}. proof_argv: the command line that writes a proof, may also
    hold {proof}; None when the solver has none. environment: beside the jail's own. statistics: counter name -> regular expression whose first
    group is its number in the output (the last match counts). exit_codes: of the answers "sat" and "unsat".
    """

    folder: Path
    argv: tuple[str, ...]
    proof_argv: tuple[str, ...] | None = None
    proof: ProofFormat = "none"
    environment: Mapping[str, str] = field(default_factory=dict)
    statistics: Mapping[str, str] = field(default_factory=dict)
    exit_codes: Mapping[str, int] = field(default_factory=lambda: {"sat": 10, "unsat": 20})


@dataclass(frozen=True)
class RunLimits:
    """cpu_s: seconds of processor time. wall_s: seconds of the clock. memory_mb: MiB of address space. proof_mb: MiB of the proof. output_bytes: of
    standard output and of standard error, each."""

    cpu_s: float = 10.0
    wall_s: float = 30.0
    memory_mb: int = 2048
    proof_mb: int = 512
    output_bytes: int = 64 << 20


@dataclass(frozen=True)
class SolverRun:
    """What came of one run.

    answer: what the solver said, also when the run as a whole is malformed. model: int32 literals, None unless it gave a whole one.
    counters: conflicts, decisions, propagations, restarts as far as it prints them; instructions where the kernel counts them.
    proof: the file that it wrote, in `scratch`; None when none was asked for. stdout_tail: the end of its output without the model lines.
    """

    status: RunStatus
    answer: Literal["sat", "unsat"] | None
    model: np.ndarray | None = field(repr=False)
    exit_code: int | None
    signal: int | None
    cpu_s: float
    wall_s: float
    peak_mb: float
    counters: dict[str, float]
    proof: Path | None
    proof_bytes: int
    problems: tuple[str, ...]
    stdout_tail: str
