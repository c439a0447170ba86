"""Two shipped families joined by the contract's tools alone: the answer of one sets a port of the other, and
the child passes every gate."""

from dataclasses import replace

from families_fixtures import judged_but_for_guesses as judged
from families_fixtures import seed_family

from evolake.families.model.contract import Answer, Family
from evolake.families.model.source_code import compose, factory, switch
from evolake.families.model.statement import fresh_marker, join_question
from evolake.families.operators.joining import cutter, embed, sections

CLINIC, CARDS = seed_family("clinic-queue"), seed_family("remainder-subsets")
SOLVE = """
solve_a, solve_b = part_a(), part_b()


def solution(inputs):
    if not isinstance(inputs, dict) or {"a", "b"} - set(inputs):
        return {"status": "schema_error", "detail": "a and b"}
    first = solve_a(inputs["a"])
    if not isinstance(first, int):
        return {"status": "schema_error", "detail": "a"}
    second = dict(inputs["b"])
    second["remainder"] = first % (second["largest"] + 1)
    return solve_b(second)
"""
GENERATE = """
make_a, make_b = part_a(), part_b()


def input(difficulty):
    first, texts = make_a(difficulty)
    second, more = make_b(difficulty)
    more[2] = "R"
    second["remainder"] = None
    return {"a": first, "b": second}, texts + more
"""
READ = """
read_a, read_b = part_a(), part_b()


def read(text):
    first, second = cut(text)
    if not text.endswith(QUESTION):
        raise ValueError("another question")
    found = read_b(second.replace("the remainder R", "the remainder 0"))
    found["remainder"] = None
    return {"a": read_a(first), "b": found}
"""


def pipe(first: Family, second: Family, keys: tuple[str, str] = ("a", "b")) -> Family:
    """`second` (whose port is the remainder) under the answer of `first`."""
    marker = fresh_marker([first.template, second.template])
    left = embed(first, keys[0])
    right = embed(second, keys[1], shift=left.slots)
    assert left.reader is not None and right.reader is not None

    def joined(first_source: str, second_source: str, entry: str, glue: str) -> str:
        return compose(
            [factory("part_a", first_source, entry), factory("part_b", second_source, entry)], glue
        )

    pairs = zip(left.validators.values(), right.validators.values(), strict=True)
    given = (
        f"Let R be the remainder that the answer to {marker} 1 leaves when divided by the divisor of "
        f"{marker} 2."
    )
    question = f"{given} What is the answer to {marker} 2?"
    return Family(
        name="pipe",
        title="pipe",
        category=second.category,
        language="en",
        generator=joined(left.generator, right.generator, "input", GENERATE),
        template=join_question(sections([left.text, right.text], marker), question),
        validator=joined(left.validator, right.validator, "solution", SOLVE),
        validators={
            f"pair{number}": joined(item, other, "solution", SOLVE)
            for number, (item, other) in enumerate(pairs, 1)
        },
        reader=joined(
            left.reader, right.reader, "read", f"QUESTION = {question!r}\n" + cutter(marker, 2) + READ
        ),
        answer=Answer("integer"),
        points=left.points + right.points,
        ports=left.ports,
        filterables=left.filterables,
        parents=(first.family_id, second.family_id),
        operator="pipe",
    )


def test_a_child_of_two_families_passes_every_gate_and_so_does_its_rule_switched(pool):
    child = pipe(CLINIC, CARDS)
    examined = judged(child, pool, known=[judged(parent, pool).fingerprint for parent in (CLINIC, CARDS)])
    assert examined.accepted, examined.blocked_by
    assert sorted(point.name for point in child.points) == ["a_order", "a_rest", "a_tie", "b_fold", "b_size"]
    switched = judged(
        switch(switch(child, "a_order", "latest"), "b_fold", "squares"), pool, known=[examined.fingerprint]
    )
    assert switched.accepted, switched.blocked_by
    assert all(review.matched for review in switched.reviews)


def test_a_family_may_occur_twice_in_a_child(pool):
    child = pipe(switch(CARDS, "size", "odd"), CARDS)
    examined = judged(child, pool)
    assert examined.accepted, examined.blocked_by


def test_a_child_of_a_child_passes_every_gate(pool):
    grandchild = pipe(pipe(CLINIC, CARDS), switch(CARDS, "size", "even"), ("c", "d"))
    examined = judged(grandchild, pool)
    assert examined.accepted, examined.blocked_by
    assert [port.key for port in grandchild.ports] == [("c", "a", "asked")]


def test_a_wrong_validator_of_a_parent_is_outvoted_in_the_child(pool):
    bad = CLINIC.validators["sorting"].replace("ends.get(", "1 + ends.get(")
    child = pipe(replace(CLINIC, validators={**CLINIC.validators, "sorting": bad}), CARDS)
    examined = judged(child, pool)
    assert all(vote.decided and vote.primary_agrees for vote in examined.sample_votes)
    assert sum("pair1" in vote.for_label for vote in examined.sample_votes) < len(examined.sample_votes)
