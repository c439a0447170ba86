"""Batches of uniform satisfiable formulas: drawn from the seed alone, kept as files, and no file is
believed."""

import numpy as np
import pytest

from evolake.designs.engines.isolated import Run
from evolake.designs.model import instances
from evolake.designs.model.instances import (
    PLANTED,
    FormulaKind,
    Planted,
    cache_folder,
    draw_formulas,
    planted,
    uniform_kind,
)
from evolake.errors import InputError

UNIFORM = uniform_kind(4.0)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(instances.FOLDER, str(tmp_path / "formulas"))
    return tmp_path / "formulas"


def content(batch: Planted) -> tuple[bytes, bytes, bytes]:
    return batch.idx.tobytes(), batch.sgn.tobytes(), batch.hidden.tobytes()


def test_planted_formulas_are_those_of_before():
    assert content(draw_formulas(PLANTED, 20, 3, 7)) == content(planted(20, 3, 7))
    assert (
        content(draw_formulas(FormulaKind(p0=0.2), 20, 3, 7))
        == content(planted(20, 3, 7, p0=0.2))
        != content(planted(20, 3, 7))
    )
    assert Run("{}", 20, 3, 7, 10, instance_seed=7, ratio=4.3).formulas == PLANTED


def test_uniform_formulas_are_satisfied_by_their_assignments_and_hide_none():
    batch = draw_formulas(UNIFORM, 60, 12, 5)
    assert (batch.idx.shape, batch.m) == ((12, 240, 3), 240)
    literal = (
        np.take_along_axis(batch.hidden, batch.idx.reshape(12, -1), axis=1).reshape(batch.idx.shape)
        * batch.sgn
    )
    assert (literal > 0).any(axis=2).all()
    assert all(len(set(clause)) == 3 for clause in batch.idx[0].tolist())
    # unlike under a planted assignment with p0 = 0.08, about one clause in seven or more has three true
    # literals
    assert np.mean((literal > 0).all(axis=2)) > 0.12


def test_the_same_seed_gives_the_same_formulas_with_the_cache_and_without(folder):
    first = content(draw_formulas(UNIFORM, 40, 4, 5))
    (file,) = folder.iterdir()
    assert content(draw_formulas(UNIFORM, 40, 4, 5)) == first
    file.unlink()
    assert content(draw_formulas(UNIFORM, 40, 4, 5)) == first
    assert content(draw_formulas(UNIFORM, 40, 4, 6)) != first


@pytest.mark.parametrize("damage", ["cut", "text", "unsatisfied", "other shape"])
def test_a_damaged_file_is_drawn_again(folder, damage):
    batch = draw_formulas(UNIFORM, 40, 4, 5)
    (file,) = folder.iterdir()
    match damage:
        case "cut":
            file.write_bytes(file.read_bytes()[:100])
        case "text":
            file.write_text("no archive")
        case "unsatisfied":
            np.savez_compressed(file, idx=batch.idx, sgn=batch.sgn, hidden=-np.ones_like(batch.hidden))
        case _:
            np.savez_compressed(file, idx=batch.idx[:2], sgn=batch.sgn[:2], hidden=batch.hidden[:2])
    assert content(draw_formulas(UNIFORM, 40, 4, 5)) == content(batch)


def test_a_cache_that_cannot_be_written_is_no_error(monkeypatch, tmp_path):
    first = content(draw_formulas(UNIFORM, 30, 2, 5))
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv(instances.FOLDER, str(blocked / "below"))
    assert content(draw_formulas(UNIFORM, 30, 2, 5)) == first and cache_folder() == blocked / "below"


def test_a_ratio_at_which_hardly_any_is_satisfiable_is_refused(monkeypatch):
    monkeypatch.setattr(instances, "MOST_DRAWN", 4)
    with pytest.raises(InputError, match="hardly any uniform formula") as caught:
        draw_formulas(uniform_kind(9.0), 40, 2, 5)
    assert "4.2" in caught.value.do
    with pytest.raises(InputError, match="no such batch"):
        draw_formulas(UNIFORM, 2, 2, 5)
