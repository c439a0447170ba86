"""The reader of a puzzle."""

__declared__ = __read__ = __reading__ = __whole__ = __words__ = None
# --- program ---
import re

WORDS = __words__
WHOLE = __whole__
__declared__
__reading__


def read(text):
    match = re.fullmatch(WHOLE, text.strip(), re.DOTALL)
    if match is None:
        raise ValueError("not a statement of this family")
    return __read__
