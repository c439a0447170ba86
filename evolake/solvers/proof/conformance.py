"""The conformance kit of proof checkers: proofs with the one right verdict, which every available checker must give.

`violations(checker, case, folder)` is empty when it does. None of the cases needs a solver.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

from evolake.solvers.proof.parse import ProofSpelling, read_proof, write_binary
from evolake.solvers.proof.verdict import ProofChecker, ProofLimits, Verdict

LIMITS = ProofLimits(cpu_s=20, memory_mb=2048, proof_mb=16)


def dimacs(clauses: str) -> bytes:
    """Clauses, separated by commas, as a DIMACS file."""
    rows = [row.split() for row in clauses.split(",") if row.strip() or clauses.strip()]
    largest = max((abs(int(literal)) for row in rows for literal in row), default=0)
    return "\n".join([f"p cnf {largest} {len(rows)}", *(" ".join([*row, "0"]) for row in rows), ""]).encode()


def pigeons(holes: int) -> str:
    """One pigeon too many for the holes."""
    place = {pair: number for number, pair in enumerate(itertools.product(range(holes + 1), range(holes)), 1)}
    rows = [" ".join(str(place[pigeon, hole]) for hole in range(holes)) for pigeon in range(holes + 1)]
    pairs = itertools.combinations(range(holes + 1), 2)
    return ",".join(rows + [f"-{place[a, hole]} -{place[b, hole]}" for a, b in pairs for hole in range(holes)])


SQUARE = "1 2,-1 2,1 -2,-1 -2"
"""Unsatisfiable, and unit propagation alone does not see it."""
SATISFIABLE = "1 2,-1 2"
IMPLICATION = "1,-1 2"


@dataclass(frozen=True)
class Case:
    """proof is given as it stands; `binary`: and once more in the binary format, with the same verdict."""

    name: str
    clauses: str
    proof: bytes
    verdict: Verdict
    binary: bool = False
    limits: ProofLimits = LIMITS
    spelling: ProofSpelling = "auto"


def _binary(text: bytes) -> bytes:
    return write_binary(read_proof(text, "drat-text"))


TEXTS = (
    Case("one lemma and the empty clause", SQUARE, b"2 0\n0\n", "verified", True),
    Case("everything on one line", SQUARE, b"2 0 0", "verified"),
    Case("with deletions", SQUARE, b"2 0\nd 1 2 0\nd -1 2 0\n0\n", "verified", True),
    Case("with comments", SQUARE, b"c from a solver\n2 0\nc and on\n0\n", "verified"),
    Case("a lemma with a repeated literal", SQUARE, b"2 2 0\n0\n", "verified", True),
    Case("three pigeons", pigeons(2), b"1 0\n0\n", "verified", True),
    Case("steps after the empty clause", SQUARE, b"2 0\n0\nd 2 0\n1 0\n", "verified", True),
    Case("a refutation by unit propagation", "1,-1", b"0\n", "verified", True),
    Case("the definition of a new variable", SQUARE, b"3 -1 0\n3 -2 0\n-3 1 2 0\n2 0\n0\n", "verified", True),
    Case("a new variable of a huge number", SQUARE, b"2147483647 -1 0\n2 0\n0\n", "verified", True),
    Case("a formula with the empty clause and no proof", "1 2,", b"", "verified"),
    Case("a formula with the empty clause and its proof", "1 2,", b"0\n", "verified", True),
    Case("a formula with the empty clause and junk", "1 2,", b"foo 0\n", "refuted"),
    Case("empty", SQUARE, b"", "refuted"),
    Case("no empty clause", SQUARE, b"2 0\n", "refuted", True),
    Case("no empty clause though propagation refutes the formula", "1,-1", b"", "refuted"),
    Case("a lemma is missing", SQUARE, b"0\n", "refuted", True),
    Case("cut short within a step", SQUARE, b"2 0\n1", "refuted"),
    Case("cut short before its end", pigeons(2), b"1 0\n", "refuted", True),
    Case("cut short after a `d`", SQUARE, b"2 0\n0\nd ", "refuted"),
    Case("a junk line", SQUARE, b"1 2 foo 0\n2 0\n0\n", "refuted"),
    Case("a junk word at the end", SQUARE, b"2 0\n0\nVERIFIED\n", "refuted"),
    Case("a status line of a checker", SQUARE, b"s VERIFIED\n", "refuted"),
    Case("a number with a sign only", SQUARE, b"- 2 0\n0\n", "refuted"),
    Case("a negated zero", SQUARE, b"2 -0\n0\n", "refuted"),
    Case("a literal beyond 32 bits", SQUARE, b"4294967298 0\n2 0\n0\n", "refuted"),
    Case("a `d` inside a step", SQUARE, b"2 d 1 0\n2 0\n0\n", "refuted"),
    Case("a deletion of the empty clause", SQUARE, b"d 0\n2 0\n0\n", "refuted"),
    Case("of another formula", pigeons(3), b"2 0\n0\n", "refuted", True),
    Case("of a satisfiable formula", SATISFIABLE, b"2 0\n0\n", "refuted", True),
    Case("a false RAT step", SATISFIABLE, b"-2 0\n0\n", "refuted", True),
    Case("a RAT step on another literal than the first", "1 2,-1 2,-3 -2", b"-2 3 0\n-3 0\n0\n", "refuted", True),
    Case("a deletion that leaves a fixed literal without a reason", IMPLICATION, b"d -1 2 0\n-2 0\n0\n", "refuted", True),
    Case("the same over two steps", "1,-1 2,-2 3", b"d -2 3 0\nd -1 2 0\n-3 0\n0\n", "refuted", True),
    Case("larger than may be read", SQUARE, b"1 2 0\n" * 200_000, "unknown", limits=ProofLimits(20, 2048, 1)),
    Case("too large for the memory", SQUARE, b"1 2 0\n" * 2_500_000, "unknown", limits=ProofLimits(60, 120, 64)),
)
GARBAGE = (
    Case("bytes that are nothing", SQUARE, bytes(range(128, 256)) * 8, "refuted"),
    Case("binary: cut short within a number", SQUARE, b"a\x82", "refuted"),
    Case("binary: cut short within a step", SQUARE, b"a\x04", "refuted"),
    Case("binary: neither addition nor deletion", SQUARE, b"a\x04\x00x\x00", "refuted", spelling="drat-binary"),
    Case("binary: a negated zero", SQUARE, b"a\x01\x00a\x04\x00a\x00", "refuted"),
    Case("binary: a number of six bytes", SQUARE, b"a\xff\xff\xff\xff\xff\x01\x00a\x00", "refuted"),
    Case("binary: a zero of two bytes", SQUARE, b"a\x04\x80\x00a\x00", "refuted"),
    Case("text that is declared binary", SQUARE, b"2 0\n0\n", "refuted", spelling="drat-binary"),
    Case("binary that is declared text", SQUARE, _binary(b"2 0\n0\n"), "refuted", spelling="drat-text"),
)
CASES = (
    *TEXTS, *GARBAGE,
    *(Case(f"binary: {case.name}", case.clauses, _binary(case.proof), case.verdict, limits=case.limits) for case in TEXTS if case.binary),
)


def violations(checker: ProofChecker, case: Case, folder: Path) -> list[str]:
    """What is wrong with the checker's verdict on the case; empty when nothing is. Writes two files into `folder`."""
    cnf, proof = folder / "case.cnf", folder / "case.drat"
    cnf.write_bytes(dimacs(case.clauses))
    proof.write_bytes(case.proof)
    finding = checker.check(cnf, proof, case.limits, case.spelling)
    result = [] if finding.verdict == case.verdict else [f"{checker.name} says {finding.verdict} ({finding.reason}), wanted {case.verdict}"]
    return result if finding.reason else [*result, "no reason"]
