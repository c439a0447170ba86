"""Candidates judged side by side, with the results of judging one after another.

What one candidate's judgement depends on from those before it in the cycle (duplicates, what is taken) is
little and cheap. So all are judged concurrently under what holds at the start; then, in their order, each
result is held against what those before it have left, and the few that this changes are judged again. What
comes out depends on neither the number of workers nor on who ends first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

Item = TypeVar("Item")
Result = TypeVar("Result")


def side_by_side(work: Callable[[Item], Result], items: Sequence[Item], workers: int) -> list[Result]:
    """Return `work` of each item by at most `workers` threads, in the order of the items. Of what is raised,
    that of the earliest item; what has not begun by then is not begun. One worker is a thread too, so that a
    candidate meets a stack of the same depth however many there are.
    """
    with ThreadPoolExecutor(max_workers=max(1, workers), thread_name_prefix="evolake-candidate") as threads:
        return list(threads.map(work, items))


def in_turn(
    items: Sequence[Item],
    judge_all: Callable[[Sequence[Item]], Sequence[Result]],
    *,
    still: Callable[[Item, Result], Result | None],
    record: Callable[[Item, Result], None],
) -> list[Result]:
    """Return results as if each item were judged and recorded before the next is judged, in the order of the
    items.

    Args:
        judge_all: judges items side by side (`side_by_side`, or the workers of a cluster), each as if it came
            next. Reads what `record` writes.
        still: returns the result as it is under the current state if it is still valid, else None.
        `record`: records for later items what a result changes. Called in order, by this thread.
    """
    results = list(judge_all(items))
    for place, item in enumerate(items):
        valid = still(item, results[place])
        if valid is not None:
            results[place] = valid
        else:
            # Whatever else is outdated by now is judged beside it, so that the workers have more than one
            # item.
            outdated = [
                place,
                *(
                    later
                    for later in range(place + 1, len(items))
                    if still(items[later], results[later]) is None
                ),
            ]
            for number, result in zip(
                outdated, judge_all([items[number] for number in outdated]), strict=True
            ):
                results[number] = result
        record(item, results[place])
    return results
