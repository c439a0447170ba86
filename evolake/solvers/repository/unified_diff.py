"""Strict diffs between variants: exact context, no fuzz, only files that may be edited, all of it or nothing.

A hunk is put where its old lines are: at the line that it names, else at the one other place of the file
where they are after the hunk before it. If they are nowhere, or at several places, the diff is refused with
words that show its writer what to repair.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from evolake.solvers.repository.unified_diff_parse import FileDiff, Hunk, parse_diff
from evolake.solvers.repository.unified_diff_paths import path_problem, read_text

CONTEXT = 3
LONGEST_DIFF = 4 << 20
LARGEST_FILE = 2 << 20
SHOWN = 100
LEAST_ALIKE = 0.6
"""Similarity (difflib) from which on a line of the file is shown to the writer of a diff that does not
match."""
BYTE_ORDER_MARK = "\ufeff"


@dataclass(frozen=True)
class DiffResult:
    """problems: why it was not applied, one sentence each; then nothing was changed. files: paths that were
    changed, made or removed."""

    applied: bool
    problems: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def apply_diff(folder: Path, diff: str, *, editable: Sequence[str]) -> DiffResult:
    """Apply a unified diff of one or more files to the variant at `folder`.

    editable: globs of paths, relative to the folder, that it may touch. What is wrong with the diff is a
    value, never an exception.
    """
    if len(diff) > LONGEST_DIFF:
        return DiffResult(False, (f"the diff has {len(diff)} characters; at most {LONGEST_DIFF} are read",))
    files, problems = parse_diff(diff)
    changes: dict[str, bytes | None] = {}
    for file in files:
        if problem := path_problem(file.path, folder, editable):
            problems.append(problem)
            continue
        content, result = _changed(folder / file.path, file)
        problems += result
        changes[file.path] = content
    if problems:
        return DiffResult(False, tuple(problems))
    for path, content in changes.items():
        target = folder / path
        if content is None:
            target.unlink()
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
    return DiffResult(True, (), tuple(changes))


def _changed(target: Path, file: FileDiff) -> tuple[bytes | None, list[str]]:
    """Return the new bytes of one file (None: it is removed), and what is wrong."""
    if file.old is None:
        if target.exists():
            return None, [
                f"{file.path} is to be made, but is there already; write '--- a/{file.path}' to change it"
            ]
        text, encoding = "", "utf-8"
    elif not target.exists():
        return None, [
            f"{file.path} is to be changed, but there is no such file; write '--- /dev/null' to make it"
        ]
    else:
        text, encoding = read_text(target)
    mark = BYTE_ORDER_MARK if text.startswith(BYTE_ORDER_MARK) and file.new is not None else ""
    lines, problems = _spliced(split_lines(text.removeprefix(BYTE_ORDER_MARK)), file)
    if problems:
        return None, problems
    changed = mark + "".join(lines)
    if file.new is None:
        return None, [
            f"{file.path} is to be removed, but the diff leaves lines of it; give all its lines with '-'"
        ] if changed else []
    if "\0" in changed or len(changed) > LARGEST_FILE:
        return None, [f"{file.path} would be no text of at most {LARGEST_FILE} characters"]
    try:
        return changed.encode(encoding), []
    except UnicodeEncodeError:
        return None, [f"{file.path} is written in Latin-1; use characters of ASCII in it"]


def split_lines(text: str) -> list[str]:
    """Return lines with their ends; only a line feed ends one."""
    parts = text.split("\n")
    return [part + "\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])


def _spliced(lines: list[str], file: FileDiff) -> tuple[list[str], list[str]]:
    """Return the lines of the new file, each new one with the line end of the old line next to it, and what
    is wrong."""
    result: list[str] = []
    problems, done = [], 0
    plain = [line.rstrip("\r\n") for line in lines]
    for hunk in file.hunks:
        place, problem = _place(plain, hunk, done)
        if problem:
            problems.append(f"{file.path}, hunk {hunk.number} (line {hunk.start}): {problem}")
            continue
        result += lines[done:place]
        at = place
        for line in hunk.lines:
            if line.mark == "+":
                end = _line_end(lines, at)
                if result and not result[-1].endswith("\n"):
                    result[-1] += end
                result.append(line.text + (end if line.ended else ""))
            elif line.mark == " ":
                result.append(lines[at])
            at += line.mark != "+"
        done = at
    return [*result, *lines[done:]], problems


def _line_end(lines: Sequence[str], at: int) -> str:
    """Return the line end of the nearest old line that has one: the one at `at` or before it, else the one
    after."""
    near = next(
        (line for line in [*reversed(lines[: at + 1]), *lines[at + 1 :]] if line.endswith("\n")), "\n"
    )
    return "\r\n" if near.endswith("\r\n") else "\n"


def _place(plain: Sequence[str], hunk: Hunk, done: int) -> tuple[int, str]:
    """0-based line where the hunk's old lines are, not before `done`; or why it cannot be placed."""
    old = hunk.old
    stated = hunk.start - 1 if old else hunk.start
    if not old:
        if stated >= done and stated in (0, len(plain)):
            return stated, ""
        return 0, "it has no line of context; give at least one unchanged line before or after what is added"
    if done <= stated and list(plain[stated : stated + len(old)]) == old:
        return stated, ""
    places = [
        at
        for at in range(done, len(plain) - len(old) + 1)
        if plain[at] == old[0] and list(plain[at : at + len(old)]) == old
    ]
    if len(places) == 1:
        return places[0], ""
    if places:
        named = ", ".join(str(at + 1) for at in places[:5])
        return (
            0,
            f"its lines stand at {len(places)} places (lines {named}); give the right line number or more "
            "context",
        )
    return 0, _mismatch(plain, old, max(done, min(stated, len(plain))))


