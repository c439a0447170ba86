"""A reader that takes each of the inputs from a slot."""

__assignments__ = __constants__ = __pattern__ = __ways__ = None
# --- program ---
import ast
import json
import re

PATTERN = __pattern__
__ways__

def read(text):
    match = re.fullmatch(PATTERN, text, re.DOTALL)
    if match is None:
        raise ValueError("not a statement of this family")
    inputs = json.loads(__constants__)
    __assignments__
    return inputs
