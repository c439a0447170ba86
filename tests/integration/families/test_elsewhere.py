"""The second run of a source, at another date and under other hashes: what depends on them differs, and what
does not is the same."""

from dataclasses import replace

import pytest
from families_fixtures import seed_family

from evolake.families.sandbox.running import generate, solve

CLINIC = seed_family("clinic-queue")
PAIRS = [(5, 1), (6, 2), (7, 3)]
UNSETTLED = {
    "hash of a text": "random.seed(hash('clinic'))",
    "hash by its full name": "import builtins; random.seed(builtins.hash('clinic'))",
    "hash as a method": "random.seed('clinic'.__hash__())",
    "hash as a method of the class": "random.seed(str.__hash__('clinic'))",
    "hash as a key of a sort": "random.seed(sorted('abcdefgh', key=hash)[0])",
    "hash as a key of a choice": "random.seed(max('abcdefgh', key=hash))",
    "hash of texts, by map": "random.seed(sum(map(hash, ['north', 'south'])))",
    "hash seed": "import os; random.seed(os.environ['PYTHONHASHSEED'])",
    "date of today": "import datetime; random.seed(datetime.date.today().toordinal())",
    "date of today, imported": "from datetime import date; random.seed(date.today().isoformat())",
    "date by strftime": "import time; random.seed(time.strftime('%Y%m%d'))",
    "list of a set": "random.seed(random.choice(list(set('abcdefgh'))))",
    "first of a set": "first, *rest = {'a', 'b', 'c', 'd'}; random.seed(first)",
    "text of a set": "random.seed(str(frozenset('abcdefgh')))",
    "keys without some": "random.seed(list(dict.fromkeys('abcdefgh').keys() - {'a'})[0])",
    "keys of both": "random.seed(list(dict.fromkeys('abcdefgh').keys() & dict.fromkeys('abcd').keys())[0])",
    "address": "random.seed(id(object()))",
}
SETTLED = (
    "from fractions import Fraction",
    "from decimal import Decimal",
    "class Town:\n    def __init__(self, name): self.name = name",
    "    def __hash__(self): return hash(self.name)",
    "    def __eq__(self, other): return self.name == other.name",
    "",
    "def solution(inputs):",
    "    towns = {Town(name) for name in 'abcd'}",
    "    many = dict.fromkeys('abcd')",
    "    return [list({3, 5, 4}), hash(Fraction(1, 3)) % 97, list({Decimal(5), Decimal(7)}) == "
    "list({Decimal(5), Decimal(7)}),",
    "        Town('a') in towns, len(towns), sorted(many.keys() - {'a'}), list(many), hash((1, 2.5)) % "
    "89, 12 - 5 | 1 ^ 2 & 3,",
    "        isinstance({1}, set)]",
    "",
)


@pytest.mark.parametrize("name", UNSETTLED)
def test_a_choice_by_a_hash_a_date_or_the_order_of_a_set_is_another_one_elsewhere(name, pool):
    family = replace(
        CLINIC, generator=CLINIC.generator.replace("    count = ", f"    {UNSETTLED[name]}\n    count = ", 1)
    )
    here, there = (generate(family, PAIRS, pool=pool, elsewhere=elsewhere) for elsewhere in (False, True))
    assert {item.status for item in (*here, *there)} == {"ok"}
    assert [item.content for item in here] != [item.content for item in there]


def test_what_no_hash_seed_decides_is_the_same_elsewhere(pool):
    [here], [there] = (
        solve("\n".join(SETTLED), [{}], pool=pool, elsewhere=elsewhere) for elsewhere in (False, True)
    )
    assert (here.status, there.status) == ("ok", "ok"), (here.reason, there.reason)
    assert here.answer == there.answer
    assert here.answer[2:7] == [True, True, 4, ["b", "c", "d"], ["a", "b", "c", "d"]] and here.answer[9]


OWN_NAMES = (
    "class Town:",
    "    def __hash__(self): return object.__hash__(self)",
    "class Name(str):",
    "    def __hash__(this): return str.__hash__(this)",
    "",
    "def hash(text): return len(text)",
    "def gathered(items): return sorted(items)",
    "",
    "def solution(inputs):",
    "    set = {3, 1, 2}",
    "    town, elsewhere_hash, many = Town(), 5, dict.fromkeys('abc')",
    "    return [town in {town}, Name('a') in {Name('a')}, sorted(set), len({4, 5}),",
    "        hash('abc'), elsewhere_hash, gathered(many.keys() - {'a'}), isinstance('a'.__hash__(), int)]",
    "",
)


def test_a_class_that_hashes_by_its_base_and_names_like_those_from_here_run_elsewhere_too(pool):
    for elsewhere in (False, True):
        [result] = solve("\n".join(OWN_NAMES), [{}], pool=pool, elsewhere=elsewhere)
        assert (result.status, result.answer) == ("ok", [True, True, [1, 2, 3], 2, 3, 5, ["b", "c"], True]), (
            elsewhere,
            result.reason,
        )
