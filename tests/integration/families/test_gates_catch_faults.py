"""The gates through the real jail: the shipped seeds pass; each planted fault is blocked, at the gate and by
the rule that are meant for it."""

from collections.abc import Callable
from dataclasses import replace

import pytest
from families_fixtures import SETTINGS, judged, operators, seed_family

from evolake.families.gates.blind import blind_review, learn_reader
from evolake.families.model.contract import Family
from evolake.families.model.source_code import switch

CLINIC = seed_family("clinic-queue")
CARDS = seed_family("remainder-subsets")
LIARS = seed_family("truth-tellers")


def verdict(examined) -> tuple[str, str] | None:
    blocked = examined.blocked_by
    return None if blocked is None else (blocked.gate, blocked.rule_id)


def changed(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


def generator(family: Family, old: str, new: str) -> Family:
    return replace(family, generator=changed(family.generator, old, new))


def primary(family: Family, old: str, new: str) -> Family:
    return replace(family, validator=changed(family.validator, old, new))


def every_validator(family: Family, head: str) -> Family:
    """All voters with a line at the start of `solution`."""

    def put(source: str) -> str:
        return changed(source, "def solution(inputs):\n", f"def solution(inputs):\n    {head}\n")

    return replace(
        family,
        validator=put(family.validator),
        validators={name: put(source) for name, source in family.validators.items()},
    )


def leaking(family: Family) -> Family:
    """The generator solves its own instance and says the answer in passing."""
    source = family.validator + "\n\n" + family.generator
    answer = "{solution(dict(patients=patients, asked=asked))}"
    return replace(
        family,
        generator=changed(
            source, '"\\n".join(lines), ', f'"\\n".join(lines) + f"\\n(closing time {answer})", '
        ),
    )


def renamed(family: Family) -> Family:
    return replace(
        family,
        generator=family.generator.replace("count", "amount").replace("busy", "load"),
        title="Another title",
    )


FAULTS: dict[str, tuple[Callable[[], Family], tuple[str, str]]] = {
    "primary off by one": (
        lambda: primary(CLINIC, "return free", "return free + 1"),
        ("consensus", "families-primary-agrees"),
    ),
    "primary wrong in some cases": (
        lambda: primary(LIARS, "== WANTED]", "== WANTED and person < 7]"),
        ("consensus", "families-primary-agrees"),
    ),
    "rule missing in the text": (
        lambda: replace(CLINIC, template=changed(CLINIC.template, " [Rule rest]", "")),
        ("static", "families-stated"),
    ),
    "tie-break unstated": (
        lambda: replace(
            CLINIC,
            template=changed(CLINIC.template, "; when several patients are equal in this, [Rule tie]", ""),
        ),
        ("static", "families-stated"),
    ),
    "text and code of a rule differ": (
        lambda: replace(switch(CLINIC, "order", "longest"), points=CLINIC.points),
        ("static", "families-stated"),
    ),
    "difficulty ignored": (
        lambda: generator(CLINIC, "    count = ", "    difficulty = 5\n    count = "),
        ("static", "families-difficulty"),
    ),
    "answer leaked": (lambda: leaking(CLINIC), ("static", "families-leak")),
    "unseeded generator": (
        lambda: generator(CLINIC, "random.randint", "random.SystemRandom().randint"),
        ("execution", "families-determinism"),
    ),
    "clock in the generator": (
        lambda: generator(
            CLINIC, "    count = ", "    import time\n    random.seed(time.time_ns())\n    count = "
        ),
        ("execution", "families-determinism"),
    ),
    "date of today": (
        lambda: generator(
            CLINIC,
            "    count = ",
            "    import datetime\n    random.seed(datetime.date.today().toordinal())\n    count = ",
        ),
        ("execution", "families-determinism"),
    ),
    "hash of a text": (
        lambda: generator(CLINIC, "    count = ", "    random.seed(hash('clinic'))\n    count = "),
        ("execution", "families-determinism"),
    ),
    "order of a set": (
        lambda: generator(
            CLINIC, "    count = ", "    random.seed(list({'a', 'b'} | set('cd'))[0])\n    count = "
        ),
        ("execution", "families-determinism"),
    ),
    "order of a set in a validator": (
        lambda: primary(CLINIC, "return free", "return free + (list({'a', 'b'})[0] == 'a')"),
        ("execution", "families-determinism"),
    ),
    "time zone": (
        lambda: generator(
            CLINIC, "    count = ", "    import time\n    random.seed(time.timezone)\n    count = "
        ),
        ("execution", "families-determinism"),
    ),
    "state carried over": (
        lambda: generator(
            CLINIC,
            "    count = ",
            "    random.carried = getattr(random, 'carried', 0) + 1\n    count = random.carried % 5 + ",
        ),
        ("execution", "families-determinism"),
    ),
    "impure validator": (
        lambda: primary(
            CLINIC,
            "return free",
            "heapq.calls = getattr(heapq, 'calls', 0) + 1\n            return free + heapq.calls",
        ),
        ("execution", "families-determinism"),
    ),
    "endless loop": (
        lambda: every_validator(CLINIC, "while len(inputs['patients']) > 15: pass"),
        ("execution", "families-confined"),
    ),
    "endless loop that catches everything": (
        lambda: every_validator(
            CLINIC,
            "\n    while True:\n        try:\n            while True: pass\n        except BaseException: "
            "pass",
        ),
        ("execution", "families-confined"),
    ),
    "sleep": (
        lambda: generator(CLINIC, "    count = ", "    import time\n    time.sleep(60)\n    count = "),
        ("execution", "families-instances"),
    ),
    "memory bomb": (
        lambda: every_validator(CLINIC, "hog = bytearray(8 << 30)"),
        ("execution", "families-confined"),
    ),
    "memory bomb in an independent validator": (
        lambda: replace(
            CLINIC,
            validators={
                **CLINIC.validators,
                "ticking": "def solution(inputs):\n    return len(bytearray(8 << 30))\n",
            },
        ),
        ("execution", "families-confined"),
    ),
    "network call": (
        lambda: generator(
            CLINIC,
            "    count = ",
            "    import socket\n    socket.create_connection(('127.0.0.1', 80))\n    count = ",
        ),
        ("execution", "families-instances"),
    ),
    "fork": (
        lambda: generator(CLINIC, "    count = ", "    import os\n    os.fork()\n    count = "),
        ("execution", "families-instances"),
    ),
    "flood of output": (
        lambda: generator(CLINIC, "    count = ", "    while True: print('x' * 1000000)\n    count = "),
        ("execution", "families-instances"),
    ),
    "constant answer": (lambda: every_validator(CLINIC, "return 7"), ("static", "families-varied")),
    "three answers": (
        lambda: replace(every_validator(CLINIC, "return 2 + inputs['asked'] % 3"), operator="switch"),
        ("static", "families-guessable"),
    ),
    "trivial answers": (
        lambda: every_validator(CLINIC, "return inputs['asked'] % 2"),
        ("static", "families-varied"),
    ),
    "slot without a text": (
        lambda: replace(CLINIC, template=CLINIC.template + "\nAnd what of [Input Slot 3]?\n"),
        ("execution", "families-slots"),
    ),
    "slot in a slot text": (
        lambda: generator(CLINIC, "str(asked)]", "'[Input Slot 2]']"),
        ("static", "families-unfilled"),
    ),
    "drawn grid": (
        lambda: generator(CLINIC, '"\\n".join(lines)', '"\\n".join(lines) + "\\n7 5 4\\n6 7 5\\n8 4 5\\n"'),
        ("static", "families-drawing"),
    ),
    "same instance always": (
        lambda: generator(CLINIC, "    count = ", "    random.seed(difficulty)\n    count = "),
        ("static", "families-distinct"),
    ),
    "inputs that JSON cannot carry": (
        lambda: generator(CLINIC, '"patients": patients', '"patients": {7: 1}'),
        ("execution", "families-instances"),
    ),
    "source that does not load": (
        lambda: replace(CLINIC, validator="def solution(inputs:\n"),
        ("execution", "families-primary"),
    ),
    "answer of another type": (
        lambda: primary(CLINIC, "return free", "return str(free)"),
        ("execution", "families-primary"),
    ),
    "copy in place of an independent validator": (
        lambda: replace(
            CLINIC, validators={**CLINIC.validators, "ticking": CLINIC.validator.replace("waiting", "queue")}
        ),
        ("consensus", "families-voters"),
    ),
    "one validator too few": (
        lambda: replace(CLINIC, validators={"sorting": CLINIC.validators["sorting"]}),
        ("consensus", "families-voters"),
    ),
    "three validators, three answers": (
        lambda: replace(
            CLINIC,
            validators={
                "sorting": changed(CLINIC.validators["sorting"], "ends.get(", "1 + ends.get("),
                "ticking": changed(CLINIC.validators["ticking"], "return minute +", "return 2 + minute +"),
            },
        ),
        ("consensus", "families-majority"),
    ),
    "reader that cannot read": (
        lambda: replace(CLINIC, reader="def read(text):\n    return {}\n"),
        ("blind", "families-blind"),
    ),
    "reader missing, and none to be learnt": (
        lambda: replace(LIARS, reader=None),
        ("blind", "families-blind"),
    ),
    "text that withholds an input": (
        lambda: generator(CLINIC, "arrives in minute {arrival}", "arrives in minute {arrival // 2}"),
        ("blind", "families-blind"),
    ),
}


@pytest.mark.parametrize("name", FAULTS)
def test_a_planted_fault_is_blocked(name, pool):
    plant, expected = FAULTS[name]
    examined = judged(plant(), pool)
    assert verdict(examined) == expected, examined.blocked_by
    assert not examined.accepted


def test_a_wrong_independent_validator_is_outvoted(pool):
    family = replace(
        CLINIC,
        validators={
            **CLINIC.validators,
            "sorting": changed(CLINIC.validators["sorting"], "ends.get(", "1 + ends.get("),
        },
    )
    examined = judged(
        family, pool, settings=SETTINGS.model_copy(update={"blind_difficulties": [3, 5, 5, 7, 7, 7]})
    )
    assert verdict(examined) is None
    assert {vote.for_label for vote in examined.sample_votes} == {("primary", "ticking")}
    assert [review.matched for review in examined.reviews] == [False, True] * 3


def test_a_family_without_a_reader_is_read_by_one_that_was_learnt(pool):
    examined = judged(replace(CLINIC, reader=None), pool)
    assert verdict(examined) is None
    assert {review.reviewer for review in examined.reviews} == {"learned+sorting", "learned+ticking"}
    withheld = generator(
        replace(CLINIC, reader=None), "arrives in minute {arrival}", "arrives in minute {arrival // 2}"
    )
    assert learn_reader(withheld, pool=pool, settings=SETTINGS) is None


def test_the_same_family_under_other_names_is_a_near_duplicate(pool):
    first = judged(CLINIC, pool)
    again = judged(renamed(CLINIC), pool, known=[first.fingerprint])
    assert again.family_id != first.family_id
    assert verdict(again) == ("static", "families-near-duplicate")
    assert verdict(judged(CARDS, pool, known=[first.fingerprint])) is None


def test_a_rule_that_changes_nothing_makes_no_new_family(pool):
    unused = replace(
        CARDS, generator=CARDS.generator + "\nUNUSED = 1\n", validator=CARDS.validator + "\nUNUSED = 1\n"
    )
    first = judged(CARDS, pool)
    assert verdict(judged(unused, pool, known=[first.fingerprint])) == ("static", "families-near-duplicate")


def test_blind_reviewers_take_rules_from_the_text_alone(pool):
    """All sources follow another rule than the text: the voters agree, and only who reads the text can see
    it."""
    shown = [replace(point, chosen="shortest") if point.name == "order" else point for point in CLINIC.points]
    family = replace(switch(CLINIC, "order", "longest"), points=tuple(shown))
    reviews, votes = blind_review(family, pool=pool, agents=operators(), settings=SETTINGS, root_seed=0)
    assert all(vote.decided for vote in votes)
    assert sum(review.matched for review in reviews) < 3
    honest, _ = blind_review(CLINIC, pool=pool, agents=operators(), settings=SETTINGS, root_seed=0)
    assert all(review.matched for review in honest)


def test_sets_whose_order_no_seed_draws_and_sorted_ones_are_no_fault(pool):
    settled = (
        "(list({3, 5, 4})[0] + len({'a'} & set('ab')) + ord(min({'x', 'y'})) + isinstance(set(), "
        "frozenset)) // 9999"
    )
    assert verdict(judged(generator(CLINIC, "    count = ", f"    count = {settled} + "), pool)) is None


def test_the_same_seed_gives_the_same_verdicts_votes_and_reviews(pool):
    first, second = judged(LIARS, pool, root_seed=5), judged(LIARS, pool, root_seed=5)
    assert (first.verdicts, first.sample_votes, first.reviews) == (
        second.verdicts,
        second.sample_votes,
        second.reviews,
    )
    assert first.fingerprint == second.fingerprint
    other = judged(LIARS, pool, root_seed=6)
    assert [review.seed for review in other.reviews] != [review.seed for review in first.reviews]
