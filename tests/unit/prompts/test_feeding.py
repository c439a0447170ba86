"""Instances of families among a cycle's problems: who is asked, how often, how hard; what is read is fixed
when the cycle opens."""

from collections import Counter
from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st
from prompts_lake import family_lake, finish_families

from evolake.lake import Lake
from evolake.prompts.evolution.feeding import (
    AGAIN,
    LEARNABLE,
    NEW,
    Asked,
    asked_before,
    chosen,
    fed,
    followed,
    offered,
    places,
    reading,
    wanted,
)
from evolake.prompts.evolution.iteration import draw_batch
from evolake.prompts.learnability import score
from evolake.prompts.model.leaks import apart
from evolake.prompts.model.problems import ProblemSet, family_problems, family_roots, problem_set, split
from evolake.prompts.model.protocol import Problem
from evolake.prompts.settings import PromptsSettings
from evolake.prompts.tables import FEED, FEED_READ, LEARNABILITY
from evolake.settings import default_lake_root

SEEDS = default_lake_root() / "seeds"
SIZES = PromptsSettings(batch_problems=4, iterations_per_cycle=2, heldout_problems=3)


def make(family: str, difficulty: int, number: int = 0, *, source: str = "families") -> Problem:
    name = f"{family}-{difficulty}-{number}"
    return Problem(name, f"What is {name}?", "1", True, "kind", difficulty, "train", source, family)


def asked(*groups: tuple[int, int]) -> Asked:
    """What groups of so many right and wrong replies say."""
    right, wrong = (sum(group[at] for group in groups) for at in (0, 1))
    return Asked(len(groups), right + wrong, right, score(groups))


