"""Waves of requests: every place once, in order, and notes that differ."""

from hypothesis import given
from hypothesis import strategies as st

from evolake.agents.attempts import SiblingNote, direction_of, waves


@given(st.integers(0, 200), st.integers(1, 20))
def test_every_place_is_in_one_wave(count, number):
    found = waves(count, number)
    assert [place for wave in found for place in wave] == list(range(count))
    assert len(found) == min(number, count)
    assert not found or max(map(len, found)) - min(map(len, found)) <= 1


def test_notes_of_one_generation_differ():
    texts = {
        SiblingNote(number=number + 1, count=4, direction=direction_of(["a", "b"], number)).text()
        for number in range(4)
    }
    assert len(texts) == 4


def test_a_note_says_what_the_others_proposed():
    text = SiblingNote(number=2, count=2, direction="structure", siblings=["a cache: score 3"]).text()
    assert text.splitlines() == [
        "This is request 2 of 2 of this generation.",
        "Direction of this one: structure",
        "Others of this generation proposed (do something else):",
        "- a cache: score 3",
    ]


def test_a_request_alone_says_no_number():
    assert SiblingNote(number=1, count=1).text() == ""
