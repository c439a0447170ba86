"""The archive: rows come in, values are filled in, nothing goes."""

from __future__ import annotations

from families_fixtures import seed_family

from evolake.families.evolution.records import derivation_rows
from evolake.families.model.population import empty_population, load_family, population_of, store_family
from evolake.families.model.similarity import fingerprint
from evolake.families.tables import FAMILIES
from evolake.lake import BlobStore

CLINIC = seed_family("clinic-queue")


def row(family_id: str, state: str = "accepted", **more: object) -> dict:
    known = dict.fromkeys(FAMILIES.columns)
    return (
        known
        | {
            "family_id": family_id,
            "state": state,
            "cycle": "0001",
            "operator": "seed",
            "parents": [],
            "attempt": 0,
            "round": 0,
        }
        | more
    )


def test_the_archive_comes_back_from_its_tables():
    before = (
        empty_population()
        .add(families=[row("a"), row("b", "blocked")])
        .with_experience(["Be brief."], "0001")
        .with_values(made={"0001": 1})
    )
    after = population_of(before.frames())
    assert all(frame.equals(after.frames()[name]) for name, frame in before.frames().items())
    assert (after.value("made"), after.lessons(), after.value("other", 3)) == ({"0001": 1}, ["Be brief."], 3)


def test_a_family_that_is_there_keeps_its_row_unless_it_was_blocked_and_is_accepted_now():
    population = empty_population().add(
        families=[row("a", title="old"), row("b", "blocked", title="old"), row("c", "blocked", title="old")]
    )
    new = [
        row("a", "blocked", title="new"),
        row("b", title="new"),
        row("c", "blocked", title="new"),
        row("d", title="new"),
    ]
    after_cycle = population.with_cycle(new, [])
    assert {row["family_id"]: (row["state"], row["title"]) for row in after_cycle.rows()} == {
        "a": ("accepted", "old"),
        "b": ("accepted", "new"),
        "c": ("blocked", "old"),
        "d": ("accepted", "new"),
    }


def test_only_accepted_families_are_known_and_wait_for_instances():
    print_of = fingerprint(CLINIC, [1, 2]).to_json()
    population = empty_population().add(
        families=[
            row("a", fingerprint=print_of),
            row("b", "blocked", fingerprint=print_of),
            row("c", instances=9),
        ]
    )
    assert [item.family_id for item in population.known()] == [CLINIC.family_id]
    assert [instance["family_id"] for instance in population.without_instances()] == ["a"]
    assert population.with_instances({"a": 0}).without_instances() == []


def test_a_lesson_keeps_the_cycle_that_it_was_learnt_in():
    first = empty_population().with_experience(["One.", "Two."], "0001")
    second = first.with_experience(["Two.", "Three."], "0002")
    assert [(row["item"], row["cycle"]) for row in second.experience.to_dicts()] == [
        ("Two.", "0001"),
        ("Three.", "0002"),
    ]


def test_a_family_is_the_same_after_it_was_stored(tmp_path):
    blobs = BlobStore(tmp_path)
    assert load_family(store_family(CLINIC, blobs), blobs) == CLINIC


def test_parents_share_a_child_by_how_often_they_are_in_it():
    child = row("x", parents=["a", "b", "a", "a"], operator="pipe")
    assert [(row["parent_id"], row["weight"]) for row in derivation_rows(child)] == [("a", 0.75), ("b", 0.25)]
    assert derivation_rows(row("x")) == []
