"""What `evolake.gates.in_turn` is held against."""

from __future__ import annotations

from typing import Any


def one_after_another(items: Any, judge_all: Any, *, still: Any, settle: Any) -> list[Any]:
    """Each item judged and settled before the next is judged."""
    result = []
    for item in items:
        result += judge_all([item])
        settle(item, result[-1])
    return result
