"""The primary of a queue."""

held = None
__answer__ = __constants__ = __held__ = __people__ = None
# --- program ---
"""Minute by minute, with a list of those in the line."""

__constants__
__held__


def solution(inputs):
    if not isinstance(inputs, dict) or {"desks", "people", "ask"} - set(inputs):
        return {"status": "schema_error", "detail": "desks, people, ask"}
    ask, people = inputs["ask"], __people__
    calls, gone, line = held(people, inputs["desks"])
    __answer__
