"""The conformance kit of proof checkers: proofs with the one right verdict, which every available checker
must give.

`violations(checker, case, folder)` is empty when it does. None of the cases needs a solver.
"""

import bz2
import gzip
import itertools
import lzma
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from evolake.solvers.proof import ProofChecker, ProofLimits, Verdict
from evolake.solvers.proof.drat import ProofSpelling, read_proof, write_binary
from evolake.solvers.proof.lrat import read_lrat_text, write_lrat_binary

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
    return ",".join(
        rows + [f"-{place[a, hole]} -{place[b, hole]}" for a, b in pairs for hole in range(holes)]
    )


SQUARE = "1 2,-1 2,1 -2,-1 -2"
"""Unsatisfiable, and unit propagation alone does not see it."""
SATISFIABLE = "1 2,-1 2"
IMPLICATION = "1,-1 2"


@dataclass(frozen=True)
class Case:
    """proof is given as it stands; `binary`: and once more in the binary format, with the same verdict. own:
    only our own checker has to give the verdict. lrat-trim checks no RAT steps, no deletion of what is not
    there, and no step of LRAT that nothing needs, and has no line that refutes."""

    name: str
    clauses: str
    proof: bytes
    verdict: Verdict
    binary: bool = False
    limits: ProofLimits = LIMITS
    spelling: ProofSpelling = "auto"
    own: bool = False


def _zstd(data: bytes) -> bytes:
    import zstandard

    return zstandard.ZstdCompressor().compress(data)


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
    Case("a formula with the empty clause and junk", "1 2,", b"foo 0\n", "malformed"),
    Case("empty", SQUARE, b"", "incomplete"),
    Case("no empty clause", SQUARE, b"2 0\n", "incomplete", True),
    Case("no empty clause though propagation refutes the formula", "1,-1", b"", "incomplete"),
    Case("a lemma is missing", SQUARE, b"0\n", "refuted", True),
    Case("cut short within a step", SQUARE, b"2 0\n1", "malformed"),
    Case("cut short before its end", pigeons(2), b"1 0\n", "incomplete", True),
    Case("cut short after a `d`", SQUARE, b"2 0\n0\nd ", "malformed"),
    Case("a junk line", SQUARE, b"1 2 foo 0\n2 0\n0\n", "malformed"),
    Case("a junk word at the end", SQUARE, b"2 0\n0\nVERIFIED\n", "malformed"),
    Case("a status line of a checker", SQUARE, b"s VERIFIED\n", "unsupported"),
    Case("a number with a sign only", SQUARE, b"- 2 0\n0\n", "malformed"),
    Case("a negated zero", SQUARE, b"2 -0\n0\n", "malformed"),
    Case("a literal beyond 32 bits", SQUARE, b"4294967298 0\n2 0\n0\n", "malformed"),
    Case("a `d` inside a step", SQUARE, b"2 d 1 0\n2 0\n0\n", "malformed"),
    Case("a deletion of the empty clause", SQUARE, b"d 0\n2 0\n0\n", "malformed"),
    Case("of another formula", pigeons(3), b"2 0\n0\n", "refuted", True),
    Case("of a satisfiable formula", SATISFIABLE, b"2 0\n0\n", "refuted", True),
    Case("a false RAT step", SATISFIABLE, b"-2 0\n0\n", "refuted", True),
    Case(
        "a RAT step on another literal than the first",
        "1 2,-1 2,-3 -2",
        b"-2 3 0\n-3 0\n0\n",
        "refuted",
        True,
    ),
    Case(
        "a deletion that leaves a fixed literal without a reason",
        IMPLICATION,
        b"d -1 2 0\n-2 0\n0\n",
        "refuted",
        True,
    ),
    Case("the same over two steps", "1,-1 2,-2 3", b"d -2 3 0\nd -1 2 0\n-3 0\n0\n", "refuted", True),
    Case("larger than may be read", SQUARE, b"1 2 0\n" * 200_000, "unknown", limits=ProofLimits(20, 2048, 1)),
    Case(
        "too large for the memory", SQUARE, b"1 2 0\n" * 2_500_000, "unknown", limits=ProofLimits(60, 120, 64)
    ),
)
GARBAGE = (
    Case("bytes that are nothing", SQUARE, bytes(range(128, 256)) * 8, "malformed"),
    Case("binary: cut short within a number", SQUARE, b"a\x82", "malformed"),
    Case("binary: cut short within a step", SQUARE, b"a\x04", "malformed"),
    Case(
        "binary: neither addition nor deletion",
        SQUARE,
        b"a\x04\x00x\x00",
        "malformed",
        spelling="drat-binary",
    ),
    Case("binary: a negated zero", SQUARE, b"a\x01\x00a\x04\x00a\x00", "malformed"),
    Case("binary: a number of six bytes", SQUARE, b"a\xff\xff\xff\xff\xff\x01\x00a\x00", "malformed"),
    Case("binary: a zero of two bytes", SQUARE, b"a\x04\x80\x00a\x00", "malformed"),
    Case("text that is declared binary", SQUARE, b"2 0\n0\n", "malformed", spelling="drat-binary"),
    Case("binary that is declared text", SQUARE, _binary(b"2 0\n0\n"), "malformed", spelling="drat-text"),
)
DRAT_CASES = (
    *TEXTS,
    *GARBAGE,
    *(
        Case(f"binary: {case.name}", case.clauses, _binary(case.proof), case.verdict, limits=case.limits)
        for case in TEXTS
        if case.binary
    ),
)


