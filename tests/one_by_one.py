"""What `evolake.gates.run` is held against."""

from typing import Any


def one_after_another(items: Any, judge_all: Any, *, still: Any, record: Any) -> list[Any]:
    """Each item judged and recorded before the next is judged."""
    result = []
    for item in items:
        result += judge_all([item])
        record(item, result[-1])
    return result
