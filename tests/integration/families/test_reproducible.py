"""An instance is a function of (family, difficulty, seed): in another jail, whose interpreter hashes strings
in another way, it is the same."""

import numpy as np
from families_fixtures import SEEDS

from evolake.families.gates.consensus import take_votes
from evolake.families.model.family_files import read_families
from evolake.families.operators.registry import OF_MANY, OPERATORS, child_of
from evolake.families.sandbox.running import PRELOAD, Caps, generate
from evolake.families.settings import FamiliesSettings
from evolake.families.worlds.puzzle_world import PUZZLES, puzzle_of
from evolake.jail import backends, open_pool

PAIRS = [(3, 11), (8, 12)]
FAMILIES = read_families(SEEDS / "families")
SIGNS = next(item for item in PUZZLES if item.name == "signs")
LISTS = puzzle_of(SIGNS, SIGNS.themes[0], SIGNS.rules, SIGNS.questions[0])
"""A family whose primary lists all right answers."""


def made(pool):
    """Instances and votes of every seed and of one child an operator."""
    children = [
        child_of(name, [LISTS] if name in OF_MANY else FAMILIES, np.random.default_rng(number))
        for number, name in enumerate(OPERATORS)
    ]
    result = []
    for family in (*FAMILIES, *children):
        instances = generate(family, PAIRS, pool=pool)
        result.append([(instance.status, instance.text, instance.inputs) for instance in instances])
        result.append(
            [
                (vote.label, vote.for_label)
                for vote in take_votes(family, instances, pool=pool, settings=FamiliesSettings())
            ]
        )
    return result


def hashed(pool) -> str:
    outcome = pool.call(
        driver="evolake.families.sandbox.driver:program",
        source="print(hash('x'))",
        payload={"text": "", "longest": 99},
        limits=Caps().limits(),
    )
    return outcome.value


def test_instances_and_labels_are_the_same_under_another_hash_seed(monkeypatch):
    with open_pool(workers=1, preload=PRELOAD) as pool:
        first, hash_of_first = made(pool), hashed(pool)
    own = backends.server_environment
    monkeypatch.setattr(
        backends, "server_environment", lambda *given: own(*given) | {"PYTHONHASHSEED": "4242"}
    )
    with open_pool(workers=1, preload=PRELOAD) as pool:
        second, hash_of_second = made(pool), hashed(pool)
    assert hash_of_first != hash_of_second
    assert second == first
    assert {status for item in first[::2] for status, _, _ in item} == {"ok"}