def _lrat_binary(text: bytes) -> bytes:
    return write_lrat_binary(read_lrat_text(text))


def _packed(case: Case, name: str, pack: Callable[[bytes], bytes]) -> Case:
    return replace(case, name=f"{name}: {case.name}", proof=pack(case.proof))


DEFINITION = b"5 3 -1 0 0\n6 3 -2 0 0\n7 -3 1 2 0 -5 -6 0\n8 2 0 1 2 0\n9 0 8 3 4 0\n"
"""The new variable 3 is 1 or 2, by RAT steps; the last has a resolvent with each of the two before, which its
own literals make true."""
UNIT_AND_SQUARE = "1,-2 1,3 4,-3 4,3 -4,-3 -4"
LRAT_TEXTS = (
    Case("a lemma and the empty clause", SQUARE, b"5 2 0 1 2 0\n6 0 5 3 4 0\n", "verified", True),
    Case("with a deletion", SQUARE, b"5 2 0 1 2 0\n5 d 1 2 0\n6 0 5 3 4 0\n", "verified", True),
    Case("with comments and blanks", SQUARE, b"c from a solver\n  5  2 0\t1 2 0 \n\n6 0 5 3 4 0", "verified"),
    Case("with carriage returns", SQUARE, b"5 2 0 1 2 0\r\n6 0 5 3 4 0\r\n", "verified"),
    Case("a refutation by unit propagation", "1,-1", b"3 0 1 2 0\n", "verified", True),
    Case("identifiers with gaps", SQUARE, b"70 2 0 1 2 0\n900 0 70 3 4 0\n", "verified", True),
    Case("steps after the empty clause", SQUARE, b"5 2 0 1 2 0\n6 0 5 3 4 0\n7 9 0 1 0\n", "verified", True),
    Case(
        "a deletion of what is not there",
        SQUARE,
        b"5 2 0 1 2 0\n5 d 77 0\n6 0 5 3 4 0\n",
        "verified",
        True,
        own=True,
    ),
    Case("a tautology", SQUARE, b"5 2 -2 0 0\n6 2 0 1 2 0\n7 0 6 3 4 0\n", "verified", True, own=True),
    Case("a hint that is satisfied already", "1,1 2,-1", b"4 0 1 2 3 0\n", "refuted", True, own=True),
    Case("a new variable", SQUARE, DEFINITION, "verified", True, own=True),
    Case(
        "a RAT step with hints of its resolvent",
        UNIT_AND_SQUARE,
        b"7 2 0 -2 1 0\n8 4 0 3 4 0\n9 0 8 5 6 0\n",
        "verified",
        True,
        own=True,
    ),
    Case(
        "a RAT step without them",
        UNIT_AND_SQUARE,
        b"7 2 0 -2 0\n8 4 0 3 4 0\n9 0 8 5 6 0\n",
        "refuted",
        True,
        own=True,
    ),
    Case("a formula with the empty clause", "1 2,", b"3 0 2 0\n", "verified", True),
    Case("no empty clause", SQUARE, b"5 2 0 1 2 0\n", "incomplete", True),
    Case("a hint is missing", SQUARE, b"5 2 0 1 2 0\n6 0 5 3 0\n", "refuted", True),
    Case("the first hint is missing", SQUARE, b"5 2 0 2 0\n6 0 5 3 4 0\n", "refuted", True),
    Case("hints in another order", "1,-1 2,-2 3,-3", b"5 0 3 2 1 4 0\n", "refuted", True),
    Case("a hint that names no clause", SQUARE, b"5 2 0 1 9 0\n6 0 5 3 4 0\n", "refuted", True),
    Case("a hint that names the step itself", SQUARE, b"5 0 5 0\n", "refuted", True),
    Case("a hint that names a later step", SQUARE, b"5 2 0 1 6 0\n6 0 5 3 4 0\n", "refuted", True),
    Case("a hint that was deleted", SQUARE, b"5 2 0 1 2 0\n5 d 3 0\n6 0 5 3 4 0\n", "refuted", True),
    Case("an identifier of the formula", SQUARE, b"4 2 0 1 2 0\n6 0 4 3 1 0\n", "refuted", True),
    Case("another lemma", SQUARE, b"5 -2 0 1 2 0\n6 0 5 3 4 0\n", "refuted", True),
    Case("of a satisfiable formula", SATISFIABLE, b"3 2 0 1 2 0\n4 0 3 1 2 0\n", "refuted", True),
    Case("a false RAT step", SATISFIABLE, b"3 -2 0 -1 -2 0\n4 0 3 1 2 0\n", "refuted", True, own=True),
    Case(
        "a RAT step that leaves a clause out",
        SATISFIABLE,
        b"3 -2 1 0 -1 0\n4 0 3 1 2 0\n",
        "refuted",
        True,
        own=True,
    ),
    Case(
        "a RAT step on another literal than the first",
        "1 2,-1 2,-3 -2",
        b"4 -2 3 0 0\n5 -3 0 0\n6 0 4 5 1 2 0\n",
        "refuted",
        True,
        own=True,
    ),
    Case(
        "a RAT step after the deletion of what it breaks",
        IMPLICATION,
        b"2 d 2 0\n3 -2 0 0\n4 0 1 2 3 0\n",
        "refuted",
        True,
        own=True,
    ),
)
LRAT_GARBAGE = (
    Case("a junk word at the end", SQUARE, b"5 2 0 1 2 0\n6 0 5 3 4 0\nVERIFIED\n", "malformed"),
    Case("cut short within a step", SQUARE, b"5 2 0 1 2 0\n6 0 5 3", "malformed"),
    Case("a line of DRAT", SQUARE, b"5 2 0 1 2 0\n2 0\n6 0 5 3 4 0\n", "malformed"),
    Case("DRAT that is declared LRAT", SQUARE, b"2 0\n0\n", "malformed"),
    Case("identifiers that do not grow", SQUARE, b"6 2 0 1 2 0\n5 0 6 3 4 0\n", "malformed"),
    Case("a literal beyond 32 bits", SQUARE, b"5 4294967298 0 1 2 0\n6 0 5 3 4 0\n", "malformed"),
    Case("a number beyond 63 bits", SQUARE, b"5 2 0 1 99999999999999999999 0\n6 0 5 3 4 0\n", "malformed"),
    Case("a negated zero", SQUARE, b"5 2 -0 1 2 0\n6 0 5 3 4 0\n", "malformed"),
    Case(
        "binary: cut short within a step",
        SQUARE,
        _lrat_binary(b"5 2 0 1 2 0\n6 0 5 3 4 0\n")[:-1],
        "malformed",
        spelling="lrat-binary",
    ),
    Case(
        "binary: neither addition nor deletion",
        SQUARE,
        b"x\x0a\x04\x00\x02\x04\x00",
        "malformed",
        spelling="lrat-binary",
    ),
    Case(
        "binary: DRAT that is declared LRAT",
        SQUARE,
        _binary(b"2 0\n0\n"),
        "unsupported",
        spelling="lrat-binary",
    ),
    Case(
        "LRAT that is declared DRAT",
        SQUARE,
        b"5 2 0 1 2 0\n6 0 5 3 4 0\n",
        "unsupported",
        spelling="drat-text",
    ),
    Case(
        "binary LRAT that is declared DRAT",
        SQUARE,
        _lrat_binary(b"5 2 0 1 2 0\n6 0 5 3 4 0\n"),
        "malformed",
        spelling="drat-binary",
    ),
    Case("FRAT", SQUARE, b"o 1 1 2 0\na 5 2 0 l 1 2 0\na 6 0 l 5 3 4 0\nf 6 0\n", "unsupported"),
    Case("VeriPB", SQUARE, b"pseudo-Boolean proof version 2.0\nf 4\nrup >= 1 ;\n", "unsupported"),
)
WHOLE, WRONG = TEXTS[0], Case("a lemma is missing", SQUARE, b"0\n", "refuted")
PACKED = (
    *(
        _packed(case, name, pack)
        for case in (WHOLE, WRONG, LRAT_TEXTS[0])
        for name, pack in (
            ("gz", gzip.compress),
            ("xz", lzma.compress),
            ("bz2", bz2.compress),
            ("zst", _zstd),
        )
    ),
    Case("gz: cut short", SQUARE, gzip.compress(b"2 0\n0\n")[:-6], "malformed"),
    Case("xz: junk behind it", SQUARE, lzma.compress(b"2 0\n0\n") + b"junk", "malformed"),
    Case(
        "gz: larger than may be read",
        SQUARE,
        gzip.compress(b"1 2 0\n" * 400_000),
        "unknown",
        limits=ProofLimits(20, 2048, 1),
    ),
    Case("a byte order mark", SQUARE, b"\xef\xbb\xbf2 0\n0\n", "verified"),
)
LRAT_CASES = (
    *(replace(case, name=f"LRAT: {case.name}", spelling="lrat-text") for case in LRAT_TEXTS),
    *(
        replace(
            case,
            name=f"LRAT: {case.name}",
            spelling="lrat-text" if case.spelling == "auto" else case.spelling,
        )
        for case in LRAT_GARBAGE
    ),
    *(
        replace(
            case, name=f"binary LRAT: {case.name}", proof=_lrat_binary(case.proof), spelling="lrat-binary"
        )
        for case in LRAT_TEXTS
        if case.binary
    ),
    *(replace(case, name=f"undeclared LRAT: {case.name}") for case in LRAT_TEXTS),
    *(
        replace(case, name=f"undeclared binary LRAT: {case.name}", proof=_lrat_binary(case.proof))
        for case in LRAT_TEXTS
        if case.binary
    ),
)
CASES = (*DRAT_CASES, *PACKED, *LRAT_CASES)


