"""Effects that a mean hides: by family of formulas, on how many a challenger helps, and how likely on a new
one."""

from collections.abc import Mapping

from evolake.solvers.measurement.duel_families import family_lines, family_rows, helped, helped_in
from evolake.solvers.tables import CONTEST_FAMILIES, DUELS


def trial(
    formula: str, part: str, cpu_s: float, pair: int = 0, status: str = "unsat", copy: str = ""
) -> dict:
    return {
        "cycle": "0001",
        "champion_id": "old",
        "challenger_id": "new",
        "instance": formula + copy,
        "formula": formula,
        "pair": pair,
        "part": part,
        "place": 0,
        "variant_id": {"champion": "old", "challenger": "new"}[part],
        "status": status,
        "solved": status == "unsat",
        "certificate": "proof",
        "proof_status": "verified",
        "cpu_s": cpu_s,
        "conflicts": 10,
        "timeout_s": 5.0,
        "host": "here",
        "proof_bytes": 1,
    }


def trials(costs: Mapping[str, tuple[float, float]]) -> list[dict]:
    return [
        trial(name, part, cost)
        for name, pair in costs.items()
        for part, cost in zip(("champion", "challenger"), pair, strict=True)
    ]


COSTS = {
    "a1": (1.0, 0.5),
    "a2": (2.0, 1.0),
    "a3": (1.0, 0.4),
    "b1": (0.5, 1.0),
    "b2": (1.0, 2.1),
    "b3": (0.4, 0.405),
}
FAMILY = {name: {"a": "halved", "b": "doubled"}[name[0]] for name in COSTS}


def test_a_mean_near_one_that_hides_opposite_effects_is_taken_apart():
    rows = CONTEST_FAMILIES.frame(family_rows(trials(COSTS), FAMILY)).to_dicts()
    assert [(row["family"], row["formulas"], row["gained"], row["lost"]) for row in rows] == [
        ("doubled", 3, 0, 2),
        ("halved", 3, 3, 0),
    ]
    first, second, last = family_lines(rows)
    assert first.startswith(
        "doubled: 3 formulas, solved 3 and 3, PAR-2 0.633 s and 1.17 s; costs less on 0 of 3 formulas and "
        "more on 2"
    )
    assert second.endswith(
        "costs less on 3 of 3 formulas and more on 0; on a new formula like these it helps with "
        "probability 1.00 (0.44 to 1.00)"
    )
    assert (
        last == "the mean hides opposite effects: it costs less on most formulas of halved, and more on most "
        "of doubled"
    )
    found = helped(DUELS.frame(trials(COSTS)))
    assert found is not None and (found.gained, found.lost, found.formulas, found.share.estimate) == (
        3,
        2,
        6,
        0.5,
    )


def test_copies_and_passes_of_a_formula_count_once():
    rows = [
        trial("a1", part, cost, pair, copy=copy)
        for copy in ("", "~s1")
        for pair in (0, 1)
        for part, cost in (("champion", 1.0), ("challenger", 3.0 if pair else 0.5))
    ]
    [family] = family_rows(rows, {"a1": "a", "a1~s1": "a"})
    assert (family["formulas"], family["gained"], family["lost"]) == (1, 0, 1)


def test_a_run_that_the_clock_cut_is_on_neither_side():
    rows = [trial("a1", "champion", 1.0), trial("a1", "challenger", 1.0, status="clock")]
    [family] = family_rows(rows, {"a1": "a"})
    assert (family["gained"], family["lost"], helped(DUELS.frame(rows))) == (None, None, None)
    assert helped_in(family) is None and family_lines([family]) == []
