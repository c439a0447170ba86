r"""Make characters visible that a terminal obeys or that a reader cannot see.

Texts of candidates, ids and cells of tables come from models and strangers. Printed as they are, an escape
sequence can write to the clipboard, clear the screen or hide what follows; a direction override shows another
order than the text has; characters of no width make two ids look alike. So each such character is written as
its escape, such as `\x1b`. Everything that is printed goes through here (`evolake.terminal`), and so do log
lines and Markdown.
"""

from __future__ import annotations

import re

_FORMAT = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb"
    "\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
)
"""Characters of format and of no width: directions, joiners, separators of lines, variation selectors,
fillers, tags."""
_HIDDEN = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff{_FORMAT}]")
_IN_A_CELL = re.compile(f"[\x00-\x1f\x7f-\x9f\ud800-\udfff{_FORMAT}]")
_SHORT = {"\n": "\\n", "\r": "\\r", "\t": "\\t"}


def visible(text: str) -> str:
    r"""Return `text` with every character escaped that a terminal obeys or that cannot be seen; ends of lines
    and tabs stay.

    >>> visible("a\x1b[2J\u202eb")
    'a\\x1b[2J\\u202eb'
    """
    return _HIDDEN.sub(_escaped, text)


def in_a_cell(text: object) -> str:
    r"""Return a text for one place of a line or table: as `visible`, and ends of lines and tabs are escaped,
    too.

    Without this a name could contain a second line that looks like one of ours.

    >>> in_a_cell("blocked\nx.py: accepted")
    'blocked\\nx.py: accepted'
    """
    return _IN_A_CELL.sub(_escaped, str(text))


def visible_json(text: str) -> str:
    r"""Return a JSON text with hidden characters of its strings written as JSON's own escapes: the same
    value.

    >>> visible_json('["\x9b"]')
    '["\\u009b"]'
    """
    return _HIDDEN.sub(_json_escaped, text)


def _escaped(match: re.Match[str]) -> str:
    character, code = match[0], ord(match[0])
    if code < 0x100:
        escape = f"\\x{code:02x}"
    elif code < 0x10000:
        escape = f"\\u{code:04x}"
    else:
        escape = f"\\U{code:08x}"
    return _SHORT.get(character) or escape


def _json_escaped(match: re.Match[str]) -> str:
    code = ord(match[0])
    if code < 0x10000:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"
