"""The reader of a constraint world."""

__ask__ = __clues_and_own__ = __declared__ = __patterns__ = __whole__ = None
# --- program ---
import re

WHOLE = __whole__
PATTERNS = __patterns__
__declared__


def sentence(text, names):
    """What one sentence says. Raises ValueError unless exactly one pattern is that of the whole sentence."""
    found = []
    for kind, things, letters, expression in PATTERNS:
        match = re.fullmatch(expression.replace("<name>", "|".join(map(re.escape, names))), text)
        if match is not None:
            said = dict(zip(letters, match.groups()))
            found.append([kind, *(names.index(said[one]) if one in "abc" else int(said[one]) for one in things)])
    if len(found) != 1:
        raise ValueError(f"{len(found)} patterns fit: {text}")
    return found[0]


def read(text):
    match = re.fullmatch(WHOLE, text.strip(), re.DOTALL)
    if match is None:
        raise ValueError("not a statement of this family")
    names = re.split(", | and ", match["slot1"])
    clues = [sentence(line.removeprefix("- "), names) for line in match["slot2"].split("\n")]
    marked = [names.index(name) for name in re.split(", | and ", match["slot__base__"])]
    ask = {__ask__}
    return {"names": names, "clues": __clues_and_own__, "marked": marked, "ask": ask}
