"""DIMACS in and out, strictly; shuffled and renamed copies are the same problem."""

import gzip
import itertools
import lzma

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evolake.errors import InputError
from evolake.reading.formula import (
    Formula,
    formula_of,
    random_renaming,
    read_cnf_file,
    read_dimacs,
    renamed,
    renamed_at_random,
    shuffled,
    write_dimacs,
)

LITERAL = st.integers(1, 6).flatmap(lambda variable: st.sampled_from([variable, -variable]))
CLAUSES = st.lists(st.lists(LITERAL, max_size=5), max_size=12)


def rows(formula):
    return [formula.literals[start:end].tolist() for start, end in itertools.pairwise(formula.starts)]


def models(formula):
    """How many assignments satisfy it, by trying all."""
    count = 0
    for values in itertools.product((-1, 1), repeat=formula.variables):
        count += all(any(values[abs(literal) - 1] * literal > 0 for literal in row) for row in rows(formula))
    return count


@pytest.mark.parametrize(
    ("data", "variables", "expected"),
    [
        (b"p cnf 3 2\n1 -2 0\n3 0\n", 3, [[1, -2], [3]]),
        (b"c one\nc two\np cnf 3 2\nc three\n1\n-2 0 3\n0", 3, [[1, -2], [3]]),
        (b"p  cnf  2\t1 \r\n1 2 0\r\n", 2, [[1, 2]]),
        (b"p cnf 0 0", 0, []),
        (b"p cnf 5 0\n", 5, []),
        (b"p cnf 0 1\n0\n", 0, [[]]),
        (b"p cnf 1 2\n1 -1 1 0 0", 1, [[1, -1, 1], []]),
        (b"p cnf 2 1\n1 2 0\n%\n0\n\n", 2, [[1, 2]]),
        (b"p cnf 2147483647 1\n2147483647 -1 0\n", 2147483647, [[2147483647, -1]]),
    ],
)
def test_what_is_a_formula(data, variables, expected):
    formula = read_dimacs(data)
    assert (formula.variables, rows(formula)) == (variables, expected)
    assert formula.literals.dtype == np.int32 and formula.starts.dtype == np.int64


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"", "no header"),
        (b"1 2 0\n", "no header"),
        (b"p dnf 1 1\n1 0\n", "no header"),
        (b"p cnf 1\n1 0\n", "no header"),
        (b"p cnf 1 1\n1 x 0\n", "not a literal"),
        (b"p cnf 1 1\n1 0\nfoo\n", "not a literal"),
        (b"p cnf 1 1\n- 1 0\n", "not a literal"),
        (b"p cnf 1 1\n-0\n", "not a literal"),
        (b"p cnf 1 1\n1-1 0\n", "not a literal"),
        (b"p cnf 1 1\n01 0\n", "not a literal"),
        (b"p cnf 1 1\n1.0 0\n", "not a literal"),
        (b"p cnf 1 1\n99999999999 0\n", "not a literal"),
        (b"p cnf 1 1\n1 0\np cnf 1 1\n", "not a literal"),
        (b"p cnf 1 1\n1", "no end"),
        (b"p cnf 1 2\n1 0\n", "disagrees"),
        (b"p cnf 1 1\n1 0\n1 0\n", "disagrees"),
        (b"p cnf 1 1\n2 0\n", "disagrees"),
        (b"p cnf 1 1\n2147483648 0\n", "names variable 2147483648"),
        (b"p cnf 2147483648 0\n", "declares 2147483648 variables"),
        (b"p cnf 1 1\n1 0\n%\n1 0\n", "continues after"),
    ],
)
def test_what_is_none(data, part):
    with pytest.raises(InputError, match=part):
        read_dimacs(data)


@given(CLAUSES, st.integers(6, 9))
def test_writing_and_reading_gives_the_formula_back(clauses, variables):
    formula = formula_of(variables, clauses)
    assert read_dimacs(write_dimacs(formula)) == formula
    assert rows(formula) == clauses


@settings(max_examples=40)
@given(CLAUSES, st.integers(0, 2**32 - 1), st.booleans())
def test_a_shuffled_or_renamed_copy_is_the_same_problem(clauses, seed, flip):
    formula = formula_of(6, clauses)
    rng = np.random.default_rng(seed)
    for copy in (
        shuffled(formula, rng, flip=flip),
        renamed_at_random(formula, rng, flip=flip),
        renamed(formula, random_renaming(6, rng, flip=flip)),
    ):
        assert models(copy) == models(formula)
        assert sorted(map(len, rows(copy))) == sorted(map(len, clauses))


def test_a_shuffle_is_the_seeds_own_and_moves_everything():
    clauses = [[a, -b, c] for a, b, c in itertools.combinations(range(1, 9), 3)]
    formula = formula_of(8, clauses)
    first, again, other = (shuffled(formula, np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert first == again
    assert first != other
    assert first != formula


def test_a_formula_of_few_but_huge_variables_is_renamed_without_an_array_over_all_names():
    formula = Formula(2**31 - 1, np.array([2**31 - 1, -7], dtype=np.int32), np.array([0, 2]))
    assert sorted(np.abs(shuffled(formula, np.random.default_rng(0)).literals).tolist()) == [7, 2**31 - 1]


@pytest.mark.parametrize(
    ("name", "pack"), [("a.cnf", bytes), ("a.cnf.gz", gzip.compress), ("a.cnf.xz", lzma.compress)]
)
def test_compressed_files_are_read(name, pack, tmp_path):
    (tmp_path / name).write_bytes(pack(b"p cnf 1 1\n1 0\n"))
    assert rows(read_cnf_file(tmp_path / name)) == [[1]]
