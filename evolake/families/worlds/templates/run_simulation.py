"""The primary of a process world."""

__answer__ = __constants__ = __played__ = None
# --- program ---
"""One state, changed turn by turn."""

__constants__
__played__


def solution(inputs):
    if not isinstance(inputs, dict) or {"cap", "start", "events", "ask"} - set(inputs):
        return {"status": "schema_error", "detail": "cap, start, events, ask"}
    cap, m, start, ask = inputs["cap"], inputs.get("marks", 1), inputs["start"], inputs["ask"]
    __answer__
