"""The tool `search`: the passages of a local corpus that fit a query best by BM25 (Robertson and Zaragoza
2009; k1 = 1.2, b = 0.75).

The index is SQLite's FTS5, which is part of Python, in memory: words are cut to their stems, accents and case
do not count. A document is indexed in passages of PASSAGE words, as retrieval for question answering does
(Karpukhin et al. 2020).
"""

from __future__ import annotations

import itertools
import re
import sqlite3
from collections.abc import Iterable, Iterator, Sequence

from evolake.errors import MachineryError
from evolake.prompts.tools.corpus import Document
from evolake.prompts.tools.tool import Answered

PASSAGE = 100
"""Words of a passage."""
SHOWN = 3
"""Passages that one search shows."""
MOST_WORDS = 64
"""Words of a query that count."""
NOTHING = "(nothing was found)"
_WORD = re.compile(r"[^\W_]+")


class Search:
    """The index of some documents.

    Raises:
        MachineryError: this Python's SQLite was built without FTS5.
    """

    name = "search"
    says = (
        "<tool>search height of Mont Blanc</tool> shows the passages of a library that fit these words best."
    )

    def __init__(self, documents: Iterable[Document]):
        self._index = sqlite3.connect(":memory:", check_same_thread=False)
        try:
            self._index.execute(
                "CREATE VIRTUAL TABLE passages USING fts5(title, text, tokenize = 'porter unicode61 "
                "remove_diacritics 2')"
            )
        except sqlite3.OperationalError as error:
            raise MachineryError(
                "this Python cannot search a corpus",
                wanted="SQLite with FTS5",
                got=f"SQLite {sqlite3.sqlite_version}: {error}",
                do="use a Python whose sqlite3 has it, or leave `search` out of EVOLAKE_PROMPTS__TOOLS",
            ) from None
        rows = ((document.title, passage) for document in documents for passage in passages(document.text))
        self._index.executemany("INSERT INTO passages VALUES (?, ?)", rows)
        self._index.commit()

    def answer(self, given: Sequence[str]) -> list[Answered]:
        """Return the best passages of each query, numbered; those of equal rank in the order of the
        corpus."""
        return [self._found(query) for query in given]

    def close(self) -> None:
        """Forget the index."""
        self._index.close()

    def _found(self, query: str) -> Answered:
        words = list(itertools.islice(dict.fromkeys(_WORD.findall(query.casefold())), MOST_WORDS))
        if not words:
            return Answered("error", "the query has no word")
        match = " OR ".join(f'"{word}"' for word in words)
        rows = self._index.execute(
            "SELECT title, text FROM passages WHERE passages MATCH ? ORDER BY rank, rowid LIMIT ?",
            (match, SHOWN),
        ).fetchall()
        shown = [
            f"[{number}] {title}: {text}" if title else f"[{number}] {text}"
            for number, (title, text) in enumerate(rows, 1)
        ]
        return Answered("ok", "\n".join(shown) or NOTHING)


def passages(text: str) -> Iterator[str]:
    """Yield the text in pieces of PASSAGE words."""
    words = text.split()
    for start in range(0, len(words), PASSAGE):
        yield " ".join(words[start : start + PASSAGE])
