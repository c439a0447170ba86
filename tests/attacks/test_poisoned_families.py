"""The whole corpus of poisoned texts, on three seeds, and sources broken at random: the gates end in a
verdict every time, within bounded time.

python -m pytest tests/attacks/test_poisoned_families.py -m attack
"""

import random
import time
from dataclasses import replace
from typing import Any

import pytest
from families_fixtures import SETTINGS, judged, seed_family
from families_poison import corpus, plain

from evolake.errors import InputError
from evolake.families.gates.specs import GATE_NAMES
from evolake.families.model.contract import Family, as_json, to_record
from evolake.families.model.family_files import check_text
from evolake.families.sandbox.running import PRELOAD
from evolake.jail import open_pool

pytestmark = pytest.mark.attack
SIZES = SETTINGS.model_copy(
    update={"gate_difficulties": [1, 5, 10], "sample_seeds": 4, "execution_seeds": 1, "counted_seeds": 1}
)
BASES = ("clinic-queue", "truth-tellers", "polynomial-product")
BROKEN = 300
LONGEST_S = 60.0
"""Of one family; the jail's own limits are a third of it. A parser that goes quadratic is far beyond."""
WEEDS = (
    "(" * 199,
    "[" * 199,
    "{" * 99,
    "\0",
    "\ud800",
    "\u202e",
    "9" * 5000,
    "0x" + "f" * 5000,
    "1e999999999",
    "-" * 999,
    "lambda: " * 99,
    "'" * 3,
    "\\",
    "\r",
    "\f" * 99,
    "#" * 9999,
    "\n" * 9999,
    "\t",
    "[Input Slot 9999]",
    "[Rule x]",
    "<!-- question -->\n",
    "\\boxed{",
    "\u0660",
    "\ufeff",
    "if 1:\n " * 20,
    "@" * 99,
)


@pytest.fixture(scope="module")
def pool():
    with open_pool(workers=2, preload=PRELOAD) as pool:
        yield pool


def to_the_end(family: Family, pool: Any) -> str:
    began = time.monotonic()
    try:
        check_text("the reply", to_record(family))  # what `make_family` does with every reply
    except InputError:
        return "refused"
    examined = judged(family, pool, settings=SIZES)
    assert time.monotonic() - began < LONGEST_S
    assert {verdict.gate for verdict in examined.verdicts} <= set(GATE_NAMES)
    as_json({gate: dict(result) for gate, result in examined.evidence.items()}).encode()
    return examined.blocked_by.gate if examined.blocked_by else "accepted"


@pytest.mark.parametrize("base", BASES)
def test_every_poisoned_family_is_a_verdict(base, pool, record_property):
    ends = {name: to_the_end(family, pool) for name, family in corpus(seed_family(base)).items()}
    record_property("families", len(ends))
    assert len(ends) > 60


def broken(family: Family, number: int) -> Family:
    """One to four weeds at random places of random texts, or a slice lost or doubled."""
    chance = random.Random(number)
    texts = {
        "generator": family.generator,
        "validator": family.validator,
        "template": family.template,
        "reader": family.reader or "",
    }
    for _ in range(chance.randint(1, 4)):
        name = chance.choice(list(texts))
        text = texts[name]
        start, end = sorted(chance.randrange(len(text) + 1) for _ in range(2))
        texts[name] = chance.choice(
            (
                lambda t, a, b: t[:a] + chance.choice(WEEDS) + t[a:],
                lambda t, a, b: t[:a] + t[b:],
                lambda t, a, b: t[:b] + t[a:b] + t[b:],
            )
        )(text, start, end)
    return replace(family, **texts)


def test_sources_broken_at_random_are_verdicts(pool):
    bases = [plain(seed_family(name)) for name in BASES]
    ends = [to_the_end(broken(bases[number % 3], number), pool) for number in range(BROKEN)]
    assert len(ends) == BROKEN and "execution" in ends
