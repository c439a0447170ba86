"""Which families the prompts line calls learnable: what a cycle reads of it, who is drawn as a parent, who is
retired and who comes back."""

import itertools
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest
from families_fixtures import seed_family
from hypothesis import given
from hypothesis import strategies as st

from evolake.families.evolution.learnability import FEWEST_LIVE, factors, read_scores, reading, survival
from evolake.families.model.population import empty_population
from evolake.families.model.similarity import Fingerprint
from evolake.families.operators.registry import generations, novel_parents
from evolake.families.report.material import asked_of
from evolake.families.settings import FamiliesSettings
from evolake.families.tables import FAMILIES, LEARNABILITY, LEARNABILITY_READ, SURVIVAL
from evolake.lake import Lake
from evolake.prompts.learnability import score
from evolake.prompts.tables import LEARNABILITY as OF_PROMPTS

ON = FamiliesSettings(learnability=0.5, learnability_cycles=2)


def measured(family_id: str, *groups: tuple[int, int]) -> dict:
    """A row of LEARNABILITY of groups with so many right and wrong replies."""
    right, wrong = (sum(group[at] for group in groups) for at in (0, 1))
    return {
        "family_id": family_id,
        "cycle": "0002",
        "policy": "tiny",
        "prompts_cycles": ["0001"],
        "groups": len(groups),
        "replies": right + wrong,
        "correct": right,
        "informative": sum(0 < first < first + other for first, other in groups),
        "pass_rate": right / (right + wrong),
        "score": score(groups),
    }


def archived(*states: str) -> list[dict]:
    """Rows of FAMILIES f0, f1, ... in these states."""
    known = dict.fromkeys(FAMILIES.columns)
    return [
        known | {"family_id": f"f{number}", "state": state, "cycle": "0001", "parents": []}
        for number, state in enumerate(states)
    ]


MANY = archived(*["accepted"] * 12)
EASY, IMPOSSIBLE, HALF, SELDOM = (
    measured("f0", *[(4, 0)] * 5),
    measured("f1", *[(0, 4)] * 5),
    measured("f2", *[(2, 2)] * 5),
    measured("f3", (0, 4)),
)


def test_a_family_whose_replies_are_all_alike_gains_nothing_and_is_drawn_less():
    result = factors([EASY, IMPOSSIBLE, HALF], 0.5)
    assert result["f0"] == result["f1"] < 1 < result["f2"]
    assert factors([EASY, IMPOSSIBLE, HALF], 1.0)["f0"] > 0
    assert factors([EASY, IMPOSSIBLE, HALF], 0.0) == factors([], 0.5) == {}


@given(st.lists(st.floats(0, 1), min_size=1, max_size=8), st.floats(0.01, 1))
def test_factors_follow_the_scores_and_are_never_nothing(scores, weight):
    result = factors(
        [{"family_id": str(number), "score": score} for number, score in enumerate(scores)], weight
    )
    assert all(factor > 0 for factor in result.values())
    order = sorted(range(len(scores)), key=scores.__getitem__)
    assert all(result[str(less)] <= result[str(more)] for less, more in itertools.pairwise(order))
    assert result[str(order[0])] <= 1 + 1e-9 and result[str(order[-1])] >= 1 - 1e-9


def test_parents_are_drawn_by_what_is_learnt_from_them():
    base = seed_family("remainder-subsets")
    many = [replace(base, name=f"f{number}", template=base.template + "x" * number) for number in range(24)]
    ids = [item.family_id for item in many]
    weigh, prints = (
        dict.fromkeys(ids[:12], 0.01),
        {item: Fingerprint(item, "", "", "", (number,), ()) for number, item in enumerate(ids)},
    )

    def drawn(given: dict[str, float] | None) -> Counter[str]:
        draws = (
            novel_parents(many, 4, np.random.default_rng(seed), known=prints, factors=given)
            for seed in range(30)
        )
        return Counter(item.family_id for draw in draws for item in draw)

    weighed, plain = drawn(weigh), drawn(None)
    assert sum(weighed[item] for item in ids[12:]) > 3 * sum(weighed[item] for item in ids[:12])
    assert sum(plain[item] for item in ids[12:]) < 3 * sum(plain[item] for item in ids[:12])
    assert drawn({}) == plain
    few = [
        novel_parents(many[11:15], 2, np.random.default_rng(seed), known=prints, factors=weigh)
        for seed in range(30)
    ]
    assert Counter(item.family_id for draw in few for item in draw)[ids[11]] <= 3


