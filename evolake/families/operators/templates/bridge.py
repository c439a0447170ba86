"""Head of the reader of a child whose second statement goes on with the answer to the first: it finds the operator's own text between them."""

__said__ = None
# --- program ---

import re

SAID = __said__


def parted(text):
    """(the statement before the operator's own text, its match, the statement behind it)."""
    found = [match for match in re.finditer(SAID, text) if text[: match.start()].endswith("\n\n") and text[match.end() :].startswith("\n\n")]
    if len(found) != 1:
        raise ValueError("what joins the statements is another text")
    return text[: found[0].start()].strip(), found[0], text[found[0].end() :].strip()


def said(text):
    """What stands in the slots of the operator's own text."""
    return parted(text)[1]


def cut(text):
    """The two statements."""
    before, _, behind = parted(text)
    return before, behind
