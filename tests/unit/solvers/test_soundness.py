"""Verdicts on what ran: who is unsound, by what, and who is not."""

from pathlib import Path
from typing import Any

import pytest
from solver_runs import run_row

from evolake.gates import load_rules
from evolake.lake.blobs import BlobStore
from evolake.settings import load, profile_names
from evolake.solvers.evolution.cycle_benchmark import current_runs
from evolake.solvers.evolution.population import empty_population
from evolake.solvers.gates.judging import objections, stage_judge, unsound_in
from evolake.solvers.proof.checking import is_drawn, key_for, new_key
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables import DUELS, LATE_GATES, RUNS, VARIANTS

RULES = load_rules(Path(__file__).parents[3] / "data_lake" / "seeds" / "rules", "solvers")
UNPROVED: dict[str, Any] = {"certificate": None, "solved": False}


def judged(rows: list[dict[str, Any]], tmp_path: Path, gate: str = "benchmark") -> set[str]:
    verdicts = stage_judge(gate, RULES, BlobStore(tmp_path), cycle="0004", run_id="r")(rows)
    assert {verdict.artifact_id for verdict in verdicts} == {row["variant_id"] for row in rows}
    return unsound_in(verdicts)


@pytest.mark.parametrize("gate", LATE_GATES)
@pytest.mark.parametrize(
    ("row", "unsound"),
    [
        (run_row("v", "a", "unsat", 1.0), False),
        (run_row("v", "a", "sat", 1.0), False),
        (run_row("v", "a", "timeout", 9.0), False),
        (run_row("v", "a", "unsat", 1.0, proof_status="unknown", **UNPROVED), False),
        (run_row("v", "a", "unsat", 1.0, proof_status="unchecked", **UNPROVED), False),
        (run_row("v", "a", "unknown", 1.0, answer="UNSAT", proof_status=None, **UNPROVED), False),
        (run_row("v", "a", "unsat", 1.0, proof_status="refuted", **UNPROVED), True),
        (run_row("v", "a", "unsat", 1.0, proof_status="missing", **UNPROVED), True),
        (run_row("v", "a", "unsat", 1.0, proof_status="unsupported", **UNPROVED), True),
        (run_row("v", "a", "wrong", 1.0, answer="SAT", **UNPROVED), True),
        (run_row("v", "a", "wrong", 1.0, answer="UNSAT", expected="SAT", **UNPROVED), True),
    ],
)
def test_one_refuted_answer_is_enough_and_what_a_limit_left_open_is_none(gate, row, unsound, tmp_path):
    sound = [run_row("v", name, "sat", 1.0) for name in ("b", "c")] + [
        run_row("w", name, "unsat", 1.0) for name in ("b", "c")
    ]
    assert judged([*sound, row], tmp_path, gate) == ({"v"} if unsound else set())


def test_a_model_by_one_variant_refutes_an_unproved_unsat_of_another(tmp_path):
    rows = [
        run_row("guesses", "open", "unsat", 1.0, expected="unknown", proof_status="unknown", **UNPROVED),
        run_row("solves", "open", "sat", 5.0, expected="unknown"),
        run_row("proves", "other", "unsat", 5.0, expected="unknown"),
    ]
    assert judged(rows, tmp_path) == {"guesses"}
    assert judged(rows[:1] + rows[2:], tmp_path) == set()


def trial(
    variant: str, pair: int, proof_bytes: int | None, *, status: str = "unsat", instance: str = "a"
) -> dict[str, Any]:
    """A row of DUELS."""
    row = {
        name: value
        for name, value in run_row(variant, instance, status, 1.0).items()
        if name in DUELS.columns
    }
    return row | {
        "champion_id": "v",
        "challenger_id": "w",
        "pair": pair,
        "part": "champion",
        "place": 0,
        "proof_bytes": proof_bytes,
    }


