"""Solvers that a design is compared with: nothing that they send is taken on trust."""

import math

import numpy as np
import pytest

from evolake.designs.engines import other_solvers
from evolake.designs.engines.other_solvers import Solved
from evolake.designs.model.instances import planted, read_formulas, write_dimacs
from evolake.errors import InputError, MachineryError

INSTANCES = planted(12, 3, 4)
MODELS = ["".join(str(int(value > 0)) for value in hidden) for hidden in INSTANCES.hidden]


def lines(models):
    return [f"1 {10 * place} 0.5 {model}" for place, model in enumerate(models, 1)]


def test_a_reply_of_true_models_is_taken_and_seconds_are_shared_out_by_flips():
    result = other_solvers._checked("probSAT", lines(MODELS), INSTANCES)
    assert (result.share, result.steps.tolist()) == (1.0, [10, 20, 30])
    assert result.cpu_s.tolist() == [0.25, 0.5, 0.75]


@pytest.mark.parametrize(
    "reply",
    [
        lines([MODELS[1], MODELS[0], MODELS[2]]),
        lines(MODELS[:2]),
        lines([MODELS[0] + "1", *MODELS[1:]]),
        ["1 2 0.5", *lines(MODELS)[1:]],
        ["1 many 0.5 0", *lines(MODELS)[1:]],
    ],
    ids=["another's model", "a line too few", "too long", "no model", "no number"],
)
def test_a_reply_that_cannot_be_is_an_error(reply):
    with pytest.raises(MachineryError, match="sent a reply that cannot be"):
        other_solvers._checked("MiniSat", reply, INSTANCES)


def test_a_median_that_was_not_reached_is_infinite():
    status = np.array([1] * 6 + [0] * 4)
    result = Solved("x", status, np.arange(10), np.zeros(10))
    assert result.median(result.steps) == (4.5, 1.0, math.inf)
    assert Solved("x", 1 - status, np.arange(10), np.zeros(10)).median(np.arange(10)) == (
        math.inf,
        7.0,
        math.inf,
    )


def test_formulas_are_read_as_they_were_written_and_others_are_refused(tmp_path):
    write_dimacs(INSTANCES, tmp_path)
    (batch,) = read_formulas(tmp_path)
    assert np.array_equal(batch.idx, INSTANCES.idx) and np.array_equal(batch.sgn, INSTANCES.sgn)
    for text in ("p cnf 3 1\n1 2 0\n", "p cnf 3 1\n1 -1 2 0\n", "p cnf 3 0\n"):
        (tmp_path / "other.cnf").write_text(text)
        with pytest.raises(InputError, match="no 3-SAT formula"):
            read_formulas(tmp_path)
