"""Judging side by side gives what judging one after another gives, whoever ends first."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evolake.errors import MachineryError
from evolake.gates.run import in_turn, side_by_side

Item = tuple[int, int]
"""A candidate: its number, and its content."""


@dataclass
class Line:
    """Candidates are accepted unless they double one that is accepted; a double is given one other try. runs:
    how often something was judged."""

    accepted: set[int] = field(default_factory=set)
    runs: int = 0

    def judge(self, item: Item) -> tuple[int, str]:
        self.runs += 1
        number, content = item
        if content not in self.accepted:
            return content, "at once"
        other = content + 100 + number % 2
        return other, "double" if other in self.accepted else "mended"

    def still(self, item: Item, result: tuple[int, str]) -> tuple[int, str] | None:
        return None if result[1] != "double" and result[0] in self.accepted else result

    def record(self, item: Item, result: tuple[int, str]) -> None:
        self.accepted.add(result[0])


def one_by_one(items: Sequence[Item]) -> list[tuple[int, str]]:
    line, result = Line(), []
    for item in items:
        result.append(line.judge(item))
        line.record(item, result[-1])
    return result


def in_order(
    order: Sequence[int], judge: Callable[[Item], tuple[int, str]]
) -> Callable[[Item], tuple[int, str]]:
    """`judge`, whose first calls end in the order given: number of the candidate that ends first, second,
    ..."""
    ended = {number: threading.Event() for number in order}
    before = dict(zip(order[1:], order, strict=False))

    def wrapped(item: Item) -> tuple[int, str]:
        result = judge(item)
        if not ended[item[0]].is_set():
            if item[0] in before:
                assert ended[before[item[0]]].wait(20)
            ended[item[0]].set()
        return result

    return wrapped


@given(contents=st.lists(st.integers(0, 3), max_size=9), data=st.data())
def test_any_number_of_workers_in_any_order_gives_what_one_after_another_gives(contents, data):
    items = list(enumerate(contents))
    for workers in (1, 2, 5):
        line = Line()
        assert in_turn(
            items, partial(side_by_side, line.judge, workers=workers), still=line.still, record=line.record
        ) == one_by_one(items)
    line, order = Line(), data.draw(st.permutations(range(len(items))))
    judge = in_order(order, line.judge)
    assert in_turn(
        items, partial(side_by_side, judge, workers=len(items)), still=line.still, record=line.record
    ) == one_by_one(items)


def test_only_what_those_before_it_changed_is_judged_again():
    line = Line()
    in_turn(
        list(enumerate([1, 2, 1, 3])),
        partial(side_by_side, line.judge, workers=2),
        still=line.still,
        record=line.record,
    )
    assert line.runs == 5


def test_the_earliest_failure_of_ours_is_raised_and_nothing_is_recorded():
    noted: list[int] = []

    def judge(item: int) -> int:
        if item in (2, 4):
            raise MachineryError(f"no jail for {item}")
        return item

    with pytest.raises(MachineryError, match="no jail for 2"):
        in_turn(
            range(6),
            partial(side_by_side, judge, workers=3),
            still=lambda item, result: result,
            record=lambda item, result: noted.append(item),
        )
    assert noted == []


def test_they_do_run_at_one_time():
    meeting = threading.Barrier(3, timeout=20)
    assert side_by_side(lambda item: (meeting.wait(), item)[1], [1, 2, 3], 3) == [1, 2, 3]
    assert side_by_side(lambda item: item, [], 0) == []