def test_parents_are_drawn_more_often_the_more_generations_are_behind_them_up_to_a_few():
    assert generations({"a": ["gone"], "b": ["a"], "c": ["b", "a"], "self": ["self"]}, 9) == {
        "a": 0,
        "b": 1,
        "c": 2,
        "self": 9,
    }
    base = seed_family("remainder-subsets")
    many = [replace(base, template=base.template + "x" * number) for number in range(40)]
    for number in range(40, 140):
        parents = (many[-1].family_id,) if number > 40 else ()
        many.append(replace(base, template=base.template + "x" * number, parents=parents))
    ids = [item.family_id for item in many]
    prints = {item: Fingerprint(item, "", "", "", (number,), ()) for number, item in enumerate(ids)}
    behind = generations({item.family_id: item.parents for item in many})
    assert [behind[item] for item in ids[40:48]] == [0, 1, 2, 3, 4, 4, 4, 4]

    def drawn(population: list) -> Counter[str]:
        draws = (
            novel_parents(population, 1, np.random.default_rng(seed), known=prints) for seed in range(50)
        )
        return Counter(item.family_id for [item] in draws)

    few = drawn(many[:45])
    assert sum(few[item] for item in ids[41:45]) > 25, "four of 45 have most of the weight"
    assert len(drawn(many)) > 25, "of a lineage of a hundred not only the end is drawn"


def test_too_easy_and_impossible_families_are_retired_and_those_asked_too_seldom_are_not():
    rows = {
        row["family_id"]: row
        for row in SURVIVAL.frame(survival(MANY, [EASY, IMPOSSIBLE, HALF, SELDOM], ON, "0002")).to_dicts()
    }
    assert {item: row["lives"] for item, row in rows.items()} == {
        "f0": False,
        "f1": False,
        "f2": True,
        "f3": True,
    }
    assert [rows[item]["reason"] for item in ("f0", "f1", "f3")] == [
        "20 of 20 replies right, 0 of 5 groups teach: too easy",
        "0 of 20 replies right, 0 of 5 groups teach: impossible",
        "0 of 4 replies right, 0 of 1 groups teach; asked in fewer than 4 groups",
    ]


def test_so_many_stay_that_there_is_a_choice_of_parents():
    alike = [measured(f"f{number}", *[(0, 4)] * 5) for number in range(11)] + [
        measured("f11", *[(0, 4)] * 40, (1, 3))
    ]
    rows = survival(MANY, alike, ON, "0002")
    assert [row["family_id"] for row in rows if row["lives"]] == [
        *(f"f{number}" for number in range(FEWEST_LIVE - 1)),
        "f11",
    ]


def test_a_retired_family_comes_back_where_no_score_is_read_of_it_and_all_do_where_nothing_counts():
    families = archived("retired", "retired", *["accepted"] * 10)
    assert {row["family_id"]: row["lives"] for row in survival(families, [EASY], ON, "0002")} == {
        "f0": False,
        "f1": True,
    }
    off = survival(families, [EASY, IMPOSSIBLE], FamiliesSettings(), "0002")
    assert {row["family_id"]: row["lives"] for row in off} == {"f0": True, "f1": True}
    assert survival(MANY, [], ON, "0002") == []


@given(
    st.lists(st.sampled_from(["accepted", "retired", "blocked"]), max_size=20),
    st.lists(st.booleans(), min_size=20, max_size=20),
)
def test_no_family_gets_past_a_gate_by_what_is_learnt_from_it(states, lives):
    rows = archived(*states)
    before = empty_population().add(families=rows)
    after = before.with_survivors({row["family_id"]: live for row, live in zip(rows, lives, strict=False)})
    assert [row["state"] for row in after.rows()] == [
        "blocked" if state == "blocked" else ("retired", "accepted")[live]
        for state, live in zip(states, lives, strict=False)
    ]


def test_a_retired_family_is_known_and_keeps_its_row():
    retired = empty_population().add(
        families=[{**archived("retired")[0], "fingerprint": '["f0", "n", "c", "t", [1], ["a"]]'}]
    )
    assert [item.family_id for item in retired.known()] == ["f0"]
    assert [row["state"] for row in retired.with_cycle(archived("accepted"), []).rows()] == ["retired"]


