"""The bounds-checking build of a kernel: every load, store and gather asks first whether its bytes are in
memory that the call may touch.

The instrumentation works on the finished text and on addresses alone. It knows nothing of plans, cells or
names, so a mistake anywhere above it (a plan that counts wrongly, an array of another shape, a forged name)
shows as a trap and not as a write into another's memory. An access out of bounds is counted in the table and
goes to a scratch line instead; the caller reads the count and raises.

The table, one array of 64-bit words: [traps, ranges, address of the scratch line, first start, first end,
second start, ...]. The caller lists its arrays; the kernel adds its own stack slots when it starts. Slow, a
search a access: for tests and fuzzing (EVOLAKE_KERNEL_CHECKS=1).
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator

import numpy as np

HEAD = 3
STACK_SLOTS = 4_096
SCRATCH_BYTES = 256
_BYTES = {"float": 4, "double": 8, "i8": 1, "i32": 4, "i64": 8, "ptr": 8}
_LOAD = re.compile(r"^(  %[\w.]+ = load (.+?), ptr )(%[\w.]+)(.*)$")
_STORE = re.compile(r"^(  store (<\d+ x \w+>|\w+) .+, ptr )(%[\w.]+)(.*)$")
_GATHER = re.compile(
    r"^(  %[\w.]+ = call <\d+ x (\w+)> @llvm\.masked\.gather\.[\w.]+\(<(\d+) x ptr> )(%[\w.]+)(,.*)$"
)
_ALLOCA = re.compile(r"^  (%[\w.]+) = alloca (.+?), align \d+$")
_GUARD = """
define internal ptr @evolake_guard(ptr %p, i64 %size, ptr %table) noinline nounwind {
entry:
  %from = ptrtoint ptr %p to i64
  %to = add i64 %from, %size
  %count.at = getelementptr i64, ptr %table, i64 1
  %count = load i64, ptr %count.at
  br label %next
next:
  %i = phi i64 [ 0, %entry ], [ %i.more, %other ]
  %left = icmp ult i64 %i, %count
  br i1 %left, label %look, label %trap
look:
  %place = shl i64 %i, 1
  %start.place = add i64 %place, 3
  %start.at = getelementptr i64, ptr %table, i64 %start.place
  %end.place = add i64 %place, 4
  %end.at = getelementptr i64, ptr %table, i64 %end.place
  %start = load i64, ptr %start.at
  %end = load i64, ptr %end.at
  %above = icmp uge i64 %from, %start
  %below = icmp ule i64 %to, %end
  %inside = and i1 %above, %below
  br i1 %inside, label %good, label %other
other:
  %i.more = add i64 %i, 1
  br label %next
good:
  ret ptr %p
trap:
  %traps = load i64, ptr %table
  %traps.more = add i64 %traps, 1
  store i64 %traps.more, ptr %table
  %scratch.at = getelementptr i64, ptr %table, i64 2
  %scratch = load ptr, ptr %scratch.at
  ret ptr %scratch
}
define internal void @evolake_allow(ptr %p, i64 %size, ptr %table) noinline nounwind {
  %from = ptrtoint ptr %p to i64
  %to = add i64 %from, %size
  %count.at = getelementptr i64, ptr %table, i64 1
  %count = load i64, ptr %count.at
  %place = shl i64 %count, 1
  %start.place = add i64 %place, 3
  %start.at = getelementptr i64, ptr %table, i64 %start.place
  store i64 %from, ptr %start.at
  %end.place = add i64 %place, 4
  %end.at = getelementptr i64, ptr %table, i64 %end.place
  store i64 %to, ptr %end.at
  %count.more = add i64 %count, 1
  store i64 %count.more, ptr %count.at
  ret void
}
"""


def guarded(text: str) -> str:
    """Return a kernel's text with every access checked; its function takes the table as a further, last
    argument."""
    names = itertools.count()
    lines: list[str] = []
    for line in text.split("\n"):
        lines += _guarded(line, names)
    return (
        "\n".join(lines).replace("ptr %states) nounwind {", "ptr %states, ptr %guards) nounwind {") + _GUARD
    )


def _guarded(line: str, names: Iterator[int]) -> list[str]:
    if match := _ALLOCA.match(line):
        return [line, f"  call void @evolake_allow(ptr {match[1]}, i64 {size_of(match[2])}, ptr %guards)"]
    if match := _LOAD.match(line) or _STORE.match(line):
        name = f"%guard{next(names)}"
        return [
            f"  {name} = call ptr @evolake_guard(ptr {match[3]}, i64 {size_of(match[2])}, ptr %guards)",
            f"{match[1]}{name}{match[4]}",
        ]
    if match := _GATHER.match(line):
        return _guarded_lanes(match, names)
    if (
        "= load " in line
        or line.startswith("  store ")
        or ("masked.gather" in line and "declare" not in line)
    ):
        raise ValueError(f"an access that is not understood: {line.strip()}")
    return [line]


def _guarded_lanes(result: re.Match[str], names: Iterator[int]) -> list[str]:
    """Return each lane of a gather on its own."""
    lanes, vector, lines = int(result[3]), result[4], []
    for lane in range(lanes):
        item, safe, more = (f"%guard{next(names)}" for _ in range(3))
        lines += [
            f"  {item} = extractelement <{lanes} x ptr> {vector}, i32 {lane}",
            f"  {safe} = call ptr @evolake_guard(ptr {item}, i64 {size_of(result[2])}, ptr %guards)",
            f"  {more} = insertelement <{lanes} x ptr> {vector}, ptr {safe}, i32 {lane}",
        ]
        vector = more
    return [*lines, f"{result[1]}{vector}{result[5]}"]


def size_of(kind: str) -> int:
    """Return the number of bytes of an LLVM type: a scalar, a vector or an array of scalars."""
    if match := re.fullmatch(r"[<\[](\d+) x (\w+)[>\]]", kind):
        return int(match[1]) * _BYTES[match[2]]
    return _BYTES[kind]


class Guards:
    """The table of one kernel call."""

    def __init__(self) -> None:
        self._scratch = np.zeros(SCRATCH_BYTES + 64, dtype=np.uint8)
        self._table = np.zeros(HEAD + 2 * STACK_SLOTS, dtype=np.int64)

    def opened(self, arrays: list[np.ndarray]) -> int:
        """Return the address of the table, set to allow exactly these arrays (and the pointers that the
        kernel reads them by)."""
        start = self._scratch.ctypes.data
        self._table[:HEAD] = (0, len(arrays), start + -start % 64)
        for place, array in enumerate(arrays):
            self._table[HEAD + 2 * place : HEAD + 2 * place + 2] = (
                array.ctypes.data,
                array.ctypes.data + array.nbytes,
            )
        return self._table.ctypes.data

    @property
    def traps(self) -> int:
        """Accesses out of bounds in the last call."""
        return int(self._table[0])
