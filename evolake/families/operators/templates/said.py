"""Head of every child's reader: it takes its parents' readers to read the parts, and reads all that the operator says."""

__end__ = __said__ = None
# --- program ---

import re

SAID = __said__


def said(text):
    """What stands in the slots of the operator's own text, of which nothing else may be left."""
    match = re.fullmatch(SAID, text[text.rindex(__end__) + len(__end__) :].strip(), re.DOTALL)
    if match is None:
        raise ValueError("what follows the parts is another text")
    return match
