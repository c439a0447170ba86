"""A reader that hands the limit on."""

part = None
__key__ = __pattern__ = None
# --- program ---

import re

read_first = part()


def read(text):
    return {**read_first(text), __key__: int(re.search(__pattern__, text).group(1))}
