"""The primary of a board."""

__answer__ = __constants__ = __moving__ = None
# --- program ---
"""One board, changed move by move."""

__constants__
__moving__


def solution(inputs):
    if not isinstance(inputs, dict) or {"board", "moves", "ask"} - set(inputs):
        return {"status": "schema_error", "detail": "board, moves, ask"}
    ask = inputs["ask"]
    __answer__
