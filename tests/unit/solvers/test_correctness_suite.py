"""The correctness gate's formulas: at least 32, no two alike, other ones for another seed."""

import numpy as np
import pytest

from evolake.errors import InputError, MachineryError
from evolake.lake.blobs import BlobStore
from evolake.reading.formula import read_cnf_file
from evolake.settings import load, profile_names
from evolake.solvers.settings import SolversSettings
from evolake.solvers.suites.fresh import LEAST, correctness_suite


def test_the_formulas_differ_in_more_than_their_names(tmp_path):
    first, other = (
        correctness_suite(BlobStore(tmp_path / "lake"), tmp_path / "cache", seed) for seed in (1, 2)
    )
    assert len(first.instances) == LEAST == 32
    assert (
        len({item.sha for item in first.instances}) == len({item.base for item in first.instances}) == LEAST
    )
    assert not {item.sha for item in first.instances} & {item.sha for item in other.instances}
    assert correctness_suite(BlobStore(tmp_path / "lake"), tmp_path / "cache", 1) == first
    assert all(item.shuffle == 0 for item in first.instances)
    assert len({item.seed for item in first.instances}) == LEAST
    uneven = [
        read_cnf_file(item.path, lenient=True)
        for item in first.instances
        if item.path is not None and item.family != "parity"
    ]
    counts = {
        (*np.sort(np.bincount(np.abs(formula.literals))).tolist(), int((formula.literals > 0).sum()))
        for formula in uneven
    }
    assert len(counts) == len(uneven), (
        "none is a renaming or a shuffle of another; parity formulas, of graphs with equal degrees, do "
        "not show it so"
    )
    assert {item.status for item in first.instances} == {"SAT", "UNSAT", "unknown"}


def test_fewer_are_refused(tmp_path, monkeypatch):
    with pytest.raises(MachineryError, match="shows too little"):
        correctness_suite(BlobStore(tmp_path / "lake"), tmp_path / "cache", 1, LEAST - 1)
    assert all(load(name).of(SolversSettings).correctness_instances >= LEAST for name in profile_names())
    monkeypatch.setenv("EVOLAKE_SOLVERS__CORRECTNESS_INSTANCES", "8")
    with pytest.raises(InputError, match="correctness_instances"):
        load("demo")
