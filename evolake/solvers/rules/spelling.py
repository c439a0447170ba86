"""Checkers of what the tokens of the sources add: spellings that hide, switches of the compiler, assembler,
and data.

They read `evidence["source"]`: `tokens` (rows of `lexical_additions`), `data` (its sums) and `unread` (files
that are too large or nest too deep).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from evolake.gates import Finding, checker

Row = Mapping[str, Any]
WORDS = {
    "string_bytes": "{got} bytes of string literals",
    "escapes": "{got} bytes written as numbers in string literals",
    "number_bits": "{got} bits in number and character literals",
    "longest_string": "a string literal of {got} characters",
    "longest_run": "a string of {got} characters without a space",
    "longest_word": "a name or number of {got} characters",
    "tokens": "{got} tokens of code",
    "longest_list": "a list of {got} numbers",
}


@checker("solvers.token_facts")
def token_facts(evidence: Row, *, what: str, kinds: Sequence[str], allowed: str = "") -> Finding | None:
    """No added token of one of `kinds` (see `lexical_additions`), but for those whose name matches `allowed`,
    a regular expression, as a whole."""
    fine = re.compile(allowed) if allowed else None
    result = [
        row
        for row in evidence["source"]["tokens"]
        if row["kind"] in kinds and not (fine and fine.fullmatch(row["name"]))
    ]
    if not result:
        return None
    row = min(result, key=lambda row: (row["file"], row["line"], row["name"]))
    more = f", and {len(result) - 1} more" if len(result) > 1 else ""
    place = f"{row['file']}:{row['line']}" if row["line"] else row["file"]
    return Finding(f"{what}: {row['name']!r} added in {place}{more}")


@checker("solvers.added_data")
def added_data(evidence: Row, *, most: Mapping[str, int]) -> Finding | None:
    """Check that what the sources add to those of the base holds at most so much data, by the sums of
    `lexical_additions`."""
    data = evidence["source"]["data"]
    for name, limit in most.items():
        if data[name] > limit:
            return Finding(
                f"adds {WORDS[name].format(got=data[name])}; at most {limit} are taken: what a search "
                "needs is code, not data"
            )
    return None


@checker("solvers.readable")
def readable(evidence: Row) -> Finding | None:
    """Every changed source file can be read by these rules: neither too large nor nested too deep."""
    unread = evidence["source"]["unread"]
    more = f", and {len(unread) - 1} more" if len(unread) > 1 else ""
    return Finding(f"cannot be read: {unread[0]}{more}") if unread else None