def _mismatch(plain: Sequence[str], old: Sequence[str], stated: int) -> str:
    """Return the first line of the hunk that differs, at the place where most of its beginning is."""

    def agreed(at: int) -> int:
        count = 0
        while count < len(old) and at + count < len(plain) and plain[at + count] == old[count]:
            count += 1
        return count

    starts = [at for at, line in enumerate(plain) if line == old[0]]
    best = max(starts, key=lambda at: (agreed(at), -abs(at - stated)), default=None)
    if best is None:
        near = _nearest(plain, old[0])
        return f"its first old line stands nowhere in the file: {old[0][:SHOWN]!r}{near}"
    wrong = agreed(best)
    there = repr(plain[best + wrong][:SHOWN]) if best + wrong < len(plain) else "the end of the file"
    text = _neighbours(plain, min(best + wrong, len(plain) - 1))
    return (
        f"old line {wrong + 1} does not match line {best + wrong + 1} of the file: the diff has "
        f"{old[wrong][:SHOWN]!r}, the file has {there}; the file there:\n{text}"
    )


def _nearest(plain: Sequence[str], wanted: str) -> str:
    """Return the words that show the lines of the file about the one most like `wanted`; "" if none is like
    it."""
    found = difflib.get_close_matches(
        wanted.strip(), {line.strip() for line in plain if line.strip()}, n=1, cutoff=LEAST_ALIKE
    )
    if not found:
        return ""
    at = next(number for number, line in enumerate(plain) if line.strip() == found[0])
    return f"; most like it is line {at + 1} of the file, here with its neighbours:\n{_neighbours(plain, at)}"


def _neighbours(plain: Sequence[str], at: int) -> str:
    return "\n".join(plain[max(0, at - CONTEXT) : at + CONTEXT + 1])


def diff_files(old: dict[str, Path], new: dict[str, Path]) -> str:
    """Return unified diff between two sets of text files (path -> file), with a/ and b/ before the paths. A
    file that is no text is named in a line."""
    parts = []
    for path in sorted({*old, *new}):
        before, after = (files[path].read_bytes() if path in files else b"" for files in (old, new))
        if before == after and (path in old) == (path in new):
            continue
        if b"\0" in before or b"\0" in after:
            parts.append(f"Binary files a/{path} and b/{path} differ\n")
            continue
        sides = [split_lines(read_text(files[path])[0]) if path in files else [] for files in (old, new)]
        before_name, after_name = (
            f"{prefix}/{path}" if path in files else "/dev/null" for prefix, files in (("a", old), ("b", new))
        )
        parts += _ended(difflib.unified_diff(sides[0], sides[1], before_name, after_name, n=CONTEXT))
    return "".join(parts)


def _ended(lines: Iterable[str]) -> list[str]:
    return [line if line.endswith("\n") else f"{line}\n\\ No newline at end of file\n" for line in lines]