def table(
    *rows: tuple[str, int, tuple[int, int]], policy: str = "tiny", source: str = "families"
) -> pl.DataFrame:
    """A table of what was learnt, one group a row: (family, difficulty, (right, wrong))."""
    return LEARNABILITY.frame(
        {
            "cycle": "0001",
            "arm": "espl",
            "policy": policy,
            "source": source,
            "family": family,
            "difficulty": difficulty,
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
        for family, difficulty, (right, wrong) in rows
    )


HALF, NEVER, ALWAYS = asked((2, 2), (2, 2)), asked((0, 4), (0, 4)), asked((4, 0), (4, 0))
SHIPPED = [make(f"sums-{n}", 1, source="shipped") for n in range(20)]
SET = ProblemSet(
    tuple(SHIPPED[:16]), tuple(replace(item, split="heldout") for item in SHIPPED[16:]), "shipped"
)


@given(st.floats(0, 1), st.integers(1, 20), st.integers(1, 9))
def test_the_places_of_families_are_their_share_of_the_problems_and_no_iteration_has_more_than_it_holds(
    share, batch, iterations
):
    counts = places(
        PromptsSettings(families_share=share, batch_problems=batch, iterations_per_cycle=iterations),
        alone=False,
    )
    assert len(counts) == iterations and all(0 <= count <= batch for count in counts)
    assert abs(sum(counts) - share * batch * iterations) <= 0.5
    assert (
        places(PromptsSettings(batch_problems=batch, iterations_per_cycle=iterations), alone=True)
        == [batch] * iterations
    )


def test_a_family_is_asked_at_its_easiest_difficulty_and_above_one_with_right_replies():
    problems = [
        make(family, difficulty) for family in ("new", "half", "never", "always") for difficulty in (5, 2, 3)
    ]
    known = {("half", 2): HALF, ("never", 2): NEVER, ("always", 2): ALWAYS, ("always", 3): NEVER}
    assert list(offered(problems, known)) == [
        ("always", 2),
        ("always", 3),
        ("half", 2),
        ("half", 3),
        ("never", 2),
        ("new", 2),
    ]


BAND = (0.25, 0.75)


def levels_now(*tables: pl.DataFrame) -> dict[str, int]:
    problems = [make(family, difficulty) for family in ("f", "g") for difficulty in (1, 3, 6)]
    return dict(followed(problems, tables, BAND).keys())


def test_a_level_follows_the_policys_success_from_cycle_to_cycle():
    first = table(("f", 1, (4, 0)), ("g", 1, (2, 2)))
    assert levels_now() == {"f": 1, "g": 1}
    assert levels_now(first) == {"f": 3, "g": 1}, "above the upper share, and between"
    assert levels_now(first, table(("f", 3, (4, 0)))) == {"f": 6, "g": 1}
    assert levels_now(first, table(("f", 3, (0, 4)), ("g", 1, (0, 4)))) == {"f": 1, "g": 1}
    assert levels_now(first, table(("f", 1, (0, 4)))) == {"f": 3, "g": 1}, "it was asked elsewhere"
    top = [table(("f", level, (4, 0))) for level in (1, 3, 6, 6)]
    assert levels_now(*top) == {"f": 6, "g": 1}
    assert levels_now(table(("f", 1, (4, 0)), policy="other"), table(("g", 1, (4, 0)))) == {"f": 1, "g": 3}
    assert levels_now(table(("f", 1, (4, 0)), source="shipped")) == {"f": 1, "g": 1}


def test_a_learner_whose_level_is_followed_gets_more_groups_that_teach():
    """A simulated learner: the further its skill exceeds a level, the more often it is right."""

    def taught(settings: PromptsSettings) -> tuple[int, int]:
        random, skill, informative, total = np.random.default_rng(5), 1.5, 0, 0
        tables: list[pl.DataFrame] = []
        pool = [
            make(f"f{number}", level, copy)
            for number in range(6)
            for level in range(1, 11)
            for copy in range(4)
        ]
        for _ in range(30):
            if settings.families_success is None:
                levels = offered(pool, asked_before(tables))
            else:
                levels = followed(pool, tables, settings.families_success)
            rows = []
            for problem, _ in chosen(levels, asked_before(tables), [8], random, alone=True):
                chance = 1 / (1 + np.exp(problem.difficulty - skill))
                right = int(random.binomial(8, chance))
                rows.append((problem.family, problem.difficulty, (right, 8 - right)))
                informative, total = informative + (0 < right < 8), total + 1
                skill += 0.05 * chance * (1 - chance)
            merged: dict[tuple[str, int], list[int]] = {}
            for family, level, (right, wrong) in rows:
                counts = merged.setdefault((family, level), [0, 0])
                counts[0] += right
                counts[1] += wrong
            tables.append(table(*((*key, (right, wrong)) for key, (right, wrong) in merged.items())))
        return informative, total

    plain, adaptive = taught(SIZES), taught(SIZES.model_copy(update={"families_success": BAND}))
    assert adaptive[1] == plain[1]
    assert adaptive[0] > 1.1 * plain[0], "226 and 188 of 238 groups"


@pytest.mark.parametrize("shares", [(0.8, 0.2), (-0.1, 0.5), (0.5, 1.5)])
def test_shares_out_of_order_are_refused(shares):
    with pytest.raises(ValueError, match="two shares between 0 and 1"):
        PromptsSettings(families_success=shares)


KNOWN = st.dictionaries(st.integers(0, 11), st.sampled_from([HALF, NEVER, ALWAYS]))


@given(KNOWN, st.lists(st.integers(0, 5), min_size=1, max_size=4), st.booleans(), st.integers(0, 2**32))
def test_no_problem_is_set_twice_nor_more_than_there_are_places_and_each_for_its_reason(
    known, counts, alone, seed
):
    by_level = {(f"f{number:02}", 1): value for number, value in known.items()}
    levels = offered([make(f"f{number:02}", 1, n) for number in range(12) for n in range(3)], by_level)
    result = chosen(levels, by_level, counts, np.random.default_rng(seed), alone=alone)
    assert result == chosen(levels, by_level, counts, np.random.default_rng(seed), alone=alone)
    assert len({item.problem_id for item, _ in result}) == len(result)
    assert all(
        count <= counts[turn - 1] for turn, count in Counter(item.turn or 0 for item, _ in result).items()
    )
    kinds = {None: NEW, HALF: LEARNABLE, NEVER: AGAIN, ALWAYS: AGAIN}
    assert [reason for _, reason in result] == [kinds[by_level.get((item.family, 1))] for item, _ in result]
    if alone:
        assert len(result) == min(
            sum(counts),
            sum(1 if value is not HALF else 3 for value in (known.get(number) for number in range(12))),
        )
    elif sum(counts) <= 3 * list(known.values()).count(HALF):
        assert (
            len(result) == sum(counts)
            and sum(reason == NEW for _, reason in result) <= (sum(counts) + 1) // 2
        )


def test_an_iteration_has_the_problems_that_are_set_for_it_and_the_rest_of_those_that_are_set_for_none():
    given_ = [replace(make("a", 1), turn=1), replace(make("b", 1), turn=2)]
    options = {"root_seed": 3, "cycle": "0001", "iteration": 7}
    batch = draw_batch([*SHIPPED, *given_], 4, turn=2, **options)
    assert (
        batch[0] == given_[1] and len(set(batch)) == 4 and {item.source for item in batch[1:]} == {"shipped"}
    )
    assert (
        draw_batch([*SHIPPED, *given_], 4, **options)
        == draw_batch(SHIPPED, 4, turn=3, **options)
        == draw_batch(SHIPPED, 4, **options)
    )
    assert draw_batch(given_[:1], 4, turn=1, **options) == given_[:1]


def test_what_teaches_is_asked_in_proportion_and_what_teaches_nothing_rarely_but_not_never():
    little = asked((1, 3), (0, 4))
    known = {("half", 1): HALF, ("little", 1): little} | {(f"never-{n}", 1): NEVER for n in range(10)}
    levels = {level: [make(*level)] for level in known}
    drawn: Counter[str] = Counter()
    for seed in range(1500):
        drawn.update(
            item.family.partition("-")[0]
            for item, _ in chosen(levels, known, [1], np.random.default_rng(seed), alone=False)
        )
    assert sum(drawn.values()) == 1500
    assert 0.06 < drawn["never"] / 1500 < 0.14
    assert drawn["half"] / drawn["little"] == pytest.approx(HALF.score / little.score, rel=0.3)


def test_where_nothing_teaches_and_nothing_is_new_most_places_go_back_to_the_other_source():
    known = {(f"never-{n}", 1): NEVER for n in range(10)}
    levels = {level: [make(*level)] for level in known}
    result = [chosen(levels, known, [4], np.random.default_rng(seed), alone=False) for seed in range(200)]
    assert 0.05 < sum(map(len, result)) / 800 < 0.15
    assert all(
        len(chosen(levels, known, [4], np.random.default_rng(seed), alone=True)) == 4 for seed in range(20)
    )


def test_tables_are_counted_together_for_the_policy_that_was_asked_last():
    tables = [
        table(("a", 1, (2, 2)), ("b", 1, (0, 4))),
        table(("sums", 1, (2, 2)), source="shipped"),
        table(("a", 1, (4, 0))),
    ]
    result = asked_before(tables)
    assert {level: (item.groups, item.replies, item.correct) for level, item in result.items()} == {
        ("a", 1): (2, 8, 6),
        ("b", 1): (1, 4, 0),
    }
    assert result["a", 1].score == pytest.approx(score([(2, 2), (4, 0)]))
    assert list(asked_before([*tables, table(("b", 1, (3, 1)), policy="larger")])) == [("b", 1)]
    assert asked_before([]) == asked_before(tables[1:2]) == {}


@pytest.fixture
def lake(tmp_path) -> Lake:
    """Twelve families in one finished cycle, at difficulties 1 and 4, with two problems at each."""
    return finish_families(family_lake(tmp_path), "0001", {f"f{number:02}": () for number in range(12)})


def feed(
    lake: Lake,
    settings: PromptsSettings = SIZES,
    problems: ProblemSet = SET,
    *tables: pl.DataFrame,
    cycle: str = "0002",
):
    return fed(problems, settings, tables, lake=lake, seeds=SEEDS, cycles=["0001"], cycle=cycle, root_seed=3)


def ids(side: str, count: int) -> list[str]:
    """Ids of families that are on this side of the split by their hash."""
    sides = split([make(f"id{number:03}", 1) for number in range(100)], SIZES.heldout_share)
    return [item.family for item in sides[side == "heldout"]][:count]


@pytest.fixture
def copies(tmp_path) -> Lake:
    """Families with the names of two primers, whose ids would put each on the other side, with a child each
    and one of both."""
    (called, child, both, other), (cards, cards_child) = ids("train", 4), ids("heldout", 2)
    families = {
        called: (),
        child: (called,),
        cards: (),
        cards_child: (cards,),
        both: (called, cards),
        other: (),
    }
    return finish_families(
        family_lake(tmp_path), "0001", families, names={called: "called-numbers", cards: "number-cards"}
    )


def test_families_beside_the_shipped_problems_are_of_lineages_to_train_on_and_change_nothing_that_is_held_out(
    lake,
):
    given_ = feed(lake)
    rows = FEED.frame(given_.rows).to_dicts()
    assert (
        given_ == feed(lake)
        and given_.problems.heldout == SET.heldout
        and given_.problems.train[:16] == SET.train
    )
    assert [(row["problem_id"], row["turn"]) for row in rows] == [
        (item.problem_id, item.turn) for item in given_.problems.train[16:]
    ]
    train, heldout = split(family_problems(lake, ["0001"]), SIZES.heldout_share, family_roots(lake, ["0001"]))
    assert heldout and {row["problem_id"] for row in rows} <= {item.problem_id for item in train}
    assert {(row["difficulty"], row["reason"], row["score"]) for row in rows} == {(1, NEW, None)} and len(
        rows
    ) == 4
    assert given_.describe() == "4 problems of families (4 new)"
    again = feed(lake, SIZES, SET, table(*((f"f{number:02}", 1, (2, 2)) for number in range(12))))
    assert Counter(row["reason"] for row in again.rows) == {NEW: 2, LEARNABLE: 2}
    assert {row["difficulty"] for row in again.rows if row["reason"] == NEW} == {4}


def test_families_of_the_lake_are_on_the_side_of_the_shipped_ones_whose_names_they_have_with_all_that_descends_from_them(  # noqa: E501
    copies,
):
    *_, other = ids("train", 4)
    settings = SIZES.model_copy(update={"batch_problems": 8})
    shipped = problem_set(
        settings.model_copy(update={"problem_sources": ["shipped"]}), lake=None, seeds=SEEDS, seed=0
    )
    assert "called-numbers" not in {item.family for item in shipped.train} and "number-cards" in {
        item.family for item in shipped.train
    }
    given_ = feed(copies, settings, shipped)
    assert {row["family"] for row in given_.rows} == {*ids("heldout", 2), other}
    assert (
        given_.problems.train[: len(shipped.train)] == shipped.train
        and given_.problems.heldout == shipped.heldout
    )


def test_where_families_hold_out_the_names_that_ship_decide_too(copies):
    called, child, _, other = ids("train", 4)
    settings = PromptsSettings(
        problem_sources=["families"], families_share=1, batch_problems=4, heldout_problems=8
    )
    result = problem_set(settings, lake=copies, seeds=SEEDS, seed=0)
    assert {item.family for item in result.heldout} == {called, child}
    assert {item.family for item in result.train} == {*ids("heldout", 2), other}


def test_a_problem_of_a_family_that_says_what_is_held_out_or_is_there_already_is_left_out(lake):
    problems = family_problems(lake, ["0001"])
    copies = [replace(problem, problem_id=f"copy-{problem.problem_id}") for problem in problems]
    said = replace(SET, train=(*SET.train, *copies[::2]), heldout=tuple(copies[1::2]))
    assert (feed(lake, SIZES, said).rows, feed(lake, SIZES, said).problems) == ([], said)


def test_what_shares_its_words_with_a_held_out_problem_is_not_added_and_what_is_held_out_stays():
    words = (
        "Five houses stand in a row and in each of them lives somebody who keeps another animal than all "
        "others do"
    )
    heldout = [replace(make("held", 1), text=f"{words}. Who keeps the fish?"), make("other", 1)]
    given_ = [
        replace(make("a", 1), text=f"{words}. Who has none?"),
        make("b", 1),
        replace(make("c", 1), text=f"{words[:60]} and no more"),
    ]
    kept, common = apart(given_, SHIPPED, heldout, words=13, share=0.5)
    assert (kept, common.contaminated[0][0]) == (given_[1:], heldout[0])
    assert apart(given_, SHIPPED, heldout, words=13, share=1.0)[0] == given_


def test_families_alone_fill_every_place_and_the_others_are_there_for_duels(lake):
    train, heldout = split(family_problems(lake, ["0001"]), SIZES.heldout_share, family_roots(lake, ["0001"]))
    given_ = feed(
        lake,
        SIZES.model_copy(update={"families_share": 1.0}),
        ProblemSet(tuple(train), tuple(heldout), "families"),
    )
    assert [replace(item, turn=None) for item in given_.problems.train] == train
    assert Counter(item.turn for item in given_.problems.train) == {1: 4, 2: 4, None: len(train) - 8}


def test_a_cycle_without_families_says_in_a_line_what_it_trains_on(tmp_path, lake):
    without = fed(
        SET, SIZES, [], lake=Lake(tmp_path / "empty"), seeds=SEEDS, cycles=[], cycle="0001", root_seed=3
    )
    assert (without.problems, without.rows) == (SET, [])
    assert (
        without.describe()
        == "trains on shipped problems only: the lake holds no finished cycle of the families line"
    )
    hard = feed(lake, SIZES.model_copy(update={"difficulties": [9]}))
    assert (
        hard.describe()
        == "trains on shipped problems only: no family offers problems to train on at these difficulties"
    )
    off = SIZES.model_copy(update={"families_share": 0.0})
    little = feed(lake, SIZES.model_copy(update={"families_share": 0.1, "iterations_per_cycle": 1}))
    assert (
        little.describe()
        == "trains on shipped problems only: a share of 0.1 of 4 problems of a cycle leaves families no place"
    )
    assert not wanted(off) and (feed(lake, off).problems, feed(lake, off).describe()) == (SET, "")
    assert wanted(SIZES) and not wanted(SIZES.model_copy(update={"train": "a.jsonl", "test": "b.jsonl"}))


def test_a_run_of_the_cycle_again_reads_what_the_first_one_read_whatever_families_have_made_since(lake):
    first = reading(lake, "0001", [])
    rows = FEED_READ.frame(first.rows).to_dicts()
    assert [(row["asset"], row["of_cycle"]) for row in rows] == [
        ("instances", "0001"),
        ("incoming_families", "0002"),
    ]
    finish_families(lake, "0002", {"later": ()})
    again = reading(lake, "0001", rows)
    assert (again.rows, again.families, again.kept) == (rows, ["0001"], True)
    assert reading(lake, "0002", []).families == ["0001", "0002"]


def test_a_cycle_of_families_that_runs_is_not_read(lake):
    lake.seals.reopen("families", "0002", "run")
    assert reading(lake, "0001", []).families == []


def test_a_cycle_that_opened_before_there_were_families_stays_without_them(tmp_path):
    lake = family_lake(tmp_path)
    first = reading(lake, "0001", [])
    finish_families(lake, "0001", {"f00": ()})
    assert (
        first.families,
        reading(lake, "0001", first.rows).families,
        reading(lake, "0001", first.rows).kept,
    ) == ([], [], True)


def test_where_what_was_read_is_another_now_what_is_finished_is_read_and_that_is_said(lake):
    first = reading(lake, "0001", [])
    finish_families(lake, "0001", {"other": ()})
    again = reading(lake, "0001", first.rows)
    assert (again.kept, again.renewed, again.families) == (False, True, ["0001"])
    assert again.rows[0]["content_sha"] != first.rows[0]["content_sha"]


def test_problems_that_ship_by_the_id_of_a_family_put_what_descends_from_it_on_their_side(tmp_path):
    (root, other), (held, below) = ids("train", 2), ids("heldout", 2)
    finish_families(family_lake(tmp_path), "0001", {root: (), held: (root,), below: (held,), other: ()})
    roots = family_roots(Lake(tmp_path), ["0001"], {held})
    assert roots == {root: {root}, held: {root, held}, below: {root, held}, other: {other}}
    assert family_roots(Lake(tmp_path), ["0001"]) == {
        root: {root},
        held: {root},
        below: {root},
        other: {other},
    }
