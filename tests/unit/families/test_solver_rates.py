"""What naive programs misread, which levels are easier than the one before, and what a band keeps."""

from typing import Any

import numpy as np
import pytest

from evolake.errors import InputError
from evolake.families.dataset.datasets import Dataset, Provenance
from evolake.families.dataset.exports import described
from evolake.families.dataset.solver_rates import (
    SLIP,
    Band,
    hasty,
    rate_rows,
    rates_of,
    read_band,
    rises,
    skips,
    slips,
)
from evolake.families.independence import keep_rows
from evolake.families.tables import SOLVER_RATES
from evolake.lake import Lake

DATA = {"names": ["ann", "bob", "cid"], "ages": [4, 5, 6], "asked": 2, "moves": list(range(12))}


def test_a_hasty_solver_leaves_out_the_end_of_the_longest_list_and_nothing_else():
    assert hasty(DATA, np.random.default_rng(0)) == DATA | {"moves": list(range(8))}
    assert hasty({"a": DATA, "b": [1, 2]}, np.random.default_rng(0))["a"]["moves"] == list(range(8))
    facts = DATA | {"facts": [[1, 2], [2, 3], [3, 4], [4, 5]]}
    assert hasty(facts, np.random.default_rng(0)) == facts | {"facts": [[1, 2], [2, 3], [3, 4]]}


def test_lists_of_one_length_next_to_each_other_lose_the_same_entries():
    long = {"names": [f"n{number}" for number in range(200)], "ages": list(range(200)), "few": [1, 2]}
    cut = skips(long, np.random.default_rng(1))
    assert 200 > len(cut["ages"]) > 200 * (1 - 3 * SLIP)
    assert cut["names"] == [f"n{age}" for age in cut["ages"]] and cut["few"] == [1, 2]


def test_single_data_are_misread_as_a_neighbour_or_as_another_word():
    words = {"names": ["ann", "bob"] * 100, "ages": [5] * 200, "open": [True] * 200}
    read = slips(words, np.random.default_rng(2))
    assert set(read["ages"]) == {4, 5, 6} and set(read["names"]) == {"ann", "bob"}
    wrong = [sum(one != two for one, two in zip(read[key], words[key], strict=True)) for key in words]
    assert all(0 < count < 200 * 3 * SLIP for count in wrong)
    assert read["open"].count(False) == wrong[2]


def test_a_level_is_easier_only_beyond_the_noise():
    def half(share: float) -> list[float]:
        return [1.0] * int(40 * share) + [0.0] * int(40 * (1 - share))

    assert rises({1: half(0.9), 3: half(0.5), 5: half(0.6), 10: half(0.1)}) == []
    assert rises({1: half(0.2), 3: half(0.5), 5: half(0.4), 10: half(0.7)}) == [(1, 3), (5, 10)]


def row(family: str, level: int, right: int, questions: int, solver: str = "pool") -> dict[str, Any]:
    [made] = rate_rows(family, {solver: {level: [1.0] * right + [0.0] * (questions - right)}})
    return made


def test_a_band_keeps_what_is_measured_to_be_in_it():
    band = Band(0.3, 0.7, "pool")
    assert band.holds(row("f", 1, 20, 40)) is True
    assert band.holds(row("f", 1, 36, 40)) is False
    assert band.holds(row("f", 1, 5, 10)) is None, "the interval is wider than the band"
    assert Band(0, 1, "pool").holds(row("f", 1, 1, 2)) is True


def dataset(*levels: tuple[str, int]) -> Dataset:
    made_by = Provenance([], [], ["0001"], [], [], [])
    rows = [{"family_id": family, "difficulty": level} for family, level in levels]
    return Dataset(
        rows, [{"family_id": name} for name in dict.fromkeys(row[0] for row in levels)], made_by, {}
    )


def test_an_export_of_a_band_says_what_it_left_out_and_each_row_whose_share_it_is():
    data = dataset(("f", 1), ("f", 5), ("g", 1), ("h", 1))
    rates = [row("f", 1, 40, 40), row("f", 5, 20, 40), row("g", 1, 2, 4)]
    kept = data.in_band(Band(0.3, 0.7, "pool"), rates)
    assert kept.families == [{"family_id": "f"}]
    assert [described(item) | item for item in kept.instances] == [
        described({}) | {"family_id": "f", "difficulty": 5, "solver": "pool", "solver_rate": 0.5}
    ]
    said = kept.made_by.difficulty
    for part in ("0.3:0.7", "`pool`", "1 of 4", "1 are outside", "1 were asked too few", "1 were not asked"):
        assert part in said
    assert "solver" not in described(data.instances[0])


def test_a_band_without_a_level_is_refused():
    with pytest.raises(InputError, match="no family and level is in the band 0.9:1 of the solver pool"):
        dataset(("f", 1)).in_band(Band(0.9, 1, "pool"), [row("f", 1, 20, 40)])


@pytest.mark.parametrize("text", ["0.7:0.3", "0.3", "x:y", "0:2", "-1:0.5", "nan:1", "0.1:0.2:0.3", ""])
def test_what_is_no_band_is_refused(text):
    with pytest.raises(InputError, match="--difficulty is not a band"):
        read_band(text, "pool")


def test_a_band_needs_a_solver_that_was_measured(tmp_path):
    with pytest.raises(InputError, match="--difficulty needs a solver"):
        read_band("0.3:0.7", None)
    lake = Lake(tmp_path)
    with pytest.raises(InputError, match="nothing was measured of a solver 'pool'"):
        rates_of(lake, "pool")
    keep_rows(lake, SOLVER_RATES, [row("f", 1, 2, 4), row("f", 3, 2, 4, "guess")])
    keep_rows(lake, SOLVER_RATES, [row("f", 1, 3, 4)])
    assert [item["correct"] for item in rates_of(lake, "pool")] == [3.0], "the newest measurement counts"
    with pytest.raises(InputError, match="'nosuch'") as error:
        rates_of(lake, "nosuch")
    assert error.value.wanted == "one of guess, pool"
