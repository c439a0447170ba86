"""Readers learnt from examples: what slots spell is found, what they do not spell is not guessed."""

import pytest

from evolake.families.gates.reading import pattern, reader_from
from evolake.families.model.statement import fill

TEMPLATE = (
    "There are [Input Slot 1] of (these): [Input Slot 2].\n<!-- question -->\nHow many, if [Input Slot 1]?\n"
)


def examples(make):
    return [{"inputs": inputs, "slots": slots} for inputs, slots in (make(n) for n in range(2, 9))]


def read(source: str, text: str):
    space: dict = {}
    exec(source, space)
    return space["read"](text)


@pytest.mark.parametrize(
    "make",
    [
        lambda n: ({"n": n, "list": [n, -n, 1]}, [str(n), f"{n}, {-n}, 1"]),
        lambda n: ({"n": n / 4, "rows": [[n, 1], [2, n]]}, [str(n / 4), f"{n} and 1\n2 and {n}"]),
        lambda n: ({"word": "a" * n, "names": ["Ann", "Bob" * n]}, ["a" * n, f"Ann, {'Bob' * n}"]),
        lambda n: (
            {"n": n, "map": {"a": [n, None, True]}, "fixed": [7]},
            [str(n), str({"a": [n, None, True]})],
        ),
    ],
)
def test_what_slots_spell_is_read_back(make):
    source = reader_from(TEMPLATE, examples(make))
    assert source is not None
    inputs, slots = make(20)
    assert read(source, fill(TEMPLATE, slots)) == inputs


@pytest.mark.parametrize(
    "make",
    [
        lambda n: ({"n": n, "hidden": n * n}, [str(n), "nothing"]),
        lambda n: ({"n": n + 1}, [str(n), "x"]),
        lambda n: ([n], [str(n), "x"]),
        lambda n: ({"n": n} if n < 5 else {"m": n}, [str(n), "x"]),
        lambda n: ({"fixed": 1}, ["x", "y"]) if n < 5 else ({"fixed": 1}, ["z", "w"]),
    ],
)
def test_what_slots_do_not_spell_is_not_guessed(make):
    assert reader_from(TEMPLATE, examples(make)) is None


def test_a_text_of_another_form_is_refused():
    source = reader_from(TEMPLATE, examples(lambda n: ({"n": n}, [str(n), "x"])))
    assert source is not None
    with pytest.raises(ValueError, match="not a statement"):
        read(source, "There are 3 of these: x.\n\nHow many, if 3?")
    with pytest.raises(ValueError, match="not a statement"):
        read(source, fill(TEMPLATE, ["3", "x"]).replace("if 3", "if 4"))


def test_slots_that_occur_again_must_say_the_same():
    assert pattern("[Input Slot 1] (a) [Input Slot 1]") == r"(?P<slot1>.*?)\ \(a\)\ (?P=slot1)"
