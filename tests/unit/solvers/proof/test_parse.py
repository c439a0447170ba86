"""DRAT, text and binary, read to the last byte."""

import pytest
from hypothesis import given
from hypothesis import strategies as st
from proof_cases import DRAT_STEPS as STEPS
from proof_cases import proof_of

from evolake.solvers.proof.parse import BadProof, read_proof, write_binary, write_text


def steps_of(proof):
    bounds = list(zip(proof.starts[:-1], proof.starts[1:], strict=True))
    return [
        (bool(deletion), proof.literals[a:b].tolist())
        for deletion, (a, b) in zip(proof.deletion, bounds, strict=True)
    ]


@given(STEPS)
def test_both_formats_give_the_proof_back(steps):
    proof = proof_of(steps)
    assert steps_of(read_proof(write_binary(proof), "drat-binary")) == steps
    ended = next((index for index, step in enumerate(steps) if step == (False, [])), len(steps))
    assert steps_of(read_proof(write_text(proof), "drat-text")) == steps[: ended + 1]


@given(st.binary(max_size=60))
def test_arbitrary_bytes_are_a_proof_or_a_refusal_and_never_anything_else(data):
    for spelling in ("auto", "drat-text", "drat-binary"):
        try:
            proof = read_proof(data, spelling)
        except BadProof:
            continue
        assert proof.starts[-1] == len(proof.literals)
        assert (proof.literals != 0).all()


@given(STEPS.filter(bool), st.data())
def test_a_binary_proof_cut_anywhere_within_a_step_is_refused(steps, data):
    whole = write_binary(proof_of(steps))
    ends = {len(write_binary(proof_of(steps[:count]))) for count in range(len(steps) + 1)}
    cut = data.draw(st.integers(0, len(whole)).filter(lambda place: place not in ends))
    with pytest.raises(BadProof, match="cut short"):
        read_proof(whole[:cut], "drat-binary")


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b"", []),
        (b"0", [(False, [])]),
        (b"1 -2 0 d 1\n-2 0 0", [(False, [1, -2]), (True, [1, -2]), (False, [])]),
        (b"c x 1 0\n2 0\n", [(False, [2])]),
        (b"d 16 0\n", [(True, [16])]),
        (b"d\x04\x00a\x00", [(True, [2]), (False, [])]),
        (b"a 0\x00", [(False, [16, 24])]),
    ],
)
def test_the_format_is_told_from_the_bytes(data, expected):
    assert steps_of(read_proof(data)) == expected
