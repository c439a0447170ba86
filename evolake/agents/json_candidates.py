"""Find the JSON objects in a model's text that may be its answer, the last one first.

Models think before they answer, some of them aloud: in `<think>` tags, whose drafts are no answers, or in
prose with its own braces. The answer is the last complete object that is outside of such tags. One pass finds
the candidates; a tag inside of an object's strings is text.
"""

from __future__ import annotations

import re
from collections import deque
from typing import Any

from pydantic import TypeAdapter

from evolake.agents.bounds import too_many

MOST_SCANNED = 20_000_000
"""Characters looked at in one text, over all places at which an object may begin."""
MOST_CANDIDATES = 8
_LEAST_SCANNED = 200
_JSON: TypeAdapter[Any] = TypeAdapter(Any)
_MARK = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>|\{\s*[\"}]", re.IGNORECASE)
_TAG = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>", re.IGNORECASE)
_BRACE = re.compile(r'[{}]|"(?:[^"\\]|\\.)*"', re.DOTALL)


def json_candidates(text: str) -> list[str]:
    """Return the objects that may be the answer, the last one first; texts that look like objects and are
    none are among them.

    >>> json_candidates('<think>Is it {"n": 1}?</think> In {braces}: {"n": 2}, or rather {"n": 3}.')
    ['{"n": 3}', '{"n": 2}']
    """
    found: deque[tuple[int, int]] = deque(maxlen=MOST_CANDIDATES)
    place, thinking, left = 0, False, MOST_SCANNED
    while left > 0 and (mark := _MARK.search(text, place)) is not None:
        place = mark.end()
        if mark[0][0] == "<":
            if mark[1]:
                if not thinking:
                    # a template may open the tag before the reply begins: what came before a lone closing tag
                    # was reasoning too
                    found.clear()
                thinking = False
            else:
                thinking = True
            continue
        if thinking:
            continue
        start = mark.start()
        end = _end_of_object(text, start)
        left -= max(_LEAST_SCANNED, (end or len(text)) - start)
        if end is not None:
            found.append((start, end))
            place = end
        elif _begins_object(text[start:]):
            # the reply was cut off inside of this object: what is inside is no answer
            found.append((start, len(text)))
            break
        else:
            place = start + 1
    return [text[start:end] for start, end in reversed(found)]


def without_reasoning(text: str) -> str:
    """Return the text behind the reasoning at its beginning; all of it if it begins otherwise.

    >>> without_reasoning("<think>Hm.</think> I edit it."), without_reasoning("Is <think> a tag?")
    ('I edit it.', 'Is <think> a tag?')
    """
    first = _TAG.match(text.lstrip())
    if first is None or first[1]:
        return text
    rest = text.lstrip()[first.end() :]
    close = next((tag for tag in _TAG.finditer(rest) if tag[1]), None)
    return rest[close.end() :].strip() if close else ""


def ends_in_object(text: str) -> bool:
    """Return whether the last thing that a text says is a whole JSON object."""
    last = json_candidates(text)[:1]
    if not last or not text.rstrip().removesuffix("```").rstrip().endswith(last[0]):
        return False
    try:
        _JSON.validate_json(last[0])
    except ValueError:
        return False
    return True


def _end_of_object(text: str, start: int) -> int | None:
    """Return where the object that begins at `start` ends; None if its braces do not close."""
    depth = 0
    for token in _BRACE.finditer(text, start):
        if token[0] == "{":
            depth += 1
        elif token[0] == "}":
            depth -= 1
            if not depth:
                return token.end()
    return None


def _begins_object(text: str) -> bool:
    """Return whether a text is an object up to where it breaks off."""
    if too_many(text):
        return False
    try:
        return isinstance(_JSON.validate_json(text, experimental_allow_partial=True), dict)
    except ValueError:
        return False
