"""Who solved a family from its text alone, by rows of the lake's tables."""

from types import SimpleNamespace
from typing import Any

import pytest

from evolake.errors import InputError
from evolake.families.dataset.datasets import Dataset, Provenance, outside_of
from evolake.families.evolution.records import independence_seen
from evolake.families.gates.consensus import Vote
from evolake.families.independence import Independence, independence_in, independence_of, keep_rows, rows_kept
from evolake.families.tables import ACCEPTED, CANDIDATES, FAMILIES, INDEPENDENT_ANSWERS, REVIEWS
from evolake.lake import Lake

FIVE_OF_FIVE, FOUR_OF_FIVE, THREE_OF_FIVE = [True] * 5, [True] * 4 + [False], [True] * 3 + [False] * 2


def answers(reader: str, matched: list[bool]) -> list[dict[str, Any]]:
    return [
        {
            "family_id": "f",
            "reader": reader,
            "name": "n",
            "difficulty": 5,
            "seed": seed,
            "answer": "1",
            "label": "1",
            "matched": right,
        }
        for seed, right in enumerate(matched)
    ]


def votes(voter: str, for_label: list[bool]) -> list[dict[str, Any]]:
    return [{"voter": voter, "for_label": right} for right in for_label]


@pytest.mark.parametrize(
    ("authors", "voted", "reviews", "outside", "level"),
    [
        ([], [], [], [], "none"),
        ([{"voter": "built1", "independent": True}], votes("built1", FIVE_OF_FIVE), [], [], "author"),
        ([{"voter": "built1", "independent": True}], votes("built1", THREE_OF_FIVE), [], [], "none"),
        (
            [{"voter": "second", "independent": False}, {"voter": "third", "independent": None}],
            votes("second", FIVE_OF_FIVE),
            [],
            [],
            "none",
        ),
        ([], [], [{"reviewer": "reader+second", "matched": True}] * 5, [], "none"),
        ([], [], [{"reviewer": "text", "matched": True}] * 5, [], "text"),
        ([], [], [{"reviewer": "text", "matched": True}] * 4, [], "none"),
        ([], [], [{"reviewer": "text", "matched": right} for right in (*[True] * 39, False)], [], "none"),
        ([], [], [{"reviewer": "text", "matched": True}] * 5, answers("model", FIVE_OF_FIVE), "model"),
        ([], [], [{"reviewer": "model", "matched": True}] * 5, [], "model"),
        ([], [], [{"reviewer": "model", "matched": True}] * 4, [], "none"),
        ([], [], [{"reviewer": "model", "matched": True}] * 4, answers("model", FOUR_OF_FIVE), "model"),
        ([], [], [], answers("model", THREE_OF_FIVE), "none"),
        ([], [], [], answers("model", FIVE_OF_FIVE) + answers("person", FOUR_OF_FIVE), "person"),
        ([], [], [], answers("person", THREE_OF_FIVE), "none"),
    ],
)
def test_the_level_is_the_highest_that_enough_answers_show(authors, voted, reviews, outside, level):
    assert independence_of(authors, voted, reviews, outside).level == level


def test_a_row_says_author_only_if_the_other_authors_votes_are_the_labels():
    written = [{"voter": "built1", "independent": True}]
    agree, differ = (
        Vote(
            5,
            1,
            3,
            True,
            ("primary", "built1"),
            {"primary": 3, "built1": 3},
            {"primary": "ok", "built1": "ok"},
        ),
        Vote(5, 2, 3, True, ("primary",), {"primary": 3, "built1": 4}, {"primary": "ok", "built1": "ok"}),
    )

    def seen(*votes: Vote) -> Any:
        return SimpleNamespace(family_id="f", sample_votes=votes, reviews=())

    assert independence_seen(seen(*[agree] * 4, differ), written).level == "author"
    assert independence_seen(seen(*[agree] * 3, differ, differ), written).level == "none"
    assert independence_seen(seen(*[agree] * 5)).level == "none"
    assert (
        CANDIDATES.columns["independent"] == ACCEPTED.columns["independent"]
        and "independent" not in FAMILIES.columns
    )


def test_answers_are_kept_once_and_belong_to_one_content(tmp_path):
    lake = Lake(tmp_path)
    assert rows_kept(lake, INDEPENDENT_ANSWERS) == []
    keep_rows(lake, INDEPENDENT_ANSWERS, answers("person", THREE_OF_FIVE))
    keep_rows(lake, INDEPENDENT_ANSWERS, answers("person", FIVE_OF_FIVE))
    assert len(rows_kept(lake, INDEPENDENT_ANSWERS)) == 5
    lake.publish("families", REVIEWS.name, REVIEWS.frame([]), cycle="0001", run_id="r", schema=REVIEWS)
    known = independence_in(lake, ["0001", "0002"], ["f", "edited"])
    assert {family: item.level for family, item in known.items()} == {"f": "person", "edited": "none"}
    assert set(rows_kept(lake, INDEPENDENT_ANSWERS)[0]) == set(INDEPENDENT_ANSWERS.columns)


def test_an_export_of_what_is_independent_leaves_the_rest_out_and_refuses_an_empty_one():
    made_by = Provenance(
        seeds=[], rulesets=[], cycles=["0001"], root_seeds=[], backends=[], versions=[], counts={}
    )
    rows = [{"family_id": "f", "independent": "model"}, {"family_id": "g", "independent": "none"}]
    known = {
        "f": Independence("model", 0, (0, 0), (5, 5), (0, 0)),
        "g": Independence("none", 0, (0, 0), (0, 0), (0, 0)),
    }
    data = Dataset(rows, [{"family_id": "f"}, {"family_id": "g"}], made_by, {}, known)
    assert (
        [row["family_id"] for row in data.independent().instances]
        == ["f"]
        == [row["family_id"] for row in data.independent().families]
    )
    nobody = Dataset(rows[1:], [{"family_id": "g"}], made_by, {}, {"g": known["g"]})
    with pytest.raises(InputError, match="no family was solved from its text alone"):
        nobody.independent()


def test_a_family_from_outside_that_nobody_has_read_is_left_out_of_an_export():
    made_by = Provenance(
        seeds=[], rulesets=[], cycles=["0001"], root_seeds=[], backends=[], versions=[], counts={}
    )
    levels = {"shipped": "none", "user": "author", "child": "none", "model": "text"}
    known = {name: Independence(level, 0, (0, 0), (0, 0), (0, 0)) for name, level in levels.items()}
    rows = [{"family_id": name} for name in levels]
    data = Dataset(rows, rows, made_by, {}, known, frozenset({"user", "child", "model"}))
    assert data.unreviewed() == ["user", "child"]
    assert [row["family_id"] for row in data.reviewed().instances] == ["shipped", "model"]
    with pytest.raises(InputError, match="every family of these cycles is unreviewed"):
        Dataset(rows[1:3], rows[1:3], made_by, {}, known, data.outside).reviewed()


def test_what_a_user_or_a_model_wrote_and_what_descends_from_it_is_from_outside():
    rows = {
        name: {"origin": origin, "cycle": cycle, "parents": parents}
        for name, origin, cycle, parents in (
            ("shipped", "seed", "0000", []),
            ("world", "operators", "0001", []),
            ("user", "seed", "0002", []),
            ("model", "model", "0001", ["shipped"]),
            ("child", "operators", "0002", ["world", "model"]),
            ("grandchild", "operators", "0003", ["child"]),
            ("own", "operators", "0003", ["world", "shipped"]),
        )
    }
    assert outside_of(rows) == {"user", "model", "child", "grandchild"}
