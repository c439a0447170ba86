"""Children of one root seed are stable, distinct and keyed by what they are for."""

from hypothesis import given
from hypothesis import strategies as st

from evolake.seeds import child_seed, generator

names = st.text(min_size=1, max_size=12)


def test_the_numbers_are_the_same_on_every_machine():
    assert child_seed(0, "designs", "0001", "instances", 3) == 8118058299482867902
    assert generator(0, "designs", "0001", "instances", 3).integers(0, 1000, 4).tolist() == [
        888,
        265,
        175,
        271,
    ]


@given(st.integers(0, 2**63), names, names, st.integers(0, 10**6))
def test_a_seed_is_a_function_of_its_key(root, line, purpose, index):
    first = child_seed(root, line, "0001", purpose, index)
    assert first == child_seed(root, line, "0001", purpose, index)
    assert 0 <= first < 2**63
    keys = [(root, "0002", index), (root, "0001", index + 1), (root + 1, "0001", index)]
    others = {child_seed(key_root, line, cycle, purpose, key_index) for key_root, cycle, key_index in keys}
    assert first not in others
    assert len(others) == 3
