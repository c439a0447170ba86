"""Planted instances: what is promised of them, and the DIMACS text."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from evolake.designs.model.instances import P0, planted, to_dimacs, write_dimacs


@settings(deadline=None, max_examples=60)
@given(n=st.integers(3, 40), batch=st.integers(1, 5), seed=st.integers(0, 2**40), ratio=st.floats(0.5, 8.0))
def test_the_hidden_assignment_satisfies_every_clause_of_three_distinct_variables(n, batch, seed, ratio):
    instances = planted(n, batch, seed, ratio=ratio)
    assert instances.idx.shape == instances.sgn.shape == (batch, int(ratio * n), 3)
    assert instances.idx.min() >= 0
    assert instances.idx.max() < n
    assert set(np.unique(instances.sgn)) <= {-1, 1}
    ordered = np.sort(instances.idx, axis=2)
    assert (np.diff(ordered, axis=2) > 0).all()
    values = np.take_along_axis(instances.hidden, instances.idx.reshape(batch, -1), axis=1).reshape(
        instances.idx.shape
    )
    assert (values * instances.sgn > 0).any(axis=2).all()


def test_clauses_hold_three_two_and_one_true_literals_in_the_stated_proportions():
    instances = planted(200, 60, 11)
    true = (
        np.take_along_axis(instances.hidden, instances.idx.reshape(60, -1), axis=1).reshape(
            instances.idx.shape
        )
        * instances.sgn
        > 0
    ).sum(axis=2)
    shares = [(true == count).mean() for count in (0, 1, 2, 3)]
    error = 4 * np.sqrt(0.25 / true.size)
    assert shares[0] == 0
    assert np.allclose(shares[1:], [(1 + 2 * P0) / 2, (1 - 4 * P0) / 2, P0], atol=error)


def test_false_literals_and_variables_are_placed_uniformly():
    instances = planted(50, 200, 12)
    false = (
        np.take_along_axis(instances.hidden, instances.idx.reshape(200, -1), axis=1).reshape(
            instances.idx.shape
        )
        * instances.sgn
        < 0
    )
    assert np.allclose(false.mean(axis=(0, 1)), false.mean(), atol=0.01)
    counts = np.bincount(instances.idx.ravel(), minlength=50) / instances.idx.size
    assert np.allclose(counts, 1 / 50, atol=0.002)
    assert abs(instances.sgn.mean()) < 0.02


def test_the_same_seed_gives_the_same_bytes_and_another_one_others():
    first, same, other = planted(30, 4, 5), planted(30, 4, 5), planted(30, 4, 6)
    assert (
        first.idx.tobytes() + first.sgn.tobytes() + first.hidden.tobytes()
        == same.idx.tobytes() + same.sgn.tobytes() + same.hidden.tobytes()
    )
    assert first.idx.tobytes() != other.idx.tobytes()


def test_dimacs_text_says_the_same_clauses(tmp_path):
    instances = planted(9, 3, 2)
    lines = to_dimacs(instances, 1).splitlines()
    clauses = np.array([[int(word) for word in line.split()] for line in lines[2:]])
    assert lines[1] == f"p cnf 9 {instances.m}"
    assert (clauses[:, 3] == 0).all()
    assert np.array_equal(np.abs(clauses[:, :3]) - 1, instances.idx[1])
    assert np.array_equal(np.sign(clauses[:, :3]), instances.sgn[1])
    paths = write_dimacs(instances, tmp_path / "cnf")
    assert [path.read_text() for path in paths] == [to_dimacs(instances, index) for index in range(3)]
