"""When blocks by what judging raised look like a fault of ours: several at one place or of one class, or a
large share of the cycle."""

import pytest

from evolake.gates import Raised, contained, read_reason
from evolake.gates.boundary import Faults, Judged, Place, find_faults, suspicion
from evolake.objectives.kendall import rank_rows

HERE = "judging it raised TypeError at reading.py:40: no list"


def seen(*reasons: str, others: int = 20) -> Faults:
    """A cycle in which these reasons blocked one candidate each and `others` met none."""
    raising = [Judged(f"r{number}", "form", reason) for number, reason in enumerate(reasons)]
    return find_faults(
        [*raising, *(Judged(f"o{number}", "form", "" if number % 2 else None) for number in range(others))]
    )


@pytest.mark.parametrize(
    "raised", [Raised("TypeError", "a: b\nc; d", "reading.py:40"), Raised("KeyError", "", "unknown")]
)
def test_a_reason_is_read_back_as_what_raised(raised):
    assert read_reason(raised.reason) == raised


def test_what_really_raised_is_read_back_from_its_reason():
    result = contained(rank_rows, [None])
    assert isinstance(result, Raised) and result.place.startswith("kendall.py:")
    assert read_reason(result.reason) == result


@pytest.mark.parametrize(
    "reason",
    [None, "", "too large", f"its README says {HERE}", "judging it raised", "judging it raised a fuss"],
)
def test_other_reasons_are_not_taken_for_it(reason):
    assert read_reason(reason) is None


def test_the_place_is_of_our_code_also_where_the_project_lies_in_a_folder_of_our_name(tmp_path, monkeypatch):
    (tmp_path / "evolake" / "site").mkdir(parents=True)
    (tmp_path / "evolake" / "site" / "a_stranger.py").write_text("def fail(): raise ValueError('x')")
    monkeypatch.syspath_prepend(str(tmp_path / "evolake" / "site"))
    import a_stranger  # pyright: ignore[reportMissingImports]

    assert contained(a_stranger.fail) == Raised("ValueError", "x", "unknown")


def test_a_normal_cycle_is_above_suspicion():
    assert suspicion(seen()) == "" == suspicion(find_faults([]))


def test_one_candidate_among_many_is_news_about_the_candidate():
    assert suspicion(seen(HERE)) == ""


def test_two_at_one_place_look_like_a_fault_of_ours():
    faults = seen(HERE, "judging it raised ValueError at reading.py:40")
    assert suspicion(faults) == "judging 2 of 22 candidates raised an error, 2 of them at reading.py:40"
    assert faults.places == (
        Place(Raised("TypeError", "no list", "reading.py:40"), ("r0",), ("form",)),
        Place(Raised("ValueError", "", "reading.py:40"), ("r1",), ("form",)),
    )


def test_two_of_one_class_look_like_a_fault_of_ours():
    faults = seen(HERE, "judging it raised TypeError at syntax.py:7")
    assert suspicion(faults) == "judging 2 of 22 candidates raised an error, 2 of them with TypeError"


def test_two_of_different_kinds_do_not():
    assert suspicion(seen(HERE, "judging it raised ValueError at syntax.py:7")) == ""
    assert (
        suspicion(seen("judging it raised KeyError at unknown", "judging it raised ValueError at unknown"))
        == ""
    )


def test_one_candidate_that_raises_twice_counts_once():
    faults = find_faults(
        [
            Judged("a", "form", HERE),
            Judged("a", "leak", HERE),
            *(Judged(str(number), "form", None) for number in range(9)),
        ]
    )
    assert (faults.candidates, faults.raised, suspicion(faults)) == (10, 1, "")
    assert faults.places == (
        Place(Raised("TypeError", "no list", "reading.py:40"), ("a",), ("form", "leak")),
    )


@pytest.mark.parametrize(("others", "expected"), [(4, ""), (3, "judging 1 of 4 candidates raised an error")])
def test_more_than_a_fifth_of_the_cycle_is_looked_at_whatever_it_raised(others, expected):
    assert suspicion(seen(HERE, others=others)) == expected