def cases_for(checker: ProofChecker) -> list[Case]:
    """The cases that a checker is held to: of LRAT, another program than our own only to the proofs that it
    must accept, if it reads LRAT. Both engines of dratify have one checker of LRAT, so that it is asked
    once."""
    if checker.name in ("evolake", "dratify"):
        return list(CASES)
    lrat = [
        case
        for case in LRAT_CASES
        if case.verdict == "verified" and not case.own and "lrat" in checker.formats
    ]
    return [
        *DRAT_CASES,
        *(case for case in PACKED if LRAT_TEXTS[0].name not in case.name),
        *(lrat if checker.name != "dratify-python" else []),
    ]


def violations(checker: ProofChecker, case: Case, folder: Path) -> list[str]:
    """What is wrong with the checker's verdict on the case; empty when nothing is. Writes two files into
    `folder`."""
    cnf, proof = folder / "case.cnf", folder / "case.drat"
    cnf.write_bytes(dimacs(case.clauses))
    proof.write_bytes(case.proof)
    finding = checker.check(cnf, proof, case.limits, case.spelling)
    result = (
        []
        if finding.verdict == case.verdict
        else [f"{checker.name} says {finding.verdict} ({finding.reason}), wanted {case.verdict}"]
    )
    return result if finding.reason else [*result, "no reason"]
