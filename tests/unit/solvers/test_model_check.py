"""The model check against one that tries every clause."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.errors import InputError
from evolake.reading import formula as model_check
from evolake.reading.formula import falsified_clauses, formula_of

LITERAL = st.integers(1, 6).flatmap(lambda variable: st.sampled_from([variable, -variable]))


@given(
    st.lists(st.lists(LITERAL, max_size=4), max_size=12),
    st.lists(st.sampled_from([-1, 0, 1]), min_size=8, max_size=8),
    st.booleans(),
)
def test_falsified_clauses_are_those_without_a_true_literal(clauses, signs, sparse):
    model = [sign * variable for variable, sign in enumerate(signs, 1) if sign]
    expected = [index for index, clause in enumerate(clauses) if not set(clause) & set(model)]
    with pytest.MonkeyPatch.context() as patch:
        if sparse:
            patch.setattr(model_check, "SPARSE", 1)
        assert falsified_clauses(formula_of(6, clauses), model).tolist() == expected
        assert (
            falsified_clauses(formula_of(6, clauses), np.array(model[::-1], dtype=np.int32)).tolist()
            == expected
        )


@pytest.mark.parametrize(("model", "part"), [([1, -1], "both values"), ([1, 0], "holds 0")])
def test_a_model_that_is_none_is_refused(model, part):
    with pytest.raises(InputError, match=part):
        falsified_clauses(formula_of(2, [[1], [2]]), model)


def test_a_formula_over_two_billion_variables_is_checked_by_its_literals():
    formula = formula_of(2**31 - 1, [[2**31 - 1], [-7], []])
    assert falsified_clauses(formula, [2**31 - 1, -7]).tolist() == [2]
