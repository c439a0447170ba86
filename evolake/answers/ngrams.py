"""Word n-grams of texts, by which overlap between two sets of texts is measured, as GPT-3's authors did (Brown et al. 2020, app. C)."""

from __future__ import annotations

import re
from collections.abc import Iterator

_WORD = re.compile(r"[\u4e00-\u9fff]|[^\W\u4e00-\u9fff]+")
ASKING = re.compile(
    r"\s*(?:Give your final answer[^\n]{0,80}|请把最终答案[^\n]{0,80}|Reply with [^\n]{0,60} and nothing else\.|只回答[^\n]{0,40})\s*\Z"
)


def ngrams(text: str, count: int) -> Iterator[tuple[str, ...]]:
    """Yield the n-grams of a text: words in lower case without punctuation, a Chinese character a word; the
    request for the answer left out. A text of fewer words is one n-gram.
    """
    words = [word.casefold() for word in _WORD.findall(ASKING.sub("", text))]
    if words and len(words) <= count:
        yield tuple(words)
    else:
        yield from (tuple(words[start : start + count]) for start in range(len(words) - count + 1))