def publish(
    lake: Lake,
    cycle: str,
    *groups: tuple[str, tuple[int, int]],
    policy: str = "tiny",
    source: str = "families",
) -> None:
    """The table of a finished cycle of the prompts line, one group a family."""
    rows = [
        {
            "cycle": cycle,
            "arm": "espl",
            "policy": policy,
            "source": source,
            "family": family,
            "difficulty": 1,
            "problems": 1,
            "groups": 1,
            "replies": right + wrong,
            "correct": right,
            "rejected": 0,
            "informative": int(right > 0 < wrong),
            "pass_rate": right / (right + wrong),
            "low": 0.0,
            "high": 1.0,
            "variance": 0.0,
            "score": score([(right, wrong)]),
            "repeated": 0,
        }
        for family, (right, wrong) in groups
    ]
    lake.publish(
        "prompts", "learnability", OF_PROMPTS.frame(rows), cycle=cycle, run_id="r", schema=OF_PROMPTS
    )
    number = int(cycle)
    if lake.seals.read("prompts", "0001") is None:
        lake.seals.seal("prompts", "0001", "v1", None, "r")
    lake.seals.seal("prompts", f"{number + 1:04d}", f"v{number + 1}", f"v{number}", "r")


@pytest.fixture
def lake(tmp_path) -> Lake:
    """Three finished cycles of prompts: of families, of shipped problems, of families."""
    lake = Lake(tmp_path)
    publish(lake, "0001", ("a", (2, 2)), ("b", (0, 4)))
    publish(lake, "0002", ("sums", (2, 2)), source="shipped")
    publish(lake, "0003", ("a", (4, 0)))
    return lake


def test_a_lake_without_a_prompts_line_has_no_replies(tmp_path):
    assert asked_of(Lake(tmp_path), ["a"]).columns == ["difficulty", "replies", "correct"]


def test_at_weight_0_nothing_is_read(lake):
    assert reading(lake, FamiliesSettings(), "0004", []).rows == []
    assert read_scores(lake, [], "0004") == []


def test_a_run_of_the_cycle_again_reads_what_the_first_one_read_whatever_came_since(lake):
    first = reading(lake, ON, "0004", [])
    publish(lake, "0004", ("a", (2, 2)))
    again = reading(lake, ON, "0004", first.rows)
    assert (again.rows, again.kept) == (first.rows, True)
    assert [row["prompts_cycle"] for row in reading(lake, ON, "0005", []).rows] == ["0004", "0003"]


def test_a_cycle_that_runs_again_is_not_finished_and_not_read(lake):
    lake.seals.reopen("prompts", "0004", "r")
    assert [row["prompts_cycle"] for row in reading(lake, ON, "0004", []).rows] == ["0001"]


def test_the_newest_cycles_that_asked_families_are_read_and_their_groups_counted_together(lake):
    read = LEARNABILITY_READ.frame(reading(lake, ON, "0004", []).rows).to_dicts()
    assert [row["prompts_cycle"] for row in read] == ["0003", "0001"]
    scores = LEARNABILITY.frame(row | {"factor": 1.0} for row in read_scores(lake, read, "0004")).to_dicts()
    assert [(row["family_id"], row["prompts_cycles"], row["groups"], row["correct"]) for row in scores] == [
        ("a", ["0001", "0003"], 2, 6),
        ("b", ["0001"], 1, 0),
    ]
    assert [row["score"] for row in scores] == pytest.approx([score([(2, 2), (4, 0)]), 0])


def test_a_cycle_that_opened_before_any_was_asked_stays_without_scores(tmp_path):
    lake = Lake(tmp_path)
    first = reading(lake, ON, "0001", [])
    assert [row["prompts_cycle"] for row in first.rows] == [None]
    publish(lake, "0001", ("a", (2, 2)))
    assert reading(lake, ON, "0001", first.rows).kept
    assert read_scores(lake, first.rows, "0001") == []


def test_where_a_table_is_another_now_the_newest_are_read_and_that_is_said(lake):
    first = reading(lake, ON, "0004", [])
    publish(lake, "0003", ("a", (1, 3)))
    again = reading(lake, ON, "0004", first.rows)
    assert (again.kept, again.renewed) == (False, True)
    assert again.rows[0]["content_sha"] != first.rows[0]["content_sha"]


def test_only_the_policy_that_was_asked_last_counts(lake):
    publish(lake, "0004", ("b", (3, 1)), policy="larger")
    scores = read_scores(lake, reading(lake, ON, "0005", []).rows, "0005")
    assert [(row["family_id"], row["policy"], row["correct"]) for row in scores] == [("b", "larger", 3)]
