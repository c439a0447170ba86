"""All pairs of a population, by the measure of the near-duplicate rule."""

from families_fixtures import RULES

from evolake.families.gates.checkers import near_duplicate
from evolake.families.gates.static import NEAREST, nearest
from evolake.families.model.similarity import Fingerprint
from evolake.families.report.material import DUPLICATE, duplicate_pairs

PARAMETERS = next(rule.parameters for rule in RULES.rules if rule.check == "families.near_duplicate")
ANSWERS = tuple("abcdefghijklmnopqrst")


def print_of(
    name: str, *, code: str | None = None, sketch: range = range(0), answers: tuple[str, ...] = ANSWERS
) -> Fingerprint:
    return Fingerprint(name * 8, name, code or name, name, tuple(sketch), answers)


def other_answers(kept: int) -> tuple[str, ...]:
    return (*ANSWERS[:kept], *(f"other {number}" for number in range(len(ANSWERS) - kept)))


def test_pairs_are_those_that_the_gate_would_block():
    families = [
        print_of("a", sketch=range(100)),
        print_of("b", sketch=range(500, 600), answers=other_answers(0)),
        print_of("c", code="a", sketch=range(300, 400), answers=other_answers(5)),  # the code of a
        print_of("d", sketch=range(700, 800), answers=other_answers(19)),  # 95% of the answers of a
        print_of(
            "e", sketch=range(5, 105), answers=other_answers(16)
        ),  # 80% of the answers of a, 90% of its code
        print_of("f", sketch=range(800, 900), answers=other_answers(18)),  # 90% of the answers of a alone
    ]
    result = duplicate_pairs(families, PARAMETERS)
    assert [pair[:2] for pair in result] == [("c" * 8, "a" * 8), ("d" * 8, "a" * 8), ("e" * 8, "a" * 8)]
    known: list[Fingerprint] = []
    for family in families:
        blocked = near_duplicate({"nearest": nearest(family, known)}, **PARAMETERS)
        assert bool(blocked) == any(pair[0] == family.family_id for pair in result)
        known.append(family)


def test_a_double_by_answers_is_seen_behind_many_that_are_alike_in_code():
    crowd = [
        print_of(f"k{number}", sketch=range(100), answers=other_answers(12)) for number in range(2 * NEAREST)
    ]
    double = print_of("double", sketch=range(900, 1000))
    assert (
        near_duplicate(
            {"nearest": nearest(print_of("new", sketch=range(100)), [*crowd, double])}, **PARAMETERS
        )
        is not None
    )


def test_the_page_states_the_measure_of_the_shipped_rule():
    assert DUPLICATE == PARAMETERS
