"""Read a proof of any format that is known, and decide which it is.

1. A declared format is taken at its word, and what is plainly the other one is not read: text declared DRAT
   that derives no empty clause and has the shape of LRAT, and binary data declared LRAT that are DRAT with an
   empty clause.
2. Otherwise a name that ends in `.lrat` (before the ending of a packing) means LRAT.
3. Otherwise the bytes decide. Binary data are DRAT if they can be read as DRAT, else LRAT. A text is LRAT if
   every line has the shape of a step of LRAT (`lrat.has_lrat_shape`), and else DRAT. A DRAT proof with one
   step a line never has that shape; one that has several steps on a line should be declared.
"""

from __future__ import annotations

import codecs
from pathlib import PurePath

from evolake.solvers.formula.packing import ENDINGS
from evolake.solvers.proof.lrat import (
    LratProof,
    begins_as_lrat,
    has_lrat_shape,
    read_lrat_binary,
    read_lrat_text,
)
from evolake.solvers.proof.parse import BadProof, OtherFormat, Proof, ProofSpelling, is_binary, read_proof

OTHERS = {
    b"o ": "FRAT",
    b"pseudo-Boolean proof": "VeriPB",
    b"p cnf": "a DIMACS formula",
    b"s ": "a solver's output",
}
"""How files of other formats begin that are given as proofs by mistake."""


def read_any(data: bytes, declared: ProofSpelling = "auto", name: str = "") -> Proof | LratProof:
    """Return the proof that unpacked data spell; name: of its file. Raises BadProof, with the reason why it
    cannot be read."""
    data = data.removeprefix(codecs.BOM_UTF8)
    try:
        return _read(data, declared, name)
    except BadProof as error:
        other = next((kind for start, kind in OTHERS.items() if data.startswith(start)), "")
        if other:
            raise OtherFormat(f"it looks like {other}: {error}") from None
        raise


def _read(data: bytes, declared: ProofSpelling, name: str) -> Proof | LratProof:
    if declared == "auto" and PurePath(without_packing(name)).suffix == ".lrat":
        declared = "lrat-binary" if is_binary(data) else "lrat-text"
    if declared == "lrat-text":
        return read_lrat_text(data)
    if declared == "lrat-binary":
        return _not_drat(data)
    if declared == "auto" and not is_binary(data) and has_lrat_shape(data):
        return read_lrat_text(data)
    try:
        proof = read_proof(data, declared)
    except BadProof as error:
        if declared == "auto" and (lrat := _as_lrat(data, error)):
            return lrat
        raise
    if declared == "drat-text" and proof.first_empty is None and has_lrat_shape(data):
        raise OtherFormat("it is LRAT, and its declared format is DRAT text")
    return proof


def _not_drat(data: bytes) -> LratProof:
    """Return the LRAT proof that binary data spell. Raises BadProof, also for a whole proof of binary DRAT:
    its steps may pass for those of LRAT."""
    proof = read_lrat_binary(data)
    try:
        drat = read_proof(data, "drat-binary")
    except BadProof:
        return proof
    if drat.first_empty is not None:
        raise OtherFormat("it is DRAT, and its declared format is binary LRAT")
    return proof


def _as_lrat(data: bytes, error: BadProof) -> LratProof | None:
    """Return the LRAT proof that data spell which are no DRAT; None if they do not begin as LRAT. Raises
    BadProof."""
    if is_binary(data):
        try:
            return read_lrat_binary(data)
        except BadProof:
            raise error from None
    return read_lrat_text(data) if begins_as_lrat(data) else None


def without_packing(name: str) -> str:
    """Return a file's name without the ending of a packing."""
    return name[: -len(PurePath(name).suffix)] if PurePath(name).suffix in ENDINGS else name
