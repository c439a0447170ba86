"""The reader of a board."""

__ask__ = __declared__ = __letters__ = __ways__ = __whole__ = None
# --- program ---
import re

LETTERS = __letters__
WAYS = __ways__
WHOLE = __whole__
__declared__


def read(text):
    match = re.fullmatch(WHOLE, text.strip(), re.DOTALL)
    if match is None:
        raise ValueError("not a statement of this family")
    board = []
    for number, line in enumerate(match["slot1"].split("\n"), start=1):
        found = re.fullmatch(r"- Row (\d+): (.+)\.", line)
        if found is None or int(found[1]) != number:
            raise ValueError(f"not in order: {line}")
        board.append("".join(LETTERS[name] for name in found[2].split(", ")))
    if len(set(map(len, board))) != 1 or "".join(board).count("@") != 1:
        raise ValueError("not a board: rows of one length, and one who moves")
    return {"board": board, "moves": [WAYS.index(way) for way in match["slot2"].split(", ")], "ask": {__ask__}}
