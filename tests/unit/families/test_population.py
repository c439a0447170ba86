"""The archive: rows come in, values are filled in, nothing goes."""

from __future__ import annotations

from families_fixtures import seed_family

from evolake.families.model.population import empty_population, population_of
from evolake.families.model.similarity import fingerprint
from evolake.families.tables import FAMILIES

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