@pytest.mark.parametrize(
    ("rows", "blocked"),
    [
        ([trial("v", 0, 40), trial("v", 1, 40), trial("w", 0, 41), trial("w", 1, 41)], set()),
        ([trial("v", 0, 40), trial("v", 1, 40), trial("w", 0, 41), trial("w", 1, 40)], {"w"}),
        (
            [
                trial("v", 0, 40, status="sat"),
                trial("v", 1, 40, status="sat"),
                trial("v", 2, 48, status="sat"),
                trial("w", 0, 40),
            ],
            {"v"},
        ),
        (
            [
                trial("v", 0, 40),
                trial("v", 1, 4000, status="timeout"),
                trial("v", 2, 48, status="unknown"),
                trial("w", 0, 40),
            ],
            set(),
        ),
        ([trial("v", 0, 40), trial("v", 1, 48, instance="b"), trial("w", 0, 40)], set()),
        ([trial("v", 0, None), trial("v", 1, None), trial("w", 0, 40), trial("w", 1, None)], set()),
    ],
)
def test_answered_runs_of_one_formula_in_duels_write_proofs_of_one_length(rows, blocked, tmp_path):
    DUELS.frame(rows)
    assert judged(rows, tmp_path, "duel") == blocked
    assert judged(rows, tmp_path, "benchmark") == set(), "only duels are asked"


def test_the_earliest_gate_that_objects_is_the_reason():
    rows = [
        {"artifact_id": "v", "outcome": outcome, "gate_no": number, "gate": gate}
        for outcome, number, gate in (
            ("block", 6, "duel"),
            ("pass", 4, "stability"),
            ("block", 5, "benchmark"),
        )
    ]
    assert {name: row["gate"] for name, row in objections(rows).items()} == {"v": "benchmark"}
    assert objections(rows[1:2]) == {}


UNCHECKED = run_row("v", "b", "unsat", 1.0, proof_status="unchecked", certificate=None, solved=False)


@pytest.mark.parametrize(
    ("rows", "share", "kept"),
    [
        ([run_row("v", "a", "sat", 1.0), run_row("v", "b", "unsat", 1.0)], 1.0, 2),
        ([run_row("v", "a", "sat", 1.0), UNCHECKED], 1.0, 0),
        ([run_row("v", "a", "sat", 1.0), UNCHECKED], 0.5, 2),
        ([run_row("v", "a", "sat", 1.0), run_row("v", "b", "clock", 1.0)], 1.0, 0),
    ],
)
def test_runs_that_do_not_compare_with_todays_are_made_again(rows, share, kept):
    live = dict.fromkeys(VARIANTS.columns) | {"variant_id": "v", "state": "accepted"}
    population = empty_population().add(variants=[live]).with_tables(runs=rows)
    settings = SolversSettings(timeout_s=10, memory_mb=1024, proof_share=share)
    assert current_runs(population, RUNS.empty(), settings).height == kept


# Which proofs are checked: by a key that is kept, by chance for whoever has no key, and as often as the
# formula says.


CYCLES = 20_000


def test_the_same_key_draws_the_same_and_another_draws_otherwise():
    key = key_for(b"k" * 32, "solvers", "0001", "benchmark")
    drawn = [is_drawn(key, str(number), 0, 0.3) for number in range(2000)]
    assert drawn == [
        is_drawn(key_for(b"k" * 32, "solvers", "0001", "benchmark"), str(number), 0, 0.3)
        for number in range(2000)
    ]
    assert 0.25 < sum(drawn) / 2000 < 0.35
    for other in (
        key_for(b"k" * 32, "solvers", "0002", "benchmark"),
        key_for(b"l" * 32, "solvers", "0001", "benchmark"),
    ):
        agree = sum(item == is_drawn(other, str(number), 0, 0.3) for number, item in enumerate(drawn)) / 2000
        assert 0.5 < agree < 0.66  # 0.3 ** 2 + 0.7 ** 2 = 0.58 by chance
    assert all(is_drawn(new_key(), str(number), 0, 1.0) for number in range(1000))
    assert not any(is_drawn(new_key(), str(number), 0, 0.0) for number in range(1000))


@pytest.mark.parametrize(
    ("shares", "chance"),
    [([0.25], 0.75), ([0.25, 0.25], 0.5625), ([0.25, 1.0], 0.0), ([0.5] * 7, 1 / 128), ([], 1.0)],
)
def test_a_guess_goes_unseen_as_often_as_the_formula_says(shares, chance):
    unseen = sum(
        not any(is_drawn(key, f"formula {run}", 0, share) for run, share in enumerate(shares))
        for key in (new_key() for _ in range(CYCLES))
    )
    assert unseen / CYCLES == pytest.approx(chance, abs=0.02)


@pytest.mark.parametrize("profile", profile_names())
def test_no_profile_lets_a_guess_pass_unseen_in_a_run_that_counts(profile):
    assert 1 - load(profile).solvers.proof_share < 0.01
